"""Analyses of few steps, for tests that look at these: whatever else an analysis has would use up its time limit."""

from __future__ import annotations

from importlib import import_module

import pytest

import holdrank as hr


def analysed(votes, spec, *steps):
    """Analyse votes, with the consensus and these steps only; no time limit is needed where they are quick."""
    run = import_module("holdrank.analysis.analyse")
    with pytest.MonkeyPatch.context() as patch:
        shares = {name: share for name, share in run._SHARES.items() if name in ("consensus", *steps)}
        assert len(shares) == 1 + len(steps)
        patch.setattr(run, "_SHARES", shares)
        return hr.analyse(votes, spec)
