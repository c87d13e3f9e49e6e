"""The matrix of all pairs, in the order of the consensus, with a box around each tier."""

from __future__ import annotations

from itertools import pairwise

from holdrank.analysis.records import Record
from holdrank.views.svg.canvas import Canvas, digits, fitted, sentence, width_of
from holdrank.words.ladders import tiers_of
from holdrank.words.names import named
from holdrank.words.pictures import MOST_PAIRED, compared, few_text, heatmap_text, matrix_key_text

_STEPS = 10  # colours from 0 to 100 %, and one between them for a tie
_TIE = 0.005  # a share this near to one half has the colour of a tie
_FEW = 5  # votes on a pair; fewer say little
_NUMBERED = 12  # items whose cells can hold a number
_SIDE, _LARGEST = 600.0, 40.0
_WIDEST_NAME = 220.0


def heatmap(record: Record) -> str:
    """Return the matrix of the first items: the cell of a row and a column is the share of votes for the row."""
    order, names = record["consensus"]["order"], record["items"]
    if len(names) < 2:
        return sentence("heatmap", heatmap_text(record))
    n = min(len(names), MOST_PAIRED)
    cell = min(_SIDE / n, _LARGEST)
    size = min(13.0, cell - 1)
    wide = min(max(width_of(named(names[item]), size) for item in order[:n]), _WIDEST_NAME)
    left, top = wide + 34, 72.0
    # Positions of the cells, for tooltips; a narrow page leaves the names out.
    where = {"names": digits(wide), "left": digits(left), "top": digits(top), "cell": f"{cell:.4g}", "items": str(n)}
    sheet = Canvas("heatmap", left + max(n * cell + 8, 366.0), data=where)
    _key(sheet, record, n, left)
    # One unit is one cell; a run of equal cells is a line as thick as a cell, so that few signs draw many cells.
    sheet.raw(f'<g transform="translate({left:.1f} {top:g}) scale({cell:.4g})"><g transform="translate(0 .5)">')
    for step, path in sorted(_runs(record, n).items()):
        sheet.raw(f'<path class="heat h{step}" d="{path}"/>')
    few = _hatched(record, n)
    if few:
        sheet.raw(f'<path class="few" stroke="url(#hatch)" d="{few}"/>')
    sheet.raw("</g>")
    start = 0
    for tier in tiers_of(record):
        edge = min(len(tier), n - start)
        if edge > 0:
            sheet.raw(f'<path class="tier-box" d="M{start} {start}h{edge}v{edge}h-{edge}z"/>')
        start += edge
    sheet.raw("</g>")
    for k, item in enumerate(order[:n]):
        y = top + (k + 0.5) * cell + 0.35 * size
        short = fitted(named(names[item]), wide, size)
        full = "" if short == names[item] else named(names[item], 400)
        sheet.raw(f'<g font-size="{size:.3g}">')
        sheet.text(wide, y, short, "name end", full=full)
        sheet.text(left - 6, y, str(k + 1), "soft end")
        sheet.raw("</g>")
        if k == 0 or (k + 1) % (1 if n <= 16 else 5) == 0:
            sheet.text(left + (k + 0.5) * cell, top - 6, str(k + 1), "small soft middle")
    if n <= _NUMBERED:
        _numbers(sheet, record, left, top, cell)
    return sheet.done(top + n * cell + 8, heatmap_text(record))


def _key(sheet: Canvas, record: Record, n: int, left: float) -> None:
    """Draw the scale, and what hatching means."""
    sheet.text(left, 12, matrix_key_text(record), "small")
    sheet.raw(
        '<defs><pattern id="hatch" width=".5" height=".5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<path class="hatch" d="M0 0v.5"/></pattern></defs>'
    )
    steps = [*range(_STEPS // 2), _STEPS, *range(_STEPS // 2, _STEPS)]
    for k, step in enumerate(steps):
        sheet.box(left + 20 * k, 20, 20, 12, f"key h{step}")
    for share, at, look in ((0, 0.0, ""), (50, 110.0, " middle"), (100, 220.0, " end")):
        sheet.text(left + at, 45, f"{share} %", f"small soft{look}")
    if _hatched(record, n):
        sheet.raw(f'<g transform="translate({left + 236:.1f} 20) scale(12)">')
        sheet.raw('<path class="few" stroke="url(#hatch)" d="M0 .5h2"/></g>')
        sheet.text(left + 264, 30.5, few_text(record, _FEW if _few(record) == _FEW else 0), "small")


def _runs(record: Record, n: int) -> dict[int, str]:
    """Return, for each colour, the cells that have it: the runs of all rows as one path."""
    share = record["pairs"]["share"]
    paths: dict[int, list[str]] = {}
    for i, row in enumerate(share[:n]):
        steps = [-1 if i == j or not compared(record, i, j) else _step(value) for j, value in enumerate(row[:n])]
        for start, end in _equal(steps):
            if steps[start] >= 0:
                paths.setdefault(steps[start], []).append(f"M{start} {i}h{end - start}")
    return {step: "".join(parts) for step, parts in paths.items()}


def _hatched(record: Record, n: int) -> str:
    """Return the cells with few or no votes."""
    least = _few(record)
    runs = []
    for i in range(n):
        sparse = [int(i != j and compared(record, i, j) < least) for j in range(n)]
        runs += [f"M{start} {i}h{end - start}" for start, end in _equal(sparse) if sparse[start]]
    return "".join(runs)


def _few(record: Record) -> float:
    """Return the weight of votes below which a pair is hatched; where all pairs have few, only those with none."""
    most = max(map(max, record["pairs"]["compared"]))
    return _FEW if record["votes"]["counts"] and most >= 4 * _FEW else 1e-12


def _step(share: float) -> int:
    if abs(share - 0.5) <= _TIE:
        return _STEPS
    return min(int(share * _STEPS), _STEPS - 1)


def _equal(steps: list[int]) -> list[tuple[int, int]]:
    """Return the runs of equal numbers as (start, end)."""
    cuts = [0, *(k for k in range(1, len(steps)) if steps[k] != steps[k - 1]), len(steps)]
    return list(pairwise(cuts))


def _numbers(sheet: Canvas, record: Record, left: float, top: float, cell: float) -> None:
    for i, row in enumerate(record["pairs"]["share"]):
        for j, share in enumerate(row):
            if i != j and compared(record, i, j):
                look = "middle small on-far" if not 0.2 <= share < 0.8 else "middle small on-near"
                sheet.text(left + (j + 0.5) * cell, top + (i + 0.5) * cell + 4, f"{100 * share:.0f}", look)
