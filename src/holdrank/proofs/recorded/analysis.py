"""All statements of an analysis, from its record and the votes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdrank import __version__
from holdrank.analysis.records import seal_of
from holdrank.analysis.result import Analysis
from holdrank.errors import InputError, show
from holdrank.proofs.consensus import consensus_check
from holdrank.proofs.recorded.attacks import against_the_top, attack_checks, claim_checks
from holdrank.proofs.recorded.audits import audit_checks
from holdrank.proofs.recorded.curves import curve_checks, tradeoff_checks
from holdrank.proofs.recorded.cut import cut_checks, gap_checks, race_checks
from holdrank.proofs.recorded.layout import layout_checks, other_check, votes_checks
from holdrank.proofs.recorded.optima import optima_checks
from holdrank.proofs.recorded.places import bootstrap_checks, chance_checks, mean_ranks_checks, reach_checks
from holdrank.proofs.recorded.ratings import rating_checks, removal_checks
from holdrank.proofs.recorded.record import Recorded, in_short
from holdrank.proofs.recorded.thresholds import chosen_checks
from holdrank.proofs.verdicts import REST, Check, in_time
from holdrank.rules.registry import AUTO, rules
from holdrank.status import Clock
from holdrank.votes.votes import Votes
from holdrank.words.headlines import headline


def analysis_checks(votes: Votes, analysis: Analysis, clock: Clock | None = None) -> Iterator[Check]:
    """Check every number of an analysis, as long as there is time; refuse an analysis of different votes."""
    record = analysis.record
    if list(votes.items) != record["items"] or votes.input_hash != record["votes"]["input_hash"]:
        raise InputError(
            "these votes are not the votes of the analysis",
            expected=f"votes with the hash {record['votes']['input_hash'][:12]}",
            found=votes.input_hash[:12],
            repair="read the file with the options used for the analysis",
        )
    known = [known.name for known in rules()]
    for rule, names in ((record["consensus"]["rule"], known), (record["spec"]["rule"], [AUTO, *known])):
        if rule not in names:
            raise InputError("the analysis uses an unknown rule", expected=", ".join(names), found=rule)
    if record["seal"] != seal_of(record):
        # The settings and the time taken cannot be proven.
        note = "it has no checksum" if not record["seal"] else "its checksum does not match"
        yield Check("the record is unchanged since it was written", "refuted" if record["seal"] else "open", note)
    passed = np.cumsum([step["seconds"] for step in record["steps"]])
    if not np.allclose(passed, [step["ended"] for step in record["steps"]], rtol=0.0, atol=2e-3):
        yield Check("the times of the steps add up", "refuted", "they do not")
    if record["headline"] != headline(record):
        here = record["version"] == __version__  # another version may use other words
        note = f"the record says: {headline(record)}"
        yield Check(f"headline: {show(record['headline'], 200)}", "refuted" if here else "open", note)
    recorded = Recorded(votes, record, clock)
    yield from in_time(_statements(recorded), recorded.clock, REST)


def _statements(recorded: Recorded) -> Iterator[Check]:
    record, clock = recorded.record, recorded.clock
    yield from votes_checks(recorded)
    yield consensus_check(recorded.median, recorded.told)
    if recorded.reported is not recorded.median:
        yield consensus_check(recorded.reported, recorded.shown)
    yield from optima_checks(recorded)
    yield from layout_checks(recorded)
    yield from chosen_checks(recorded)
    yield from rating_checks(recorded)
    yield from attack_checks(recorded, recorded.reported, recorded.shown, record["attack"], against_the_top(recorded))
    for row in record["claims"]:
        yield from claim_checks(recorded, row)
    yield from gap_checks(recorded)
    yield from in_short("the votes to overtake each item are as reported", race_checks(recorded), clock)
    yield from cut_checks(recorded)
    yield from in_short("the order of the others without each item is as reported", removal_checks(recorded), clock)
    for curve in record["curves"]:
        yield from in_short(
            f"the curve of {show(curve['statistic'], 80)} is as reported", curve_checks(recorded, curve), clock
        )
    for other in record["others"]:
        yield other_check(recorded, other)
    yield from bootstrap_checks(recorded)
    yield from chance_checks(recorded)
    yield from mean_ranks_checks(recorded)
    yield from audit_checks(recorded)
    yield from reach_checks(recorded)
    yield from in_short("loss and robustness over all thresholds are as reported", tradeoff_checks(recorded), clock)
