"""Results in notebooks: self-contained, escaped, and with what matters in them."""

from __future__ import annotations

import html
import re

import pytest

import holdrank as hr

NAMES = ["<img src=x onerror=alert(1)>", "b\x1b[2J", '"quoted" & more']
VOTES = hr.Votes.from_orders([NAMES, [NAMES[1], NAMES[0], NAMES[2]]], weights=[60, 40])


def views():
    return {
        "votes": VOTES,
        "consensus": hr.kemeny(VOTES),
        "tiers": hr.Robust(hr.kemeny, 0.2)(VOTES),
        "breakdown": hr.breakdown(VOTES),
        "tradeoff": hr.tradeoff(VOTES),
        "analysis": hr.analyse(VOTES, hr.Spec(draws=50)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(views()))
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
    assert "merged from a proved median" in page


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
