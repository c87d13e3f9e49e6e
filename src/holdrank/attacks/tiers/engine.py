"""How few votes change the tiers of a robust statistic: a search over rankings with ties, certified at every step.

T(q) = pi cuts the space of votes into cells. A `Cell` says the upper tiers of pi and leaves the rest open; what must
hold for every q in it is linear: inside a tier all pairs deviate by at most theta, the median lists the tiers in this
order (for Kemeny: no rearrangement of whole tiers is better; for Borda: the scores fall), and neighbours that stand
alone deviate by theta. Its least budget (see `conditions`) bounds every attack into the cell. The votes that attain it
are handed to the statistic: when the result reaches an aim, that aim has an attack at the price of the bound. If not,
the cell is split (`splits`): by a pair that keeps two tiers apart, by the next tier, by the first item of a tier, or by
what makes the merge prefer its tiers to an interval across them. Cheapest cell first, so the small distances are
settled first. Before that, the cells around the best known attacks are tried: good attacks let the search skip
everything more expensive.

A cell whose conditions contradict each other is empty and forgotten. If a cell satisfies every condition known here and
the merge still ends elsewhere (equal maxima), the cell stays in the lower bound.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice, pairwise

import numpy as np

from holdrank.arrays.tolerances import DECIMALS, SAME
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan, Progress, nothing, serve_nearer
from holdrank.attacks.tiers.cells import Cell, Rows, Score, alone, masks_of, nearby
from holdrank.attacks.tiers.conditions import Altered, ComparedPairs, Row
from holdrank.attacks.tiers.passing import OrderPrices
from holdrank.attacks.tiers.runs import naive_unions
from holdrank.attacks.tiers.splits import Splitter
from holdrank.attacks.tiers.standing import StandingTiers
from holdrank.attacks.tiers.violations import cheapest_blocks, violated
from holdrank.rankings import Ranking
from holdrank.rules.merges import MERGES, Robust, consensus_of
from holdrank.rules.registry import rule_of
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_SAME = 1e-10  # budgets closer than this are not told apart
_WITNESS = 9e-7  # what an attack may cost above the bound that it attains
_LEVELS = 9  # decimals of bounds that are told apart when the cheapest cell is chosen
_MOST_STEPS = 20000  # a fixed effort, so that results do not depend on the speed of the machine
_HEAD = 30  # tiers tried before the search goes through cells
_QUICK = 30  # items whose pairs are all priced at once, even without time left
_FIRST_STEPS = 1500  # of them, at most, for attacks before the search
_FEW_STEPS = 200  # the same where no search follows
_MOST_EASED = 8  # rows of a cell that hold with equality only; such cells multiply
_ONE_RUN, _LEAST_RUN = 2.0, 0.05  # seconds for the tiers of attacked votes, no matter how little time is left
_MOST_IN_CELLS = 32  # items of tiers that can be gone through cell by cell, for goals other than distances


def find(
    votes: Votes,
    statistic: Robust,
    before: Ranking,
    aims: Sequence[Aim],
    change: Change,
    clock: Clock,
    progress: Progress | None,
) -> list[Found]:
    """Return bounds on the minimum budget of each aim, for a merge of Kemeny, Borda or another median.

    Notes
    -----
    Exact where lower and upper agree. A base other than Kemeny and Borda has no linear conditions on its order here:
    only ties and gaps bound it. So the lower bound is 0 wherever tiers that reach the aim need no other ties and gaps
    than the votes have already. Paper: the breakdown function (Section 2.2) of the
    plug-in statistics of Section 4.

    Examples
    --------
    >>> from holdrank import Distance, kemeny
    >>> votes = Votes.from_orders([["a", "b"], ["b", "a"]], weights=[70, 30])
    >>> aim = Distance(1.0).aim(Ranking([1, 2]), votes.items)
    >>> [found] = find(votes, Robust(kemeny, 0.05), Ranking([1, 2]), [aim], Change.REPLACE, Clock(), None)
    >>> round(found.lower, 6), round(found.upper, 6)
    (0.15, 0.15)
    """
    found: dict[int, Found] = {}
    together: dict[str, list[int]] = {}
    for number, aim in enumerate(aims):
        if aim.reached(before):
            found[number] = Found(0.0, 0.0, nothing(votes))
        elif float(statistic.theta) >= 0.5:  # everything is tied, for any votes
            found[number] = Found(math.inf)
        else:
            shared = str(aim.distance) or str(number)
            together.setdefault(shared, []).append(number)
    for numbers in together.values():
        group = [aims[number] for number in numbers]
        search = CellSearch(votes, statistic, before, group, change, clock, progress)
        search.advance(_MOST_STEPS)
        found.update(zip(numbers, search.results(), strict=True))
    return [found[number] for number in range(len(aims))]


class CellSearch:
    """Best-first search over cells for aims that share their steps: distances of one kind, or one other goal.

    It resumes where it stopped, and its bounds only improve.
    """

    def __init__(
        self,
        votes: Votes,
        statistic: Robust,
        before: Ranking,
        aims: Sequence[Aim],
        change: Change,
        clock: Clock,
        progress: Progress | None,
    ) -> None:
        self.votes, self.statistic, self.before, self.aims = votes, statistic, before, aims
        self.clock, self.progress = clock, progress
        self.pairs = ComparedPairs(votes, change)
        self.base = {"kendall": "kemeny", "spearman_rho": "borda"}.get(rule_of(statistic.base).median_of or "", "other")
        self.rows = Rows(self.pairs, float(statistic.theta), self.base)
        self.n = votes.n
        self.goal = Score(before, aims[0])
        self.needs = [self.goal.need(aim) for aim in aims]
        self.upper = [math.inf] * len(aims)
        self.floor = [math.inf] * len(aims)
        self.plans: list[Plan | None] = [None] * len(aims)
        self.former: list[list[Plan]] = [[] for _ in aims]  # attacks that were the best once
        self.after: list[Ranking | None] = [None] * len(aims)  # what the plans lead to
        self.splitter = Splitter(self.rows, self.goal, statistic.merge, min(self.needs), self._limit, self._solve)
        self.splitter.decided = self._decided
        self.ask: Callable[[int, int], bool] = lambda item, first: False  # noqa: ARG005
        self.tried: set[bytes] = set()
        self._last: Altered | None = None
        self._last_score = 0
        self.splits = self.cells = 0
        self.orders = self.splitter.orders = OrderPrices(self.rows, self.goal, self._late)
        self.goes_through = self.n <= _MOST_IN_CELLS or bool(self.goal.distance)
        self.first_steps = _FIRST_STEPS if self.goes_through else _FEW_STEPS
        self.known = [0.0] * len(aims)  # lower bounds from elsewhere
        self.heap: list[tuple[float, int, Cell]] = []
        self._work = self._steps()

    def learn(self, standing: StandingTiers, found: Sequence[Found]) -> None:
        """Use bounds and attacks found elsewhere, such as for the ranking below the tiers."""
        self.splitter.beginning = standing.beginning
        for number, one in enumerate(found):
            self.known[number] = max(self.known[number], one.lower)
            if one.plan is not None and one.upper < self.upper[number]:
                self.upper[number], self.plans[number] = one.upper, one.plan

    # The search

    def advance(self, steps: int) -> bool:
        """Search for a number of further steps; return whether nothing is left to do."""
        until = self._effort() + steps
        while next(self._work, self) is None:
            if self._effort() >= until or self.clock.over():
                return False
        return True

    def _steps(self) -> Iterator[None]:
        """Look for attacks first, then by turns for attacks and in the cheapest cells; pause after each step."""
        start = self.pairs.cheapest((), self.clock)
        root = Cell(0.0, 0, self.goal.possible((1 << self.n) - 1), (), (), (1 << self.n) - 1, change=start)
        self.heap.append((-1.0, 0, root))
        if self._late():
            return
        attacks = self._first_attacks(root)
        yield from islice(attacks, _HEAD)
        # Of many items, the first tiers that may come are too many to list.
        cells = self._cheapest_cells() if self.goes_through else iter(())
        turns = deque([cells, attacks])
        while turns:
            work = turns.popleft()
            if next(work, self) is None:
                turns.append(work)
                yield

    def _cheapest_cells(self) -> Iterator[None]:
        """Solve or split the cell with the smallest bound, one after the other."""
        count = 1
        while self.heap and self.cells < _MOST_STEPS:
            cell = self.splitter.bounded_again(heapq.heappop(self.heap)[2])
            self.cells += 1
            if self._limit(cell) < 0:
                self._close(cell)
                continue
            if self._asks_about(cell):
                heapq.heappush(self.heap, (round(max(self._urgency(cell), cell.bound), _LEVELS), -count, cell))
                count += 1
                continue
            if self.progress is not None:
                self.progress(Step("cells", count - len(self.heap), count))
            # A cell that leaves the aims open is seldom worth a program: the prices of its tiers bound it as well.
            if cell.solved or (cell.rest and cell.score < max(self.needs)):
                self.splits += 1
                parts = self.splitter.split(cell)
                if parts is None:
                    self._close(cell)
                children = parts or []
            else:
                better = self._solve(cell)
                if better is None:  # the clock
                    heapq.heappush(self.heap, (cell.bound, count, cell))
                    return
                # Where the conditions can only be met weakly there is no attack, and nothing to split.
                children = [better] if better.met else []
                if not children:
                    self._close(better)
            for child in children:
                if self._limit(child) < 0:
                    self._close(child)
                else:
                    # Among equals the last comes first: there the search is deepest.
                    heapq.heappush(self.heap, (round(self._urgency(child), _LEVELS), -count, child))
                    count += 1
            yield

    def _asks_about(self, cell: Cell) -> bool:
        """Ask how soon the ranking lists a newcomer as early as this cell does; whether that was not known yet."""
        first = 0
        for block in (block for tier in cell.tiers for block in tier):
            first |= block
            if new := block & self.goal.newcomers:
                return alone(new) and self.ask(new.bit_length() - 1, first.bit_count())
        return False

    def results(self) -> list[Found]:
        """Return bounds and attacks; a larger distance costs at least as much."""
        floor = [
            min([self.floor[number], *(self._bound(cell, number) for _, _, cell in self.heap)])
            for number in range(len(self.aims))
        ]
        order = sorted(range(len(self.aims)), key=self.needs.__getitem__)
        upper, plans = [self.upper[number] for number in order], [self.plans[number] for number in order]
        serve_nearer(upper, plans, farther_if_equal=True)
        lower = np.empty(len(order))
        least = 0.0
        for at, number in enumerate(order):
            # Rows may hold only for attacks below the upper bound: beyond it nothing is known.
            least = max(least, min(floor[number], upper[at]))
            lower[at] = least
            if upper[at] - least <= _SAME:  # one number, the certified one
                upper[at] = least
        upper = np.minimum.accumulate(upper[::-1])[::-1].tolist()  # which must not undercut a nearer one
        found = dict(zip(order, map(Found, lower.tolist(), upper, plans), strict=True))
        return [replace(found[n], others=tuple(former)) for n, former in enumerate(self.former)]

    def _bound(self, cell: Cell, number: int, bound: float = 0.0) -> float:
        """Return a lower bound on an attack into the cell that reaches this aim, at least the one given."""
        missing = self.needs[number] - cell.score
        least = max(cell.bound, bound, self.known[number])
        return least if missing <= 0 else max(least, self.orders.to_score(cell.unscored, missing))

    def _limit(self, cell: Cell, bound: float = 0.0) -> float:
        """Return the budget from which on the cell, with this bound, need not be searched; -1 if not at all."""
        uppers = [upper for number, upper in enumerate(self.upper) if self._bound(cell, number, bound) < upper - _SAME]
        return max(uppers, default=-1.0)

    def _decided(self, cell: Cell) -> bool:
        """Whether the cell reaches every aim that it is searched for, for any tiers below."""
        wanted = [self.needs[n] for n, upper in enumerate(self.upper) if self._bound(cell, n) < upper - _SAME]
        return cell.score >= max(wanted, default=0)

    def _urgency(self, cell: Cell) -> float:
        bounds = [self._bound(cell, number) for number in range(len(self.aims))]
        return min(bound for bound, upper in zip(bounds, self.upper, strict=True) if bound < upper - _SAME)

    def _close(self, cell: Cell) -> None:
        self.floor = [min(floor, self._bound(cell, number)) for number, floor in enumerate(self.floor)]

    def _late(self) -> bool:
        """Whether the time for slow steps with many items is over; skipping them keeps bounds valid."""
        return self.n > _QUICK and self.clock.over()

    def _first_attacks(self, root: Cell) -> Iterator[None]:
        """Look for good attacks: around `before`, then around what the best attacks lead to."""
        tiers = masks_of(self.before)
        waiting = [tiers[::-1]]
        waiting += [(*tiers[:i], sum(tiers[i:j]), *tiers[j:]) for i, j in combinations(range(len(tiers) + 1), 2)]
        waiting += [(1 << i, (1 << self.n) - 1 ^ (1 << i)) for i in range(self.n if self.n > 1 else 0)]
        waiting += nearby(tiers)
        tried, seen = {tiers}, {tiers}
        missed: list[Cell] = []
        left = self.first_steps
        while waiting:
            for tiers in waiting:
                if tiers not in tried and left > 0 and not self.clock.over():
                    tried.add(tiers)
                    left += self._effort()
                    missed += self._try_tiers(root, tiers)
                    left -= self._effort()
                    yield
            reached = self._reached() - seen
            if not reached:
                # The merge did not end where the cheapest cells wanted it to: look inside them.
                for number in range(len(self.aims)):
                    hopes = [cell for cell in missed if self._bound(cell, number) < self.upper[number] - _SAME]
                    if hopes and left > 0 and not self.clock.over():
                        missed.remove(hope := min(hopes, key=lambda cell: cell.bound))
                        left += self._effort()
                        self._descend(hope)
                        left -= self._effort()
                        yield
                reached = self._reached() - seen
            seen |= reached
            waiting = [near for tiers in sorted(reached) for near in nearby(tiers)]

    def _reached(self) -> set[tuple[int, ...]]:
        """Return the tiers to which the best attacks lead."""
        return {masks_of(after) for after in self.after if after is not None}

    def _try_tiers(self, root: Cell, tiers: tuple[int, ...]) -> list[Cell]:
        """Solve the cell of these tiers; return it if it may hold an attack but gave none."""
        cell = root
        for mask in tiers:
            if self.clock.over():
                return []
            same = self.goal.free and self.goal.clean(cell.rest) and mask == self.goal.top(cell.rest)
            cell = self.splitter.with_tier(cell, mask, free=same)
            if not same:
                cell = self.splitter.with_cheap_bound(cell)
            no_tie = not self.rows.ties and not (same or alone(mask))
            if no_tie or cell.most < min(self.needs) or self._limit(cell) < 0:
                return []
            if cell.most > 0 and cell.score >= max(self.needs):
                break
        solved = self._solve(cell)
        return [solved] if solved is not None and solved.met and self._limit(solved) >= 0 else []

    def _descend(self, cell: Cell) -> None:
        """Follow the cheapest part of a cell, and its cheapest part, as long as an attack there is of interest."""
        for _ in range(2 * self.n):
            parts = [part for part in self.splitter.split(cell) or () if self._limit(part) >= 0]
            solved = []
            for part in sorted(parts, key=lambda part: part.bound)[:4]:
                better = part if part.solved else self._solve(part)
                if better is not None and better.met and self._limit(better) >= 0:
                    solved.append(better)
            if not solved or self.clock.over():
                return
            cell = min(solved, key=lambda part: part.bound)

    def _effort(self) -> int:
        """Return the steps made so far: programs solved, cells split."""
        return self.pairs.programs + self.splits

    # One cell

    def _solve(self, cell: Cell) -> Cell | None:
        """Return the cell with its own bound; record what its cheapest votes achieve."""
        rows, change, bound = list(cell.rows), cell.change, cell.bound
        assert change is not None
        fresh = cell.chosen > 0 and not cell.solved and any(row.value(change) < row.nudge / 2 - SAME for row in rows)
        while True:
            broken = [] if fresh else violated(self.rows, cell, change, self.clock)
            known = {row.plain for row in rows}
            broken = [row for row in dict.fromkeys(broken) if row not in known]
            if not broken and not fresh:
                break
            fresh = False
            rows += broken
            limit = self._limit(cell, bound)
            solved = self.pairs.cheapest(rows, self.clock, change, limit)
            if solved is None:
                return None
            change, bound = solved, max(bound, solved.bound)
            if self._limit(cell, bound) < 0:
                return replace(cell, bound=bound, change=change, solved=True)
            if not change.met:
                if self.rows.contradict(rows, self.clock):
                    return replace(cell, bound=math.inf, change=change, solved=True)
                return self._solved_weakly(replace(cell, bound=bound, change=change, solved=True), rows)
        self._try(bound, change)
        tight = [row for row in rows[cell.chosen :] if row.value(change) < 2 * row.nudge + SAME]
        return replace(cell, bound=bound, rows=(*rows[: cell.chosen], *tight), change=change, solved=True)

    def _solved_weakly(self, cell: Cell, rows: list[Row]) -> Cell:
        """Return a cell that has votes only where some rows hold with equality; the tie rules may be for the attacker.

        What else there is to say about the cell still splits it.
        """
        change = cell.change
        assert change is not None
        self._try(cell.bound, change)
        eased = [row if row.value(change) >= row.nudge / 2 else self.rows.eased(row) for row in rows]
        solved = self.pairs.cheapest(eased, self.clock, change)
        if solved is None or not solved.met:
            return cell
        bound = max(cell.bound, solved.bound)
        self._try(bound, solved)
        # Where votes are only dropped, nothing breaks a tie: equality is the rule, and further splits lead nowhere.
        if not self.pairs.change.puts or sum(row.eases is not None for row in eased) > _MOST_EASED:
            return cell
        return replace(cell, bound=bound, rows=tuple(eased), change=solved)

    def _try(self, bound: float, change: Altered) -> None:
        """Run the statistic on the altered votes and keep them as attacks on the aims that they reach."""
        if all(upper <= bound + _SAME for upper in self.upper) or (not self.pairs.change.puts and bound >= 1):
            return
        if self.base == "kemeny":
            reached = self._reached_by(change)
            if not any(self._improves(number, bound) and need <= reached for number, need in enumerate(self.needs)):
                return
        plan = self.pairs.plan(change)
        mark = plan.removed.tobytes() + plan.added.tobytes() + plan.ranks.tobytes()
        if mark in self.tried:
            return
        self.tried.add(mark)
        budget = plan.budget(self.votes)
        if budget <= 0 or plan.leaves_nothing(self.votes):
            return
        seconds = min(max(self.clock.seconds_left(), _LEAST_RUN), _ONE_RUN)
        result = consensus_of(plan.applied(self.votes), self.statistic, seconds)
        if not result.status.is_exact:
            return  # a median cut short says nothing
        after = result.ranking
        value = min(budget, bound + 1e-11) if budget - bound <= _WITNESS else budget
        for number, aim in enumerate(self.aims):
            if self._improves(number, value) and aim.reached(after):
                self.former[number].append(plan)
                self.upper[number], self.plans[number], self.after[number] = value, plan, after

    def _improves(self, number: int, value: float) -> bool:
        return value < self.upper[number] - _SAME

    def _reached_by(self, change: Altered) -> int:
        """Return the score of altered votes (for Kemeny); cells share votes with those that they are parts of."""
        if self._last is not change:
            self._last, self._last_score = change, self.goal.reached(self._after(change))
        return self._last_score

    def _after(self, change: Altered) -> Ranking:
        """Return the statistic (for Kemeny) of altered votes, from their margins."""
        P = self.pairs.pairwise(change)
        N = np.zeros((self.n, self.n))
        N[self.pairs.first, self.pairs.second] = N[self.pairs.second, self.pairs.first] = change.compared
        order = cheapest_blocks(-(P - P.T) * N, self.clock)
        if self.statistic.merge == "naive" and self.n <= _QUICK:
            deviations = np.asarray(np.round(np.abs(P - 0.5), DECIMALS)[np.ix_(order, order)], dtype=np.float64)
            starts = naive_unions(deviations, self.rows.theta)
            return Ranking.from_buckets([order[a:b] for a, b in pairwise([*starts, self.n])])
        median = Ranking.from_order(order)
        return MERGES[self.statistic.merge](P, median, self.rows.theta)
