"""Make the screenshots of the documentation: the report and the studio, on the example of `holdrank demo`.

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

from playwright.sync_api import Browser, sync_playwright

STATIC = Path(__file__).parent / "_static"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"no browser found: none of {', '.join(BROWSERS)}")
    args = ["--no-sandbox"] if os.getuid() == 0 else []
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=args)
        subprocess.run([sys.executable, "-m", "holdrank", "demo", "--out", folder], check=True, capture_output=True)
        report(browser, Path(folder) / "report.html")
        studio(browser, folder)
        browser.close()


def report(browser: Browser, file: Path) -> None:
    """The head of the report."""
    page = browser.new_page(viewport={"width": 1180, "height": 900})
    page.goto(file.as_uri())
    end = page.locator("nav.contents").bounding_box()
    assert end is not None
    page.screenshot(path=STATIC / "report.png", clip={"x": 0, "y": 0, "width": 1180, "height": end["y"]})


def studio(browser: Browser, folder: str) -> None:
    """The page of a file, once its analysis is done."""
    command = [sys.executable, "-m", "holdrank", "studio", "--no-browser", f"{folder}/votes.soc"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        try:
            assert address, "the studio did not start"
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address[0])
            if page.locator("a:has-text('votes.soc')").count():
                page.locator("a:has-text('votes.soc')").first.click()
            page.wait_for_selector("#progress .job[data-over='yes']", state="attached", timeout=120_000)
            page.wait_for_selector("#ranking td.overtake", timeout=10_000)
            page.screenshot(path=STATIC / "studio.png")
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
