"""The commands `rank` and `tiers`: a consensus, strict or with tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    RULES,
    ReadingCommand,
    Threshold,
    as_option,
    by_option,
    checkpoint_option,
    expect_ratings,
    merge_option,
    rating_options,
    read,
    result_options,
    rule_option,
    settled_rule,
    statistic,
    tell_rule,
    tiers_of,
    time_option,
    worker_options,
)
from holdrank.cli.printing import (
    EXIT_INTERRUPTED,
    complain,
    exit_code,
    plain_table,
    print_json,
    print_table,
    progress_line,
    room_beside,
    tell_limit,
)
from holdrank.errors import show
from holdrank.status import LEAST_DRAWS
from holdrank.words.chance import neighbours_text
from holdrank.words.ladders import rungs
from holdrank.words.names import order_text, rule_name
from holdrank.words.numbers import decimal, percent, span
from holdrank.words.ratings import rating_texts
from holdrank.words.results import consensus_text, draws_text, few_draws_text, majority_text

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdrank.analysis.bootstrap import Bootstrap
    from holdrank.analysis.chance.rank_sets import RankSets
    from holdrank.rankings import Ranking
    from holdrank.rules.consensus import Consensus
    from holdrank.rules.ratings import Ratings
    from holdrank.votes.votes import Votes

_ROOM_FOR_BOTH = 36  # columns, for a name and a majority
_PROVES = "may prove the ranking optimal"


@click.command(cls=ReadingCommand)
@click.argument("file")
@rule_option
@click.option("--compare", is_flag=True, help="Also show the ranks by every other rule.")
@click.option("--draws", type=click.IntRange(min=LEAST_DRAWS),
              help="Bootstrap samples: show the interval of each place, alone and for all items at once.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap seed.")
@worker_options
@checkpoint_option
@by_option
@time_option("the exact ranking and the bootstrap")
@rating_options
@result_options
def rank(file: str, rule: str, compare: bool, draws: int | None, seed: int, executor: Executor | None,
         checkpoint: str | None, by: str | None, time_limit: float | None, rating: dict[str, Any],
         model: dict[str, Any], require_proof: bool, as_json: bool, quiet: bool, verbose: bool,
         reading: dict[str, Any]) -> int:  # fmt: skip
    """Rank the items of FILE by consensus.

    With Bradley-Terry, items have ratings on the Elo scale, with confidence intervals.
    """
    from holdrank.analysis import records
    from holdrank.analysis.chance.records import chance_record
    from holdrank.status import LEAST_DRAWS

    if compare and draws:
        raise click.UsageError("Give --compare or --draws, not both.")
    if not draws and (executor is not None or checkpoint is not None or by is not None):
        raise click.UsageError("--by, --jobs, --scheduler and --checkpoint need --draws.")
    if compare and (rating or model):
        raise click.UsageError("--compare shows places, not ratings; leave out the rating options.")
    if draws and model:
        raise click.UsageError(f"--draws does not work with --{next(iter(model))}; give one of the two.")
    votes = read(file, reading if by is None else {**reading, "by": by}, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    expect_ratings(rule, {**rating, **model})
    consensus = _consensus(votes, rule, time_limit, quiet, verbose, model)
    rated = consensus.ratings(**rating) if consensus.has_ratings else None
    drawn = sets = None
    if draws and not consensus.status.is_interrupted:
        means = {"executor": executor, "checkpoint": checkpoint, "by": by}
        drawn = _bootstrap(votes, rule, draws, seed, time_limit, quiet, means)
        sets = None if drawn.status.is_interrupted else _sets(votes, rule, by, seed, time_limit)
    others = _others(votes, rule, time_limit, quiet) if compare else {}
    few = drawn is not None and drawn.draws < LEAST_DRAWS
    if as_json:
        parts: dict[str, Any] = {"consensus": records.ranking_record(rule, consensus)}
        if rated is not None:
            parts["ratings"] = records.ratings_record(rated)
        if drawn is not None and not few:
            parts["bootstrap"] = records.bootstrap_record(drawn)
        if sets is not None:
            parts["chance"] = chance_record(sets)
        if compare:
            parts["others"] = [records.other_record(name, one, votes) for name, one in others.items()]
        spec = {
            "rule": asked,
            "reweight": False,
            "ties": "half",
            **model,
            "draws": draws or 0,
            "seed": seed,
            "by": by,
            "time_limit": time_limit,
        }
        print_json("rank", votes, spec=spec, **parts, seconds=round(consensus.seconds, 6))
    elif compare:
        print_comparison(votes, {rule: consensus, **others})
        tell_rule(asked, rule)
    else:
        title = f"{rule.title()} consensus{', pairs weighted equally' * ('reweight' in model)}"
        title += f", ties by {model['ties']}" if model.get("ties", "half") != "half" else ""
        print_ranking(votes, consensus, title, None if few else drawn, rated, sets)
        tell_rule(asked, rule)
    tell_limit(time_limit, consensus.status, _PROVES)
    if drawn is not None:
        if few:
            complain(f"note: {few_draws_text(drawn.draws, draws or 0)}")
        tell_limit(time_limit, drawn.status, f"may rank all {draws:,} draws")
    ended = drawn is not None and drawn.status.is_interrupted
    return EXIT_INTERRUPTED if ended else exit_code(consensus.status, require_proof)


@click.command(cls=ReadingCommand)
@click.argument("file")
@click.option(
    "--theta",
    type=Threshold(),
    metavar="T",
    default=0.05,
    show_default=True,
    help="Deviation from 50 % up to which two items count as tied; auto ties items that differ by no more than chance.",
)
@merge_option
@click.option("--path", is_flag=True, help="Show the tiers at every threshold where they change, without choosing one.")
@rule_option
@time_option("the exact ranking")
@result_options
def tiers(file: str, theta: float | str, merge: str, path: bool, rule: str, time_limit: float | None,
          require_proof: bool, as_json: bool, quiet: bool, verbose: bool, reading: dict[str, Any]) -> int:  # fmt: skip
    """Group the items of FILE into tiers.

    Items share a tier where the votes do not separate them.
    """
    from holdrank.analysis import records
    from holdrank.rules.merges import merge_path, pairs_for
    from holdrank.rules.registry import rule_named

    votes = read(file, reading, quiet)
    asked, rule = rule, settled_rule(rule, votes)
    spec = {"rule": asked, "theta": theta, "merge": merge, "time_limit": time_limit}
    if path:
        median = _consensus(votes, rule, time_limit, quiet, verbose)
        steps = merge_path(pairs_for(rule_named(rule).function, votes), median.ranking, merge=merge)  # type: ignore[arg-type]
        if as_json:
            parts = {"consensus": records.ranking_record(rule, median), "path": records.path_record(steps)}
            print_json("tiers", votes, spec=spec, **parts, seconds=round(median.seconds, 6))
        else:
            for at, one in steps:
                click.echo(f"{at:<8.4g} {tiers_text(one, median.ranking, votes)}")
            tell_rule(asked, rule)
        tell_limit(time_limit, median.status, _PROVES)
        return exit_code(median.status, require_proof)
    T = tiers_of(rule, theta, merge, votes)
    median = _consensus(votes, rule, time_limit, quiet, verbose)
    merged = T.merged(votes, median)
    if as_json:
        found = records.tiers_record(float(T.theta), merge, merged, auto=theta == "auto")
        parts = {"consensus": records.ranking_record(rule, median), "tiers": found}
        print_json("tiers", votes, spec=spec, **parts, seconds=round(median.seconds + merged.seconds, 6))
    else:
        print_tiers(votes, merged, median, f"Tiers of {rule} by {merge} merge at theta = {T.theta:.4g}", merge)
        tell_rule(asked, rule)
    tell_limit(time_limit, median.status, _PROVES)
    return exit_code(merged.status, require_proof)


def _consensus(votes: Votes, rule: str, time_limit: float | None, quiet: bool, verbose: bool,
               model: dict[str, Any] | None = None) -> Consensus:  # fmt: skip
    from holdrank.rules.bradley_terry import bradley_terry
    from holdrank.rules.registry import rule_of

    with progress_line(quiet, f"ranking by {rule_name(rule)}") as progress:
        if model:
            found = bradley_terry(votes, **model)
        else:
            found = rule_of(statistic(rule)).run(votes, command_clock.left(time_limit), progress)
    if verbose:
        complain(f"{found.status}: {found.proof}; {found.seconds:.3f} s")
    return found


def _others(votes: Votes, rule: str, time_limit: float | None, quiet: bool) -> dict[str, Consensus]:
    """Return the consensus of every other rule, with a note for rules that do not apply to these votes."""
    from holdrank.errors import HoldrankError

    found = {}
    for other in RULES:
        if other == rule or (other == "mean-score" and not votes.ballots.has_scores):
            continue
        try:
            found[other] = _consensus(votes, other, time_limit, quiet, False)
        except HoldrankError as error:
            complain(f"note: no {other}: {error.told(as_option)}")
    return found


def _bootstrap(votes: Votes, rule: str, draws: int, seed: int, time_limit: float | None, quiet: bool,
               means: dict[str, Any]) -> Bootstrap:  # fmt: skip
    from holdrank.analysis.bootstrap import bootstrap

    with progress_line(quiet) as progress:
        return bootstrap(
            votes,
            statistic(rule),
            draws=draws,
            rng=seed,
            time_limit=command_clock.left(time_limit),
            progress=progress,
            **means,
        )


def _sets(votes: Votes, rule: str, by: str | None, seed: int, time_limit: float | None) -> RankSets | None:
    """Return simultaneous confidence sets for the places, if the rule supports them."""
    from holdrank.analysis.chance.rank_sets import knows_chance, rank_sets
    from holdrank.status import LEAST_DRAWS

    if not knows_chance(statistic(rule)):
        return None
    found = rank_sets(votes, statistic(rule), by=by, rng=seed, time_limit=command_clock.left(time_limit))
    return found if found.draws >= LEAST_DRAWS else None


# Tables


def tiers_text(tiers: Ranking, median: Ranking, votes: Votes) -> str:
    """Return tiers on one line, tied items in the order of the median."""
    return order_text([rung.items for rung in rungs(tiers.ranks.tolist(), median.order)], votes.items)


def print_ranking(votes: Votes, consensus: Consensus, title: str, drawn: Bootstrap | None = None,
                  rated: Ratings | None = None, sets: RankSets | None = None) -> None:  # fmt: skip
    """Print a strict consensus, each item with its majority over the next, and its bootstrap interval."""
    from holdrank.analysis.records import consensus_record

    columns = ["place"]
    columns += [] if rated is None else ["rating", f"{percent(rated.level)} interval"]
    columns += [] if drawn is None else [f"{percent(drawn.level)} of draws", "first"]
    columns += [] if sets is None else [f"{percent(sets.level)}, all at once"]
    order = consensus.ranking.order
    wins = votes.wins()
    rows: list[list[str]] = []
    margins: list[str] = []
    for place, item in enumerate(order, start=1):
        following = order[place] if place < len(order) else None
        margins.append("" if following is None else majority_text(wins[item, following], wins[following, item]))
        spread = [str(place)]
        if rated is not None:
            spread += rating_texts(*(float(column[item]) for column in (rated.values, rated.lower, rated.upper)))
        if drawn is not None:
            spread += [span(float(drawn.best[item]), float(drawn.worst[item])), percent(float(drawn.first[item]))]
        if sets is not None:
            spread.append(span(sets.lower[item], sets.upper[item]))
        rows.append(spread)
    table = plain_table(*columns)
    table.add_column("item", overflow="fold")
    # Names come first: with many columns there is no room for majorities.
    with_margins = room_beside(columns, rows) >= _ROOM_FOR_BOTH
    if with_margins:
        table.add_column("preferred to the next by", overflow="fold")
    for item, row, margin in zip(order, rows, margins, strict=True):
        table.add_row(*row, show(votes.items[item], 60), *([margin] if with_margins else []))
    print_table(title, votes, table)
    click.echo(consensus_text(consensus_record(consensus)))
    for note in (*consensus.notes, *(() if rated is None else rated.notes)):
        click.echo(f"note: {note}")
    if drawn is not None:
        click.echo(draws_text(drawn.draws, drawn.unchanged, drawn.status.value))
    if sets is not None and sets.neighbours:
        click.echo(neighbours_text(sum(sets.neighbours), len(sets.neighbours), sets.level))


def print_comparison(votes: Votes, found: dict[str, Consensus]) -> None:
    """Print the places of the items by several rules, in the order of the first, and the loss of each rule."""
    table = plain_table(*found)
    table.add_column("item", overflow="fold")
    first = next(iter(found.values()))
    places = [one.ranking.places for one in found.values()]
    for item in first.ranking.order:
        table.add_row(*(f"{place[item]:g}" for place in places), show(votes.items[item], 60))
    table.add_row(*(decimal(votes.loss(one.ranking), 4) for one in found.values()), "loss (Kendall)")
    print_table("Places by rule", votes, table)
    for rule, one in found.items():
        if not one.status.is_exact:
            click.echo(f"{rule}: {one.status}")


def print_tiers(votes: Votes, merged: Consensus, median: Consensus, title: str, merge: str) -> None:
    """Print a consensus with ties, one line per tier, tied items in the order of the median."""
    from holdrank.analysis.records import consensus_record

    table = plain_table("tier")
    table.add_column("items", overflow="fold")
    for tier, rung in enumerate(rungs(merged.ranking.ranks.tolist(), median.ranking.order), start=1):
        table.add_row(str(tier), ", ".join(show(votes.items[item], 60) for item in rung.items))
    print_table(title, votes, table)
    for note in merged.notes:
        click.echo(f"note: {note}")
    click.echo(consensus_text(consensus_record(merged), merge))
