"""Voters of battles from the definition alone: who is counted, who leaves, and the fewest who reach a goal.

A voter is a list of battles, each ("win", i, j) for i against j, or ("tie", i, j).
"""

from itertools import combinations, combinations_with_replacement, permutations

import numpy as np

import oracles


def wins_of(people, n):
    """Wins between n items of all battles of some voters, a tie counting half for each."""
    W = np.zeros((n, n))
    for battles in people:
        for kind, i, j in battles:
            W[i, j] += 1.0 if kind == "win" else 0.5
            W[j, i] += 0.0 if kind == "win" else 0.5
    return W


def all_battles(n):
    """Every battle that can be cast."""
    ties = [("tie", i, j) for i, j in combinations(range(n), 2)]
    return [("win", i, j) for i, j in permutations(range(n), 2)] + ties


def wins_after(people, n, change, size, cap=None):
    """Wins after every change of `size` voters; new voters cast up to `cap` battles each."""
    if change == "add":
        more = (
            cast for number in range(size * cap + 1) for cast in combinations_with_replacement(all_battles(n), number)
        )
        return [wins_of([*people, cast], n) for cast in more]
    found = []
    for gone in combinations(range(len(people)), size):
        rest = wins_of([battles for k, battles in enumerate(people) if k not in gone], n)
        if change == "drop":
            found.append(rest)
        else:
            number = sum(len(people[k]) for k in gone)
            found += [rest + wins_of([cast], n) for cast in combinations_with_replacement(all_battles(n), number)]
    return [W for W in found if W.sum() > 0.25]


def fewest_voters(people, n, change, before, goals, most, cap=None, ridge=1e-6):
    """For each goal (weak, strict): the fewest voters after whose change the strengths fulfil it, by a tie or surely.

    None where `most` are not enough.
    """
    found = {goal: [None, None] for goal in goals}
    for size in range(most + 1):
        after = wins_after(people, n, change, size, cap)
        if not after:
            break
        oracles.note_reached(found, before, oracles.strengths_of_many(np.unique(after, axis=0), ridge), size)
        if all(None not in pair for pair in found.values()):
            break
    return {goal: tuple(pair) for goal, pair in found.items()}


def strengths_without_each(people, n, ridge=1e-6):
    """The strengths when each voter in turn is left out."""
    rest = [wins_of([battles for k, battles in enumerate(people) if k != gone], n) for gone in range(len(people))]
    return oracles.strengths_of_many(np.array(rest), ridge)
