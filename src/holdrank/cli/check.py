"""The command `check`: a gate that fails unless the claims about a consensus hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from holdrank.cli.attack import attack_parts
from holdrank.cli.limits import command_clock
from holdrank.cli.options import (
    CLAIMS,
    ReadingCommand,
    by_option,
    check_output,
    json_option,
    merge_option,
    quiet_option,
    read,
    reading_options,
    rule_option,
    settled_rule,
    statistic,
    statistic_of,
    summary_option,
    tell_rule,
    theta_option,
    time_option,
    write_summary,
)
from holdrank.cli.printing import EXIT_GATE, complain, print_json, progress_line, searching, tell_limit
from holdrank.errors import show
from holdrank.words.numbers import number, percent
from holdrank.words.prices import required

if TYPE_CHECKING:
    from holdrank.attacks.goals import Goal
    from holdrank.attacks.results import Attack
    from holdrank.rules.consensus import Consensus, Statistic
    from holdrank.votes.votes import Votes


class _Tested(NamedTuple):
    """A claim, whether it passed and why; without an attack, the claim is false."""

    claim: str
    passed: bool
    line: str
    attack: Attack | None

    def too_few(self, least: float) -> bool:
        """Whether it is not proved that breaking it takes such a share of the votes."""
        return self.attack is not None and _shares(self.attack)[0] < least


@click.command(cls=ReadingCommand)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--min-breakdown", type=click.FloatRange(0, 1), default=0.01, show_default=True,
              help="Share of the votes that it must take to break a claim, rounded up to whole votes.")  # fmt: skip
@click.option("--separated", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="LEVEL",
              help="Each claim must also be statistically significant at this level, such as 0.95.")  # fmt: skip
@click.option("--claim", "claims", multiple=True, metavar="CLAIM",
              help=f"Claim that must hold: {CLAIMS}; may be repeated. By default the order of every pair.")  # fmt: skip
@by_option
@rule_option
@theta_option
@merge_option
@time_option("all claims about a file")
@summary_option
@click.option("--badge", metavar="PICTURE", help="Write a badge with the weakest claim to this .svg file.")
@json_option
@quiet_option
@reading_options
def check(files: tuple[str, ...], min_breakdown: float, separated: float | None, claims: tuple[str, ...],
          by: str | None, rule: str, theta: float | str | None, merge: str, time_limit: float | None,
          summary: str | None, badge: str | None, as_json: bool, quiet: bool,
          reading: dict[str, Any]) -> int:  # fmt: skip
    """Fail unless the claims about the consensus of FILE hold.

    The exit code is 4 if a claim is false, or may break before the given share of the votes changes. Several files are
    checked one by one against the same claims.
    """
    for option, given in (("--json", as_json), ("--badge", badge is not None)):
        if given and len(files) > 1:
            raise click.UsageError(f"{option} takes one FILE; {len(files)} were given.")
    for file in files:
        if summary is not None:
            check_output("--summary", summary, file)
        if badge is not None:
            check_output("--badge", badge, file, (".svg",))
    passed = True
    for file in files:
        command_clock.begin()
        votes = read(file, reading if by is None else {**reading, "by": by}, quiet)
        settled = settled_rule(rule, votes)
        T = statistic_of(settled, theta, merge, votes)
        consensus, tested = _tested(votes, T, claims, min_breakdown, time_limit, theta is not None, quiet)
        if separated is not None:
            tested = _beyond_chance(votes, settled, consensus, tested, separated, by, tiers=theta is not None)
        if as_json:
            spec = {"rule": rule, "theta": theta, "merge": merge, "min_breakdown": min_breakdown}
            spec |= {"separated": separated, "by": by}
            _print_record(votes, T, consensus, tested, spec | {"time_limit": time_limit})
        else:
            where = f"{show(file, 200)}: " if len(files) > 1 else ""
            asked = required(min_breakdown, {"counts": votes.is_counts, "total": votes.total})
            needed = f" Required: {number(asked) if votes.is_counts else percent(asked)}."
            for one in tested:
                more = needed if one.too_few(min_breakdown) else ""
                click.echo(f"{'ok    ' if one.passed else 'FAILED'}  {where}{one.claim}: {one.line}{more}")
            tell_rule(rule, settled)
        if summary is not None or badge is not None:
            _write(file, votes, consensus, T, tested, min_breakdown, summary, badge)
        for one in tested:
            if one.attack is not None and not one.passed and _shares(one.attack)[1] >= min_breakdown:
                tell_limit(time_limit, one.attack.status, f"may decide {show(one.claim, 200)!r}")
        passed = passed and all(one.passed for one in tested)
    return 0 if passed else EXIT_GATE


def _tested(votes: Votes, T: Statistic, claims: tuple[str, ...], least: float, time_limit: float | None, tiers: bool,
            quiet: bool) -> tuple[Consensus, list[_Tested]]:  # fmt: skip
    """Return the consensus, and each claim with the votes needed to break it."""
    from holdrank.attacks.answers import attack
    from holdrank.attacks.goals import Distance, claimed, goal_against
    from holdrank.rules.merges import consensus_of
    from holdrank.status import Clock

    with progress_line(quiet):
        consensus = consensus_of(votes, T, command_clock.left(time_limit))
    if consensus.status.is_interrupted:
        complain("note: no claim was tested; the ranking was not finished")
        raise KeyboardInterrupt
    wrong = (
        "does not hold"
        if consensus.status.is_exact
        else "does not hold in the best ranking found within the time limit"
    )
    pairs = votes.n * (votes.n - 1) / 2
    wanted: list[tuple[str, Goal | None]] = [
        (claim, goal_against(claimed(claim, votes.items), votes.items, consensus.ranking, tiers=tiers))
        for claim in claims
    ]
    tested = []
    wanted = wanted or [("every pair", Distance(1 / pairs if pairs else 1.0))]
    clock = Clock(command_clock.left(time_limit))
    for done, (claim, goal) in enumerate(wanted):
        if goal is None:
            tested.append(_Tested(claim, False, wrong, None))
            continue
        limit = clock.time_limit(len(wanted) - done)
        with searching(quiet, f"testing: {show(claim, 60)}") as progress:
            found = attack(votes, T, goal, time_limit=limit, progress=progress)
        if found.status.is_interrupted:
            complain(f"note: {found.text()}")
            raise KeyboardInterrupt
        proved, enough = _shares(found)
        passed = proved >= least
        line = found.text() + ("" if passed or enough < least else " Not proved.")
        if isinstance(goal, Distance) and not passed and consensus.unique is False and found.votes_to_tie:
            line += " Other rankings are equally good already."
        tested.append(_Tested(claim, passed, line, found))
    return consensus, tested


def _shares(found: Attack) -> tuple[float, float]:
    """Return the proven lower bound and the upper bound on breaking a claim, as shares of the votes.

    They are shares of whole votes, as in the sentence, where votes are counts. Otherwise the share is an infimum: with
    exactly that share, the claim may still hold.
    """
    if not found.original.is_counts:
        return found.lower, found.upper
    total = found.original.total
    return found.votes_to_decide / total, found.votes_sufficient / total


def _beyond_chance(votes: Votes, rule: str, consensus: Consensus, tested: list[_Tested], level: float, by: str | None,
                   *, tiers: bool) -> list[_Tested]:  # fmt: skip
    """Return the claims, marked as failed where they are not statistically significant."""
    from holdrank.analysis.chance.rank_sets import rank_sets
    from holdrank.attacks.goals import Above, TopSet, Wins, claimed
    from holdrank.words.chance import beyond_text

    sets = rank_sets(votes, statistic(rule), level=level, by=by, rng=0)
    ranks = consensus.ranking.ranks if tiers else sets.consensus.ranking.ranks
    number = {name: k for k, name in enumerate(votes.items)}
    found = []
    for one in tested:
        said = None if one.claim == "every pair" else claimed(one.claim, votes.items)
        if isinstance(said, Above):
            apart = bool(sets.separated[number[said.upper], number[said.lower]])
        elif isinstance(said, Wins):
            apart = sets.surely_top(1) == (said.item,)
        elif isinstance(said, TopSet):
            apart = len(sets.surely_top(said.k)) == said.k
        else:
            apart = bool(sets.separated[ranks[:, None] < ranks].all())
        line = f"{one.line} {beyond_text(level, apart=apart)}"
        found.append(one._replace(passed=one.passed and apart, line=line) if one.attack is not None else one)
    return found


def _print_record(
    votes: Votes, T: Statistic, consensus: Consensus, tested: list[_Tested], spec: dict[str, Any]
) -> None:
    from holdrank.analysis.records import reported_record
    from holdrank.rules.consensus import name_of

    rows = []
    for one in tested:
        record = None if one.attack is None else attack_parts(one.attack, T)["attack"]
        rows.append({"claim": one.claim, "holds": one.attack is not None, "passed": one.passed, "attack": record})
    reported = reported_record(consensus, name_of(T), auto=spec["theta"] == "auto")
    print_json("check", votes, spec=spec, **reported, claims=rows)


def _write(file: str, votes: Votes, consensus: Consensus, T: Statistic, tested: list[_Tested], least: float,
           summary: str | None, badge: str | None) -> None:  # fmt: skip
    """Write the summary and the badge for a pipeline."""
    from holdrank.attacks.results import amounts
    from holdrank.files.writers import write_whole
    from holdrank.rules.consensus import name_of
    from holdrank.views.summaries import Checked, Claim, check_badge, check_summary

    claims = [
        Claim(one.claim, one.passed, one.line, None if one.attack is None else amounts(one.attack)) for one in tested
    ]
    found = Checked(file, votes, name_of(T), consensus.ranking, least, claims)
    if summary is not None:
        write_summary(summary, check_summary(found))
    if badge is not None:
        write_whole(Path(badge), check_badge(found).encode("utf-8", "backslashreplace"))
