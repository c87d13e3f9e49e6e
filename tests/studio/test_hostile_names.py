"""Hostile names do no harm on any page, in any picture and in any file."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import holdrank as hr

from studios import post_with_header, running, wait

pytestmark = [pytest.mark.slow, pytest.mark.traced]

NAMES = [
    "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "</style><svg onload=alert(1)>", "]]><x/>",
    "\" onmouseover=\"alert(1)", "' onfocus='alert(1)", "javascript:alert(1)", "{{ 7 * 7 }}", "{% raw %}", "&lt;b&gt;",
    "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tTab", "\rReturn", "\nLine", " =1+1", "＝1", "'=1",
    "\x00zero", "\x1b[31mred", "\u202egnp.exe", "\u2028line", "a\r\nSet-Cookie: x=1", "%0d%0aX: y", "x" * 5000,
    "é" * 200, "../../etc/passwd", "C:\\con",
    "`id`", "$(id)", "${7*7}", "\ufeffmark", "\U000e0041tag", "NA", "weight", ",;|\"",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile():
    """A studio with a file full of hostile names, a claim about it and a comparison."""
    with running() as client:
        lines = [{"order": NAMES, "weight": 3}, {"order": [NAMES[1], NAMES[0], *NAMES[2:]], "weight": 2}]
        data = "\n".join(map(json.dumps, lines)).encode()
        name = '"; x="\u202e</title><img src=x>\'.jsonl'
        client.url = post_with_header(client, "/open", files={"file": (name, data)}).json()["url"]
        post_with_header(client, f"{client.url}/analyse", k="1", draws="20", time_limit="4")
        wait(client, client.url)
        client.claim = post_with_header(client, f"{client.url}/claims", kind="above", first="0", second="1").json()[
            "url"
        ]
        wait(client, client.claim)
        ids = {"old_id": client.url[3:], "new_id": client.url[3:]}
        client.pair = post_with_header(client, "/compare", **ids).json()["url"]
        wait(client, client.pair)
        yield client


def elements(text):
    """Yield tag, attributes and text of every element of a page, as a browser reads it."""
    html5lib = pytest.importorskip("html5lib")
    for node in html5lib.parse(text, namespaceHTMLElements=False).iter():
        if isinstance(node.tag, str):
            yield node.tag.rpartition("}")[2].lower(), dict(node.attrib), node.text or ""


PAGES = ["/", "{url}", "{claim}", "{pair}", "/v/unknown", "/nothing"]


@pytest.mark.parametrize("page", PAGES)
def test_pages_obey_their_policy_whatever_is_called_what(hostile, page):
    answer = hostile.get(page.format(**vars(hostile)), headers={"accept": "text/html"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "unsafe" not in answer.headers["content-security-policy"]
    found = list(elements(answer.text))
    assert len(found) > 20
    for tag, attributes, text in found:
        assert tag not in ("img", "iframe", "object", "embed", "base", "style")
        if tag == "script":
            kinds = {"application/json": ("ladder-data", "pairs-data")}
            assert attributes.get("src") == "/static/studio.js" or attributes["id"] in kinds[attributes["type"]]
            assert "src" not in attributes or not text.strip()
        for name, value in attributes.items():
            assert not name.lower().startswith("on")
            assert name != "style"
            assert not value.lower().strip().startswith(("javascript:", "vbscript:"))
            if name in ("href", "src", "action"):
                assert value.startswith(("/", "#", "data:,"))
                assert not value.startswith("//")
    shown = re.sub(r'<script type="application/json".*?</script>', "", answer.text, flags=re.DOTALL)
    assert not set(shown) & set("\x00\x1b\u202e\u2028\ufeff\U000e0041")
    assert "49" not in re.findall(r"<bdi[^>]*>([^<]*)</bdi>", shown)


def test_pictures_are_sound_xml_that_may_run_nothing(hostile):
    for name in ("ladder", "ranges", "heatmap", "breakdown", "tradeoff", "attack"):
        answer = hostile.get(f"{hostile.url}/pictures/{name}.svg")
        assert answer.status_code == 200, name
        root = ElementTree.fromstring(answer.text)
        style = None
        for node in root.iter():
            tag = node.tag.rpartition("}")[2]
            assert tag not in ("script", "foreignObject", "image", "a", "use", "animate", "set", "iframe")
            assert not any(at.lower().startswith("on") or at == "style" or "href" in at for at in node.attrib)
            style = node.text if tag == "style" else style
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = answer.headers["content-security-policy"]
        assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; sandbox"


def test_the_report_obeys_a_policy_of_its_own(hostile):
    answer = hostile.get(f"{hostile.url}/report.html")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    found = list(elements(answer.text))
    policy = next(at["content"] for tag, at, _ in found if tag == "meta" and "http-equiv" in at)
    assert "unsafe" not in policy
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        texts = [text for name, at, text in found if name == tag and at.get("type") != "application/json"]
        (digest,) = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
        assert f"{kind} 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") or name == "style" for _, at, _ in found for name in at)
    assert {tag for tag, _, _ in found}.isdisjoint({"img", "iframe", "object", "embed", "link", "base"})


def test_downloads_have_harmless_names_and_kinds(hostile):
    kinds = {
        f"{hostile.url}/report.html": "text/html; charset=utf-8", f"{hostile.url}/analysis.json": "application/json",
        f"{hostile.url}/attacked.csv": "text/csv; charset=utf-8", f"{hostile.url}/attacked.jsonl": "application/jsonl",
        f"{hostile.claim}/attacked.jsonl": "application/jsonl",
    }  # fmt: skip
    for path, kind in kinds.items():
        answer = hostile.get(path, headers={"accept": "application/json"})
        assert answer.status_code == 200, (path, answer.text)
        assert answer.headers["content-type"] == kind
        found = re.fullmatch(r"""attachment; filename="([\w-]+\.\w+)"; filename\*=UTF-8''([\w%.-]+)""",
                             answer.headers["content-disposition"], re.ASCII)  # fmt: skip
        assert found, answer.headers["content-disposition"]
        assert found[1].endswith(Path(path).suffix)
        assert not found[1].startswith(("-", "."))
        assert "%E2%80%AE" not in found[2]  # the sign that turns the direction
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("name", "plain"),
    [("votes.csv", "votes"), ("..", "votes"), ("-rf.csv", "rf"), (".hidden.csv", "hidden"), ("a/b\\c.csv", "b-c"),
     ("\u202egnp.exe", "gnp"), ("half \ud800.csv", "half"), ("a\r\nb: c.csv", "a--b--c"), ("", "votes")],
)  # fmt: skip
def test_the_name_of_a_download_is_made_of_letters(name, plain):
    from holdrank.studio.handlers import download

    header = download("x", "text/csv", name, "-attacked.csv").headers["content-disposition"]
    assert header.startswith(f'attachment; filename="{plain}-attacked.csv"; ')


def test_twins_and_records_give_names_back_as_they_are(hostile):
    assert hostile.get(f"{hostile.url}.json").json()["items"] == NAMES
    assert hostile.get(f"{hostile.url}/analysis.json").json()["items"] == NAMES


def test_half_of_a_character_breaks_no_page(hostile):
    """Votes may hold none, but a claim is text that somebody wrote; JSON can spell any of it."""
    from holdrank.studio.handlers import as_json

    assert json.loads(as_json({"name": "half \ud800"}).body)["name"] == "half \ud800"
    data = b'{"order": ["half \\ud800", "b"]}\n'
    answer = post_with_header(
        hostile, "/open", files={"file": ("half \ud800.jsonl".encode("utf-8", "surrogatepass").decode("latin-1"), data)}
    )
    assert answer.status_code == 200
    for ending in ("", ".json"):
        assert hostile.get(answer.json()["url"] + ending).status_code in (200, 422)
    post_with_header(hostile, f"{answer.json()['url']}/close")


SPREADSHEET = [name for name in NAMES if "\x00" not in name]


def test_no_cell_of_a_table_is_a_formula_and_names_come_back(tmp_path):
    """Before a sign that a spreadsheet would run there is an apostrophe, which the reader takes away again."""
    orders = [SPREADSHEET, SPREADSHEET[::-1]]
    tied = [SPREADSHEET[:2], *SPREADSHEET[2:]]
    for k, votes in enumerate([hr.Votes.from_orders(orders), hr.Votes.from_orders([*orders, tied])]):
        path = tmp_path / f"{k}.csv"
        hr.write_votes(votes, path)
        with open(path, encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        for cell in cells:
            assert not cell.strip().startswith(("=", "+", "-", "@", "＝")), cell
            assert not cell.startswith(("\t", "\r", "\n")), cell
        assert any("'=cmd" in cell for cell in cells)
        back = hr.read_votes(path, unlisted=votes.unlisted)
        assert back.items == votes.items
        assert back.total_variation(votes) == 0


def test_tables_of_figures_hold_no_formulas():
    from holdrank.paper.export import table as written

    table = written([{"file": "=1+1.csv", "tiers": "@x > b", "theta": -0.5, "upper": None}])
    assert table == "file,tiers,theta,upper\n'=1+1.csv,'@x > b,-0.5,inf\n"
