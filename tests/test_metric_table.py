"""The table of metrics on real votes: its script, and the page that shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tools" / "metric_table.py"
BALLOTS = """# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Ash
# ALTERNATIVE NAME 2: Beech
# ALTERNATIVE NAME 3: Cherry
# ALTERNATIVE NAME 4: Dogwood
60: 1,2,3
40: 2,1,3
5: 2,1
7: {1,2},3
1: 4
"""


def run(*arguments, cwd):
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, cwd=cwd)


def test_the_script_keeps_the_items_that_most_ballots_list_and_strict_ballots(tmp_path):
    (tmp_path / "trees.toi").write_text(BALLOTS, "utf-8")
    done = run("trees.toi", "--items", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| trees.toi")]
    # The margin of Ash over Beech is 20 of 100: 10 of them decide by every metric but rho, where one ballot says more.
    assert rows[0].startswith("| trees.toi | 3 of 4 | 100 of 113 | 1 | **10 %** | **10 %** |")
    assert len(rows) == 2


def test_the_script_refuses_what_has_no_strict_ballots(tmp_path):
    (tmp_path / "ties.toi").write_text(
        BALLOTS.replace("60: 1,2,3", "60: {1,2,3}").replace("40: 2,1,3", "40: 2"), "utf-8"
    )
    done = run("ties.toi", "--items", "3", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no ballot ranks all of these items strictly" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_page_shows_what_the_script_prints(shared_data):
    page = (ROOT / "docs" / "theory" / "metrics.md").read_text("utf-8").splitlines()
    shown = [line for line in page if re.match(r"\| [\w-]+/[\w-]+\.\w+ \|", line)]
    files = list(dict.fromkeys(line.split(" | ")[0].removeprefix("| ") for line in shown))
    done = run(*files, "--items", "4", cwd=shared_data)
    assert [line for line in done.stdout.splitlines() if ".so" in line or ".to" in line] == shown
    assert len(shown) == 28
