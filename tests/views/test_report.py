"""The report: one page that needs nothing else, is sound HTML, and shows names as text; Markdown, LaTeX, JSON."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import re

import html5lib
import pytest
from test_svg import HOSTILE

import holdrank as hr
from holdrank.analysis.analyse import analyse
from holdrank.analysis.records import mismatch
from holdrank.analysis.result import Analysis
from holdrank.analysis.spec import Spec
from holdrank.errors import InputError, UsageError
from holdrank.views import page
from holdrank.views.report import html, latex, markdown, write_report
from holdrank.views.svg import PICTURES
from page_records import large_record

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def small() -> Analysis:
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    spec = Spec(theta=None, k=1, claims=("a above b", "c wins"), draws=200, time_limit=None)
    return analyse(votes, spec)


@pytest.fixture(scope="module")
def hostile() -> Analysis:
    votes = hr.sample_votes(hr.PlackettLuce([7, 6, 5, 4, 3, 2, 1]), 60, rng=1, items=HOSTILE)
    spec = Spec(rule="borda", theta=0.02, k=2, claims=(f"{HOSTILE[0]} wins", "top 2"), draws=50, time_limit=2.0)
    found = analyse(votes, spec)
    found.record["votes"] |= {"source": "</title><script>x</script>", "notes": ["<b>note</b>"],
                              "choices": {"<i>": "</dd><img src=y>"}}  # fmt: skip
    found.record["steps"][0]["note"] = "<u>"
    assert mismatch(found.record) == ""
    return found


def tree(page: str):
    """Return the page as a tree; anything that is no sound HTML raises."""
    return html5lib.HTMLParser(strict=True).parse(page)


def own_script(page: str) -> str:
    return page.split('<script type="module">')[1].split("</script>")[0]


def text_of(node) -> str:
    return "".join(node.itertext())


# The page.


def test_the_page_is_sound_html_with_landmarks_and_captions(small):
    root = tree(html(small))
    assert root.get("lang") == "en"
    assert [len(list(root.iter(XHTML + tag))) for tag in ("main", "nav", "header", "footer", "h1")] == [1] * 5
    tables = list(root.iter(XHTML + "table"))
    assert len(tables) >= 6
    assert all(table.find(XHTML + "caption") is not None for table in tables)
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    links = [node.get("href") for node in root.iter(XHTML + "a")]
    assert {link.removeprefix("#") for link in links} <= set(ids)
    named = [node.get("aria-labelledby") for node in root.iter() if node.get("aria-labelledby")]
    assert set(named) <= set(ids)


def test_the_page_says_what_was_found(small):
    page = text_of(tree(html(small)).find(XHTML + "body")).replace("\xa0", " ")
    for said in (
        "a is first; putting b first takes 11 of 100 votes.",
        "Proven minimum (11 %): 10 only tie.",
        "100 votes, 3 items",
        "Safely in (1)", "Undecided (0)", "Safely out (2)",
        "does not hold",
        "The cut after the first 1",
        "Ranked by Kemeny, without tiers.",
        "Robust Consensus in Ranking Data Analysis",
        small.record["votes"]["input_hash"],
        "holdrank-analysis-1",
        "No step ran out of time.",
        "Nothing was dropped, merged or fixed.",
    ):  # fmt: skip
        assert said in page, said


def test_each_picture_stands_there_with_its_words(small):
    root = tree(html(small))
    drawings = [node for node in root.iter(SVG + "svg") if "picture" in node.get("class")]
    # The board has the rank ranges, nobody asked for the trade-off of tiers, and mean ranks are of score tables.
    drawn = [picture for picture in PICTURES if picture.name not in ("ranges", "tradeoff", "critical_difference")]
    assert [node.get("class") for node in drawings] == [f"picture {picture.name}" for picture in drawn]
    told = [
        text_of(node.find(XHTML + "p")) for node in root.iter(XHTML + "details") if node.find(XHTML + "p") is not None
    ]
    assert [node.get("aria-label") for node in drawings] == told
    assert [text.replace("\xa0", " ") for text in told] == [picture.tell(small.record) for picture in drawn]


@pytest.mark.slow
@pytest.mark.traced
def test_the_page_asks_nothing_of_any_other_place(small, hostile):
    for found in (small, hostile):
        page = html(found)
        root = tree(page)
        for node in root.iter():
            for name, value in node.items():
                assert name not in ("src", "srcset", "action", "background", "poster", "data"), name
                if "href" in str(name):
                    assert value.startswith("#")
        assert not list(root.iter(XHTML + "link"))
        style = text_of(next(root.iter(XHTML + "style")))
        assert "@import" not in style
        assert "url(" not in style
        assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import)\s*\(", own_script(page))


def test_the_policy_allows_this_script_and_no_other(small):
    page = html(small)
    root = tree(page)
    policy = next(node.get("content") for node in root.iter(XHTML + "meta") if node.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(own_script(page).encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe-eval" not in policy
    assert [node.get("type") for node in root.iter(XHTML + "script")] == ["application/json"] * 3 + ["module"]
    assert "export function ladderSlider(container, record)" in own_script(page)
    assert "innerHTML" not in own_script(page)


def test_the_record_is_inside_and_comes_out_whole(small, hostile):
    for found in (small, hostile):
        root = tree(html(found))
        data = next(node for node in root.iter(XHTML + "script") if node.get("id") == "holdrank-record")
        assert json.loads(text_of(data)) == found.record
        assert "<" not in text_of(data)


def test_names_make_no_elements_and_no_attributes(hostile, small):
    root = tree(html(hostile))
    tags = {node.tag.rpartition("}")[2] for node in root.iter()}
    assert not tags & {"img", "b", "i", "u"}
    assert len(list(root.iter(XHTML + "script"))) == 4
    assert len(list(root.iter(XHTML + "title"))) == 1
    attributes = {str(name) for node in root.iter() for name in node.attrib}
    # Only titles of names that are cut are new to what a page with harmless names has.
    harmless = {str(name) for node in tree(html(small)).iter() for name in node.attrib}
    assert attributes - harmless <= {"title", "stroke", "d", "rx"}
    page = html(hostile)
    assert "onerror" in page  # as text
    assert not any(name.startswith("on") for name in attributes)
    assert "\u202e" not in page.partition('<script type="application/json"')[0]
    assert "\x1b" not in page


def test_names_in_tables_stand_by_themselves_and_are_whole_for_whoever_asks(hostile):
    root = tree(html(hostile))
    long = [node for node in root.iter(XHTML + "bdi") if (node.get("title") or "").startswith("aaaa")]
    assert long
    assert all(text_of(node) == "a" * 39 + "…" for node in long)


def test_the_same_analysis_gives_the_same_bytes(small):
    again = Analysis.from_json(small.to_json())
    for form in (html, markdown, latex):
        assert form(small) == form(again)


@pytest.mark.slow
@pytest.mark.traced
def test_a_page_of_a_hundred_items_is_small_and_sound():
    page = html(Analysis(large_record(100)))
    assert len(page.encode()) < 400_000
    tree(page)


def test_a_page_without_anything_optional_is_sound(small):
    record = copy.deepcopy(small.record)
    record |= dict.fromkeys(("path", "bootstrap", "chance", "reach", "tradeoff", "attack", "cut"))
    record |= {name: [] for name in ("gaps", "curves", "claims", "others")}
    record["steps"][1] |= {"state": "failed", "note": "it was late"}
    assert mismatch(record) == ""
    page = text_of(tree(html(Analysis(record))))
    assert "Not everything was computed. Failed: the tiers (it was late)." in page
    assert "Places by chance were not computed." in page
    assert "Ballots to change" not in page
    for form in (markdown, latex):
        assert "a" in form(Analysis(record))


def test_one_item_and_shares_have_reports():
    one = analyse(hr.Votes.from_orders([["a"]]), Spec(time_limit=None))
    assert "There is one item, a." in html(one)
    shares = analyse(hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.6, 0.4]), Spec(time_limit=None))
    page = text_of(tree(html(shares))).replace("\xa0", " ")
    assert "10 %" in page
    assert "There is no bootstrap: the votes are shares, not counts." in page
    assert "By chance" not in latex(shares)


def test_many_kinds_of_ballots_are_counted_not_listed():
    page = text_of(tree(html(Analysis(large_record(30)))))
    assert "Ballots to remove; and 290 more distinct ballots, in the record inside this file" in page
    assert "and 20 more" in page  # items of a ballot


def test_items_that_are_rarely_first_are_counted_together(small):
    record = json.loads(json.dumps(small.record))
    record["items"] = [f"item {k}" for k in range(10)]
    record["bootstrap"] = {**record["bootstrap"], "draws": 1000}
    record["bootstrap"]["first"] = [0.4, 0.2, 0.1, 0.1, 0.08, 0.07, 0.03, 0.02, 0.0, 0.0]
    assert page._chance(record)[-1] == (5, "7 %")
    assert page._chance_of_others(record) == ("2 other items", "5 %")
    record["bootstrap"]["first"] = [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0]
    assert page._chance_of_others(record) is None


def test_half_of_a_pair_of_characters_does_not_stop_the_report(tmp_path):
    votes = hr.Votes.from_orders([["a\ud800", "b"]], weights=[3])
    found = analyse(votes, Spec(draws=0, time_limit=None))
    for ending in ("html", "md", "tex", "json"):
        write_report(found, tmp_path / f"r.{ending}")
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["items"] == ["a\ud800", "b"]
    assert "a\\ud800" in (tmp_path / "r.html").read_text("utf-8")


# Markdown and LaTeX.


def test_markdown_has_the_table_and_the_words(small):
    text = markdown(small)
    assert text.startswith(
        "# a is first; putting b first takes 11 of 100 votes.\n\nProven minimum (11 %): 10 only tie. "
        "By chance, a or b could be first (95 %). a is first in 98 % of 200 bootstrap samples."
    )
    assert "| 1 | a | 1 | 1–2 | 1 | 11 votes (11 %) |\n| 2 | b | 2 | 1–2 | 2 |" in text
    assert "- Safely in (1): a (" in text
    assert "| a above b | holds | 10 of 100 votes tie it, 11 put b above a" in text
    assert "| item | kemeny | borda | footrule | copeland | bradley-terry |\n| --- | ---: |" in text
    assert "\n\n\n" not in text


def test_names_in_markdown_are_text(hostile):
    text = markdown(hostile)
    assert "<img" not in text
    assert "<script" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "\\$m\\$" in text
    rows = [line for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows if "by attack" not in row}) <= 2


SAMPLES = r"a is first in 98 \% of 200 bootstrap samples."
LATEX = r"""% a is first; putting b first takes 11 of 100 votes.
% Proven minimum (11 \%): 10 only tie. By chance, a or b could be first (95 \%). SAMPLES CUT
% holdrank VERSION, votes c62b74dc0f9d
\begin{table}
\centering
\caption{Consensus by Kemeny, without ties}
\begin{tabular}{rlrrr}
\toprule
Place & Item & Votes to break the gap below & By chance & By attack \\
\midrule
1 & a & 11 votes (11 \%) & 1--2 & 1 \\
\addlinespace
2 & b & 51 votes (51 \%) & 1--2 & 2 \\
\addlinespace
3 & c &  & 3 & 3 \\
\bottomrule
\end{tabular}
\end{table}
"""


CUT = r"Top 1, if 1 vote (1 \%) changes: 1 safely in, 0 undecided, 2 safely out."


def test_a_latex_table(small):
    assert latex(small) == LATEX.replace("VERSION", hr.__version__).replace("CUT", CUT).replace("SAMPLES", SAMPLES)


def test_a_long_latex_table_goes_over_pages():
    text = latex(Analysis(large_record(60)))
    assert r"\begin{longtable}{rlrrr}" in text
    assert r"\endhead" in text
    assert text.count(r"\addlinespace") == 14


def test_names_in_latex_are_text(hostile):
    text = latex(hostile)
    assert r"\textless{}img src=x onerror=alert(1)\textgreater{}" in text
    assert r"\$m\$" in text
    assert r"tab\textbackslash{}there\textbackslash{}x1b[31m" in text


# Files.


def test_the_ending_decides_the_form(small, tmp_path):
    for ending, start in ((".html", "<!DOCTYPE html>"), (".md", "# a is"), (".tex", "% a is"), (".JSON", "{")):
        path = tmp_path / f"report{ending}"
        write_report(small, path)
        assert path.read_text("utf-8").startswith(start)
    assert Analysis.from_json((tmp_path / "report.JSON").read_text("utf-8")).record == small.record
    with pytest.raises(UsageError, match=r"a report ends in \.html, \.md, \.tex, \.json, not 'report\.pdf'"):
        write_report(small, tmp_path / "report.pdf")


def test_a_report_that_cannot_be_written_leaves_nothing(small, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        write_report(small, tmp_path / "nowhere" / "report.html")
    assert os.listdir(tmp_path) == []


# The command.


@pytest.fixture
def run(command_line):
    return lambda *args: command_line("report", *args)


QUICK = ("--draws", "20", "--theta", "none")


def test_the_command_writes_the_page_and_prints_the_headline(run, tmp_path):
    hr.write_votes(hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[60, 40]), tmp_path / "votes.soc")
    code, out, err = run("votes.soc", *QUICK, "--claim", "a above b", "--k", "1")
    assert code == 0
    assert out.splitlines() == [
        "a is first; putting b first takes 11 of 100 ballots.",
        "Proven minimum (11 %): 10 only tie. Neither item can be ruled out as first (95 %). "
        "Top 1, if 1 ballot (1 %) changes: 1 safely in, 0 undecided, 1 safely out.",
    ]
    assert "wrote report.html" in err
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "a above b" in text_of(tree(page))
    code, _, err = run("votes.soc", *QUICK, "-q", "-o", "table.tex", "--time-limit", "0")
    assert code == 0
    assert err == ""
    assert (tmp_path / "table.tex").exists()


def test_the_command_refuses_before_it_computes(run, tmp_path):
    hr.write_votes(hr.Votes.from_orders([["a", "b"]]), tmp_path / "votes.soc")
    (tmp_path / "votes.md").symlink_to(tmp_path / "votes.soc")
    for output, problem in (
        ("report.pdf", "the extension .html, .md, .tex, .json"),
        ("votes.md", "would overwrite the votes"),
    ):
        code, out, err = run("votes.soc", "-o", output)
        assert (code, out) == (2, "")
        assert problem in err
    code, _, err = run("votes.soc", "--theta", "few")
    assert code == 2
    assert "'few' is neither a number nor auto" in err
    code, _, err = run("votes.soc", "--claim", "nothing")
    assert code == 2
    assert "a claim is 'X wins', 'A above B' or 'top 3', not 'nothing'" in err


def test_the_pictures_as_text(run, tmp_path):
    votes = hr.Votes.from_orders([["Ash", "Elm", "Fir"], ["Elm", "Ash", "Fir"]], weights=[60, 40])
    hr.write_votes(votes, tmp_path / "votes.soc")
    code, out, _ = run(
        "votes.soc", "--text", "--theta", "none", "--k", "1", "--claim", "Ash wins", "--draws", "50", "-q"
    )
    assert code == 0
    assert not (tmp_path / "report.html").exists()
    lines = out.splitlines()
    assert lines[:2] == [
        "Ash is first; putting Elm first takes 11 of 100 ballots.",
        "Proven minimum (11 %): 10 only tie. "
        "By chance, Ash or Elm could be first (95 %). "
        "Top 1, if 1 ballot (1 %) changes: 1 safely in, 0 undecided, 2 safely out.",
    ]
    ladder = lines.index("Ranking")
    assert lines[ladder + 1 : ladder + 6] == [
        "      1  Ash",
        "         ┄┄┄ 11 ballots (11 %)",
        "      2  Elm",
        "         ┄┄┄ 51 ballots (51 %)",
        "      3  Fir",
    ]
    assert "Ash    1  \\▓▓██" in lines
    assert any(line.startswith("      1 pair") and line.endswith(" 11") for line in lines)
    assert "safely in: 1" in lines
    assert "Ash wins: 10 of 100 ballots tie it, 11 change the winner (11 %, proven minimum)." in lines
    assert "-      11  Ash > Elm > Fir" in lines
    assert "+      11  Elm > Ash > Fir" in lines


@pytest.mark.slow
@pytest.mark.traced
def test_text_for_shares_many_items_and_plain_terminals(monkeypatch, capsys):
    from holdrank.cli import terminal

    monkeypatch.setattr(terminal, "shows", lambda _: False)
    shares = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[0.6, 0.4])
    terminal.print_analysis(hr.analyse(shares, hr.Spec(theta=None)))
    out = capsys.readouterr().out
    assert out.isascii()
    assert "... 10 % of the votes" in out
    many = hr.sample_votes(hr.Mallows(range(70), 0.5), 50, rng=1)
    terminal.print_analysis(hr.analyse(many, hr.Spec(rule="borda", theta=0.1, draws=20, time_limit=2)))
    out = capsys.readouterr().out
    assert "and 10 more items" in out
    assert "Pairs" not in out  # too many for a line


def test_one_analysis_is_written_to_several_files(run, tmp_path, monkeypatch):
    from holdrank.analysis import analyse as analysing

    calls = []
    real = analysing.analyse
    monkeypatch.setattr(analysing, "analyse", lambda *args, **options: calls.append(1) or real(*args, **options))
    hr.write_votes(hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[60, 40]), tmp_path / "votes.soc")
    names = ("a.html", "a.json", "a.md", "a.tex")
    code, _, err = run("votes.soc", *QUICK, *(word for name in names for word in ("-o", name)))
    assert code == 0
    assert len(calls) == 1
    assert all((tmp_path / name).stat().st_size for name in names)
    assert [line for line in err.splitlines() if "wrote" in line] == [f"wrote {name}" for name in names]
    for given, problem in (
        (("a.md", "a.md"), "is given twice"),
        (("b.md", "b.pdf"), "b.pdf"),
        (("b.md", "no/b.md"), "no"),
    ):
        code, out, err = run("votes.soc", "-o", given[0], "-o", given[1])
        assert code in (2, 3)
        assert out == ""
        assert problem in err
        assert not (tmp_path / "b.md").exists()


def test_one_sentence_joins_chance_and_adversary_on_every_page(tmp_path):
    table = "left,right,winner\n" + "a,b,a\n" * 60 + "a,b,b\n" * 45
    (tmp_path / "battles.csv").write_text(table, encoding="utf-8")
    found = hr.analyse(hr.read_votes(tmp_path / "battles.csv"), hr.Spec(draws=200, theta=None))
    both = found.record["chance"]["text"]
    assert both == (
        "Neither item can be ruled out as first (95 %); an adversary who chooses the battles needs 8 (proven minimum)."
    )
    apart = "The one neighbouring pair is not separated at 95 %."
    assert f"<p>{both} {apart}</p>" in html(found).replace("\u00a0", " ")
    assert f"{both} {apart}" in markdown(found).replace("\\", "")
