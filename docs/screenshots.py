"""Make the screenshots of the documentation: the report and the studio, on a generated arena of 16 models.

Needs the packages of the test group and a Chromium; run it as ``python docs/screenshots.py``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from playwright.sync_api import Browser, sync_playwright

STATIC = Path(__file__).parent / "_static"
SECONDS = "240"  # for an analysis
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"no browser found: none of {', '.join(BROWSERS)}")
    args = ["--no-sandbox"] if os.getuid() == 0 else []
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=args)
        votes, page = arena(Path(folder)), Path(folder) / "report.html"
        # A busy machine must not leave its mark on the pictures.
        command = [
            sys.executable,
            "-m",
            "holdrank",
            "report",
            str(votes),
            "-o",
            str(page),
            "-q",
            "--time-limit",
            SECONDS,
        ]
        subprocess.run(command, check=True)
        report(browser, page)
        studio(browser, votes)
        browser.close()


def arena(folder: Path) -> Path:
    """Write battles of 16 models whose strengths are far apart at the ends and close in the middle."""
    draw = np.random.default_rng(7)
    trees = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Hazel", "Juniper"]
    trees += ["Larch", "Maple", "Oak", "Pine", "Rowan", "Spruce", "Willow", "Yew"]
    names = [f"{tree}-{size}" for tree, size in zip(trees, ["70B", "8B", "32B", "14B"] * 4, strict=True)]
    strengths = np.sinh(np.linspace(2.2, -2.2, len(names))) / 4
    file = folder / "battles.csv"
    with file.open("w", encoding="utf-8") as out:
        out.write("model_a,model_b,winner\n")
        for _ in range(6000):
            a, b = draw.choice(len(names), 2, replace=False)
            wins = draw.random() < 1 / (1 + np.exp(strengths[b] - strengths[a]))
            winner = "tie" if draw.random() < 0.1 else "model_a" if wins else "model_b"
            out.write(f"{names[a]},{names[b]},{winner}\n")
    return file


def report(browser: Browser, file: Path) -> None:
    """The head of the report."""
    page = browser.new_page(viewport={"width": 1180, "height": 1200})
    page.goto(file.as_uri())
    end = page.locator("nav.contents").bounding_box()
    assert end is not None
    page.screenshot(path=STATIC / "report.png", clip={"x": 0, "y": 0, "width": 1180, "height": end["y"]})


def studio(browser: Browser, votes: Path) -> None:
    """The page of a file, once its analysis is done."""
    command = [sys.executable, "-m", "holdrank", "studio", "--no-browser", str(votes)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        try:
            assert address, "the studio did not start"
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address[0])
            if page.locator(f"a:has-text('{votes.name}')").count():
                page.locator(f"a:has-text('{votes.name}')").first.click()
            finished = "#progress .job[data-over='yes']"
            page.wait_for_selector(finished, state="attached", timeout=120_000)
            if page.locator(".banner .get").count():
                page.locator("form[action$=analyse] input[name=time_limit]").fill(SECONDS)
                page.locator("#analyse-again").click()
                page.wait_for_selector("#progress .job[data-over='no']", state="attached", timeout=60_000)
                page.wait_for_selector(finished, state="attached", timeout=300_000)
                page.evaluate("scrollTo(0, 0)")
            page.wait_for_selector("#ranking td.overtake", timeout=10_000)
            page.screenshot(path=STATIC / "studio.png")
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
