"""Journeys through the studio with a real browser."""

from __future__ import annotations

import itertools
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

import holdrank as hr

from served import served

api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
expect = api.expect
expect.set_options(timeout=30_000)
pytestmark = pytest.mark.slow

# 61 of 101 put a above b: 11 must change sides before b is first.
VOTES = "weight,rank1,rank2,rank3\n61,a,b,c\n40,b,a,c\n"
HOSTILE = ["<img src=x onerror=\"window.broken=1\">", "n" * 1713, "bell\x07escape\x1b[31m", "\u202egnp.exe",
           "</script><script>window.broken=1</script>", "عربي", "{{ 7*7 }}"]  # fmt: skip


def drop(page, tmp_path, text, name="votes.csv"):
    """Choose a file, which opens it, and wait for its page."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    page.set_input_files("#file", path)
    page.wait_for_url("**/v/*")


def done(page):
    expect(page.locator("#progress .job-words")).to_contain_text("Done in", timeout=60_000)


@pytest.fixture(scope="module")
def noise():
    """Votes of pure noise, whose analysis takes far longer than any test waits."""
    votes = hr.sample_votes(hr.Uniform(40), size=101, rng=0)
    orders = [sorted(range(40), key=ranks.__getitem__) for ranks in votes.ranks.tolist()]
    return "\n".join(json.dumps({"order": [f"item {i}" for i in order]}) for order in orders)


def blocks(page):
    return page.locator("#ladder-box svg.ladder rect.block").count()


def test_a_file_becomes_an_analysis(page, tmp_path):
    drop(page, tmp_path, VOTES)
    expect(page.locator(".kicker").first).to_contain_text("Read as positions: 101 ballots of 3 items")
    done(page)
    expect(page.locator("h1")).to_contain_text("of 101 ballots")
    assert page.locator("#ranking table.board tbody tr").count() == 3
    for name in ("ladder", "heatmap", "breakdown", "tradeoff"):
        expect(page.locator(f"#drawn-{name} svg.picture").first).to_be_visible()
    expect(page.locator("#drawn-attack svg.picture:visible").first).to_be_visible()
    expect(page.locator("#contents a")).not_to_have_count(0)


def test_votes_can_be_pasted_and_read_in_another_way(page):
    page.fill("textarea", "model,task 1,task 2\nfast,1,2\nslow,8,9\n")
    page.get_by_role("button", name="Read the text").click()
    done(page)
    expect(page.locator("#ladder-box")).to_contain_text(re.compile("slow.*fast", re.DOTALL))
    page.get_by_text("Read it in another way").click()
    page.get_by_label("Lower is better").fill("all")
    page.get_by_role("button", name="Read again").click()
    done(page)
    expect(page.locator("#ladder-box")).to_contain_text(re.compile("fast.*slow", re.DOTALL))


def test_a_bad_file_gets_one_clear_error_and_can_be_corrected(page, tmp_path):
    drop(page, tmp_path, "rank1,rank2\na,b\na,a\n", "bad.csv")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("bad.csv, line 3")
    expect(alert).to_contain_text("Fix:")
    expect(page.locator("body")).not_to_contain_text("Traceback")
    # The browser says on its console that the page came with the status of an error; nothing else.
    assert [text for text in page.complaints if "422" not in text] == []
    page.complaints.clear()
    page.get_by_text("More: roles of columns").click()
    page.get_by_label("Named twice").select_option("first")
    page.get_by_role("button", name="Read again").click()
    done(page)
    expect(page.locator(".kicker").first).to_contain_text("2 ballots of 2 items")


def test_the_threshold_follows_the_keyboard(page, tmp_path):
    drop(page, tmp_path, VOTES)
    done(page)
    slider = page.get_by_label("Threshold", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    assert blocks(page) == 3  # a, b, c
    page.keyboard.press("ArrowRight")
    assert blocks(page) == 2  # a and b are tied at 61/101 - 1/2
    assert slider.get_attribute("aria-valuetext").startswith("threshold 0.1")
    page.keyboard.press("End")
    assert blocks(page) == 1
    page.get_by_role("button", name="as reported").click()
    expect(slider).to_be_focused()


def test_a_moved_threshold_stays_while_results_come_in(page, tmp_path):
    votes = hr.sample_votes(hr.PlackettLuce([8, 7.7, 5, 3.1, 3]), 200, rng=1, items="abcde")
    hr.write_votes(votes, tmp_path / "five.soc")
    page.set_input_files("#file", tmp_path / "five.soc")
    page.wait_for_url("**/v/*")
    slider = page.get_by_label("Threshold", exact=True)
    slider.focus()
    page.keyboard.press("End")
    assert blocks(page) == 1
    done(page)
    assert blocks(page) == 1
    expect(slider).to_be_focused()


def test_an_arena_of_100_models_shows_its_ranking_first_and_fills_the_rest(page, tmp_path):
    rng = np.random.default_rng(9)
    pairs = [rng.choice(100, 2, replace=False) for _ in range(5000)]
    battles = [f"m{a},m{b},{'model_a' if rng.random() < 1 / (1 + 1.03 ** (a - b)) else 'model_b'}" for a, b in pairs]
    drop(page, tmp_path, "\n".join(["model_a,model_b,winner", *battles]))
    rows = page.locator("#ranking table.board tbody tr")
    expect(rows).to_have_count(100)
    assert page.locator("#progress .job[data-over='no']").count() == 1
    tenth = "all => all[9].getBoundingClientRect().bottom"  # at once: the board is replaced as it fills
    assert page.eval_on_selector_all("#ranking table.board tbody tr", tenth) <= 900  # without scrolling
    expect(page.locator("#ranking td.rating")).to_have_count(100)
    expect(page.locator("#ranking td.overtake")).to_have_count(100, timeout=60_000)
    expect(page.locator("h1")).to_contain_text("of 5,000 battles")
    page.locator("#progress").get_by_role("button", name="Cancel").click()


def test_an_analysis_can_be_cancelled(page, tmp_path, noise):
    drop(page, tmp_path, noise, "noise.jsonl")
    page.locator("#progress").get_by_role("button", name="Cancel").click()
    expect(page.locator("#progress .job-words")).to_have_text("Cancelled. The page shows the results so far.")
    expect(page.locator("#progress").get_by_role("button", name="Cancel")).to_have_count(0)


def test_a_breakdown_fills_in_and_can_be_cancelled(page, tmp_path, noise):
    drop(page, tmp_path, noise, "noise.jsonl")
    expect(page.locator("#drawn-heatmap svg")).to_be_visible()
    page.get_by_role("button", name="Compute the curve").click()
    box = page.locator("#curve-progress")
    expect(page.locator("#drawn-breakdown svg.picture")).to_be_visible(timeout=60_000)
    expect(box.get_by_role("button", name="Cancel")).to_be_visible()
    box.get_by_role("button", name="Cancel").click()
    expect(box.locator(".job-words")).to_have_text("Cancelled. The page shows the results so far.")
    expect(page.locator("#drawn-breakdown svg.picture")).to_be_visible()
    page.locator("#progress").get_by_role("button", name="Cancel").click()


def test_a_claim_is_answered_and_its_attack_replayed(page, tmp_path):
    drop(page, tmp_path, VOTES)
    done(page)
    page.get_by_label("Claim in words").fill("b above a")
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url("**/c/*")
    expect(page.locator("#answer-text")).to_contain_text("11 of 101 ballots put b above a (10.9 %, proven minimum)")
    expect(page.locator(".verdict")).to_have_text("It does not hold as it is.")
    slider = page.get_by_role("slider", name="Ballots replaced")
    text, frame = page.locator(".replay .slider-text"), page.locator(".frame:visible")
    expect(text).to_have_text("11 ballots replaced: 2 items at another place")
    expect(frame).to_have_count(1)
    expect(frame).to_contain_text("after 11 ballots")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(text).to_have_text("10 ballots replaced: the consensus is as before")
    expect(frame).to_contain_text("after 10 ballots")
    page.get_by_role("button", name="Before").click()
    expect(text).to_have_text("0 ballots replaced: the consensus is as before")
    expect(frame).to_have_count(1)
    expect(page.locator("#ballots + *")).to_contain_text("Ballots to remove")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    attacked = hr.read_votes(_saved(download.value, tmp_path))
    assert hr.kemeny(attacked).ranking.text(attacked.items).startswith("b > a")
    # The answer is listed with the file.
    page.get_by_role("link", name=re.compile("Back to")).click()
    expect(page.locator("#claims-asked")).to_contain_text("b above a")


def _saved(download, folder):
    path = Path(folder) / download.suggested_filename
    download.save_as(path)
    return path


def test_the_report_can_be_read_from_disk_without_network_and_scripts(page, new_page, tmp_path):
    drop(page, tmp_path, VOTES)
    done(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Report").click()
    path = _saved(download.value, tmp_path)
    assert path.name == "votes-report.html"
    reader = new_page(java_script_enabled=False, offline=True)
    asked = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(path.as_uri())
    expect(reader.locator("h1")).to_contain_text("of 101 ballots")
    assert reader.locator("svg.picture").count() == 5
    assert reader.locator("table.board tbody tr").count() == 3
    assert asked == [path.as_uri()]


def test_hostile_names_are_shown_as_text(page, studio, tmp_path):
    page.on("dialog", lambda dialog: pytest.fail(f"a name opened a dialog: {dialog.message}"))
    lines = [{"order": HOSTILE, "weight": 4}, {"order": HOSTILE[::-1], "weight": 3}]
    drop(page, tmp_path, "\n".join(map(json.dumps, lines)), "hostile.jsonl")
    done(page)
    page.get_by_label("Threshold", exact=True).focus()
    for key in ("Home", "ArrowRight", "End"):
        page.keyboard.press(key)
    expect(page.locator("#ladder-box")).to_contain_text("<img src=x")
    expect(page.locator("#ladder-box")).to_contain_text("\\u202egnp.exe")
    expect(page.locator("#ladder-box")).to_contain_text("bell\\x07escape\\x1b[31m")
    expect(page.locator("#ladder-box")).to_contain_text("{{ 7*7 }}")
    page.get_by_label("Upper item").select_option(index=0)
    page.get_by_label("Lower item").select_option(index=1)
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url("**/c/*")
    expect(page.locator("#answer-text")).to_be_visible()
    back = page.get_by_role("link", name=re.compile("Back to")).get_attribute("href").partition("#")[0]
    for url in (page.url, studio.address + back):
        page.goto(url)
        assert page.locator("img").count() == 0
        assert page.locator("script:not([src]):not([type='application/json'])").count() == 0
        assert page.evaluate("window.broken === undefined")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_files_are_compared(page, tmp_path):
    (tmp_path / "old.csv").write_text("weight,rank1,rank2\n90,a,b\n10,b,a\n", encoding="utf-8")
    (tmp_path / "new.csv").write_text("weight,rank1,rank2\n10,a,b\n90,b,a\n", encoding="utf-8")
    page.get_by_label("Old").set_input_files(tmp_path / "old.csv")
    page.get_by_label("New").set_input_files(tmp_path / "new.csv")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("h1")).to_have_text("2 of 2 items moved, 2 beyond noise")
    expect(page.locator("th", has_text="verdict")).to_be_visible()
    page.goto(page.url.partition("/compare")[0])
    for label in ("Old", "New"):
        page.get_by_label(label).set_input_files(tmp_path / "old.csv")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("h1")).to_have_text("Nothing moved")
    expect(page.locator("th", has_text="verdict")).to_have_count(0)


def test_a_closed_tab_leaves_no_process_behind(new_page, tmp_path, noise):
    with served(tmp_path, patience=2.0) as studio:
        children = Path(f"/proc/{studio.process.pid}/task/{studio.process.pid}/children")
        if not children.exists():
            pytest.skip("this system does not say which processes belong to which")
        page = new_page()
        page.goto(f"http://{studio.host}")
        drop(page, tmp_path, noise, "noise.jsonl")
        expect(page.locator("#progress progress")).to_be_visible()
        assert children.read_text().split()
        page.context.close()
        ends = time.monotonic() + 40
        while children.read_text().split() and time.monotonic() < ends:
            time.sleep(0.1)
        assert children.read_text().split() == []


# For everyone: names and labels, contrast, keyboard, small screens.


@pytest.fixture(scope="module")
def places(browser, studio, tmp_path_factory):
    """The addresses of one page of each kind."""
    page = browser.new_page()
    page.goto(studio.address)
    drop(page, tmp_path_factory.mktemp("places"), VOTES)
    done(page)
    found = {"first": studio.address, "votes": page.url}
    page.get_by_label("Claim in words").fill("a wins")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#answer-text")).to_be_visible()
    found["claim"] = page.url
    page.goto(studio.address)
    page.fill("textarea", "rank1,rank2\na,a\n")
    page.get_by_role("button", name="Read the text").click()
    expect(page.get_by_role("alert")).to_be_visible()
    found["bad file"] = page.url
    found["error"] = f"{studio.address}/v/unknown"
    page.close()
    return found


KINDS = ["first", "votes", "claim", "bad file", "error"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_for_everyone(places, new_page, kind, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.goto(places[kind])
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found] == []
    page.complaints[:] = [text for text in page.complaints if "status of 4" not in text]


@pytest.mark.parametrize("kind", KINDS)
def test_pages_fit_a_telephone(places, new_page, kind):
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(places[kind])
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.complaints[:] = [text for text in page.complaints if "status of 4" not in text]


@pytest.mark.parametrize("kind", KINDS)
def test_headings_are_in_order_and_focus_is_seen(places, new_page, kind):
    page = new_page()
    page.goto(places[kind])
    levels = [
        int(tag[1]) for tag in page.eval_on_selector_all("main h1, main h2, main h3", "all => all.map(x => x.tagName)")
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    page.complaints[:] = [text for text in page.complaints if "status of 4" not in text]


def test_pages_can_be_read_without_scripts(places, new_page):
    page = new_page(java_script_enabled=False)
    page.goto(places["votes"])
    expect(page.locator("h1")).to_contain_text("of 101 ballots")
    assert page.locator("svg.picture:visible").count() == 5
