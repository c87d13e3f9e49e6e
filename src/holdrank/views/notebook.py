"""Results as HTML for notebooks: tables, and pictures in separate frames, so that no style leaks either way.

Results call `html_of` through the package's `__init__`, because it depends on higher rooms.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any

from holdrank.analysis.audit import Audit
from holdrank.analysis.chance.records import paired_record
from holdrank.analysis.chance.tables import PairedTests
from holdrank.analysis.leave_one_out import LeaveOneOut
from holdrank.analysis.probes.findings import Finding
from holdrank.analysis.records import Record, consensus_record, curve_record, tradeoff_record
from holdrank.analysis.result import Analysis
from holdrank.analysis.tradeoff import Tradeoff
from holdrank.attacks.reach import Reach
from holdrank.attacks.results import Attack, Breakdown
from holdrank.errors import show
from holdrank.files import Validation
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Consensus
from holdrank.status import Tabular
from holdrank.views import svg as pictures
from holdrank.views.frames import columns_of
from holdrank.views.report import html as report_html
from holdrank.views.svg.groups import left_out
from holdrank.votes.votes import Votes
from holdrank.words.banners import file_name
from holdrank.words.ladders import rungs
from holdrank.words.names import ballot_text
from holdrank.words.numbers import number, plural, span

_MOST_ROWS = 12  # of ballots, of tiers
_FRAME = 24  # pixels that a frame is higher than its picture
_COLOURS = {
    "raised": "var(--bad, #b3261e)",
    "clear": "var(--good, #00795a)",
    "does not apply": "var(--soft, #57606a)",
}
FINDINGS = {"raised": "Raised", "clear": "Clear", "does not apply": "Does not apply"}
"""The headings of findings, by their state."""


def html_of(found: object) -> str:
    """Return a result, or votes, as HTML."""
    views: dict[type, Callable[[Any], str]] = {
        Votes: votes_html,
        Consensus: consensus_html,
        Breakdown: breakdown_html,
        Tradeoff: tradeoff_html,
        Analysis: analysis_html,
        LeaveOneOut: left_out_html,
        Audit: audit_html,
        PairedTests: paired_html,
        Attack: attack_html,
        Validation: validation_html,
        Reach: reach_html,
        Ranking: ranking_html,
        Tabular: tabular_html,
    }
    view = next((view for kind, view in views.items() if isinstance(found, kind)), _told)
    return view(found)


def attack_html(found: Attack) -> str:
    """Return the sentence of an attack, the ballots to change, and its status."""
    return tabular_html(found) + "".join(_paragraph(line) for line in (*found.notes, str(found.status)))


def tabular_html(found: Tabular) -> str:
    """Return the first sentence about a result, and its rows."""
    columns = {name: [_cell(value) for value in values] for name, values in columns_of(found).items()}
    rows = list(zip(*columns.values(), strict=True))
    shown = rows[: 4 * _MOST_ROWS]
    told = getattr(found, "text", found.__repr__)().splitlines()[:1]
    more = [f"and {plural(len(rows) - len(shown), 'more row')}"] if len(rows) > len(shown) else []
    return (
        "".join(map(_paragraph, told)) + (table(list(columns), shown) if rows else "") + "".join(map(_paragraph, more))
    )


def validation_html(found: Validation) -> str:
    """Return the votes of a valid file, or its problems."""
    if found.votes is not None:
        return votes_html(found.votes)
    shown = table(["problem"], [(str(problem),) for problem in found.problems])
    return _paragraph(plural(found.total, "problem")) + shown


def reach_html(found: Reach) -> str:
    """Return the places of items under attack: those not ruled out, and those that verified attacks attain."""
    order = sorted(range(len(found.items)), key=lambda k: (found.shown_best[k], found.shown_worst[k], k))
    rows = [
        (show(found.items[k], 60), span(found.best[k], found.worst[k]), span(found.shown_best[k], found.shown_worst[k]))
        for k in order[: 4 * _MOST_ROWS]
    ]
    more = len(order) - len(rows)
    rest = [(f"and {plural(more, 'more item')}", "", "")] if more else []
    return table(["item", "places not ruled out", "places reached"], [*rows, *rest]) + _paragraph(repr(found))


def ranking_html(found: Ranking) -> str:
    """Return a ranking, one row per place, items by their numbers."""
    rows = [(rung.places, ", ".join(map(str, rung.items))) for rung in rungs(found.ranks.tolist(), found.order)]
    more = len(rows) - 4 * _MOST_ROWS
    rest = [("", f"and {plural(more, 'more place')}")] if more > 0 else []
    return table(["place", "item numbers"], [*rows[: 4 * _MOST_ROWS], *rest])


def _told(found: object) -> str:
    """Return a result in its own words."""
    text = found.text() if hasattr(found, "text") else repr(found)
    return "".join(_paragraph(line) for line in text.splitlines()[: 4 * _MOST_ROWS])


def _cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "", None: ""}[value]
    return number(value) if isinstance(value, int | float) and math.isfinite(value) else show(str(value), 120)


def votes_html(votes: Votes) -> str:
    """Return a description of votes: sizes, choices, notes, and the most frequent ballots."""
    facts = [(name, file_name(text) if name == "source" else text) for name, text in votes.facts()]
    head = table(["", ""], facts)  # a notebook that is shared does not show folders
    shown = votes.without_scores()
    commonest = shown.ballots.take(slice(_MOST_ROWS)).matrix().tolist()
    ballots = [
        (number(weight), ballot_text(ranks, votes.items, 40))
        for ranks, weight in zip(commonest, shown.weights[:_MOST_ROWS].tolist(), strict=True)
    ]
    more = shown.distinct - len(ballots)
    rest = [("", f"and {plural(more, 'more distinct ballot')}")] if more > 0 else []
    return head + table(["votes", "ballot"], [*ballots, *rest])


def consensus_html(found: Consensus) -> str:
    """Return a consensus, one row per tier."""
    ranking = found.ranking
    rows = [
        (rung.places, ", ".join(show(found.items[i], 60) for i in rung.items))
        for rung in rungs(ranking.ranks.tolist(), ranking.order)
    ]
    more = len(rows) - 4 * _MOST_ROWS
    rest = [("", f"and {plural(more, 'more place')}")] if more > 0 else []
    told = f"loss {found.loss:.6g} ({found.distance}); {found.status}"
    told += "".join(f"; {note}" for note in found.notes)
    return table(["place", "items"], [*rows[: 4 * _MOST_ROWS], *rest]) + _paragraph(told)


def breakdown_html(found: Breakdown) -> str:
    """Return a breakdown function as a curve."""
    record = _record(found.consensus, found.total, counts=bool((found.votes_needed == found.votes_needed).all()))
    record["curves"] = [{**curve_record(found), "distance": str(found.distance)}]
    return _framed(pictures.breakdown(record), 430) + _paragraph(str(found.status))


def tradeoff_html(found: Tradeoff) -> str:
    """Return a trade-off as a picture, and the tiers at the best threshold."""
    record = _record(found.base, found.total, counts=float(found.total).is_integer())
    record["tradeoff"] = tradeoff_record(found)
    record |= {"spec": {"theta": "auto"}, "gaps": [], "attack": None, "pairs": {"compared": [[found.total]]}}
    tiers = found.rankings[found.best].text([show(item, 40) for item in found.base.items])
    return _framed(pictures.tradeoff(record)) + _paragraph(f"best: {tiers}; {found.status}")


def analysis_html(found: Analysis) -> str:
    """Return the whole report in a frame, with its slider."""
    page = html.escape(report_html(found), quote=True)
    frame = f'<iframe sandbox="allow-scripts" srcdoc="{page}" title="{html.escape(found.headline, quote=True)}"'
    return frame + ' style="width:100%;height:720px;border:1px solid #d0d7de;border-radius:6px"></iframe>'


def left_out_html(found: LeaveOneOut) -> str:
    """Return the effect of leaving out each group, as a picture, and the sentence about it."""
    return _framed(left_out(found)) + _paragraph(found.text())


def paired_html(found: PairedTests) -> str:
    """Return paired tests of a score table: the critical-difference diagram, and the pairs."""
    return _framed(paired_picture(found)) + tabular_html(found)


def paired_picture(found: PairedTests) -> str:
    """Return the critical-difference diagram of paired tests, or a line that says why there is none."""
    return pictures.critical_difference({"items": list(found.items), **paired_record(found)})


def audit_html(found: Audit) -> str:
    """Return an audit as markup for a page or a notebook; names are escaped."""
    parts = [f'<h1 style="font-size:1.35rem"><bdi>{html.escape(found.headline)}</bdi></h1>', _paragraph(found.about)]
    for state, head in FINDINGS.items():
        some = [one for one in found.findings if one.state == state]
        if not some:
            continue
        parts.append(f'<h2 style="font-size:1.1rem;color:{_COLOURS[state]}">{head}</h2>')
        parts.append(_silent(some) if state == "does not apply" else "".join(map(_finding, some)))
    return "".join(parts)


def _finding(one: Finding) -> str:
    rows = [("statistic", one.statistic_text), ("bar", one.bar_text)]
    if one.adversary_text:
        rows.append(("adversary", one.adversary_text))
    head = f'<h3 style="font-size:1rem;margin-bottom:0.2rem">{html.escape(one.title.capitalize())}</h3>'
    return f"<section>{head}<p><bdi>{html.escape(one.text())}</bdi></p>{table(['', ''], rows)}</section>"


def _silent(some: list[Finding]) -> str:
    lines = "".join(
        f"<li>{html.escape(one.title.capitalize())}: <bdi>{html.escape(one.reason_text)}</bdi></li>" for one in some
    )
    return f"<ul>{lines}</ul>"


def _record(consensus: Consensus, total: float, *, counts: bool) -> Record:
    """Return as much of the record of an analysis as a picture needs."""
    base = {"rule": "", "order": list(consensus.ranking.order), **consensus_record(consensus)}
    votes = {"total": total, "counts": counts}
    return {"items": list(consensus.items), "votes": votes, "consensus": base, "tiers": None, "spec": {"theta": None}}


def stand_alone(body: str, title: str = "holdrank") -> str:
    """Return a page with the style of reports around markup in which all names are escaped."""
    css = files("holdrank").joinpath("views/static/page.css").read_text("utf-8")
    about = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f"<!doctype html>{about}<title>{html.escape(title)}</title><style>{css}</style>"
    return f'{head}<div style="max-width:66rem;overflow:hidden">{body}</div>'


def _framed(svg: str, height: int | None = None) -> str:
    """Return a picture in a frame of a given height, or as high as the picture."""
    page = stand_alone(svg)
    height = height or math.ceil(float(re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)[0])) + _FRAME
    frame = f'<iframe sandbox srcdoc="{html.escape(page, quote=True)}" title="a picture by holdrank"'
    return f'{frame} style="width:100%;height:{height}px;border:0"></iframe>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; all text is escaped and isolated in its own writing direction."""
    titles = "".join(f'<th style="text-align:left">{html.escape(cell)}</th>' for cell in head)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left;vertical-align:top"><bdi>{html.escape(cell)}</bdi></td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    top = f"<thead><tr>{titles}</tr></thead>" if any(head) else ""
    return f"<table>{top}<tbody>{body}</tbody></table>"


def _paragraph(text: str) -> str:
    return f"<p><bdi>{html.escape(text)}</bdi></p>"
