"""The commands `breakdown` and `tradeoff`: how many votes move the consensus, and what robustness costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    ReadingCommand,
    checkpoint_option,
    merge_option,
    read,
    result_options,
    rule_option,
    search_time_option,
    settled_rule,
    statistic,
    statistic_of,
    tell_rule,
    theta_option,
    worker_options,
)
from holdrank.cli.printing import (
    complain,
    exit_code,
    plain_table,
    print_json,
    print_table,
    progress_line,
    room_beside,
    searching,
    shows,
    tell_limit,
)
from holdrank.cli.rank import tiers_text
from holdrank.errors import show
from holdrank.status import TIERS_PRICED_UP_TO
from holdrank.words.nouns import noun_of
from holdrank.words.numbers import number, percent, plural
from holdrank.words.prices import AMOUNTS, NOT_KNOWN, price, share_price, tie_text
from holdrank.words.results import best_text, certainty

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.analysis.tradeoff import Tradeoff
    from holdrank.votes.votes import Votes

_BAR, _SHORT_BAR, _SHORTEST_BAR = 30, 16, 4  # columns
_MOST_ROWS = 40  # of a table
_MOST_PAIRS = 1_000  # beyond this many, only some distances are computed


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@rule_option
@theta_option
@merge_option
@click.option("--delta", "deltas", type=click.FloatRange(0, 1), multiple=True,
              help="Distance as a share of the pairs; may be repeated. By default all distances, or some of them for "
              f"more than {_MOST_PAIRS:,} pairs.")  # fmt: skip
@click.option("--method", type=click.Choice(["auto", "exact", "search", "bounds", "smooth", "paper"]), default="auto",
              show_default=True, help="exact: certified values; search: attacks by search; bounds: the paper's "
              "theorems; smooth: improved estimator; paper: the paper's estimator as written.")  # fmt: skip
@click.option("--distance", type=click.Choice(["hausdorff_ns", "hausdorff_half"]), default="hausdorff_ns",
              show_default=True, help="Distance between rankings with ties.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="Random seed for --method smooth and paper.")
@click.option("--steps", type=click.IntRange(min=1), help="Steps of --method paper; 30,000 by default.")
@search_time_option
@worker_options
@checkpoint_option
@result_options
def breakdown(file: str, files: tuple[str, ...], rule: str, theta: float | str | None, merge: str,
              deltas: tuple[float, ...], method: str, distance: str, seed: int | None, steps: int | None,
              time_limit: float | None, executor: Executor | None, checkpoint: str | None, require_proof: bool,
              as_json: bool, quiet: bool, verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Compute how many votes must change to move the consensus.

    Each row gives a distance (the number of item pairs whose order changes) and how many votes must be replaced to
    reach it. For several files, the output shows the first distance of each, or those of --delta; --jobs and
    --scheduler spread the files over processes, and the time limit applies to each file.
    """
    from holdrank.analysis.records import curve_record, reported_record
    from holdrank.attacks.answers import breakdown as compute

    how: dict[str, Any] = {"deltas": deltas or None, "method": method, "distance": distance, "rng": seed}
    if steps is not None:
        from holdrank.attacks.estimator.options import PaperOptions

        if method != "paper":
            raise click.UsageError("--steps applies only to --method paper.")
        how["options"] = PaperOptions(steps=steps)
    asked: dict[str, Any] = {"rule": rule, "theta": theta, "merge": merge}
    spec = {**asked, "deltas": list(deltas) or None, "method": method, "distance": distance, "seed": seed,
            "time_limit": time_limit}  # fmt: skip
    if files or executor is not None or checkpoint is not None:
        means: dict[str, Any] = {"executor": executor, "checkpoint": checkpoint, "time_limit": time_limit}
        name, found = _breakdowns((file, *files), asked, {**how, **means, "reading": reading}, quiet)
        if as_json:
            print_json("breakdowns", None, spec=spec, files=found)
        else:
            _print_breakdowns(name, found, every=bool(deltas))
        return _worst_code(found, require_proof)
    votes = read(file, reading, quiet)
    rule = settled_rule(asked["rule"], votes)
    T = statistic_of(rule, theta, merge, votes)
    how["deltas"] = deltas or _some_distances(votes.n)
    with searching(quiet, "computing the breakdown") as progress:
        one = compute(votes, T, **how, time_limit=command_clock.left(time_limit), progress=progress)
    if verbose:
        complain(f"{one.status}: method {one.method}; {one.seconds:.3f} s")
    curve = curve_record(one)
    if as_json:
        reported = reported_record(one.consensus, one.statistic, auto=theta == "auto")
        print_json("breakdown", votes, spec=spec, **reported, breakdown=curve, seconds=round(one.seconds, 6))
    else:
        _print_breakdown(votes, curve)
        if how["deltas"] and not deltas:
            every = votes.n * (votes.n - 1) // 2
            click.echo(f"{len(how['deltas'])} of {every:,} distances; --delta asks about others")
        tell_rule(asked["rule"], rule)
    tell_limit(time_limit, one.status, "may close the gaps")
    return exit_code(one.status, require_proof)


@click.command(cls=ReadingCommand)
@click.argument("file")
@rule_option
@merge_option
@click.option("--delta", type=click.FloatRange(0, 1, min_open=True),
              help="Distance that counts as broken, as a share of the pairs; one pair by default. For more than "
              f"{TIERS_PRICED_UP_TO} items the default is that another item shares or takes first place.")  # fmt: skip
@click.option("--tolerance", type=click.FloatRange(min=0), default=0.02, show_default=True,
              help="Extra loss that the best threshold may have, compared with the ranking without ties.")  # fmt: skip
@click.option("--most", type=click.IntRange(min=1), default=200, show_default=True,
              help="Maximum number of thresholds to try.")  # fmt: skip
@search_time_option
@worker_options
@checkpoint_option
@result_options
def tradeoff(file: str, rule: str, merge: str, delta: float | None, tolerance: float, most: int,
             time_limit: float | None, executor: Executor | None, checkpoint: str | None, require_proof: bool,
             as_json: bool, quiet: bool, verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Compare loss and robustness of the tiers of FILE at every threshold.

    Each row is a threshold at which the tiers change: what the ties cost, and how many votes must change to break
    them.
    """
    from holdrank.analysis.records import ranking_record, tradeoff_record
    from holdrank.analysis.tradeoff import tradeoff as compute
    from holdrank.attacks.goals import NewWinner

    votes = read(file, reading, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    with searching(quiet, "computing the trade-off between loss and robustness") as progress:
        limits: dict[str, Any] = {
            "tolerance": tolerance,
            "time_limit": command_clock.left(time_limit),
            "progress": progress,
        }
        means: dict[str, Any] = {"executor": executor, "checkpoint": checkpoint}
        # As in a report: one vote moves some pair of many items, which says nothing about thresholds.
        goal = NewWinner() if delta is None and votes.n > TIERS_PRICED_UP_TO else None
        found = compute(votes, statistic(rule), merge=merge, delta=delta, goal=goal, most=most, **limits, **means)  # type: ignore[arg-type]
    if verbose:
        complain(f"{found.status}; {found.seconds:.3f} s")
    if as_json:
        spec = {"rule": asked, "merge": merge, "delta": delta, "tolerance": tolerance, "most": most,
                "time_limit": time_limit}  # fmt: skip
        parts = {"consensus": ranking_record(rule, found.base), "tradeoff": tradeoff_record(found)}
        print_json("tradeoff", votes, spec=spec, **parts, seconds=round(found.seconds, 6))
    else:
        _print_tradeoff(votes, found, rule)
        tell_rule(asked, rule)
    tell_limit(time_limit, found.status, "may close the gaps", found.seconds)
    return exit_code(found.status, require_proof)


def _breakdowns(
    files: tuple[str, ...], asked: dict[str, Any], how: dict[str, Any], quiet: bool
) -> tuple[str, list[Any]]:
    """Return the name of the statistic, and the breakdown of every file."""
    from holdrank.analysis.many import breakdowns
    from holdrank.rules.merges import Robust

    T = statistic(asked["rule"])
    if asked["theta"] is not None:
        T = Robust(T, asked["theta"], merge=asked["merge"])
    with progress_line(quiet) as progress:
        found = breakdowns(files, T, **how, progress=progress)
    names = {one.statistic for one in found}
    return names.pop() if len(names) == 1 else "the rule chosen for each file", [one.record for one in found]


def _some_distances(n: int) -> list[float] | None:
    """Return the first distances and every hundredth of all, as shares of the pairs; None for all of a few."""
    pairs = n * (n - 1) // 2
    if pairs <= _MOST_PAIRS:
        return None
    moved = {*range(1, 21), *(round(pairs * part / 100) for part in range(1, 101))}
    return [far / pairs for far in sorted(moved)]


def _worst_code(found: list[Any], require_proof: bool) -> int:
    from holdrank.status import Status

    return max((exit_code(Status(one["breakdown"]["status"]), require_proof) for one in found), default=0)


# Tables


def _print_breakdowns(name: str, found: list[Any], *, every: bool) -> None:
    table = plain_table("ballots", "items", "pairs", "votes", "share")
    table.add_column("status", no_wrap=True)
    table.add_column("file", overflow="fold")
    for one in found:
        curve, n = one["breakdown"], len(one["items"])
        sizes = number(one["votes"]["total"]), str(n)
        for k in range(len(curve["delta"]) if every else min(len(curve["delta"]), 1)):
            table.add_row(*sizes, *_cells(curve, k, n, one["votes"]), show(one["file"], 200))
    print_table(f"Breakdown of {name}: {plural(len(found), 'file')}", None, table)


def _cells(curve: dict[str, Any], k: int, n: int, votes: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return the cells for one distance: pairs, votes, share, and status."""
    known = {name: curve[name][k] for name in AMOUNTS}
    cost, share = price(known, votes), share_price(known["lower"], known["upper"])
    whole = share.amount
    if votes["counts"]:
        tie = tie_text(known["ties"], known["sufficient"])
        whole = (NOT_KNOWN if cost is None else cost.amount) + (f" ({tie})" if tie else "")
    status = certainty(known["lower"], known["upper"], curve["method"])
    pairs = _pairs_moved(curve["delta"][k], n, curve["distance"])
    if "estimate" in curve:
        return pairs, "", percent(curve["estimate"][k]), status
    endless = known["lower"] is None
    return pairs, whole if votes["counts"] or endless else "", "" if endless else share.amount, status


def _pairs_moved(delta: float, n: int, distance: str) -> str:
    """Return a distance as a number of pairs, rounded up to the next possible one: halves where ties count half."""
    halves = 2 if distance == "hausdorff_half" else 1
    return number(math.ceil(halves * delta * n * (n - 1) / 2 - 1e-9) / halves)


def _print_breakdown(votes: Votes, curve: dict[str, Any]) -> None:
    from holdrank.analysis.records import votes_record

    about = votes_record(votes)
    rows = [(f"{delta:.4f}", *_cells(curve, k, votes.n, about)) for k, delta in enumerate(curve["delta"])]
    headings = ("distance", "pairs", f"{noun_of(about)}s", "share", "status")
    table = plain_table(*headings[:-1])
    table.add_column(headings[-1], no_wrap=True)
    table.add_column("curve", no_wrap=True)
    # Only the bars shrink when the line is full.
    width = max(min(room_beside(headings, rows), _BAR), _SHORTEST_BAR)
    shown = {"lower": curve["lower"], "upper": curve.get("estimate", curve["upper"])}
    kept, more = _steps([row[2:] for row in rows])
    for k, (row, bar) in enumerate(zip(rows, _bars(shown, width), strict=True)):
        if k in kept:
            table.add_row(*row, bar)
    print_table(f"Breakdown of {curve['statistic']}", votes, table)
    if len(kept) < len(rows):
        click.echo(f"of {len(rows):,} distances those where the curve rises{more}; --json lists all")
    for note in curve["notes"]:
        click.echo(f"note: {note}")
    click.echo(curve["status"])


def _steps(rows: list[Any]) -> tuple[set[int], str]:
    """Return which rows of a long table to show: the first ones where something changes; and a text on the others."""
    if len(rows) <= _MOST_ROWS:
        return set(range(len(rows))), ""
    rising = [k for k, row in enumerate(rows) if k == 0 or row != rows[k - 1]]
    more = len(rising) - _MOST_ROWS
    return set(rising[:_MOST_ROWS]), f", without {more:,} more" if more > 0 else ""


def _print_tradeoff(votes: Votes, found: Tradeoff, rule: str) -> None:
    from rich.text import Text

    from holdrank.analysis.records import tradeoff_record

    record = tradeoff_record(found)
    bars = _bars(record, _SHORT_BAR)
    rows = [
        (
            f"{theta:.4f}",
            f"{record['loss'][k]:.4f}",
            share_price(record["lower"][k], record["upper"][k]).amount,
            bars[k],
            "best" if k == found.best else "front" if found.pareto[k] else "",
        )
        for k, theta in enumerate(record["theta"])
    ]
    headings = ("theta", "loss", "breaks at", "robustness", "")
    table = plain_table(*headings[:3])
    for heading in (*headings[3:], "tiers"):
        table.add_column(heading, no_wrap=True)
    room = room_beside(headings, rows)
    front = [k for k in range(len(rows)) if found.pareto[k] or k == found.best or len(rows) <= _MOST_ROWS]
    kept = sorted({found.best, *front[:_MOST_ROWS]})
    for row, ranking in ((rows[k], found.rankings[k]) for k in kept):
        tiers = tiers_text(ranking, found.base.ranking, votes)
        # Only the tiers, which may be long, shrink when the line is full.
        table.add_row(*row, Text(tiers if len(tiers) <= room else f"{tiers[: max(room - 4, 0)]} ..."))
    until = "" if found.goal is None else ", until another item shares or takes first place"
    print_table(f"Trade-off of {rule} by {found.merge} merge{until}", votes, table)
    if len(kept) < len(rows):
        more = f", without {len(front) - len(kept):,} more" if len(front) > len(kept) else ""
        click.echo(f"of {len(rows):,} thresholds those on the front{more}; --json lists all")
    extra = float(found.loss[found.best]) - votes.loss(found.base.ranking)
    click.echo(best_text(record, extra, strict=len(found.rankings[0].buckets) == votes.n))
    click.echo(record["status"])


def _bars(found: dict[str, Any], width: int) -> list[str]:
    """Return a bar for each row: up to the lower bound, lighter up to the upper."""
    longest = max((end for name in ("lower", "upper") for end in found[name] if end is not None), default=0.0)
    full, light = "█░" if shows("█░") else "#-"
    bars = []
    for low, high in zip(found["lower"], found["upper"], strict=True):
        if low is None or not longest:
            bars.append("")
            continue
        # The last digits of a share must not decide the length: halves go up.
        ends = (low, longest if high is None else min(high, longest))
        solid, whole = (math.floor(end / longest * width + 0.5 + 1e-6) for end in ends)
        bars.append(full * solid + light * (whole - solid))
    return bars
