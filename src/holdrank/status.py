"""The status of a result, the progress of a long computation, and when it must stop."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic
from types import FrameType, TracebackType
from typing import Any, Literal

LEAST_DRAWS = 200  # of a bootstrap; fewer give no interval
DRAWS = 1000  # of a bootstrap, by default
AFTER_A_SIGNAL = 0.1  # seconds for a last step once Ctrl-C was pressed
REPORT_SECONDS = 40.0  # for all steps of an analysis, by default
TIERS_PRICED_UP_TO = 16
"""Up to this many items, an analysis attacks the tiers themselves. With more, it attacks the order below them: gaps and
the cut are those of the order, the trade-off asks about the first place only, and the tiers have no curve."""


class Status(StrEnum):
    """How a result was obtained; each value is the text that is displayed."""

    PROVED = "proven optimal"
    SCORED = "exact: sorted by score, not a distance minimiser on incomplete ballots"
    SORTED = "exact: sorted by score, not a distance minimiser"
    MERGED = "exact: tiers of a proven optimal ranking"
    UNPROVED = "not proven optimal: best ranking found, with a certified bound"
    TOO_LARGE = "too large to prove: best ranking found, with a certified bound"
    TIME_LIMIT = "time limit reached: best ranking found, with a certified bound"
    INTERRUPTED = "interrupted: best ranking found, with a certified bound"

    # Of breakdowns and attacks.
    LEAST = "exact: minimum share, attained by a verified attack"
    OUT_OF_REACH = "exact: no change of votes can do it"
    BETWEEN = "certified bounds: the minimum share lies between lower and upper"
    BETWEEN_TIME_LIMIT = "time limit reached: the minimum share lies between two certified bounds, lower and upper"
    BETWEEN_INTERRUPTED = "interrupted: the minimum share lies between two certified bounds, lower and upper"
    THEOREM = "bounds from the paper's theorems"
    ESTIMATE = "estimate: each upper bound is a verified attack; cheaper attacks may exist"
    AS_WRITTEN = "estimate by the paper's algorithm: not a bound, except where it gives a verified attack"

    # Of resampling.
    RESAMPLED = "estimate from bootstrap samples"
    RESAMPLED_TIME_LIMIT = "time limit reached: estimate from fewer bootstrap samples than requested"
    RESAMPLED_INTERRUPTED = "interrupted: estimate from fewer bootstrap samples than requested"

    @property
    def is_exact(self) -> bool:
        """Whether the result is exact, not just the best found."""
        rankings = (Status.PROVED, Status.SCORED, Status.SORTED, Status.MERGED)
        return self in (*rankings, Status.LEAST, Status.OUT_OF_REACH)

    @property
    def in_brief(self) -> str:
        """How the result was obtained, in two or three words."""
        return _IN_BRIEF[self]

    @property
    def is_timed_out(self) -> bool:
        """Whether a time limit ended the computation."""
        return self in (Status.TIME_LIMIT, Status.BETWEEN_TIME_LIMIT, Status.RESAMPLED_TIME_LIMIT)

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the computation."""
        return self in (Status.INTERRUPTED, Status.BETWEEN_INTERRUPTED, Status.RESAMPLED_INTERRUPTED)


_IN_BRIEF = {
    Status.PROVED: "proven optimal",
    **dict.fromkeys((Status.SCORED, Status.SORTED, Status.MERGED, Status.LEAST, Status.OUT_OF_REACH), "exact"),
    Status.UNPROVED: "not proved",
    Status.TOO_LARGE: "too large to prove",
    **dict.fromkeys((Status.TIME_LIMIT, Status.BETWEEN_TIME_LIMIT, Status.RESAMPLED_TIME_LIMIT), "time limit reached"),
    **dict.fromkeys((Status.INTERRUPTED, Status.BETWEEN_INTERRUPTED, Status.RESAMPLED_INTERRUPTED), "interrupted"),
    Status.BETWEEN: "certified bounds",
    Status.THEOREM: "bounds from theorems",
    **dict.fromkeys((Status.ESTIMATE, Status.AS_WRITTEN, Status.RESAMPLED), "estimate"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of a long computation.

    Parameters
    ----------
    name : str
        What is being counted, as displayed.
    done, total : int
        Units finished, and units known so far.
    known : str
        The best bounds so far, as displayed; empty if there are none.
    """

    name: str
    done: int
    total: int
    known: str = ""


class Clock:
    """When a computation must stop: after `time_limit` seconds, or at the first Ctrl-C.

    As a context manager it turns Ctrl-C into a request that the computation checks now and then, so that it can return
    its results so far. A second Ctrl-C raises the usual `KeyboardInterrupt`. A clock inside another one stops with it:
    so the parts of an analysis stop together.

    Examples
    --------
    >>> with Clock(time_limit=0) as clock:
    ...     clock.over(), clock.interrupted
    (True, False)
    """

    def __init__(
        self, time_limit: float | None = None, *, within: Clock | None = None, looks: int | None = None
    ) -> None:
        self.deadline = None if time_limit is None else monotonic() + time_limit
        self._within = within
        self._looks = looks
        self._heard = False
        self._listens = False
        self._token: Token[Clock | None]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed, here or in the clock around this one."""
        return self._heard or (self._within is not None and self._within.interrupted)

    @interrupted.setter
    def interrupted(self, value: bool) -> None:
        self._heard = value

    def over(self) -> bool:
        """Whether it is time to stop."""
        late = self.deadline is not None and monotonic() >= self.deadline
        return self._look() or late or self.interrupted

    def with_looks(self, looks: int) -> Clock:
        """Return a clock that stops with this one, or after a number of checks: the same work on any machine."""
        left = self.seconds_left()
        return Clock(None if math.isinf(left) else left, within=self, looks=looks)

    @property
    def used_up(self) -> bool:
        """Whether its checks are used up."""
        return self._looks is not None and self._looks < 0

    def _look(self) -> bool:
        """Count a check, here and in all clocks around this one; return whether one of them is used up."""
        if self._looks is not None:
            self._looks -= 1
        above = self._within is not None and self._within._look()
        return above or self.used_up

    def for_last_step(self, seconds: float) -> Clock:
        """Return this clock, or where it is over one for a short last step: some seconds, and fewer after Ctrl-C."""
        return Clock(min(seconds, AFTER_A_SIGNAL) if self.interrupted else seconds) if self.over() else self

    def share(self, tasks: int) -> Clock:
        """Return a clock for the next of several tasks, so that none takes the time of later ones."""
        return Clock(self.time_limit(tasks), within=self)

    def time_limit(self, tasks: float = 1) -> float | None:
        """Return an equal share of the remaining seconds as a time limit for the next task; None without a limit.

        Examples
        --------
        >>> Clock().time_limit(), Clock(time_limit=-1).time_limit()
        (None, 0.0)
        """
        left = self.seconds_left()
        return None if math.isinf(left) else max(left, 0.0) / tasks

    def seconds_left(self) -> float:
        """Return the seconds until the time limit; infinity without one."""
        return math.inf if self.deadline is None else self.deadline - monotonic()

    def __enter__(self) -> Clock:
        if self._within is None:
            self._within = _entered.get()
        self._token = _entered.set(self)
        # Only the main thread receives signals, and handlers of other programs are left alone.
        if threading.current_thread() is threading.main_thread():
            self._listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._listens:
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _entered.reset(self._token)
        if self._listens:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.interrupted:
            signal.default_int_handler(number, frame)
        self.interrupted = True


class Upward:
    """The upward calls: from a result to its views.

    The package's `__init__` fills them in, so that no room imports one above it.
    """

    html_of: Callable[[object], str]
    frame_of: Callable[[object, str | None], Any]


upward = Upward()


class Shown:
    """A result that notebooks show as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return upward.html_of(self)


class Tabular(Shown):
    """A result whose rows are a data frame too."""

    __slots__ = ()

    def to_frame(self, *, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return the result as a data frame.

        =====================  ==============================================================================
        result                 one row per
        =====================  ==============================================================================
        ``Consensus``          item, best first: `item`, `place` (tied items share the mean of their places),
                               `tier`, and where the rule has ratings `rating`, `rating_lower`, `rating_upper`
        ``Attack``             distinct ballot to change, in whole votes where they are known: `change`
                               ("removed" or "added"), `votes`, `ballot`
        ``Breakdown``          distance: `delta`, `lower`, `upper`, `exact`, and in whole votes `votes_needed`,
                               `votes_to_tie`, `votes_to_decide`, `votes_sufficient`
        ``Bootstrap``          item, best first: `item`, `place`, `best`, `median`, `worst`, `first`
        ``RankSets``           item, best first: `item`, `place`, `lower`, `upper`, `marginal_lower`,
                               `marginal_upper`
        ``BreakdownInterval``  interval: `goal`, `estimate`, `lower`, `upper`, `level`, `method`, `draws`
        ``PairedTests``        pair of items: `item`, `other`, `rank_difference`, `p_value`, `nemenyi_p`
        ``Tradeoff``           threshold: `theta`, `loss`, `lower`, `upper`, `pareto`, `best`, `tiers`, `order`
        ``Ratings``            item, best first: `item`, `rating`, `error`, `lower`, `upper`, `comparisons`
        ``Leaderboard``        item, best first: its own columns
        ``LeaveOneOut``        group left out, as in `rows`
        ``Removals``           item removed: `item`, `flips`, `winner`, `new_winner`, `order`
        ``VoterEffects``       voter, as in `rows`
        ``Audit``              probe, as in `rows`
        ``Verdict``            statement: `claim`, `finding`, `note`
        =====================  ==============================================================================

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; by default the first of these that is installed.

        Examples
        --------
        >>> import holdrank as hr
        >>> votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[2, 1])
        >>> print(hr.kemeny(votes).to_frame(backend="pandas"))
          item  place  tier
        0    a    1.0     1
        1    b    2.0     2
        2    c    3.0     3
        """
        return upward.frame_of(self, backend)


_entered: ContextVar[Clock | None] = ContextVar("_entered", default=None)  # the innermost clock of this thread
