"""How fast the tier ladder of the studio follows its threshold slider: one step is one position, at n = 100.

Starts the studio with 100 items (Plackett-Luce, 3,000 ballots), moves the slider through all positions in a real
browser and prints milliseconds a step: the script with layout, and until the next frame is about to be drawn.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import holdrank as hr

MOVE = """
async () => {
  const input = document.getElementById("threshold"), box = document.getElementById("ladder-box");
  const frame = () => new Promise(requestAnimationFrame), steps = [];
  for (let position = 0; position <= Number(input.max); position += 1) {
    await frame();
    const started = performance.now();
    input.value = String(position);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    box.getBoundingClientRect();
    const scripted = performance.now() - started;
    await frame();
    steps.push([scripted, performance.now() - started]);
  }
  return steps;
}
"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("there is no browser here")
    with tempfile.TemporaryDirectory() as folder:
        names = [f"Item number {k}" for k in range(100)]
        votes = hr.sample_votes(hr.PlackettLuce(np.geomspace(1, 20, 100)), 3000, rng=2023, items=names)
        file = Path(folder) / "hundred.soc"
        hr.write_votes(votes, file)
        command = [sys.executable, "-m", "holdrank", "studio", str(file), "--no-browser"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as studio:
            address = re.search(r"http://\S+", studio.stderr.readline())[0]
            try:
                with sync_playwright() as playwright:
                    args = ["--no-sandbox"] if os.getuid() == 0 else []
                    page = playwright.chromium.launch(executable_path=path, args=args).new_page()
                    page.goto(address)
                    page.get_by_role("link", name="hundred.soc").click()
                    page.locator("#threshold").wait_for(timeout=60_000)
                    steps = page.evaluate(MOVE)
            finally:
                studio.send_signal(signal.SIGINT)
    for name, times in zip(("script and layout", "until the next frame"), zip(*steps, strict=True), strict=True):
        ordered = sorted(times)
        late = ordered[int(0.95 * len(ordered))]
        print(f"{name}: {len(times)} steps, median {statistics.median(times):.1f} ms, 95 % within {late:.1f} ms, "
              f"slowest {ordered[-1]:.1f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
