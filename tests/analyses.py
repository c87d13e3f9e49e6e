"""Analyses of few steps, for tests that look at these: whatever else an analysis has would use up its time limit."""

from __future__ import annotations

from importlib import import_module

import pytest

import holdrank as hr


def analysed(votes, spec, *steps):
    """Analyse votes, with the consensus and these steps only; no time limit is needed where they are quick."""
    modules = [import_module(f"holdrank.analysis.{name}") for name in ("analyse", "steps")]
    with pytest.MonkeyPatch.context() as patch:
        shares = {name: share for name, share in modules[1].SHARES.items() if name in ("consensus", *steps)}
        assert len(shares) == 1 + len(steps)
        for module in modules:
            patch.setattr(module, "SHARES", shares)
        return hr.analyse(votes, spec)
