"""An analysis on the terminal: what its lines say is what the record says, on wide and narrow ones."""

from __future__ import annotations

import json
import re

import pytest

import holdrank as hr
from holdrank.analysis.result import Analysis
from holdrank.cli import terminal
from page_records import large_record

from analyses import analysed

NAMES = [f"item number {k}" for k in range(6)]
VOTES = hr.Votes.from_orders([NAMES, NAMES[::-1]], weights=[3, 3])


@pytest.fixture(scope="module")
def record():
    votes = hr.Votes.from_orders([list("abc"), list("bac"), list("cab")], weights=[60, 40, 11])
    spec = hr.Spec(theta=0.05, k=1, claims=("a above c", "c wins"), budget=0.2, draws=200)
    return json.loads(hr.analyse(votes, spec).to_json())


def lines_of(record, capsys):
    terminal.print_analysis(Analysis(record))
    return capsys.readouterr().out.splitlines()


def section(lines, title):
    """The lines below a title."""
    at = next(k for k, line in enumerate(lines) if line.startswith(title))
    below = lines[at + 1 :]
    return below[: below.index("")] if "" in below else below


def test_places_show_what_chance_and_an_attack_may_do(record, capsys):
    """22 of 111 votes turn a and b, and no sample does."""
    record = {**record, "chance": None}
    lines = section(lines_of(record, capsys), "Places")
    assert [line.split()[0] for line in lines[:3]] == ["a", "b", "c"]
    assert [line.split("chance ")[1] for line in lines[:3]] == ["1, attack 1–2", "2, attack 1–2", "3, attack 3"]
    assert lines[3].startswith("chance: in 95 % of 200 bootstrap samples; attack: places not ruled out when changing ")
    without = lines_of({**record, "reach": None}, capsys)
    assert "attack" not in "".join(section(without, "Places"))
    alone = section(lines_of({**record, "bootstrap": None}, capsys), "Places")
    assert "chance" not in "".join(alone)
    assert [line.split("attack ")[1] for line in alone[:3]] == ["1–2", "1–2", "3"]
    nothing = lines_of({**record, "reach": None, "bootstrap": None}, capsys)
    assert "Places" not in nothing


def test_places_by_chance_are_those_of_the_headline(record, capsys):
    """Where chance is known for all items at once, the bootstrap of each alone would contradict it."""
    level = {"lower": [1, 1, 3], "upper": [2, 2, 3], "level": 0.95, "text": "", "neighbours": []}
    lines = section(lines_of({**record, "chance": {**record["chance"], **level}}, capsys), "Places")
    assert [line.split("chance ")[1] for line in lines[:3]] == ["1–2, attack 1–2", "1–2, attack 1–2", "3, attack 3"]
    assert lines[3].startswith("chance: at 95 % for all items at once; ")


def test_claims_that_do_not_hold_say_so(record, capsys):
    claims = section(lines_of(record, capsys), "Claims")
    assert claims == [f"a above c: {record['claims'][0]['attack']['text']}", "c wins: does not hold"]


def test_long_tiers_are_broken_and_no_name_is_lost(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "line_width", lambda: 50)
    found = analysed(VOTES, hr.Spec(theta=0.2, draws=0), "tiers").record
    lines = section(lines_of(found, capsys), "Tiers")
    assert len(lines) > 1
    assert max(map(len, lines)) <= 50
    assert lines[0].split()[0] == "1–6"
    shown = " ".join(lines)
    assert all(shown.count(name) == 1 for name in NAMES)


def test_many_items_and_many_ballots_are_counted_not_listed(record, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "_MOST_ROWS", 2)
    monkeypatch.setattr(terminal, "_MOST_IN_HEATMAP", 2)
    monkeypatch.setattr(terminal, "_BALLOTS", 1)
    attack = record["attack"]
    ballot = attack["added"]["listed"][0]
    many = {**attack, "added": {"kinds": 3, "listed": [ballot] * 3}}
    lines = lines_of({**record, "attack": many}, capsys)
    assert section(lines, "Places")[2] == "and 1 more items"
    assert not any(line.startswith("Pairs") for line in lines)
    below = section(lines, "The smallest attack")
    assert below[0] == attack["text"]
    assert [line[0] for line in below[1:3]] == ["-", "+"]
    assert below[3].strip() == "and 2 more distinct ballots"


def test_a_terminal_without_unicode_gets_plain_signs(record, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "shows", lambda _: False)
    text = "\n".join(lines_of(record, capsys))
    assert text.isascii()
    assert "attack 1-2" in text


def test_what_was_not_finished_is_said_with_its_reason(record, capsys):
    steps = [{**record["steps"][0], "state": "failed", "note": "no\x1b[2J time"}, *record["steps"][1:]]
    lines = lines_of({**record, "steps": steps, "attack": None}, capsys)
    assert section(lines, "Not finished") == ["consensus: no\\x1b[2J time"]
    assert "The smallest attack" not in lines


def test_numbers_of_columns_do_not_run_into_each_other(capsys):
    terminal.print_analysis(Analysis(large_record(12)))
    out = capsys.readouterr().out
    assert re.search(r"\n +1 {7}5 {8}10 *\n", out)
    terminal.print_analysis(Analysis(large_record(4)))
    assert " 1 2 3 4\n" in capsys.readouterr().out


def test_the_cut_is_told_in_votes(capsys):
    terminal.print_analysis(Analysis(large_record(12)))
    out = capsys.readouterr().out
    assert "\nTop 10, if 1 vote (1 %) changes: " in out
    assert re.search(r"\n  Model number 0, .*: at least 9 votes \(9 %\)\n", out)
