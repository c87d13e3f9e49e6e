"""The report as a reader sees it: on a screen and a phone, light and dark, with and without scripts, and printed."""

from __future__ import annotations

import re

import pytest

from holdrank.analysis.result import Analysis
from holdrank.views.report import html
from holdrank.words.headlines import headline
from page_records import large_record

pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
pytestmark = pytest.mark.slow

SCREEN, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

# Texts of pictures that overlap, or leave their picture, as far as they can be seen.
CROWDED = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg.picture")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter((one) => one.checkVisibility())
      .map((one) => [[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join(""),
                     one.getBoundingClientRect()]);
    texts.forEach(([text, a], k) => {
      const inside = a.left >= frame.left - 1 && a.right <= frame.right + 1 && a.bottom <= frame.bottom + 1;
      if (!inside) found.push(`cut: ${text}`);
      for (const [other, b] of texts.slice(k + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Boxes of letters are higher than the letters.
        if (wide > 1 && high > 0.3 * Math.min(a.height, b.height)) found.push(`${svg.classList}: ${text} | ${other}`);
      }
    });
  }
  return found;
}"""
# Words of the page that end outside of the window, but for what can be scrolled by itself.
CUT = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector(".page"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.parentElement, range = document.createRange();
    if (!walker.currentNode.data.trim() || !at.checkVisibility() || at.closest(".scroll, script, thead")) continue;
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    if (box.width > 1 && (box.right > innerWidth + 1 || box.left < -1)) found.push(walker.currentNode.data.trim());
  }
  return found;
}"""


def tradeoff_of(n, votes):
    """Return a trade-off of many thresholds whose losses are nearly the same, as those of sparse battles are."""
    losses = [0.2 + 0.00001 * (k * 7 % 23) for k in range(40)]
    lower = [(k % 5) / votes for k in range(40)]
    return {
        "theta": [*(round(k / 100, 2) for k in range(40)), 0.5],
        "loss": [*losses, 0.5],
        "lower": [*lower, None],
        "upper": [*(low + 3 / votes for low in lower), None],
        "pareto": [True] * 41,
        "sizes": [[1] * n] * 41,
        "best": 4,
        "tolerance": 0.02,
        "delta": None,
        "distance": "hausdorff_ns",
        "goal": "another winner",
        "status": "certified bounds: the minimum share lies between lower and upper",
    }


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports of some sizes: where they lie."""
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for n in (4, 17, 70, 208):
        record = large_record(n)
        record["votes"] |= {"source": "/home/ann/arena.csv", "sha256": "0" * 64, "format": "battles"}
        record["spec"]["time_limit"] = 40.0
        record["steps"][-1] |= {"state": "cut short", "note": "time limit reached"}
        record["tradeoff"] = tradeoff_of(n, record["votes"]["total"])
        record["headline"] = headline(record)
        found[n] = folder / f"report-{n}.html"
        found[n].write_text(html(Analysis(record)), encoding="utf-8")
    return found


@pytest.mark.parametrize("viewport", [SCREEN, PHONE], ids=["screen", "phone"])
@pytest.mark.parametrize("n", [4, 17, 70, 208])
def test_the_ranking_is_on_the_first_screen_and_no_text_is_cut_or_crowded(pages, new_page, n, viewport):
    page = new_page(viewport=viewport)
    page.goto(pages[n].as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    bottoms = page.eval_on_selector_all(
        "table.board tbody tr",
        "all => all.filter((x) => x.checkVisibility()).map((x) => x.getBoundingClientRect().bottom)",
    )
    assert len(bottoms) == min(n, 10)
    seen = len(bottoms) if viewport is SCREEN else 1
    assert bottoms[seen - 1] <= viewport["height"]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
        assert page.evaluate(CROWDED) == []
        assert page.evaluate(CUT) == []
    drawn = page.eval_on_selector_all("svg.picture", "all => all.map((x) => x.classList[1])")
    assert {"heatmap", "breakdown", "tradeoff", "attack"} <= set(drawn)
    assert page.locator(".banner").inner_text().endswith("holdrank report arena.csv --theta 0.1 --time-limit 400")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_is_for_everyone(pages, new_page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = new_page(color_scheme=scheme, viewport=SCREEN)
    page.goto(pages[17].as_uri())
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found] == []


def rows(page):
    return page.eval_on_selector_all(
        "table.board tbody tr",
        "all => all.filter((x) => x.checkVisibility()).map((x) => x.querySelector('th').textContent)",
    )


def test_the_board_is_sorted_searched_and_shown_in_full(pages, new_page):
    page = new_page(viewport=SCREEN)
    page.goto(pages[70].as_uri())
    name = "Model number {}, with a longer name".format
    assert rows(page) == [name(k) for k in range(10)]
    page.get_by_role("button", name="Sort by Rank").click()
    page.get_by_role("button", name="Sort by Rank").click()
    assert rows(page) == [name(69 - k) for k in range(10)]
    assert page.locator("th.rank[aria-sort=descending]").count() == 1
    page.get_by_role("button", name="Sort by Win rate").click()  # the largest first
    assert rows(page)[0] == name(0)
    page.get_by_role("button", name="Show all 70").click()
    assert len(rows(page)) == 70
    page.get_by_label("Search the ranking").fill("Number 4")
    assert sorted(rows(page)) == sorted([name(4), *(name(k) for k in range(40, 50))])
    page.get_by_label("Search the ranking").fill("")
    page.get_by_role("button", name="Show the first 10").click()
    assert len(rows(page)) == 10
    # The heading stays in sight.
    page.get_by_role("button", name="Show all 70").click()
    page.locator("table.board tbody tr").nth(40).scroll_into_view_if_needed()
    assert 0 <= page.locator("table.board thead th").first.bounding_box()["y"] < 5


def test_without_scripts_all_rows_are_there(pages, new_page):
    page = new_page(java_script_enabled=False, viewport=PHONE)
    page.goto(pages[70].as_uri())
    assert len(page.locator("table.board tbody tr").all()) == 70
    assert page.locator("table.board tbody tr").last.is_visible()
    assert page.get_by_label("Search the ranking").count() == 0


@pytest.mark.parametrize("touch", [False, True], ids=["hover", "tap"])
def test_pointing_at_a_picture_gives_the_number(pages, new_page, touch):
    page = new_page(has_touch=touch, viewport=PHONE if touch else SCREEN)
    page.goto(pages[17].as_uri())
    matrix = page.locator("svg.heatmap")
    matrix.scroll_into_view_if_needed()
    x, y = page.evaluate("""() => {
      const svg = document.querySelector("svg.heatmap"), { left, top, cell } = svg.dataset;
      const at = new DOMPoint(+left + 2.5 * cell, +top + 0.5 * cell).matrixTransform(svg.getScreenCTM());
      return [at.x, at.y];
    }""")  # the first row, the third column
    (page.touchscreen.tap if touch else page.mouse.move)(x, y)
    share = large_record(17)["pairs"]["share"][0][2]
    told = page.locator("figure:has(svg.heatmap) .readout").inner_text()
    assert re.fullmatch(r"1 Model number 0, .* above 3 Model number 2, .*: (.*) % of 3,000 battles", told)
    assert float(told.split(": ")[1].split(" %")[0]) == pytest.approx(100 * share, abs=0.1)


@pytest.mark.parametrize(("n", "most"), [(4, 6), (70, 8)])
def test_a_report_prints_on_few_pages_and_keeps_headings_with_their_figures(pages, new_page, n, most):
    page = new_page(viewport=SCREEN)
    page.goto(pages[n].as_uri())
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= most
    page.emulate_media(media="print")
    kept = page.eval_on_selector_all(
        "figure", "all => all.map((x) => getComputedStyle(x.closest('div:has(> h2)')).breakInside)"
    )
    assert set(kept) == {"avoid"}
    assert page.locator("table.board tbody tr").last.is_visible()  # paper has all rows


def test_a_long_board_continues_on_the_last_pages_of_paper_only(pages, new_page):
    page = new_page(viewport=SCREEN)
    page.goto(pages[70].as_uri())
    before = page.locator("table.board tbody tr").all_inner_texts()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".board-box table.board tbody tr").count() == 18
    assert page.locator("main > :last-child table.board tbody tr").count() == 52
    assert page.locator("main > :last-child h2").inner_text() == "The other 52 items"
    assert "The other 52 items are on the last pages." in page.inner_text(".board-box")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("table.board tbody tr").all_inner_texts() == before
    assert page.locator("table.board").count() == 1


def test_names_of_any_length_fit_a_telephone(new_page, tmp_path):
    names = ["W" * 400, "<img src=x onerror=alert(1)>", "עולם", "漢字" * 30, *(f"W{k}" * 12 for k in range(8))]
    record = large_record(len(names))
    record["items"] = names
    record["headline"] = headline(record)
    path = tmp_path / "names.html"
    path.write_text(html(Analysis(record)), encoding="utf-8")
    for viewport in (SCREEN, PHONE):
        page = new_page(viewport=viewport)
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        assert page.locator("img").count() == 0
