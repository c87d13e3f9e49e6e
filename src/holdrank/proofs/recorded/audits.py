"""The audit of a record, computed again."""

from __future__ import annotations

from collections.abc import Iterator

from holdrank.analysis.audit import audit_in_brief
from holdrank.analysis.audit_records import audit_record
from holdrank.analysis.records import Record
from holdrank.proofs.lower import PROVED_UP_TO
from holdrank.proofs.recorded.places import NO_GROUPS, has_groups
from holdrank.proofs.recorded.record import Recorded
from holdrank.proofs.verdicts import Check
from holdrank.status import Clock, Status


def audit_checks(recorded: Recorded) -> Iterator[Check]:
    """Check the findings by running the probes again; those on people or categories that the votes lack stay open."""
    found, claim = recorded.record.get("audit"), "the findings of the audit follow from the votes and the seed"
    if recorded.n < 2:
        return
    if found is None:
        yield Check("the votes were audited", "open", "the step did not finish")
        return
    if recorded.n > PROVED_UP_TO:
        yield Check(claim, "open", f"more than {PROVED_UP_TO} items: they were not recomputed")
        return
    if found["status"] in (Status.TIME_LIMIT.value, Status.INTERRUPTED.value):
        yield Check(claim, "open", "a time limit cut the audit short: it was not recomputed")
        return
    if not has_groups(recorded):
        yield Check(claim, "open", NO_GROUPS)
        return
    votes, T = recorded.votes, recorded.median.T
    again = audit_record(audit_in_brief(votes, T, T(votes), Clock(), seed=recorded.record["spec"]["seed"]))
    if again == found:
        yield Check(claim, "proved")
    elif _applied(again) != _applied(found):
        yield Check(claim, "open", "other probes apply to these votes; read them with the same columns")
    else:
        yield Check(claim, "refuted", "recomputed, they differ")


def _applied(audit: Record) -> list[tuple[str, bool]]:
    """Return which probes there are, and which of them apply to the votes."""
    return [(one["probe"], one["state"] != "does not apply") for one in audit["findings"]]
