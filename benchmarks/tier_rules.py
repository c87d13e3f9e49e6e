"""How good is Downward Merge? Rules that make tiers, compared by exact breakdown at equal loss and equal size.

``.venv/bin/python benchmarks/tier_rules.py [--profiles N] [--workers N] [--only WORD]``; a full run takes some minutes
on two cores and writes ``results/tier_rules.json``. The tables of docs/theory/tier-rules.md are what it prints (and
``--show`` prints again). Votes are distributions over all rankings of four or five items, and real votes on the four
and five leading items where the folder of data is beside the checkout.

A breakdown takes one linear program for each region of votes (`tier_regions.py`) that can still be the nearest, in
order of a lower bound. Naive and Downward Merge are left to `holdrank.breakdown`. Every value is confirmed: the program
is solved again a little inside the region, and the rule is applied to the votes that come out.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
RESULTS = HERE / "results" / "tier_rules.json"
sys.path.append(str(HERE.parent / "tests"))

import numpy as np  # noqa: E402
from peers import machine  # noqa: E402
from tier_regions import (  # noqa: E402
    DECIMALS,
    EQUAL,
    Ranks,
    Region,
    Space,
    best_at_price,
    bucket_orders,
    dense,
    indecision_regions,
    least_indecision,
    merged,
    neighbour_regions,
    neighbours,
    pivot,
    price_regions,
    several_pivots,
    sign_regions,
    smith,
)

import holdrank as hr  # noqa: E402
from holdrank.rankings import Ranking  # noqa: E402

Point = dict[str, Any]
Fits = Callable[[dict[str, Any]], Callable[[Point], bool]]
INSIDE = 1e-6  # how far inside a region the votes lie that confirm a value
TOLERANCES = (0.005, 0.01, 0.02, 0.03, 0.05)
FIXED = 0.05
SAME, KEPT = 1e-6, 7  # values so near are one in the tables; decimals in the results
FAMILIES = ("Plackett-Luce", "Mallows mixture", "buckets", "random shares")


# Votes


def distribution(family: str, n: int, rng: np.random.Generator) -> hr.Votes:
    """Return a distribution over the rankings of n items, with labels that mean nothing."""
    names = [f"i{k}" for k in rng.permutation(n)]
    size = math.factorial(n)
    if family == "Plackett-Luce":
        return hr.exact_votes(hr.PlackettLuce(np.exp(rng.uniform(0.3, 2) * rng.normal(size=n)).tolist()), items=names)
    if family == "Mallows mixture":
        shares = rng.dirichlet([4, 2])
        parts = [hr.Mallows(rng.permutation(n).tolist(), float(rng.uniform(0.3, 0.9))) for _ in range(2)]
        return hr.exact_votes(hr.Mixture(list(zip(shares.tolist(), parts, strict=True))), items=names)
    orders = list(permutations(range(n)))
    noise = rng.uniform(size=size)
    noise /= noise.sum()
    if family == "buckets":
        some = [ranks for ranks in bucket_orders(n).ranks if 1 < max(ranks) < n]
        ranks = some[int(rng.integers(len(some)))]
        breaks = np.array([all(ranks[a] <= ranks[b] for a, b in pairwise(order)) for order in orders])
        inside = np.where(breaks, rng.uniform(0.8, 1.2, size=size), 0.0)
        level = rng.uniform(0.1, 0.5)
        noise = (1 - level) * inside / inside.sum() + level * noise
    return hr.Votes.from_orders([[names[i] for i in order] for order in orders], weights=noise.tolist(), items=names)


def generated(n: int, many: int) -> list[tuple[str, str, hr.Votes]]:
    out = []
    for number, family in enumerate(FAMILIES):
        rng = np.random.default_rng([20230723, n, number])
        out += [(family, f"{family} {k}", distribution(family, n, rng)) for k in range(many)]
    return out


def real(n: int) -> list[tuple[str, str, hr.Votes]]:
    """Return real votes on the n items that lead by Borda's score, unlisted items at the bottom."""
    if not DATA.is_dir():
        print("real votes: left out, no folder of data beside the checkout", file=sys.stderr)
        return []
    from truth_profiles import load, profiles

    out, seen = [], set()
    for _, profile in profiles(DATA):
        if profile["unranked"] != "bottom" or "selection" in profile or profile["n_items"] < n:
            continue
        votes = load(profile, DATA)
        leading = [votes.items[i] for i in hr.borda(votes).ranking.order[:n]]
        # One election in two forms of file is one election.
        name = f"{profile['set']} {Path(profile['file']).stem.split('-')[-1]}"
        if name not in seen:
            seen.add(name)
            shuffled = np.random.default_rng([n, len(out)]).permutation(leading)  # pivots are to mean nothing
            out.append(("real", name, votes.only(shuffled.tolist())))
    return out


# A rule, its results over theta, its breakdown


@dataclass(frozen=True)
class TierRule:
    name: str
    apply: Callable[[Any, int, float], Ranks]
    regions: Callable[[Space, float, Any], Iterator[Region]] | None = None
    merge: str = ""  # of holdrank, whose engine computes its breakdown
    most: int = 5  # items
    searched: bool = False  # no exact value, only attacks that were seen to work

    def __call__(self, margins: Any, n: int, theta: float) -> Ranks:
        return self.apply(margins, n, round(theta, DECIMALS))


RULES = [
    TierRule("downward", partial(merged, hr.downward_merge), merge="downward"),
    TierRule("naive", partial(merged, hr.naive_merge), merge="naive"),
    TierRule("smith", smith, partial(sign_regions, "smith")),
    TierRule("price", best_at_price, price_regions),
    TierRule("neighbours", neighbours, neighbour_regions),
    TierRule("pivot", pivot, partial(sign_regions, "pivot")),
    TierRule("pivot, least indecision", least_indecision, indecision_regions, most=4),
    TierRule("pivot, two rounds", several_pivots, searched=True, most=4),
]


def thresholds(rule: TierRule, space: Space) -> list[float]:
    """Return every theta at which the result of a rule may change, from 0 on."""
    deviations = np.abs(np.round(space.margins, 12))
    if rule.name == "price":
        best: dict[int, float] = {}
        apart = np.abs(space.orders.sign).sum(axis=1).astype(int).tolist()
        for many, value in zip(apart, (space.orders.sign @ space.margins).tolist(), strict=True):
            best[many] = max(best.get(many, -math.inf), value)
        cross = [(best[a] - best[b]) / (a - b) for a, b in combinations(best, 2)]
        deviations = np.array([value for value in cross if 0 < value < 0.5])
    return [0.0, *sorted({value for value in deviations.tolist() if value > 0})]


def path(rule: TierRule, space: Space) -> list[tuple[float, float, Ranks]]:
    """Return (from theta, to theta, result) for each stretch with one result; the whole tie is left out."""
    cuts = [*thresholds(rule, space), 0.5]
    out: list[tuple[float, float, Ranks]] = []
    for start, end in pairwise(cuts):
        if end - start < EQUAL:
            continue
        # Where a price is exactly met two results are as good: the later one holds from there on.
        result = rule(space.margins, space.n, start + (end - start) * 1e-3 if rule.name == "price" else start)
        if out and out[-1][2] == result:
            out[-1] = (out[-1][0], end, result)
        else:
            out.append((start, end, result))
    return [step for step in out if max(step[2]) > 1]


@dataclass
class Known:
    """What was computed for one rule at one theta, by the number of broken pairs."""

    values: list[float] = field(default_factory=list)
    confirmed: list[bool] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)  # margins of the nearest votes, and their price


def break_by_regions(rule: TierRule, space: Space, theta: float, before: Ranks, needs: list[int]) -> Known:
    assert rule.regions is not None
    broken = space.orders.broken(space.orders.number[before])
    known, memo = Known(), {}
    for need in needs:
        best, at = math.inf, None
        for region in rule.regions(space, theta, broken >= need):
            if region.bound >= best - EQUAL:
                break
            rows = tuple((row.tobytes(), least) for row, least in region.rows)
            key = (region.low.tobytes(), region.high.tobytes(), region.best, rows)
            if key not in memo:
                memo[key] = space.nearest(region)
            value, _ = memo[key]
            if value < best - EQUAL:
                best, at = value, region
        known.values.append(best)
        price, margins = space.nearest(at, INSIDE) if at is not None else (math.inf, None)
        good = margins is not None and price <= best + 1e-4
        if good:
            after = rule(margins, space.n, theta)
            good = bool(broken[space.orders.number[after]] >= need)
            known.targets.append((margins, price))
        known.confirmed.append(good)
    return known


def break_by_engine(rule: TierRule, space: Space, theta: float, needs: list[int]) -> Known:
    pairs = len(space.margins)
    T = hr.Robust(hr.kemeny, theta, merge=rule.merge)  # type: ignore[arg-type]
    found = hr.breakdown(space.votes, T, [need / pairs for need in needs])
    confirmed = [bool(exact) and attack is not None for exact, attack in zip(found.exact, found.attacks, strict=True)]
    return Known(found.upper.tolist(), confirmed)


def break_by_search(
    rule: TierRule, space: Space, theta: float, before: Ranks, needs: list[int], ways: list[Any]
) -> Known:
    """Walk from the votes towards other votes until the rule breaks: an upper bound."""
    broken = space.orders.broken(space.orders.number[before])
    goals = [(target - space.margins, 1.0) for target in space.rankings]
    pairs = len(space.margins)
    for k, level in product(range(pairs), (-theta, 0.0, theta)):
        low, high = np.full(pairs, -0.5), np.full(pairs, 0.5)
        low[k], high[k] = (-0.5, level - INSIDE) if space.margins[k] > level else (level + INSIDE, 0.5)
        price, margins = space.nearest(Region(0, low, high, 0.0))
        if margins is not None and price > 0:
            goals.append(((margins - space.margins) * 1.2, price * 1.2))
    goals += [((margins - space.margins) * 1.2, price * 1.2) for margins, price in ways]
    best = [math.inf] * len(needs)

    def pairs_broken(at: float, way: Any) -> int:
        return int(broken[space.orders.number[rule(space.margins + at * way, space.n, theta)]])

    for way, price in goals:
        steps = np.linspace(0, 1, 49)[1:]
        seen = [pairs_broken(at, way) for at in steps]
        for k, need in enumerate(needs):
            first = next((s for s, many in enumerate(seen) if many >= need), None)
            if first is None or (steps[first] - 1 / 48) * price >= best[k]:
                continue
            low, high = steps[first] - 1 / 48, steps[first]
            while high - low > 1e-7:
                middle = (low + high) / 2
                low, high = (low, middle) if pairs_broken(middle, way) >= need else (middle, high)
            best[k] = min(best[k], high * price)
    return Known(best, [math.isfinite(value) for value in best])


def breakdown(rule: TierRule, space: Space, theta: float, before: Ranks, needs: list[int], ways: list[Any]) -> Known:
    if rule.merge:
        return break_by_engine(rule, space, theta, needs)
    if rule.searched:
        return break_by_search(rule, space, theta, before, needs, ways)
    return break_by_regions(rule, space, theta, before, needs)


def study(job: tuple[str, str, hr.Votes, list[int]]) -> dict[str, Any]:
    """Compute every rule at every threshold of one profile."""
    family, name, votes, needs = job
    started = perf_counter()
    space = Space(votes)
    n = votes.n
    median = hr.kemeny(votes)
    strict = hr.breakdown(votes, hr.kemeny, [need / len(space.margins) for need in needs])
    record: dict[str, Any] = {
        "family": family,
        "name": name,
        "n": n,
        "kemeny": {"loss": median.loss, "unique": median.unique, "breaks": strict.upper.tolist()},
        "rules": {},
        "fixed": {},
    }
    ways: list[Any] = []
    for rule in RULES:
        if n > rule.most:
            continue
        points: list[Point] = []
        for start, end, result in path(rule, space):
            ranking = Ranking(list(result))
            tried = []
            for theta in dict.fromkeys((start, (start + end) / 2 if start or rule.name == "price" else start)):
                known = breakdown(rule, space, theta, result, needs, ways)
                ways = (ways + known.targets)[-40:]
                tried.append((known.values[0], -theta, known))
            _, theta, known = max(tried, key=lambda one: one[:2])
            points.append({"theta": -theta, "ranks": "".join(map(str, result)), "tiers": max(result),
                           "loss": votes.loss(ranking), "breaks": known.values,
                           "confirmed": sum(known.confirmed)})  # fmt: skip
        record["rules"][rule.name] = points
        result = rule(space.margins, n, FIXED)
        if max(result) > 1:
            known = breakdown(rule, space, FIXED, result, needs[:1], ways)
            record["fixed"][rule.name] = {"tiers": max(result), "loss": votes.loss(Ranking(list(result))),
                                          "breaks": known.values, "confirmed": sum(known.confirmed)}  # fmt: skip
    record["checks"] = checks(record, space)
    record["programs"], record["seconds"] = space.programs, round(perf_counter() - started, 2)
    return record


def checks(record: dict[str, Any], space: Space) -> dict[str, Any]:
    """Compare with what is known otherwise, and count what a pivot rule makes of other orders of the items."""
    by_formula = []
    for point in record["rules"]["smith"]:
        sign = space.orders.sign[space.orders.number[tuple(map(int, point["ranks"]))]]
        lead = float((sign * space.margins)[sign != 0].min()) - point["theta"]
        by_formula.append(abs(point["breaks"][0] - lead) < 1e-7)
    # At no price the best bucket order is Kemeny's ranking, whose breakdown the package computes in its own way.
    plain = [point for point in record["rules"]["price"] if point["theta"] == 0 and record["kemeny"]["unique"]]
    by_engine = [
        abs(a - b) < 1e-7 for point in plain for a, b in zip(point["breaks"], record["kemeny"]["breaks"], strict=True)
    ]
    turns = {pivot(space.margins, space.n, FIXED, turn) for turn in permutations(range(space.n))}
    same = {"smith by formula": by_formula, "kemeny by engine": by_engine}
    return {**{name: [sum(flags), len(flags)] for name, flags in same.items()}, "pivot results": len(turns)}


# Bootstrap


def bootstrap_agreement(many: int, size: int = 500) -> dict[str, Any]:
    """How often tiers by bootstrap are those of "neighbours" at the threshold of a normal interval.

    A share P of `size` votes lies within z standard errors of one half when ``|P - 1/2| <= z / (2 sqrt(size + z**2))``.
    """
    same = {"intervals overlap": 0, "stability below 95 %": 0}
    theta = {name: z / (2 * math.sqrt(size + z * z)) for name, z in zip(same, (1.959964, 1.644854), strict=True)}
    count = 0
    for family, _, votes in generated(4, many):
        drawn = np.random.default_rng([7, FAMILIES.index(family), count]).multinomial(size, votes.weights / votes.total)
        sample = hr.Votes.from_ranks(votes.ranks[drawn > 0], drawn[drawn > 0].tolist(), votes.items)
        b = hr.bootstrap(sample, draws=1000, rng=1)
        order = b.consensus.ranking.order
        ties = {
            "intervals overlap": [b.worst[i] >= b.best[j] for i, j in pairwise(order)],
            "stability below 95 %": [b.stability[i, j] < 0.95 for i, j in pairwise(order)],
        }
        for name, tied in ties.items():
            buckets = [[order[0]]]
            for item, tie in zip(order[1:], tied, strict=True):
                if tie:
                    buckets[-1].append(item)
                else:
                    buckets.append([item])
            same[name] += dense(buckets, 4) == neighbours(Space(sample).margins, 4, theta[name])
        count += 1
    return {"votes": size, "theta": theta, "profiles": count, "same": same}


# Tables


def within(record: dict[str, Any], rule: str, k: int, fits: Callable[[Point], bool]) -> float | None:
    """Return the largest breakdown of a rule among the results that fit."""
    return max((p["breaks"][k] for p in record["rules"][rule] if fits(p)), default=None)


def chosen(records: list[dict[str, Any]], rule: str, k: int, fits: Fits) -> tuple[list[float], int]:
    """Return the largest breakdowns, where nothing fits that of Kemeny's ranking; and how often nothing does."""
    values, none = [], 0
    for record in records:
        value = within(record, rule, k, fits(record))
        none += value is None
        values.append(record["kemeny"]["breaks"][k] if value is None else value)
    return values, none


def at_loss(tolerance: float) -> Fits:
    return lambda record: lambda point: point["loss"] <= record["kemeny"]["loss"] + tolerance + SAME


def at_size(least: int) -> Fits:
    return lambda _: lambda point: point["tiers"] >= least


def table(head: list[str], rows: Iterable[Iterable[object]]) -> None:
    print("| " + " | ".join(head) + " |\n| " + " | ".join("---" for _ in head) + " |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def report(result: dict[str, Any]) -> None:
    records = result["profiles"]
    parts = {
        "four items, generated": [r for r in records if r["family"] != "real" and r["n"] == 4],
        "five items, generated": [r for r in records if r["family"] != "real" and r["n"] == 5],
        "real, four items": [r for r in records if r["family"] == "real" and r["n"] == 4],
        "real, five items": [r for r in records if r["family"] == "real" and r["n"] == 5],
    }
    for name, some in parts.items():
        if not some:
            continue
        rules = list(some[0]["rules"])
        print(f"## {name}: {len(some)} profiles\n")
        kemeny = np.mean([r["kemeny"]["breaks"][0] for r in some])
        print(f"Kemeny without ties: {percent(float(kemeny))}\n\nMean breakdown at one pair, by extra loss allowed:\n")
        rows = []
        for rule in rules:
            found = [chosen(some, rule, 0, at_loss(t)) for t in TOLERANCES]
            rows.append([rule, *(percent(float(np.mean(v))) for v, _ in found), found[2][1]])
        table(["rule", *map(str, TOLERANCES), "nothing within 0.02"], rows)
        print("Mean breakdown at one pair, by least number of tiers:\n")
        sizes = range(some[0]["n"] - 1, 1, -1)
        rows = []
        for rule in rules:
            found = [chosen(some, rule, 0, at_size(size)) for size in sizes]
            rows.append([rule, *(f"{percent(float(np.mean(v)))} ({none})" for v, none in found)])
        table(["rule", *(f"{size} or more" for size in sizes)], rows)
        print("Best and alone the best, within 0.02:\n")
        values = {rule: np.array(chosen(some, rule, 0, at_loss(0.02))[0]) for rule in rules}
        rows = []
        for rule in rules:
            others = np.max([values[other] for other in rules if other != rule], axis=0)
            against = values[rule] - values["downward"]
            rows.append([rule, int((values[rule] >= others - SAME).sum()), int((values[rule] > others + SAME).sum()),
                         int((against > SAME).sum()), int((against < -SAME).sum()),
                         percent(float(against.mean()))])  # fmt: skip
        table(["rule", "best", "alone", "more than downward", "less than downward", "mean difference"], rows)
        needs = len(some[0]["kemeny"]["breaks"])
        if needs > 1:
            print("Mean breakdown at more pairs, within 0.02:\n")
            rows = [[rule, *(percent(float(np.mean(chosen(some, rule, k, at_loss(0.02))[0]))) for k in range(needs))]
                    for rule in rules]  # fmt: skip
            table(["rule", *(f"{k + 1}" for k in range(needs))], rows)
        if len({r["family"] for r in some}) > 1:
            print("By kind of votes, within 0.02:\n")
            groups = {family: [r for r in some if r["family"] == family] for family in FAMILIES}
            rows = [[rule, *(percent(float(np.mean(chosen(g, rule, 0, at_loss(0.02))[0]))) for g in groups.values())]
                    for rule in rules]  # fmt: skip
            table(["rule", *groups], rows)
        common = [r for r in some if all(rule in r["fixed"] for rule in rules)]
        print(f"At theta = {FIXED}, on the {len(common)} profiles where all rules leave two tiers or more:\n")
        rows = []
        for rule in rules:
            held = [(r["fixed"][rule], r["kemeny"]) for r in common]
            if held:
                rows.append([rule, sum(rule in r["fixed"] for r in some),
                             percent(float(np.mean([f["breaks"][0] for f, _ in held]))),
                             f"{np.mean([f['loss'] - k['loss'] for f, k in held]):.4f}",
                             f"{np.mean([f['tiers'] for f, _ in held]):.2f}"])  # fmt: skip
        table(["rule", "leaves tiers on", "breakdown", "extra loss", "tiers"], rows)
        many = sum(r["checks"]["pivot results"] > 1 for r in some)
        print(f"pivot: tiers that depend on the order of the items at theta = {FIXED}: {many} of {len(some)}\n")
        if name.startswith("real"):
            rows = []
            for r in some:
                best = (chosen([r], rule, 0, at_loss(0.02))[0][0] for rule in rules)
                rows.append([r["name"], percent(r["kemeny"]["breaks"][0]), *map(percent, best)])
            table(["votes", "Kemeny", *rules], rows)
    points = [p for r in records for points in r["rules"].values() for p in points]
    print(f"values: {sum(len(p['breaks']) for p in points):,}, confirmed: {sum(p['confirmed'] for p in points):,}; "
          f"programs: {sum(r['programs'] for r in records):,}; seconds: {result['seconds']:.0f}")  # fmt: skip
    for check in ("smith by formula", "kemeny by engine"):
        same, of = np.sum([r["checks"][check] for r in records], axis=0).tolist()
        print(f"{check}: {same:,} of {of:,} values are the same")
    print("bootstrap:", json.dumps(result["bootstrap"]))


def rounded(value: Any) -> Any:
    """Return the same with numbers to some decimals."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, KEPT) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", type=int, default=40, help="of each kind, with four items")
    parser.add_argument("--five", type=int, default=8, help="of each kind, with five items")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="profiles whose name has this word")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="print the tables of the results that are there")
    options = parser.parse_args()
    if options.show:
        report(json.loads(options.out.read_text()))
        return
    started = perf_counter()
    jobs = [(*one, [1, 2, 3]) for one in generated(4, options.profiles)]
    jobs += [(*one, [1]) for one in generated(5, options.five)]
    jobs += [(*one, [1, 2, 3]) for one in real(4)] + [(*one, [1]) for one in real(5)]
    jobs = [job for job in jobs if options.only in job[1]]
    records = []
    with ProcessPoolExecutor(options.workers) as pool:
        for record in pool.map(study, jobs):
            records.append(record)
            print(f"{len(records)} of {len(jobs)}: {record['name']}, {record['seconds']} s", file=sys.stderr)
    result = {"machine": machine(), "seconds": perf_counter() - started, "profiles": records,
              "bootstrap": bootstrap_agreement(options.profiles)}  # fmt: skip
    options.out.parent.mkdir(exist_ok=True)
    records = ",\n".join(json.dumps(record) for record in rounded(result.pop("profiles")))
    rest = json.dumps(result, indent=1).removesuffix("\n}")
    options.out.write_text(f'{rest},\n "profiles": [\n{records}\n]\n}}\n')
    result["profiles"] = json.loads(f"[{records}]")
    report(result)


if __name__ == "__main__":
    main()
