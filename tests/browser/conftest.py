"""A browser, and a studio for it to look at. Where there is no browser, these tests are skipped and say so."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="package")  # one for all; it keeps a loop of asyncio running, which later tests must not meet
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"there is no browser here: none of {', '.join(BROWSERS)}")
    # The sandbox of Chromium does not work for root, and these pages are our own.
    args = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=args)
        yield found
        found.close()


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """A studio in a process of its own; its address and its process."""
    pytest.importorskip("starlette")
    command = [sys.executable, "-m", "holdrank", "studio", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path_factory.mktemp("studio")) as process:
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
        assert found, "the studio did not start"
        process.address = found[0]
        yield process
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


@pytest.fixture
def new_page(browser):
    """Make pages; in the end none of them has complained."""
    contexts, complaints = [], []

    def make(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.complaints = complaints
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(f"{request.url}: {request.failure}")
                if "ERR_ABORTED" not in (request.failure or "") else None)  # fmt: skip
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(new_page, studio):
    found = new_page(viewport={"width": 1280, "height": 900})
    found.goto(studio.address)
    return found
