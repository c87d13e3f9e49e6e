"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("holdrank", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("holdrank")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real vote files beside the checkout; their licences keep them out of the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not (folder / "truths.json").exists():
        pytest.skip("the folder of real vote files is not beside this checkout")
    return folder
