"""No command runs for minutes unless it is told to: time limits by default, and what more time would give."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import re
from itertools import pairwise
from pathlib import Path

import click
import pytest

import holdrank as hr
from holdrank import cli
from holdrank.attacks import answers
from holdrank.cli.limits import CommandClock, command_clock
from holdrank.cli.options import READING_OPTIONS, ReadingCommand
from holdrank.status import Clock, Status

QUICK = {"validate", "convert", "paired-tests"}  # they look no further than the file, or count it once


@pytest.fixture
def run(command_line, tmp_path):
    """The command line, beside a file that is proved at once and one that is not."""
    (tmp_path / "easy.csv").write_text("rank1,rank2,rank3\n" + "a,b,c\n" * 6 + "b,a,c\n" * 3, encoding="utf-8")
    chance = random.Random(5)
    names = [f"n{k:02}" for k in range(40)]
    rows = [",".join(chance.sample(names, 40)) for _ in range(9)]
    (tmp_path / "hard.csv").write_text(
        "\n".join([",".join(f"rank{k + 1}" for k in range(40)), *rows]) + "\n", encoding="utf-8"
    )
    return command_line


def test_every_command_that_computes_has_a_limit():
    for name, command in cli.cli.commands.items():
        if isinstance(command, ReadingCommand) and name not in QUICK:
            (option,) = [one for one in command.params if one.name == "time_limit"]
            assert isinstance(option, click.Option)
            assert 0 < option.default <= 60, name
            assert any(one in READING_OPTIONS for one in command.params)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [((), 30.0), (("--time-limit", "7"), 7.0), (("--time-limit", "none"), None), (("--time-limit", "inf"), None)],
)
def test_the_limit_is_a_number_or_none(run, given, seconds):
    for command in (["rank"], ["attack", "--new-winner"], ["breakdown"], ["removals"], ["check"]):
        code, out, _ = run(*command, "easy.csv", "--json", "-q", *given)
        assert code in (0, 4)
        assert json.loads(out)["spec"]["time_limit"] == seconds


def test_a_limit_that_is_neither_is_refused(run):
    for wrong in ("soon", "-1", "nan"):
        code, out, err = run("rank", "easy.csv", "--time-limit", wrong)
        assert (code, out) == (2, "")
        assert wrong in err


@pytest.mark.parametrize(
    ("args", "gain"),
    [
        (["rank"], "may prove the ranking optimal"),
        (["tiers"], "may prove the ranking optimal"),
        (["rank", "--draws", "500"], "may rank all 500 draws"),
        (["attack", "--new-winner"], "may close the gap"),
        (["breakdown", "--delta", "0.5"], "may close the gaps"),
        (["tradeoff"], "may close the gaps"),
        (["removals"], "removes the others too"),
        (["board"], "may fill the empty cells"),
    ],
)
def test_a_limit_that_ends_the_work_says_what_more_time_gives(run, args, gain):
    code, out, err = run(args[0], "hard.csv", *args[1:], "-q", "--time-limit", "0.01")
    assert code in (0, 4)
    assert out
    assert f"note: stopped at the time limit of 0.01 s; --time-limit 60 {gain}\n" in err


def test_a_report_that_was_cut_short_says_so_too(run):
    code, _, err = run("report", "hard.csv", "-o", "x.json", "--time-limit", "0.2", "--draws", "0")
    assert code == 0
    # The steps together, or each in its share.
    assert re.search(r"note: .*stopped at .*time limit of 0\.2 s; --time-limit 60 may finish what was cut short\n", err)


def test_work_that_ends_in_time_says_nothing_about_it(run):
    for args in (["rank"], ["tiers"], ["attack", "--new-winner"], ["breakdown"], ["tradeoff"], ["removals"], ["board"]):
        _, _, err = run(args[0], "easy.csv", *args[1:], "-q")
        assert "time limit" not in err


def test_too_few_draws_give_no_intervals(run):
    _, out, err = run("rank", "hard.csv", "--draws", "500", "-q", "--time-limit", "0.01")
    assert "of draws" not in out
    assert "bootstrap samples ranked, too few for intervals" in err
    _, out, err = run("board", "hard.csv", "-q", "--time-limit", "0.01")
    assert {line.split("|")[2].strip() for line in out.splitlines()[2:]} == {""}
    assert "too few for intervals" in err


def test_the_limit_of_diff_covers_its_draws(run):
    code, out, err = run("diff", "hard.csv", "hard.csv", "-q", "--time-limit", "0.01")
    assert code == 0
    assert re.search(r"\d+ of 40 items moved; \d+ of 780 pairs changed order\n", out)
    assert "note: not both rankings are proven optimal; moves may come from the search\n" in err
    assert "of 1,000 draws\n" in err
    assert "--time-limit 60 may rank all of them" in err
    code, out, _ = run("diff", "hard.csv", "hard.csv", "-q", "--json", "--time-limit", "0.01")
    found = json.loads(out)["comparison"]
    assert found["intervals"] is False
    assert found["status"] == hr.Status.RESAMPLED_TIME_LIMIT
    # Where draws are too few, nothing is excluded.
    assert {(row["old"]["best"], row["old"]["worst"]) for row in found["moves"]} == {(1.0, 40.0)}


def test_all_claims_share_one_limit(run, monkeypatch):
    given = []
    real = answers.attack

    def noted(*args, time_limit, **options):
        given.append(time_limit)
        return real(*args, time_limit=time_limit, **options)

    monkeypatch.setattr(answers, "attack", noted)
    run("check", "easy.csv", "-q", "--time-limit", "9", "--claim", "a wins", "--claim", "a above c", "--claim", "top 2")
    assert len(given) == 3
    assert given[0] <= 3
    assert given[2] <= 9


def test_long_curves_are_shown_where_they_rise(run, tmp_path):
    names = [f"n{k}" for k in range(12)]
    ballots = [",".join(names)] * 9 + [",".join(reversed(names))] * 4
    head = ",".join(f"rank{k + 1}" for k in range(12))
    (tmp_path / "far.csv").write_text("\n".join([head, *ballots]) + "\n", encoding="utf-8")
    _, out, _ = run("breakdown", "far.csv", "-q", "--method", "bounds")
    rows = [line for line in out.splitlines() if line.startswith("  ")]
    assert len(rows) < 40
    assert "of 66 distances those where the curve rises" in out
    shown = [line.split(maxsplit=2)[2] for line in rows]
    assert all(one != other for one, other in pairwise(shown))
    _, out, _ = run("breakdown", "far.csv", "-q", "--method", "bounds", "--json")
    assert len(json.loads(out)["breakdown"]["delta"]) == 66


@pytest.mark.slow
@pytest.mark.traced
def test_verify_stops_at_its_limit_and_says_what_is_open(run):
    assert run("report", "easy.csv", "-q", "-o", "easy.json", "--draws", "0")[0] == 0
    code, out, err = run("verify", "easy.json", "easy.csv", "-q")
    assert (code, err) == (0, "")
    whole = out.splitlines()
    assert not any("time limit" in line for line in whole)
    code, out, err = run("verify", "easy.json", "easy.csv", "-q", "--time-limit", "0")
    assert code == 0
    lines = out.splitlines()
    assert 1 < len(lines) < len(whole)
    assert lines[-1] == "open     all other statements (not checked within the time limit)"
    assert "--time-limit 60 may check the rest" in err
    assert run("verify", "easy.json", "easy.csv", "-q", "--time-limit", "0", "--require-proof")[0] == 5


def test_verify_names_the_order_of_its_files(run):
    run("report", "easy.csv", "-q", "-o", "easy.json", "--draws", "0")
    code, _, err = run("verify", "easy.csv", "easy.json")
    assert code == 2
    assert "The analysis comes first, then the votes: holdrank verify easy.json easy.csv" in err


def test_a_result_is_verified_within_a_limit():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 2])
    found = hr.attack(votes, hr.kemeny, hr.NewWinner())
    assert hr.verify(votes, hr.kemeny, found, time_limit=60).proved
    late = hr.verify(votes, hr.kemeny, found, time_limit=0)
    assert [check.finding for check in late.checks] == ["proved", "open"]


def test_the_distances_of_many_items_are_some_of_all(run):
    code, out, _ = run("breakdown", "hard.csv", "--json", "-q", "--method", "bounds")
    assert code == 0
    record = json.loads(out)
    pairs = 40 * 39 // 2
    assert len(record["breakdown"]["delta"]) == pairs  # up to 1,000 pairs, all
    names = [f"n{k:02}" for k in range(50)]
    rows = "\n".join([",".join(f"rank{k + 1}" for k in range(50)), ",".join(names)] + [",".join(names[::-1])] * 2)
    Path("many.csv").write_text(rows + "\n", encoding="utf-8")
    code, out, _ = run("breakdown", "many.csv", "--json", "-q", "--method", "bounds")
    record = json.loads(out)
    delta = record["breakdown"]["delta"]
    assert (code, record["spec"]["deltas"]) == (0, None)
    assert len(delta) < 200
    moved = [one * 1225 for one in delta]
    assert moved == pytest.approx([round(one) for one in moved])
    assert [round(one) for one in moved[:3]] == [1, 2, 3]
    assert delta[-1] == 1
    code, out, _ = run("breakdown", "many.csv", "-q", "--method", "bounds", "--delta", "0.5")
    assert "of 1,225 distances" not in out
    code, out, _ = run("breakdown", "many.csv", "-q", "--method", "bounds")
    assert f"{len(delta)} of 1,225 distances; --delta asks about others" in out


def nothing_found(votes, T, goal, **_):
    """An attack that a time limit ends before anything is known."""
    found = hr.attack(votes, T, goal)
    ends = dict.fromkeys(("upper", "votes_to_tie", "votes_sufficient"), math.inf)
    none = {**ends, "lower": 0.0, "votes_needed": 0.0, "votes_to_decide": 0.0, "verified": False, "plan": None}
    return dataclasses.replace(found, **none, whole_plan=None, tie_plan=None, status=Status.BETWEEN_TIME_LIMIT)


def test_a_check_of_every_pair_says_when_other_rankings_are_as_good(run, monkeypatch):
    rows = "\n".join(["rank1,rank2,rank3", "a,b,c", "b,a,c"])
    Path("level.csv").write_text(rows + "\n", encoding="utf-8")
    _, out, _ = run("check", "level.csv", "-q")
    assert "It is tied already" in out
    assert "equally good" not in out
    names = [f"n{k:02}" for k in range(40)]
    orders = [names, [names[1], names[0], *names[2:]]]
    lines = [",".join(f"rank{k + 1}" for k in range(40)), *map(",".join, orders)]
    Path("level.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(answers, "attack", nothing_found)
    code, out, _ = run("check", "level.csv", "-q")
    assert code == 4
    assert out.endswith("Not proved. Other rankings are equally good already. Required: 1.\n")


def test_a_check_that_is_interrupted_keeps_what_it_checked(run, monkeypatch):
    run("report", "easy.csv", "-q", "-o", "easy.json", "--draws", "0")
    monkeypatch.setattr(Clock, "interrupted", property(lambda _: True, lambda *_: None))
    code, out, _ = run("verify", "easy.json", "easy.csv", "-q")
    assert code == 130
    first, *_, last = out.splitlines()
    assert first.startswith("proved ")
    assert last == "open     all other statements (interrupted before it was checked)"


def test_the_limit_of_a_command_includes_reading_and_printing(monkeypatch):
    now = 100.0
    monkeypatch.setattr("holdrank.cli.limits.monotonic", lambda: now)
    clock = CommandClock()
    assert clock.left(None) is None
    now = 104.0  # reading took 4 s
    assert clock.left(30.0) == pytest.approx(23.6)  # 2.4 s are kept for start-up and printing
    now = 120.0
    assert clock.left(30.0) == pytest.approx(7.6)
    now = 130.0
    assert clock.left(30.0) == 0.0
    clock.begin()
    now = 200.0  # reading took longer than the limit
    assert clock.left(30.0) == pytest.approx(3.0)
    now = 202.0  # the searches share these seconds
    assert clock.left(30.0) == pytest.approx(1.0)


def test_every_search_gets_what_reading_has_left(run, monkeypatch):
    monkeypatch.setattr(command_clock, "left", lambda _: 0.0)
    for args in (["rank"], ["attack", "--new-winner"], ["breakdown", "--delta", "0.5"], ["tradeoff"], ["removals"]):
        _, out, err = run(args[0], "hard.csv", *args[1:], "-q", "--time-limit", "50")
        assert out
        assert "time limit of 50 s; --time-limit 500 " in err, args


@pytest.mark.parametrize(
    ("wall", "work", "kept"),
    [(1.0, 1.0, 0.08), (2.0, 1.0, 0.16), (4.0, 0.2, 0.2), (4.0, 0.01, 0.08), (1.0, 3.0, 0.08)],
    ids=["quiet", "busy", "very busy", "too little work to tell", "several threads"],
)
def test_more_is_kept_of_a_limit_on_a_busy_machine(monkeypatch, wall, work, kept):
    times = {"monotonic": 100.0, "process_time": 5.0}
    for name in times:
        monkeypatch.setattr(f"holdrank.cli.limits.{name}", lambda name=name: times[name])
    clock = CommandClock()
    times["monotonic"] += wall
    times["process_time"] += work
    assert clock.left(30.0) == pytest.approx(30.0 * (1 - kept) - wall)
