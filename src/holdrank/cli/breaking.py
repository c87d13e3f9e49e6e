"""The commands `breakdown`, `attack` and `tradeoff`: what it takes to change the consensus."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.options import (
    VOTE_ENDINGS,
    ReadingCommand,
    Threshold,
    check_output,
    checkpoint_option,
    merge_option,
    read,
    result_options,
    rule_option,
    statistic,
    worker_options,
)
from holdrank.cli.printing import (
    complain,
    consensus_json,
    exit_code,
    plain_table,
    print_json,
    print_record,
    print_table,
    progress_line,
    room_beside,
    shows,
    tier_names,
    tiers_text,
)
from holdrank.errors import show

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.analysis.tradeoff import Tradeoff
    from holdrank.attacks.goals import Goal
    from holdrank.attacks.results import Attack, Breakdown
    from holdrank.rules.consensus import Consensus, Statistic
    from holdrank.rules.merges import Robust
    from holdrank.votes.votes import Votes

_BALLOTS_SHOWN = 20
_BAR, _SHORT_BAR, _SHORTEST_BAR = 30, 16, 4  # columns

theta_option = click.option(
    "--theta",
    type=Threshold(),
    metavar="T",
    help="Break the tiers at this threshold, or at the one of tradeoff (auto); without it, the strict ranking.",
)
_time_limit_option = click.option("--time-limit", type=click.FloatRange(min=0), help="Seconds for the search.")


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@rule_option
@theta_option
@merge_option
@click.option("--delta", "deltas", type=click.FloatRange(0, 1), multiple=True,
              help="Distance as a share of the pairs, may be repeated; all if not given.")  # fmt: skip
@click.option("--method", type=click.Choice(["auto", "exact", "search", "bounds", "smooth"]), default="auto",
              show_default=True, help="Certified values, attacks by search, or the paper's methods.")  # fmt: skip
@click.option("--distance", type=click.Choice(["hausdorff_ns", "hausdorff_half"]), default="hausdorff_ns",
              show_default=True, help="Between rankings with ties.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="Of the random numbers of --method smooth.")
@_time_limit_option
@worker_options
@checkpoint_option
@result_options
def breakdown(file: str, files: tuple[str, ...], rule: str, theta: float | str | None, merge: str,
              deltas: tuple[float, ...], method: str, distance: str, seed: int | None, time_limit: float | None,
              executor: Executor | None, checkpoint: str | None, require_proof: bool, as_json: bool, quiet: bool,
              verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Tell how many votes of FILE must change to move the consensus.

    For every distance, as a number of pairs of items whose order changes: the votes that must be replaced. Of several
    files the first distance is shown, or those of --delta; --jobs and --scheduler share the files out, and the time
    limit is for each.
    """
    from holdrank.attacks.answers import breakdown as compute

    means: dict[str, Any]
    if files or executor is not None or checkpoint is not None:
        how: dict[str, Any] = {"deltas": deltas or None, "method": method, "distance": distance, "rng": seed}
        means = {"executor": executor, "checkpoint": checkpoint, "time_limit": time_limit}
        return _breakdowns((file, *files), rule, theta, merge, {**how, **means, "reading": reading}, require_proof,
                           as_json, quiet)  # fmt: skip
    votes = read(file, reading, quiet)
    T = statistic_of(rule, theta, merge, votes, time_limit, quiet)
    with progress_line(quiet) as progress:
        means = {"time_limit": time_limit, "rng": seed, "progress": progress}
        found = compute(votes, T, deltas or None, method=method, distance=distance, **means)  # type: ignore[arg-type]
    if verbose:
        complain(f"{found.status}: method {found.method}; {found.seconds:.3f} s")
    if as_json:
        print_json("breakdown", votes, rule=rule, theta=theta, merge=merge, breakdown=_breakdown_json(found))
    else:
        _print_breakdown(votes, found)
    return exit_code(found.status, require_proof)


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option("--new-winner", is_flag=True, help="Goal: another item gets to the first place.")
@click.option("--wins", metavar="X", help="Goal: the item X gets to the first place.")
@click.option("--above", nargs=2, metavar="B A", help="Goal: the item B stands above the item A.")
@click.option("--top-set", type=int, metavar="K", help="Goal: the first K items are not the same any more.")
@click.option("--enters", type=(str, int), metavar="X K", help="Goal: the item X gets among the first K.")
@click.option("--leaves", type=(str, int), metavar="X K", help="Goal: the item X is not among the first K any more.")
@click.option("--distance", type=click.FloatRange(0, 1), metavar="D",
              help="Goal: the consensus moves by this share of the pairs.")  # fmt: skip
@click.option("--change", type=click.Choice(["replace", "drop", "add"]), default="replace", show_default=True,
              help="What happens to votes.")  # fmt: skip
@rule_option
@theta_option
@merge_option
@click.option("--write", metavar="OUTPUT", help="Write the votes after the attack to this file, as convert does.")
@_time_limit_option
@result_options
def attack(file: str, change: str, rule: str, theta: float | str | None, merge: str, write: str | None,
           time_limit: float | None, require_proof: bool, as_json: bool, quiet: bool, verbose: bool,
           reading: dict[str, Any], **goals: Any) -> int:  # fmt: skip
    """Tell the least change of votes of FILE that reaches a goal.

    Give exactly one goal. The ballots to change are listed; --write writes the votes as they would then be.
    """
    from holdrank.attacks.answers import attack as compute

    goal = _goal(goals)
    if write is not None:
        check_output("--write", write, file, VOTE_ENDINGS)
    votes = read(file, reading, quiet)
    T = statistic_of(rule, theta, merge, votes, time_limit, quiet)
    with progress_line(quiet) as progress:
        found = compute(votes, T, goal, change=change, time_limit=time_limit, progress=progress)  # type: ignore[arg-type]
    if verbose:
        complain(f"{found.status}; {found.seconds:.3f} s")
    if as_json:
        print_json("attack", votes, rule=rule, theta=theta, merge=merge, attack=attack_json(found))
    else:
        _print_attack(found, T)
    if write is not None:
        _write(found, write, quiet)
    return exit_code(found.status, require_proof)


@click.command(cls=ReadingCommand)
@click.argument("file")
@rule_option
@merge_option
@click.option("--delta", type=click.FloatRange(0, 1, min_open=True),
              help="Distance that counts as broken, as a share of the pairs; one pair if not given.")  # fmt: skip
@click.option("--tolerance", type=click.FloatRange(min=0), default=0.02, show_default=True,
              help="Loss that the best threshold may add to that of the ranking without ties.")  # fmt: skip
@_time_limit_option
@worker_options
@checkpoint_option
@result_options
def tradeoff(file: str, rule: str, merge: str, delta: float | None, tolerance: float, time_limit: float | None,
             executor: Executor | None, checkpoint: str | None, require_proof: bool, as_json: bool, quiet: bool,
             verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Weigh loss against robustness for the tiers of FILE.

    For every threshold at which the tiers change: what the ties cost, and the votes that must change to break them.
    """
    from holdrank.analysis.tradeoff import tradeoff as compute

    votes = read(file, reading, quiet)
    with progress_line(quiet) as progress:
        limits: dict[str, Any] = {"tolerance": tolerance, "time_limit": time_limit, "progress": progress}
        means: dict[str, Any] = {"executor": executor, "checkpoint": checkpoint}
        found = compute(votes, statistic(rule), merge=merge, delta=delta, **limits, **means)  # type: ignore[arg-type]
    if verbose:
        complain(f"{found.status}; {found.seconds:.3f} s")
    if as_json:
        print_json("tradeoff", votes, rule=rule, merge=merge, tradeoff=_tradeoff_json(found))
    else:
        _print_tradeoff(votes, found, rule)
    return exit_code(found.status, require_proof)


def _breakdowns(files: tuple[str, ...], rule: str, theta: float | str | None, merge: str, how: dict[str, Any],
                require_proof: bool, as_json: bool, quiet: bool) -> int:  # fmt: skip
    from holdrank.analysis.many import breakdowns
    from holdrank.rules.merges import Robust
    from holdrank.status import Status

    T = statistic(rule) if theta is None else Robust(statistic(rule), theta, merge=merge)  # type: ignore[arg-type]
    with progress_line(quiet) as progress:
        found = [one.record for one in breakdowns(files, T, **how, progress=progress)]
    if as_json:
        print_record("breakdown", rule=rule, theta=theta, merge=merge, files=found)
    else:
        table = plain_table("ballots", "items", "pairs", "votes", "share")
        table.add_column("status", no_wrap=True)
        table.add_column("file", overflow="fold")
        for one in found:
            for row in _first_rows(one, how["distance"], every=how["deltas"] is not None):
                table.add_row(*row, show(one["file"], 200))
        print_table(
            f"Breakdown of {getattr(T, '__name__', rule)}: {len(found)} file{'s' * (len(found) != 1)}", None, table
        )
    return max((exit_code(Status(one["breakdown"]["status"]), require_proof) for one in found), default=0)


def _first_rows(one: dict[str, Any], distance: str, *, every: bool) -> list[tuple[str, ...]]:
    """Return what a table shows of the breakdown of one file of several."""
    from holdrank.words.numbers import number

    curve, n = one["breakdown"], len(one["items"])
    rows: list[tuple[str, ...]] = []
    for at, delta in enumerate(curve["delta"] if every else curve["delta"][:1]):
        low, high, *whole = (
            math.inf if curve[name][at] is None else curve[name][at]
            for name in ("lower", "upper", "needed", "ties", "decides", "sufficient")
        )
        exact = "out of reach" if math.isinf(low) else "exact"
        rows.append((
            number(one["votes"]["total"]),
            str(n),
            _pairs_moved(delta, n, distance),
            _votes_range(*whole) if one["votes"]["counts"] else "",
            _share_range(low, high),
            exact if low == high else {"smooth": "estimate", "bounds": "theorem"}.get(curve["method"], "bounds"),
        ))  # fmt: skip
    return rows


def statistic_of(rule: str, theta: float | str | None, merge: str, votes: Votes, time_limit: float | None,
                 quiet: bool) -> Statistic:  # fmt: skip
    """Return what is to be broken: a median, or its tiers at a threshold."""
    return statistic(rule) if theta is None else tiers_of(rule, theta, merge, votes, time_limit, quiet)[0]


def tiers_of(rule: str, theta: float | str, merge: str, votes: Votes, time_limit: float | None,
             quiet: bool) -> tuple[Robust, Consensus | None]:  # fmt: skip
    """Return the tiers of a rule at a threshold; where auto chooses it for these votes, also the ranking below them."""
    from holdrank.analysis.tradeoff import tradeoff
    from holdrank.rules.merges import Robust

    base, median = statistic(rule), None
    if theta == "auto":
        with progress_line(quiet) as progress:
            found = tradeoff(votes, base, merge=merge, time_limit=time_limit, progress=progress)  # type: ignore[arg-type]
        if found.status.is_interrupted:
            raise KeyboardInterrupt
        if not found.status.is_exact:
            complain("note: the time limit cut the search for the best threshold short; this is the best that is known")
        theta, median = float(found.theta[found.best]), found.base
    return Robust(base, theta, merge=merge), median  # type: ignore[arg-type]


def _goal(given: dict[str, Any]) -> Goal:
    from holdrank.attacks import goals

    makers: dict[str, Any] = {
        "new_winner": lambda _: goals.NewWinner(),
        "wins": goals.Wins,
        "above": lambda pair: goals.Above(*pair),
        "top_set": goals.TopSet,
        "enters": lambda pair: goals.Enters(*pair),
        "leaves": lambda pair: goals.Leaves(*pair),
        "distance": goals.Distance,
    }
    chosen = [name for name in makers if given[name] is not None and given[name] is not False]
    if len(chosen) != 1:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in chosen or makers)
        raise click.UsageError(f"Give one goal, not {len(chosen)}: {options}." if chosen else f"Give one of {options}.")
    goal: Goal = makers[chosen[0]](given[chosen[0]])
    return goal


def _write(found: Attack, output: str, quiet: bool) -> None:
    from holdrank.files import write_votes

    best = found.whole or found
    if best.votes is None:
        complain("note: no attack is known, so nothing was written")
        return
    write_votes(best.votes, output)
    if not quiet:
        complain(f"wrote {show(output, 200)}")


def _pairs_moved(delta: float, n: int, distance: str) -> str:
    """Return a distance as a number of pairs, rounded up to the next that there is: halves where ties count half."""
    halves = 2 if distance == "hausdorff_half" else 1
    return f"{math.ceil(halves * delta * n * (n - 1) / 2 - 1e-9) / halves:.12g}"


def _print_breakdown(votes: Votes, found: Breakdown) -> None:
    whole = (found.votes_needed, found.votes_to_tie, found.votes_to_decide, found.votes_sufficient)
    rows = [
        (
            f"{delta:.4f}",
            _pairs_moved(delta, votes.n, found.distance),
            "" if math.isnan(votes_[0]) else _votes_range(*votes_),
            _share_range(low, high),
            _row_status(low, high, found),
        )
        for delta, low, high, *votes_ in zip(
            *(column.tolist() for column in (found.delta, found.lower, found.upper, *whole)), strict=True
        )
    ]
    headings = ("distance", "pairs", "votes", "share", "status")
    table = plain_table(*headings[:-1])
    table.add_column(headings[-1], no_wrap=True)
    table.add_column("curve", no_wrap=True)
    # Only the bars give way when the line is full.
    width = max(min(room_beside(headings, rows), _BAR), _SHORTEST_BAR)
    longest = _longest(found)
    for row, low, high in zip(rows, found.lower.tolist(), found.upper.tolist(), strict=True):
        table.add_row(*row, _bar(low, high, longest, width))
    print_table(f"Breakdown of {found.statistic}", votes, table)
    for note in found.notes:
        click.echo(f"note: {note}")
    click.echo(str(found.status))


def _print_tradeoff(votes: Votes, found: Tradeoff, rule: str) -> None:
    from rich.text import Text

    longest = _longest(found)
    rows = [
        (
            f"{theta:.4f}",
            f"{loss:.4f}",
            "never" if math.isinf(low) else _share_range(low, high),
            _bar(low, high, longest, _SHORT_BAR),
            "best" if k == found.best else "front" if found.pareto[k] else "",
        )
        for k, (theta, loss, low, high) in enumerate(
            zip(*(a.tolist() for a in (found.theta, found.loss, found.lower, found.upper)), strict=True)
        )
    ]
    headings = ("theta", "loss", "breaks at", "robustness", "")
    table = plain_table(*headings[:3])
    for heading in (*headings[3:], "tiers"):
        table.add_column(heading, no_wrap=True)
    room = room_beside(headings, rows)
    for row, ranking in zip(rows, found.rankings, strict=True):
        tiers = tiers_text(ranking, found.base.ranking, votes.items)
        # Only the tiers, which may be long, give way when the line is full.
        table.add_row(*row, Text(tiers if len(tiers) <= room else f"{tiers[: max(room - 4, 0)]} ..."))
    print_table(f"Trade-off of {rule} by {found.merge} merge", votes, table)
    extra = found.loss[found.best] - votes.loss(found.base.ranking)
    after, before = ("never" if math.isinf(share) else f"at {share:.3%}" for share in found.lower[[found.best, 0]])
    least = "without ties" if len(found.rankings[0].buckets) == votes.n else "at theta = 0"
    click.echo(
        f"best: theta = {found.theta[found.best]:.4g} breaks {after} of the votes, {least} {before}, "
        f"for {extra:.4f} more loss (up to {found.tolerance:g} allowed)"
    )
    click.echo(str(found.status))


def _tradeoff_json(found: Tradeoff) -> dict[str, Any]:
    columns = ("theta", "loss", "lower", "upper", "pareto")
    rows = zip(*(getattr(found, name).tolist() for name in columns), strict=True)
    points = [{name: _finite(value) for name, value in zip(columns, row, strict=True)} for row in rows]
    tiers = [tier_names(ranking, found.base.ranking, found.base.items) for ranking in found.rankings]
    return {
        "delta": found.delta,
        "distance": found.distance,
        "tolerance": found.tolerance,
        "status": found.status.value,
        "base": consensus_json(found.base),
        "points": [{**point, "tiers": tier} for point, tier in zip(points, tiers, strict=True)],
        "best": found.best,
        "seconds": round(found.seconds, 6),
    }


def _votes_range(needed: float, ties: float, decides: float, sufficient: float) -> str:
    """Return how many votes decide, and how many tie where that is known to take fewer."""
    from holdrank.words.numbers import number

    if math.isinf(needed):
        return "none"
    tie = f" ({number(ties)} tie{'s' * (ties == 1)})" if 0 < ties < sufficient else " (tied now)" if ties == 0 else ""
    least = needed if math.isinf(decides) else decides
    if least == sufficient:
        return number(least) + tie * (sufficient > 0)
    return (f"{number(least)} or more" if math.isinf(sufficient) else f"{number(least)} to {number(sufficient)}") + tie


def _share_range(low: float, high: float) -> str:
    if math.isinf(low):
        return ""
    if low == high:
        return f"{low:.3%}"
    return f"{low:.3%} or more" if math.isinf(high) else f"{low:.3%} to {high:.3%}"


def _row_status(low: float, high: float, found: Breakdown) -> str:
    if low == high:
        return "out of reach" if math.isinf(low) else "exact"
    if found.method == "search" and not low:
        return "attack only"
    return {"bounds": "theorem", "smooth": "estimate"}.get(found.method, "bounds")


def _longest(found: Breakdown | Tradeoff) -> float:
    """Return the share that the longest bar stands for."""
    return max((x for x in (*found.upper.tolist(), *found.lower.tolist()) if math.isfinite(x)), default=0.0)


def _bar(low: float, high: float, longest: float, width: int) -> str:
    """Return a bar up to the lower bound, lighter up to the upper."""
    if math.isinf(low) or not longest:
        return ""
    full, light = "█░" if shows("█░") else "#-"
    # The last digits of a share must not decide the length: halves go up.
    solid, whole = (math.floor(min(share, longest) / longest * width + 0.5 + 1e-6) for share in (low, high))
    return full * solid + light * (whole - solid)


def _print_attack(found: Attack, T: Statistic) -> None:
    from holdrank.words.numbers import number

    click.echo(found.text())
    for note in found.notes:
        click.echo(f"note: {note}")
    best = found.whole or found
    if best.votes is not None and (best.removed or best.added):
        changes = [(number(weight), sign, ballot) for sign, part in (("-", best.removed), ("+", best.added))
                   for ballot, weight in part]  # fmt: skip
        table = plain_table("votes")
        table.add_column("")
        table.add_column("ballot", overflow="fold")
        # Both kinds of change are shown, however many ballots are taken away.
        taken, put = len(best.removed), len(best.added)
        shown = max(_BALLOTS_SHOWN - put, _BALLOTS_SHOWN // 2)
        for row in changes[: min(shown, taken)] + changes[taken:][: _BALLOTS_SHOWN - min(shown, taken)]:
            table.add_row(*row)
        click.echo()
        print_table("Taken away (-) and put in (+)", None, table)
        if more := len(changes) - table.row_count:
            click.echo(f"and {more:,} more ballots; --json lists all")
        click.echo(f"\nbefore: {found.before.text()}\nafter:  {T(best.votes).text()}")
    click.echo(str(found.status))


def _breakdown_json(found: Breakdown) -> dict[str, Any]:
    whole = ("votes_needed", "votes_to_tie", "votes_to_decide", "votes_sufficient")
    columns = ("delta", "lower", "upper", "exact", *whole)
    rows = zip(*(getattr(found, name).tolist() for name in columns), strict=True)
    return {
        "statistic": found.statistic,
        "method": found.method,
        "distance": found.distance,
        "status": found.status.value,
        "notes": list(found.notes),
        "seed": found.seed,
        "consensus": consensus_json(found.consensus),
        "points": [{name: _finite(value) for name, value in zip(columns, row, strict=True)} for row in rows],
        "seconds": round(found.seconds, 6),
    }


def attack_json(found: Attack) -> dict[str, Any]:
    """Return an attack as plain data."""
    best = found.whole or found
    return {
        "statistic": found.statistic,
        "goal": found.goal.text(),
        "change": found.change,
        "text": found.text(),
        "lower": _finite(found.lower),
        "upper": _finite(found.upper),
        "exact": found.exact,
        "votes_needed": _finite(found.votes_needed),
        "votes_to_tie": _finite(found.votes_to_tie),
        "votes_to_decide": _finite(found.votes_to_decide),
        "votes_sufficient": _finite(found.votes_sufficient),
        "verified": found.verified,
        "status": found.status.value,
        "notes": list(found.notes),
        "consensus": consensus_json(found.before),
        "whole_votes": found.whole is not None,
        "removed": [{"ballot": ballot, "weight": weight} for ballot, weight in best.removed],
        "added": [{"ballot": ballot, "weight": weight} for ballot, weight in best.added],
        "seconds": round(found.seconds, 6),
    }


def _finite(value: float | bool) -> float | bool | None:
    """Return a number for JSON, which has no infinity: null is "no number does it", or "none is known"."""
    return value if math.isfinite(value) else None
