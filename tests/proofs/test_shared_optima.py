"""What all optimal rankings share, in a record: proved by counting again, refuted where a number was changed."""

from __future__ import annotations

import numpy as np
import pytest

import holdrank as hr
from holdrank.analysis.records import seal_of
from holdrank.proofs.recorded.optima import optima_checks
from holdrank.proofs.recorded.record import Recorded

CLAIM = "what all optimal rankings share is as reported"


def analysed(v):
    return hr.analyse(v, hr.Spec(rule="kemeny", theta=None, draws=0, time_limit=20))


def finding(v, record):
    (check,) = optima_checks(Recorded(v, record))
    assert check.claim == CLAIM
    return check.finding


@pytest.mark.slow
@pytest.mark.traced
def test_records_hold_it_and_verify_proves_it():
    v = hr.Votes.from_orders([["a", "b", "c", "<i>"], ["b", "a", "c", "<i>"]])
    analysis = analysed(v)
    checks = {check.claim: check for check in hr.verify(v, analysis).checks}
    assert checks[CLAIM].finding == "proved"
    assert hr.Analysis.from_json(analysis.to_json()).record["optima"] == analysis.record["optima"]
    for name, other in {
        "fewest": 1,
        "most": 3,
        "same": 4,
        "differ": 0,
        "undecided": 1,
        "groups": [[0], [1], [2], [3]],
        "first": [1, 2, 3, 4],
        "last": [2, 2, 4, 4],
    }.items():
        record = hr.Analysis.from_json(analysis.to_json()).record
        assert record["optima"][name] != other
        record["optima"][name] = other
        assert finding(v, record) == "refuted", name
    record["seal"] = seal_of(record)  # the last of them, as a whole
    assert {c.claim: c.finding for c in hr.verify(v, hr.Analysis(record)).checks}[CLAIM] == "refuted"
    assert analysed(hr.Votes.from_orders([["a", "b"]])).record["optima"] is None


@pytest.mark.slow
@pytest.mark.traced
def test_large_and_weighted_records_stay_open_and_contradictions_are_refuted():
    v = hr.Votes.from_ranks(np.array([[*range(1, 18)], [2, 1, *range(3, 18)]]))
    analysis = analysed(v)
    assert analysis.record["optima"]["most"] == 2
    assert finding(v, analysis.record) == "open"
    for name, other in {"fewest": 0, "most": 1, "differ": 2, "groups": [], "first": [1]}.items():
        record = hr.Analysis.from_json(analysis.to_json()).record
        record["optima"][name] = other
        assert finding(v, record) == "refuted", name
    shares = hr.Votes.from_ranks([[1, 2], [2, 1]], [0.5, 0.5])
    assert finding(shares, analysed(shares).record) == "open"
