"""All engines against each other, brute force and other packages, on random votes, for as long as you like.

``python tests/soak.py [--seconds 1800] [--seed N] [--only SEED]``, usually by ``make soak``. Every profile has a seed
of its own; a disagreement prints it, and ``--only SEED`` runs that profile alone. Exit code 1 when there was any.

What is compared on a profile, as far as its size allows:

- Kemeny, Borda, footrule, Copeland and tiers with brute force in whole numbers; Kemeny also by its batch engine, by its
  linear program, from pair counts, by an integer program of scipy's, and by pref_voting where ``make peers`` put it;
- laws: items renamed, votes doubled, everything upside down;
- attacks on a random goal, and breakdown curves: each attack is judged by the brute force of the tests, each exact
  bound proved in whole numbers, and on small votes held against every change of two ballots; replace, drop and add;
- mean scores of voters who rank alike and score differently, against every change of two voters;
- few votes that take sides among up to ten million that tie; weights from 1e-12 to 1e12;
- results with one number changed: none is proved;
- tiers also by what those of many items get, and over all thresholds;
- files: written in every format that can hold the votes, and read back, as a matrix and as marks.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from time import monotonic
from unittest.mock import patch

import numpy as np

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / ".peers" / "bin" / "python"
sys.path.insert(0, str(HERE))

import forging  # noqa: E402
import holdrank as hr  # noqa: E402
from holdrank.attacks.engines import inexact_engine  # noqa: E402
from holdrank.attacks.plans import adds_battles  # noqa: E402
from holdrank.proofs import exact  # noqa: E402
from holdrank.proofs.exact import ExactVotes  # noqa: E402
from holdrank.rules.kemeny import branch, parts, search  # noqa: E402
from holdrank.status import Clock  # noqa: E402
from holdrank.votes.ballots import SparseBallots  # noqa: E402
from holdrank.votes.forms import raw  # noqa: E402

import oracles  # noqa: E402
from strategies import KINDS, heavy_ballots, random_ranks, unlisted_rule  # noqa: E402

STATISTICS = {  # holdrank's, and what the brute force of the tests calls it
    "kemeny": (hr.kemeny, "kemeny"),
    "borda": (hr.borda, "borda"),
    "footrule": (hr.footrule, "footrule"),
    "copeland": (hr.copeland, "copeland"),
    "downward": (hr.Robust(hr.kemeny, 0.1), ("kemeny", 0.1, "downward")),
    "naive": (hr.Robust(hr.kemeny, 0.05, merge="naive"), ("kemeny", 0.05, "naive")),
    "downward borda": (hr.Robust(hr.borda, 0.05), ("borda", 0.05, "downward")),
    "naive borda": (hr.Robust(hr.borda, 0.03, merge="naive"), ("borda", 0.03, "naive")),
    "naive footrule": (hr.Robust(hr.footrule, 0.03, merge="naive"), ("footrule", 0.03, "naive")),
    "smith": (hr.Robust(hr.kemeny, 0.05, merge="smith"), None),
}
FORMATS = ("soc", "soi", "toc", "toi", "csv", "jsonl", "parquet", "xlsx", "order")
_PEER = """
import json, sys
from pref_voting.other_methods import kemeny_young_rankings
from pref_voting.profiles import Profile
for line in sys.stdin:
    asked = json.loads(line)
    profile = Profile(asked["orders"], rcounts=asked["weights"])
    rankings, _ = kemeny_young_rankings(profile)
    scores = profile.borda_scores()
    told = {"kemeny": [[int(i) for i in r] for r in rankings], "borda": [int(scores[i]) for i in range(asked["n"])]}
    print(json.dumps(told), flush=True)
"""


class Disagreement(Exception):  # noqa: N818
    """Two answers that should be one."""


def agree(one, other, what):
    if one != other:
        raise Disagreement(f"{what}: {one!r} is not {other!r}")


def _within_rounding(votes, plan, other):
    """Whether two plans have the same price up to the rounding of shares."""
    apart = max(abs(float((getattr(plan, part) - getattr(other, part)).sum())) for part in ("removed", "added"))
    return apart < 2e-9 * votes.total


class Soak:
    """Counts of what was compared, and the peer, if there is one."""

    def __init__(self):
        self.counts = Counter()
        self.peer = None
        if PEERS.exists():
            self.peer = subprocess.Popen([PEERS, "-c", _PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        if self.peer is not None:
            self.peer.stdin.close()
            self.peer.wait()

    def profile(self, seed):
        """Make the profile of a seed and compare everything on it."""
        rng = np.random.default_rng([97, seed])
        kind = KINDS[seed % len(KINDS)]
        n = int(rng.choice([2, 3, 4, 5, 6, 8], p=[0.05, 0.35, 0.3, 0.15, 0.1, 0.05]))
        ballots = []
        while not ballots:
            ballots = random_ranks(rng, kind, n, int(rng.integers(1, 12)))
        weights = {
            "few": lambda m: rng.integers(1, 4, m),
            "many": lambda m: rng.integers(1, 10**6, m),
            "huge": lambda m: rng.integers(10**11, 10**12, m),
            "shares": lambda m: rng.dirichlet(np.ones(m)),
            "spread": lambda m: 10.0 ** rng.uniform(-4, 4, m),
            "extreme": lambda m: 10.0 ** rng.uniform(-12, 12, m),
        }[
            str(
                rng.choice(["few", "many", "huge", "shares", "spread", "extreme"], p=[0.45, 0.2, 0.1, 0.15, 0.05, 0.05])
            )
        ](len(ballots))
        self.counts["profiles"] += 1
        if seed % 6 == 1:
            self.scores(rng, seed)
            return
        if seed % 6 == 2:
            ballots, weights = heavy_ballots(rng, min(n, 4))
            kind, n = "tied", min(n, 4)
        votes = hr.Votes.from_ranks(np.array(ballots), weights, unlisted=unlisted_rule(kind))
        if votes.weights.max() > 1e15 * votes.weights.min():
            self.extremes(votes, rng, seed)
            return
        self.medians(votes)
        self.laws(votes, rng)
        if seed % 10 == 0:
            self.files(votes)
        if n <= 5:
            self.breaking(votes, rng, seed)

    # Scores, and weights far apart.

    def scores(self, rng, seed):
        """Hold mean scores, and attacks on them, against brute force over whole voters."""
        n = int(rng.choice([2, 3]))
        rows = rng.integers(0, int(rng.choice([3, 20, 1000])), size=(int(rng.integers(3, 8)), n))
        if rng.random() < 0.5:  # voters who rank alike, by scores far apart
            rows = np.sort(rows, axis=1)[:, ::-1]
            rows[: len(rows) // 2] = rows[: len(rows) // 2, ::-1]
        unit = int(rng.choice([1, 10, 1000]))
        votes = hr.Votes.from_score_rows(rows / unit)
        tiers = oracles.tiers_by_mean_score(
            [[str(Fraction(int(s), unit)) for s in row] for row in rows], [1] * len(rows)
        )
        agree(hr.mean_score(votes).ranking, hr.Ranking.from_order(hr.Ranking(tiers).order), "mean scores")
        change = tuple(hr.Change)[seed % 3]
        goal, asked = self._goal(votes, rng)
        found = hr.attack(votes, hr.mean_score, goal, change=change)
        self._bounds(votes, hr.mean_score, found)
        before = tuple(found.before.ranking.ranks.tolist())
        if oracles.fulfils(asked, before, before):
            return
        weak, strict = oracles.fewest_voters(rows.tolist(), change, before, [asked], 2)[asked]
        if weak is not None and (found.votes_needed > weak or found.lower * votes.total > weak + 1e-9):
            raise Disagreement(f"mean_score: {weak} voters do {asked}, {found.votes_needed} are called needed")
        if strict is not None and found.votes_to_decide > strict:
            raise Disagreement(f"mean_score: {strict} voters decide {asked}, {found.votes_to_decide} are called needed")
        self.counts["attacks on mean scores"] += 1

    def extremes(self, votes, rng, seed):
        """Ask for attacks on votes whose weights differ by more than floats can add: no crash, nothing refuted."""
        for T in (hr.kemeny, hr.borda, hr.copeland):
            found = hr.attack(
                votes,
                T,
                self._goal(votes, rng)[0],
                change=tuple(hr.Change)[seed % 3],
                time_limit=20,
            )
            self.counts["attacks on weights far apart"] += 1
            if not found.lower <= found.upper:
                raise Disagreement(f"{T.__name__}: {found!r}")

    # Medians and tiers.

    def medians(self, votes):
        whole, n = ExactVotes.of(votes), votes.n
        least = exact.cheapest(exact.pair_costs(whole))
        loss = float(Fraction(least.cost, whole.total * n * (n - 1)))  # twice the cost, over twice the pairs
        found = hr.kemeny(votes)
        self._engine("Kemeny", found.loss, loss, found.status.is_exact)
        if votes.is_counts:
            agree((found.ranking.order, found.unique), (least.order, least.count == 1), "Kemeny's first optimum")
            agree(hr.kemeny(hr.PairCounts.from_votes(votes)).ranking, found.ranking, "Kemeny from pair counts")
            self.counts["engine comparisons"] += 2
        if n > 1:
            self._by_linear_program(votes, loss)
            self._by_scipy(votes, loss)
        if votes.unlisted == "bottom" and n > 1:
            batch = hr.kemeny_batch(votes.pairwise()[None]).loss
            self._engine("the batch engine", float(batch[0]), loss)
            self._scores(votes, whole)
        for rule in ("downward", "naive", "smith"):
            for theta in (0.0, 0.03, 0.1, 0.25):
                merged = hr.Robust(hr.kemeny, theta, merge=rule)(votes).ranking
                start = found.ranking.order
                by_hand = exact.merged(whole, start, theta, rule)
                agree([sorted(b) for b in merged.buckets], [sorted(b) for b in by_hand], f"{rule} merge at {theta}")
                self.counts["engine comparisons"] += 1
        strict = not (votes.ranks == 0).any() and all(len(set(row)) == n for row in votes.ranks.tolist())
        if self.peer is not None and strict and votes.is_counts and n <= 6 and votes.total < 10**9:
            self._by_peer(votes)

    def _engine(self, name, found, expected, proved=True):
        if not proved or not math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-10):
            raise Disagreement(f"{name}: loss {found!r}, brute force {expected!r}")
        self.counts["engine comparisons"] += 1

    def _by_linear_program(self, votes, loss):
        cost = votes.wins().T
        tolerance = parts.tie_tolerance(cost)
        lost, unit, whole = parts.lost_margins(cost, votes.is_counts, tolerance)
        clock = Clock()
        step, ties = (1.0, 0.0) if whole else (0.0, tolerance / unit)
        found = branch.solve(lost, search.good_order(lost, clock), step, ties, clock, None)
        self._engine("the linear program", parts.order_cost(cost, np.array(found.order)) / votes.pair_votes, loss)

    def _by_scipy(self, votes, loss):
        """Ask scipy's integer programs: x[i, j] is 1 if i comes before j, and no three items go round."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        n, wins = votes.n, votes.wins() / votes.total
        pairs = list(permutations(range(n), 2))
        at = {pair: k for k, pair in enumerate(pairs)}
        rows, low, high = [], [], []
        for i, j in pairs:
            if i < j:
                row = np.zeros(len(pairs))
                row[[at[i, j], at[j, i]]] = 1
                rows, low, high = [*rows, row], [*low, 1], [*high, 1]
        for i, j, k in permutations(range(n), 3):
            if i == min(i, j, k):
                row = np.zeros(len(pairs))
                row[[at[i, j], at[j, k], at[k, i]]] = 1
                rows, low, high = [*rows, row], [*low, 0], [*high, 2]
        cost = np.array([wins[j, i] for i, j in pairs])
        found = milp(
            cost,
            constraints=LinearConstraint(np.array(rows), low, high),
            integrality=1,
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0.0},
        )
        unit = votes.pair_votes / votes.total
        if not math.isclose(found.fun / unit, loss, rel_tol=1e-6, abs_tol=1e-6):
            raise Disagreement(f"scipy's integer program: {found.fun / unit} is not {loss}")
        self.counts["second opinions"] += 1

    def _scores(self, votes, whole):
        for name, rule, medians in (
            ("Borda", hr.borda, exact.sorted_by(exact.borda_scores(whole))),
            ("footrule", hr.footrule, exact.cheapest(exact.place_costs(whole))),
            ("Copeland", hr.copeland, exact.sorted_by(exact.copeland_scores(whole))),
        ):
            found = rule(votes)
            if votes.is_counts:
                agree((found.ranking.order, found.unique), (medians.order, medians.count == 1), name)
                self.counts["engine comparisons"] += 1

    def _by_peer(self, votes):
        orders = [sorted(range(votes.n), key=row.__getitem__) for row in votes.ranks.tolist()]
        asked = {"orders": orders, "weights": [int(w) for w in votes.weights], "n": votes.n}
        self.peer.stdin.write(json.dumps(asked) + "\n")
        self.peer.stdin.flush()
        told = json.loads(self.peer.stdout.readline())
        agree(
            sorted(tuple(order) for order in told["kemeny"]),
            [ranking.order for ranking in hr.kemeny_optima(votes)],
            "pref_voting's Kemeny rankings",
        )
        agree(
            tuple(sorted(range(votes.n), key=lambda i: (-told["borda"][i], i))),
            hr.borda(votes).ranking.order,
            "pref_voting's Borda",
        )
        self.counts["second opinions"] += 2

    # Laws.

    def laws(self, votes, rng):
        order = rng.permutation(votes.n)
        renamed = hr.Votes.from_ranks(votes.ranks[:, order], votes.weights, unlisted=votes.unlisted)
        upside_down = hr.Votes.from_ranks(
            np.where(votes.ranks > 0, votes.n + 1 - votes.ranks, 0), votes.weights, unlisted="observed"
        )
        loss = hr.kemeny(votes).loss
        others = [renamed]
        if votes.total < 2**45:
            others.append(votes.with_weights(votes.weights * 2))
        if votes.unlisted == "observed" or not (votes.ranks == 0).any():
            others.append(upside_down)
        for other in others:
            if not math.isclose(hr.kemeny(other).loss, loss, rel_tol=1e-9, abs_tol=1e-10):
                raise Disagreement("the loss changes when items are renamed, votes doubled or all is upside down")
            self.counts["laws"] += 1

    # Files.

    def files(self, votes):
        with tempfile.TemporaryDirectory() as folder:
            for ending in FORMATS:
                path = Path(folder) / f"v.{ending}"
                try:
                    hr.write_votes(votes, path)
                except hr.HoldrankError:  # a format that cannot hold them
                    continue
                back = hr.read_votes(path, unlisted=votes.unlisted).only(votes.items)
                if back.total_variation(votes) > 1e-9:
                    raise Disagreement(f"written as .{ending} and read back, the votes differ")
                self.counts["files"] += 1
                self._as_marks(path, votes)

    def _as_marks(self, path, votes):
        """Hold what a reader that keeps marks makes of a file against the reader that makes a matrix."""
        matrix = hr.read_votes(path, unlisted=votes.unlisted)
        with patch.object(raw, "most_cells", lambda _: -1):
            marks = hr.read_votes(path, unlisted=votes.unlisted)
        same = np.array_equal(marks.wins(), matrix.wins()) and marks == matrix and marks.notes == matrix.notes
        if same and votes.unlisted == "bottom":
            same = np.array_equal(marks.mean_places(), matrix.mean_places())
        if not same:
            raise Disagreement(f"held as marks, the votes of a {path.suffix} file differ")
        self.counts["files held as marks"] += isinstance(marks.ballots, SparseBallots)

    # Breaking.

    def breaking(self, votes, rng, seed):
        names = list(STATISTICS)
        if (votes.ranks == 0).any():
            names = [name for name in names if "footrule" not in name]
        name = names[int(rng.integers(len(names)))]
        T, by_hand = STATISTICS[name]
        change = tuple(hr.Change)[seed % 3]
        goal, asked = self._goal(votes, rng)
        found = hr.attack(votes, T, goal, change=change, time_limit=60)
        self.counts["attacks"] += 1
        self._bounds(votes, T, found)
        if seed % 9 == 0 and votes.n <= 4 and hr.verify(votes, T, found).proved:
            self._forged(votes, T, found, rng)
        if isinstance(T, hr.Robust):
            self._as_if_there_were_many(votes, T, goal, change, found)
            if seed % 7 == 0 and votes.n <= 4:
                self._over_thresholds(votes, T, goal)
        before = tuple(found.before.ranking.ranks.tolist())
        if by_hand is not None and (isinstance(by_hand, str) or not oracles.fulfils(asked, before, before)):
            if found.whole is not None:
                self._attacked(votes, found.whole, by_hand, asked, before)
            if votes.is_counts and votes.n == 3 and votes.total <= 12:
                self._adversary(votes, found, change, by_hand, asked, before)
        if seed % 5 == 0 and votes.n <= 4:
            curve = hr.breakdown(votes, T, time_limit=60)
            self._bounds(votes, T, curve)
            self.counts["curves"] += 1

    def _goal(self, votes, rng):
        n, items = votes.n, votes.items
        x, y = (int(i) for i in rng.choice(n, 2, replace=False))
        k = int(rng.integers(1, n))
        pairs = n * (n - 1) // 2
        far = int(rng.integers(1, pairs + 1))
        choices = [
            (hr.NewWinner(), ("new winner",)),
            (hr.Wins(items[x]), ("wins", x)),
            (hr.Above(items[x], items[y]), ("above", x, y)),
            (hr.TopSet(k), ("top set", k)),
            (hr.Enters(items[x], k), ("enters", x, k)),
            (hr.Leaves(items[y], k), ("leaves", y, k)),
            (hr.Distance(far / pairs), ("distance", far)),
        ]
        return choices[int(rng.integers(len(choices)))]

    def _bounds(self, votes, T, found):
        verdict = hr.verify(votes, T, found)
        if verdict.refuted:
            raise Disagreement(f"{T.__name__}, {getattr(found, 'goal', 'curve')}:\n{verdict.text()}")
        for check in verdict.checks:
            self.counts[f"statements {check.finding}"] += 1
        least = [check for check in verdict.checks if "take" in check.claim and check.finding == "open"]
        if least and "not finished" in least[0].note:
            self.counts["proofs given up"] += 1
        elif least and bool(np.all(found.exact)) and "no independent proof exists" not in least[0].note:
            raise Disagreement(f"{T.__name__}: {least[0]}")

    def _forged(self, votes, T, found, rng):
        """Change numbers of a proved result: none of these may be proved."""
        for path, forged in forging.forgeries(found, rng):
            if path[0] == "goal" or (path[0].endswith("plan") and "ranks" in path):
                continue  # another question, another ballot: these may be as true
            if path[0] == "plan" and _within_rounding(votes, found.plan, forged.plan):
                continue  # the price is then the same share
            try:
                proved = hr.verify(votes, T, forged).proved
            except hr.HoldrankError:
                continue
            if proved:
                raise Disagreement(f"{T.__name__}, {found.goal}: {path} was changed, and is proved")
            self.counts["forged results"] += 1

    def _as_if_there_were_many(self, votes, T, goal, change, found):
        """Hold what tiers of many items get, attacks by search and a bound from the ranking below, against the rest."""
        before = found.before.ranking
        aim = goal.aim(before, votes.items)
        if aim.reached(before) or aim.is_impossible():
            return
        (rough,) = inexact_engine(T, votes).find(votes, before, [aim], change, Clock(5), None)
        if rough.lower > found.upper + 1e-9 or rough.upper < found.lower - 1e-9:
            raise Disagreement(f"{T.__name__}, {goal.text()}: as one of many {rough.lower} to {rough.upper}, {found}")
        self.counts["engine comparisons"] += 1

    def _over_thresholds(self, votes, T, goal):
        curve = hr.tradeoff(votes, T.base, merge=T.merge, goal=goal)
        for theta, lower, upper in zip(curve.theta, curve.lower, curve.upper, strict=True):
            found = hr.attack(votes, hr.Robust(T.base, theta, merge=T.merge), goal, time_limit=60)
            if lower > found.upper + 1e-6 or found.lower > upper + 1e-6:
                raise Disagreement(f"{T.__name__} at {theta}, {goal.text()}: trade-off {lower} to {upper}, {found}")
            self.counts["engine comparisons"] += 1

    def _attacked(self, votes, whole, by_hand, asked, before):
        now = list(zip(whole.votes.ranks.tolist(), whole.votes.weights.tolist(), strict=True))
        sums = oracles.sums_of([tuple(b) for b, _ in now], [w for _, w in now], votes.unlisted)[None]
        (kind,) = oracles.outcomes(by_hand, sums, votes.n)
        good = [oracles.fulfils(asked, before, ranks) for ranks in kind]
        if not (all(good) if isinstance(by_hand, str) else any(good)):
            raise Disagreement(f"the attack on {by_hand} for {asked} does not reach it: {whole.removed} {whole.added}")
        self.counts["attacks judged by brute force"] += 1

    def _adversary(self, votes, found, change, by_hand, asked, before):
        ballots = [tuple(row) for row in votes.ranks.tolist()]
        weights = [int(w) for w in votes.weights]
        weak, strict = oracles.fewest_ballots(
            ballots, weights, votes.unlisted, change, by_hand, before, [asked], 2, battles=adds_battles(votes)
        )[asked]
        if weak is not None and (found.votes_needed > weak or found.lower * votes.total > weak + 1e-3):
            raise Disagreement(f"{by_hand}: {weak} ballots do {asked}, {found.votes_needed} are called needed")
        surely = strict if isinstance(by_hand, str) else weak
        if found.votes_sufficient <= 2 and (surely is None or surely > found.votes_sufficient):
            raise Disagreement(f"{by_hand}: {asked} with {found.votes_sufficient} ballots, brute force says {surely}")
        self.counts["attacks against every change of two ballots"] += 1


def main():
    parser = argparse.ArgumentParser(description="Compare all engines on random votes.")
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first profile")
    parser.add_argument("--only", type=int, metavar="SEED", help="the profile of this seed alone")
    asked = parser.parse_args()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    soak, failed, said = Soak(), 0, 0.0
    start = asked.seed if asked.only is None else asked.only
    print(f"first seed {start}, {'with' if soak.peer else 'without'} pref_voting", flush=True)
    began = monotonic()
    seed = start
    try:
        while monotonic() - began < asked.seconds:
            try:
                soak.profile(seed)
            except Exception:  # noqa: BLE001 - whatever it is, the seed is worth knowing
                failed += 1
                print(f"\nDISAGREEMENT at seed {seed}\n{traceback.format_exc(limit=-8)}", flush=True)
            if asked.only is not None:
                break
            seed += 1
            if monotonic() - said > 60:
                said = monotonic()
                print(f"{said - began:6.0f} s, seed {seed}: {dict(soak.counts)}, {failed} disagreements", flush=True)
    except KeyboardInterrupt:
        print("stopped")
    soak.close()
    print(f"\nseeds {start} to {seed - (asked.only is None)} in {monotonic() - began:.0f} s")
    for name, count in sorted(soak.counts.items()):
        print(f"{count:10,}  {name}")
    print(f"{failed:10,}  disagreements")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
