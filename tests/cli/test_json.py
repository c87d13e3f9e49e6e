"""One JSON: what every command prints fits the schema of an analysis, and says the same under the same names."""

from __future__ import annotations

import json

import jsonschema
import pytest

import holdrank as hr
from holdrank.analysis.records import command_mismatch, schema

SOC = """\
# FILE NAME: votes.soc
# TITLE: trees
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Ash
# ALTERNATIVE NAME 2: Beech
# ALTERNATIVE NAME 3: Cherry
# ALTERNATIVE NAME 4: Date palm
60: 1,2,3,4
30: 2,3,1,4
5: 3,1,2,4
5: 4,3,2,1
"""

BATTLES = """winner,loser,who
a,b,x
a,b,x
b,c,x
b,a,y
c,a,y
a,c,z
b,c,z
"""

COMMANDS = [
    ["rank", "votes.soc"],
    ["rank", "votes.soc", "--draws", "200"],
    ["rank", "votes.soc", "--compare"],
    ["rank", "votes.soc", "--rule", "bradley-terry"],
    ["rank", "votes.soc", "--rule", "bradley-terry", "--reweight", "--anchor", "Cherry", "--level", "0.5"],
    ["removals", "votes.soc"],
    ["removals", "votes.soc", "--rule", "bradley-terry"],
    ["leave-one-out", "battles.csv", "--by", "who", "--rule", "bradley-terry"],
    ["leave-one-out", "votes.soc", "--ballots"],
    ["audit", "votes.soc", "--time-limit", "60"],
    ["audit", "battles.csv", "--voter", "who"],
    ["paired-tests", "scores.csv"],
    ["board", "votes.soc"],
    ["board", "battles.csv", "--columns", "model,rating,rank_ub"],
    ["voters", "battles.csv", "--voter", "who"],
    ["voters", "battles.csv", "--voter", "who", "--race", "b", "c", "--at-most", "2", "--new-voters", "3"],
    ["tiers", "votes.soc", "--theta", "auto"],
    ["tiers", "votes.soc", "--path"],
    ["breakdown", "votes.soc"],
    ["breakdown", "votes.soc", "--theta", "0.5"],
    ["breakdown", "votes.soc", "--method", "smooth", "--seed", "1", "--delta", "0.1"],
    ["breakdown", "votes.soc", "--method", "paper", "--seed", "1", "--delta", "0.1", "--steps", "30"],
    ["breakdown", "votes.soc", "new.soc"],
    ["attack", "votes.soc", "--new-winner"],
    ["attack", "votes.soc", "--new-winner", "--theta", "0.5"],
    ["attack", "votes.soc", "--wins", "Cherry", "--change", "add"],
    ["tradeoff", "votes.soc"],
    ["check", "votes.soc"],
    ["check", "votes.soc", "--claim", "Ash wins", "--claim", "Cherry wins", "--theta", "0.01"],
    ["diff", "votes.soc", "new.soc"],
    ["validate", "votes.soc"],
    ["validate", "bad.soc"],
]


@pytest.fixture
def printed(command_line, tmp_path):
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    (tmp_path / "new.soc").write_text(SOC.replace("60: 1,2,3,4", "10: 1,2,3,4"), encoding="utf-8")
    (tmp_path / "battles.csv").write_text(BATTLES, encoding="utf-8")
    (tmp_path / "scores.csv").write_text("model,t1,t2\na,1.5,2\nb,1,3\nc,0.5,1\n", encoding="utf-8")
    (tmp_path / "bad.soc").write_text(SOC + "7: 1,9\n", encoding="utf-8")

    def run(*args):
        _, out, _ = command_line(*args, "--json", *(["-q"] if args[0] != "validate" else []))
        return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))

    return run


@pytest.fixture
def result(command_line, tmp_path):
    """The record of a whole analysis, which no time limit cuts short."""
    (tmp_path / "votes.soc").write_text(SOC, encoding="utf-8")
    command_line("report", "votes.soc", "-q", "--draws", "0", "--time-limit", "600", "-o", "result.json")
    return json.loads((tmp_path / "result.json").read_text("utf-8"))


def fits(record):
    assert command_mismatch(record) == ""
    rule = {"$ref": f"#/$defs/command-{record['command']}", "$defs": schema()["$defs"]}
    jsonschema.Draft202012Validator(rule).validate(record)


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
@pytest.mark.slow
@pytest.mark.traced
def test_every_command_fits_the_schema(printed, args):
    fits(printed(*args))


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.usefixtures("result")
def test_a_verdict_fits_the_schema(printed):
    fits(printed("verify", "result.json", "votes.soc"))


@pytest.mark.traced
@pytest.mark.slow
def test_demo_writes_what_it_says_and_it_fits_the_schema(command_line, tmp_path):
    code, out, _ = command_line("demo", "--seed", "1", "--out", "made/here")
    assert code == 0
    assert "Generated data, not real votes" in out
    record = json.loads((tmp_path / "made" / "here" / "consensus.json").read_text("utf-8"))
    fits(record)
    assert record["generated"] is True
    votes = hr.read_votes(tmp_path / "made" / "here" / "votes.soc")
    assert votes.total == 500
    assert list(votes.items) == record["items"]
    assert sorted(record["consensus"]["order"]) == list(range(votes.n))
    assert (tmp_path / "made" / "here" / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.slow
@pytest.mark.traced
def test_commands_and_analyses_say_the_same_under_the_same_names(printed, result):
    ranked = printed("rank", "votes.soc", "--compare")
    for name in ("schema", "version", "items", "votes", "consensus", "others"):
        assert ranked[name] == result[name], name
    assert printed("tiers", "votes.soc", "--theta", "auto")["tiers"] == result["tiers"]
    assert printed("tiers", "votes.soc", "--path")["path"] == result["path"]
    assert printed("breakdown", "votes.soc")["breakdown"] == result["curves"][0]
    assert printed("tradeoff", "votes.soc")["tradeoff"] == result["tradeoff"]
    assert printed("attack", "votes.soc", "--new-winner", "--theta", "auto")["attack"] == result["attack"]
