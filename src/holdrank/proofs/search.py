"""A search through all outcomes of a statistic, to show that none that reaches a goal is cheap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from holdrank.proofs.bounds import Amount, Ground, Row
from holdrank.proofs.exact import Order
from holdrank.proofs.programs import Case, Outcome, Outcomes, Program, Question

Demand: TypeAlias = Callable[[Outcome], Amount]

MOST_STEPS = 10_000  # cases examined; a fixed effort, the same on every machine
_MOST_GAPS = 30  # examined, before a proof is given up


class Gap(NamedTuple):
    """A ranking whose price could not be proven, and the answers that lead to it."""

    outcome: Outcome
    proved: Amount
    rows: list[Row]
    median: tuple[str, Order] | None


@dataclass(frozen=True, slots=True)
class Proof:
    """How a search ended.

    Attributes
    ----------
    complete : bool
        Whether every ranking is proven to cost as much as claimed.
    cases : int
        Number of cases examined.
    gaps : list of Gap
        The first gaps in the proof.
    """

    complete: bool
    cases: int
    gaps: list[Gap]


def proves(ground: Ground, program: Callable[[], Program], demand: Demand, most: int = MOST_STEPS) -> Proof:
    """Prove that votes with any outcome cost at least the weight demanded for it; 0 demands nothing."""
    asked: dict[Outcome, Amount] = {}

    def price(outcomes: Outcomes) -> Amount:
        for outcome in outcomes:
            if outcome not in asked:
                asked[outcome] = demand(outcome)
        return max((asked[outcome] for outcome in outcomes), default=Fraction(0))

    cases, gaps = 0, list[Gap]()
    open_answers: list[tuple[tuple[int, ...], Amount]] = [((), Fraction(0))]
    while open_answers:
        answers, proved = open_answers.pop()
        question, outcomes, rows, median = _replayed(program(), answers)
        if outcomes is not None:
            if price(outcomes) > proved:
                dear = max(outcomes, key=lambda outcome: asked[outcome])
                gaps.append(Gap(dear, proved, rows, median))
                if len(gaps) == _MOST_GAPS:
                    break
            continue
        assert question is not None
        for number, case in enumerate(question):
            wanted = price(case.possible)
            if wanted <= proved:
                continue
            cases += 1
            if cases > most:
                return Proof(False, cases, gaps)
            known = ground.bound([*rows, *case.rows], case.median or median, wanted)
            if known < wanted:
                open_answers.append(((*answers, number), known))
    return Proof(not gaps, cases, gaps)


def _replayed(
    program: Program, answers: tuple[int, ...]
) -> tuple[Question | None, Outcomes | None, list[Row], tuple[str, Order] | None]:
    """Run a program as far as the answers reach: the next question, or its outcomes, and what holds by then."""
    rows: list[Row] = []
    median = None
    try:
        question = next(program)
        for answer in answers:
            case: Case = question[answer]
            rows += case.rows
            median = case.median or median
            question = program.send(answer)
    except StopIteration as end:
        return None, end.value, rows, median
    return question, None, rows, median
