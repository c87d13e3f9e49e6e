"""The tasks of a worker: read votes, analyse them, test a claim, compute a curve, compare two files, write votes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np

from holdrank.analysis.analyse import analyse
from holdrank.analysis.compare import compare
from holdrank.analysis.records import Record, attack_record, curve_record, finite, votes_record
from holdrank.analysis.spec import Spec
from holdrank.attacks import goals
from holdrank.attacks.answers import attack, breakdown
from holdrank.attacks.plans import Plan
from holdrank.errors import HoldrankError, InputError, LimitError, UsageError
from holdrank.files import read_votes, write_votes
from holdrank.files.writers import fitting_type
from holdrank.rankings import Ranking
from holdrank.rules.consensus import Statistic
from holdrank.rules.merges import Robust, consensus_of
from holdrank.rules.registry import rule_for, rule_named
from holdrank.status import Status, Step
from holdrank.votes.votes import Votes
from holdrank.words.prices import AMOUNTS

_STEPS = 12  # of a replay
_REPLAY_SECONDS = 10.0
_LARGEST_FILE = 32 * 2**20  # characters of attacked votes that are handed over
_MOST_DISTANCES = 60  # of a curve


Say = Callable[..., None]


def analysed(job: Record, files: Sequence[bytes], say: Say) -> Record:
    """Read votes, report how they were read, analyse them and report each step."""
    votes = _read(job, files[0], say)
    spec = Spec(**job["spec"])

    def partial(record: Record) -> None:
        say("partial", record=record)

    record = analyse(votes, spec, progress=_progress(say), partial=partial).record
    theta = None if record["tiers"] is None else record["tiers"]["theta"]
    statistic = _statistic({"rule": record["consensus"]["rule"], "theta": theta, "merge": spec.merge})
    return {"record": record, **_shown(votes, statistic, record["attack"], say)}


def claimed(job: Record, files: Sequence[bytes], say: Say) -> Record:
    """Test a claim: the votes that break it if it holds, else those that make it true."""
    votes = _read(job, files[0], say)
    statistic, tiers = _statistic(job), job["theta"] is not None
    limit = float(job["time_limit"])
    before = consensus_of(votes, statistic, limit / 3)
    holds, goal = goal_about(job["claim"], job["pair"], votes.items, before.ranking, tiers=tiers)
    found = attack(votes, statistic, goal, change=job["change"], time_limit=limit, progress=_progress(say))
    best = found.whole or found
    attacked = best.votes
    after = None if attacked is None else consensus_of(attacked, statistic, _REPLAY_SECONDS)
    row = attack_record(found, after.ranking if after is not None and after.status.is_exact else None)
    answer = {"claim": job["claim"], "holds": holds, "attack": row}
    return {"answer": answer, **_shown(votes, statistic, row, say, attacked)}


def goal_about(
    claim: str, pair: Sequence[int] | None, items: Sequence[str], before: Ranking, *, tiers: bool
) -> tuple[bool, goals.Goal]:
    """Return whether a claim holds, and the goal that changes this.

    A pair of numbers identifies the items, regardless of their names.

    Examples
    --------
    >>> goal_about("a above b", [0, 1], ["a", "b"], Ranking([1, 2]), tiers=False)
    (True, Above(upper='b', lower='a'))
    >>> goal_about("b wins", None, ["a", "b"], Ranking([1, 2]), tiers=False)
    (False, Wins(item='b'))
    """
    said = goals.claimed(claim, items) if pair is None else goals.Above(*(items[item] for item in pair))
    against = goals.goal_against(said, items, before, tiers=tiers)
    return against is not None, against or said


def filled_in(job: Record, files: Sequence[bytes], say: Say) -> Record:
    """Compute a breakdown curve from its near end to its far end, and report it after each distance."""
    votes = _read(job, files[0], say)
    statistic = _statistic(job)
    pairs = votes.n * (votes.n - 1) // 2
    if not pairs:
        raise UsageError("a breakdown curve needs two items")
    near = np.arange(1, pairs + 1)
    if pairs > _MOST_DISTANCES:
        near = np.unique(np.geomspace(1, pairs, _MOST_DISTANCES).round().astype(int))
    deltas = (near / pairs).tolist()
    curve = _first_curve(votes, statistic, deltas)
    say("partial", curve=curve)
    ends = monotonic() + float(job["time_limit"])
    open_ = 0
    for k, delta in enumerate(deltas):
        say("progress", name="distances", done=k, total=len(deltas), known="")
        left = ends - monotonic()
        if left <= 0:
            open_ += len(deltas) - k
            break
        found = curve_record(breakdown(votes, statistic, [delta], time_limit=left / (len(deltas) - k)))
        _put(curve, k, found)
        open_ += found["status"] not in (Status.LEAST, Status.OUT_OF_REACH)
        curve["status"] = found["status"]
        say("partial", curve=curve)
    curve["status"] = (Status.BETWEEN_TIME_LIMIT if open_ else Status.LEAST).value
    return {"curve": curve}


def _first_curve(votes: Votes, statistic: Statistic, deltas: list[float]) -> Record:
    """Return the bounds before any search: the theorems where they apply to the statistic, else none."""
    try:
        return curve_record(breakdown(votes, statistic, deltas, method="bounds"))
    except HoldrankError:
        found = curve_record(breakdown(votes, statistic, deltas[:1], time_limit=0))
        least = 0.0 if votes.is_counts else None
        known = {"lower": 0.0, "upper": None, "needed": least, "ties": None, "decides": least, "sufficient": None}
        lists = {name: [value] * len(deltas) for name, value in known.items()}
        return {**found, "delta": deltas, **lists, "status": Status.BETWEEN_TIME_LIMIT.value}


def _put(curve: Record, k: int, found: Record) -> None:
    """Enter one distance into a curve; a larger distance needs at least as many votes."""
    curve |= {"method": found["method"], "notes": found["notes"]}
    for name in AMOUNTS:
        curve[name][k] = found[name][0]
    for name in ("lower", "needed", "decides"):
        least = found[name][0]
        for far in range(k + 1, len(curve["delta"])):
            known = curve[name][far]
            if least is None or known is None:
                # No change reaches this distance, so none reaches a larger one; unless the votes are not counts.
                curve[name][far] = None
            else:
                curve[name][far] = max(known, least)


def compared(job: Record, files: Sequence[bytes], say: Say) -> Record:
    """Compare two files."""
    old, new = (_read({**job, **job["files"][k]}, data, say) for k, data in enumerate(files))
    rule = rule_for(job["rule"], old, new).function
    return {"comparison": compare(old, new, rule, job["draws"], job["seed"], progress=_progress(say))}


def written(job: Record, files: Sequence[bytes], say: Say) -> Record:  # noqa: ARG001 - all tasks are called alike
    """Write votes, which come as JSON Lines, in another form."""
    votes = read_votes(_named(files[0], "votes.jsonl"))
    extension = fitting_type(votes) if job["to"] == "soc" else job["to"]
    return {"text": _text(votes, extension), "extension": extension}


TASKS: dict[str, Callable[[Record, Sequence[bytes], Say], Record]] = {
    "analyse": analysed,
    "claim": claimed,
    "curve": filled_in,
    "compare": compared,
    "write": written,
}


def _read(job: Record, data: bytes, say: Say) -> Votes:
    # A name that the client has sent is a name for messages; nothing is opened by it.
    votes = read_votes(_named(data, PurePath(job["name"]).name or "votes"), **job["reading"])
    if votes.n > job["items"]:
        raise LimitError(
            f"the file has {votes.n:,} items; the studio shows up to {job['items']}",
            repair="use the command line, or choose some of the columns",
        )
    say("votes", votes=votes_record(votes), items=list(votes.items))
    return votes


def _statistic(job: Record) -> Statistic:
    """Return the statistic of a job: a rule, or its tiers at a threshold."""
    rule = rule_named(job["rule"]).function
    return rule if job["theta"] is None else Robust(rule, job["theta"], merge=job["merge"])


class _Named(io.BytesIO):
    """A file in memory with a name, because the reader uses its extension."""

    name = ""


def _named(data: bytes, name: str) -> io.BytesIO:
    file = _Named(data)
    file.name = name
    return file


def _progress(say: Say) -> Callable[[Step], None]:
    return lambda step: say("progress", name=step.name, done=step.done, total=step.total, known=step.known)


def _text(votes: Votes, extension: str) -> str:
    """Return votes as the text of a file; the writer makes files only."""
    with TemporaryDirectory() as folder:
        path = PurePath(folder) / f"votes.{extension}"
        try:
            write_votes(votes, path)
        except InputError as error:  # it names a folder of this machine
            raise error.at(path.name, None) from error
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()


# The replay of an attack: what the consensus is after the first of its changes, after more, after all.


def _shown(
    votes: Votes, statistic: Statistic, row: Record | None, say: Say, attacked: Votes | None = None
) -> dict[str, Any]:
    """Return the replay of an attack and the votes after it, each None where there is none."""
    say("progress", name="replay", done=0, total=1, known="")
    # An attack on scores replaces scores, which its record does not list.
    plan = None if row is None or votes.scores is not None else _plan(votes, row)
    if attacked is None and plan is not None:
        attacked = plan.applied(votes)
    text = None if attacked is None else _text(attacked, "jsonl")
    if text is not None and len(text) > _LARGEST_FILE:
        text = None
    steps = [] if row is None or plan is None else list(_steps(votes, statistic, plan, row))
    return {"replay": steps if len(steps) > 1 else None, "attacked": text}


def _plan(votes: Votes, row: Record) -> Plan | None:
    """Return the attack that a record lists; None if it lists only a part of it."""
    removed, added = row["removed"], row["added"]
    if any(part["kinds"] > len(part["listed"]) for part in (removed, added)) or not removed["kinds"] + added["kinds"]:
        return None
    row_of = {ranks.tobytes(): k for k, ranks in enumerate(votes.ranks)}
    taken = np.zeros(votes.distinct)
    for ballot in removed["listed"]:
        taken[row_of[np.array(ballot["ranks"], dtype=votes.ranks.dtype).tobytes()]] += ballot["weight"]
    ranks = np.array([ballot["ranks"] for ballot in added["listed"]], dtype=np.int64).reshape(-1, votes.n)
    return Plan(taken, ranks, np.array([ballot["weight"] for ballot in added["listed"]], dtype=float))


def _steps(votes: Votes, statistic: Statistic, plan: Plan, row: Record) -> Iterator[Record]:
    """Yield the consensus after parts of an attack, each computed.

    The ballots change in the order in which the record lists them, the commonest first.
    """
    ends = monotonic() + _REPLAY_SECONDS
    amount = max(float(plan.removed.sum()), float(plan.added.sum()))
    marks = np.linspace(0, amount, _STEPS + 1)
    if row["whole"]:
        marks = np.unique(marks.round())
    heavy = np.argsort(-plan.removed, kind="stable")
    for mark in marks.tolist():
        left = ends - monotonic()
        if left <= 0:
            return
        part = Plan(_first(plan.removed, mark, heavy), plan.ranks, _first(plan.added, mark))
        found = consensus_of(part.applied(votes), statistic, left)
        if not found.status.is_exact:
            return
        ranks = Ranking(found.ranking.ranks).ranks.tolist()
        share = mark / votes.total
        yield {"changed": finite(mark), "share": share, "ranks": ranks, "unique": found.unique}


def _first(weights: np.ndarray[Any, Any], amount: float, order: np.ndarray[Any, Any] | None = None) -> Any:
    """Return as much of the weights as fits into an amount, in an order."""
    order = np.arange(len(weights)) if order is None else order
    before = np.concatenate(([0.0], np.cumsum(weights[order])[:-1])) if len(weights) else np.zeros(0)
    part = np.zeros_like(weights)
    part[order] = np.clip(amount - before, 0.0, weights[order])
    return part
