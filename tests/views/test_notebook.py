"""Results in notebooks: self-contained, escaped, and with what matters in them."""

from __future__ import annotations

import html
import inspect
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import holdrank as hr
from test_api import classes_of, public

NAMES = ["<img src=x onerror=alert(1)>", "b\x1b[2J", '"quoted" & more']
VOTES = hr.Votes.from_orders([NAMES, [NAMES[1], NAMES[0], NAMES[2]]], weights=[60, 40])


BATTLES = hr.Votes.from_battles(
    pd.DataFrame(
        [
            (NAMES[a], NAMES[b], NAMES[a if (a + b + k) % 3 else b], f"<b>{k % 3}")
            for a, b in ((0, 1), (1, 2), (2, 0))
            for k in range(9)
        ],
        columns=["model_a", "model_b", "winner", "judge"],
    ),
    voter="judge",
)
NOT_RESULTS = {
    hr.Aim,
    hr.Deed,
    hr.InputError,
    hr.Metric,
    hr.Plan,
    hr.Robust,
    hr.Status,
}  # questions, and parts of answers


@cache
def views():
    """Return one result of every public kind, and of those that look different."""
    consensus, left, gone = hr.kemeny(VOTES), hr.leave_one_out(BATTLES, hr.borda), hr.removals(VOTES, hr.kemeny)
    attack = hr.attack(VOTES, hr.kemeny, hr.NewWinner())
    audit = hr.audit(BATTLES, rng=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.csv"
        hr.write_votes(VOTES, file)
        (of_file,) = hr.breakdowns([file])
        file.with_name("wrong.soc").write_text("# ALTERNATIVE NAME 1: <img>\n<img src=x>: 1,2\n")
        wrong = hr.validate(file.with_name("wrong.soc"))
        fine = hr.validate(file)
    return {
        "votes": VOTES,
        "consensus": consensus,
        "tiers": hr.Robust(hr.kemeny, 0.2)(VOTES),
        "ratings": hr.bradley_terry(BATTLES).ratings(),
        "rated": hr.bradley_terry(BATTLES),
        "ranking": consensus.ranking,
        "batch": hr.kemeny_batch(VOTES.pairwise()),
        "breakdown": hr.breakdown(VOTES),
        "breakdown of a file": of_file,
        "attack": attack,
        "attack without end": hr.attack(hr.Votes.from_orders([NAMES[:1]]), hr.kemeny, hr.NewWinner()),
        "voter attack": hr.voter_attack(BATTLES, hr.bradley_terry, hr.NewWinner()),
        "voter effects": hr.voter_effects(BATTLES, hr.bradley_terry),
        "tradeoff": hr.tradeoff(VOTES),
        "bootstrap": hr.bootstrap(VOTES, hr.kemeny, draws=20, rng=1),
        "board": hr.leaderboard(VOTES, hr.kemeny, draws=20, rng=1),
        "leave one out": left,
        "left out": left.each[0],
        "removals": gone,
        "removal": gone.each[0],
        "paired tests": hr.paired_tests(hr.Votes.from_score_rows([[1.0, 2.0, 3.0]] * 3, items=list(NAMES[:3]))),
        "breakdown interval": hr.breakdown_interval(VOTES, hr.kemeny, hr.NewWinner(), method="dual"),
        "rank sets": hr.rank_sets(VOTES, hr.kemeny, rng=1, draws=200),
        "reach": hr.reach(VOTES, hr.kemeny),
        "shared order": hr.shared_order(VOTES),
        "verdict": hr.verify(VOTES, hr.kemeny, attack),
        "validation": fine,
        "problems": wrong,
        "pair counts": hr.PairCounts.from_votes(VOTES),
        "voters": BATTLES.voters,
        "audit": audit,
        "finding": audit["people"],
        "first shown": BATTLES.first_shown,
        "groups": hr.Groups.of_labels("<img src=x>", ["a", "<img>"], np.array([1.0, 2.0])),
        "analysis": hr.analyse(VOTES, hr.Spec(draws=50)),
    }


KINDS = (
    "analysis", "attack", "attack without end", "batch", "board", "bootstrap", "breakdown", "breakdown of a file",
    "breakdown interval",
    "consensus", "groups", "leave one out", "left out", "pair counts", "problems", "rank sets", "ranking", "rated",
    "ratings", "reach", "removal", "removals", "tiers", "tradeoff", "validation", "verdict", "voter attack",
    "voter effects", "voters", "votes",
    "audit", "finding", "first shown", "paired tests", "shared order",
)  # fmt: skip


def given_back() -> set[type]:
    """Return every class that a public function, method or property gives back."""
    found = set()
    for _, thing in public():
        call = thing.fget if isinstance(thing, property) else thing
        if inspect.isfunction(call) and "return" in call.__annotations__:
            found |= set(classes_of(call.__annotations__["return"], call.__module__))
    return found


def test_every_public_result_is_among_these():
    assert sorted(views()) == sorted(KINDS)
    assert given_back() - NOT_RESULTS <= {type(one) for one in views().values()}


@pytest.mark.parametrize("name", KINDS)
def test_every_result_is_one_line_of_text_and_says_something_in_html(name):
    found = views()[name]
    assert "\n" not in repr(found)
    assert "\x1b" not in repr(found)
    assert len(re.sub("<[^>]*>", "", found._repr_html_())) > 5 or "<iframe" in found._repr_html_()


@pytest.mark.parametrize("name", KINDS)
def test_names_cannot_break_out_and_nothing_is_fetched(name):
    page = views()[name]._repr_html_()
    for text in (page, *(html.unescape(inner) for inner in re.findall(r'srcdoc="([^"]*)"', page))):
        assert "<img" not in text
        assert "\x1b" not in text
        assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)


def test_votes_show_sizes_and_the_commonest_ballots():
    page = VOTES._repr_html_()
    assert '<td style="text-align:left;vertical-align:top"><bdi>60</bdi></td>' in page
    assert "100 (2 distinct)" in page
    many = hr.sample_votes(hr.Uniform(5), 300, rng=1)
    assert f"and {many.distinct - 12} more distinct ballots" in many._repr_html_()


def test_a_consensus_shows_its_tiers_with_places():
    page = hr.Robust(hr.kemeny, 0.2)(hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], [60, 40]))._repr_html_()
    assert re.findall(r"<bdi>(.*?)</bdi>", page)[:4] == ["1–2", "a, b", "3", "c"]
    assert "tiers of a proven optimal ranking" in page


@pytest.mark.parametrize("name", ["breakdown", "tradeoff", "analysis"])
def test_pictures_are_in_frames_of_their_own(name):
    page = views()[name]._repr_html_()
    (inner,) = re.findall(r'srcdoc="([^"]*)"', page)
    assert "<svg" in html.unescape(inner)
    assert "sandbox" in page
    assert "<style" not in page.replace(inner, "")


def test_a_curve_in_half_pairs_says_so():
    tiers = hr.Robust(hr.kemeny, 0.05)
    told = html.unescape(hr.breakdown(VOTES, tiers, distance="hausdorff_half")._repr_html_())
    assert "0.5 pairs: " in told
    assert "0.5 pairs" not in html.unescape(hr.breakdown(VOTES, tiers)._repr_html_())


def test_shares_have_no_votes_on_their_axis():
    shares = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.6, 0.4])
    assert "<svg" in html.unescape(hr.breakdown(shares)._repr_html_())
    assert "<svg" in html.unescape(hr.tradeoff(shares)._repr_html_())


def test_long_tables_are_cut_and_say_so():
    many = hr.Votes.from_orders([[f"item {k}" for k in range(60)]])
    assert "and 12 more rows" in hr.bootstrap(many, hr.borda, draws=2, rng=1)._repr_html_()
    assert "and 12 more place" in hr.borda(many)._repr_html_()
    assert "and 12 more places" in hr.borda(many).ranking._repr_html_()


def test_many_items_stay_one_short_line():
    names = [f"item {k}" for k in range(65)]
    many = hr.Votes.from_orders([names, names])
    assert repr(hr.kemeny(many)) == "Consensus(65 items: item 0 > item 1 > item 2 > …)"
    tied = hr.Robust(hr.kemeny, 0.3)(hr.Votes.from_orders([names, [names[1], names[0], *names[2:]]]))
    assert repr(tied) == "Consensus(65 items: {item 0, item 1} > item 2 > …)"
    assert len(repr(hr.kemeny(many).ranking)) < 60
    assert len(repr(hr.tradeoff(many, hr.borda, time_limit=0))) < 120
    stopped = replace(hr.kemeny(many), status=hr.Status.TIME_LIMIT)
    assert repr(stopped) == "Consensus(65 items: item 0 > item 1 > item 2 > …, time limit reached)"


def test_dir_lists_the_public_names():
    assert dir(hr) == sorted([*hr.__all__, "clusters", "paper", "plots", "report"])
    assert all(getattr(hr, name) is not None for name in dir(hr))


@pytest.mark.parametrize("items", [5, 40])
def test_a_frame_is_as_high_as_its_picture(items):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((items, 6)), [f"m{k}" for k in range(items)], list("uvwxyz"))
    page = hr.paired_tests(hr.Votes.from_scores(table))._repr_html_()
    frame = int(re.search(r"height:(\d+)px", page)[1])
    drawn = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', html.unescape(page))[1])
    assert drawn < frame < drawn + 60


def test_a_notebook_names_the_file_without_its_folder(tmp_path):
    file = tmp_path / "votes.csv"
    hr.write_votes(VOTES, file)
    shown = hr.read_votes(file)._repr_html_()
    assert "votes.csv" in shown
    assert str(tmp_path) not in shown


def test_the_picture_of_a_trade_off_in_a_notebook_is_whole_and_has_no_other_tiers():
    shown = html.unescape(hr.tradeoff(VOTES)._repr_html_())
    (high,) = re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', shown)
    (frame,) = re.findall(r"height:(\d+)px", shown.rpartition("</html>")[2] or shown)
    assert int(frame) >= float(high)
    assert "most robust" in shown
    assert "tiers above" not in shown
