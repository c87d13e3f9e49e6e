"""The report of an analysis: one self-contained HTML page, Markdown, a LaTeX table, or its JSON."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html as html_
import json
import os
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from holdrank.analysis.records import Record
from holdrank.analysis.result import Analysis
from holdrank.errors import UsageError, quote
from holdrank.files.writers import write_whole
from holdrank.views.page import page_view
from holdrank.words.ladders import slider_data, slider_words
from holdrank.words.names import in_text, named
from holdrank.words.numbers import percent
from holdrank.words.pictures import pairs_data

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["html", "latex", "markdown", "write_report"]

_LONG_RECORD = 150_000  # characters, beyond which the record in a page is packed
_LONG_TABLE = 40  # rows of a LaTeX table that goes over pages
_SCRIPTS = "<!-- scripts -->"
# The call stands outside the module, which the studio uses as well.
_START = """
for (const board of document.querySelectorAll("[data-board]")) {
  boardTools(board);
  continueOnPaper(board, document.getElementById("main"));
}
const pairs = document.getElementById("pairs-data");
readouts(document, pairs && JSON.parse(pairs.textContent));
const [record, words, box] = ["holdrank-record", "ladder-words", "ladder-box"].map((id) => document.getElementById(id));
if (record && words && box) ladderSlider(box, { ...JSON.parse(record.textContent), ...JSON.parse(words.textContent) });
"""


def write_report(analysis: Analysis, path: str | os.PathLike[str]) -> None:
    """Write an analysis to a file; the extension sets the format: .html, .md, .tex or .json.

    The file is written completely or not at all.
    """
    target = Path(path)
    write = FORMS.get(target.suffix.lower())
    if write is None:
        raise UsageError(f"a report ends in {', '.join(FORMS)}, not {quote(target.name)}")
    write_whole(target, write(analysis).encode("utf-8", "backslashreplace"))


def html(analysis: Analysis) -> str:
    """Return the report as one HTML page, with style, script, pictures and the record inside.

    It loads nothing from elsewhere, and everything can be read without its script. A long record is packed: then the
    element ``holdrank-record`` holds ``{"gzip": ...}``, the record as JSON, compressed, in base64.
    """
    script = "\n" + _file("views/static/holdrank.js") + _START
    css = "\n" + _file("views/static/page.css")
    policy = f"default-src 'none'; style-src '{fingerprint(css)}'; script-src '{fingerprint(script)}'; img-src data:"
    policy += "; base-uri 'none'; form-action 'none'"
    view = page_view(analysis.record)
    page = _environment().get_template("report.html").render(**view, policy=policy, css=markup_of(css))
    # What scripts read is added after that.
    page = unbroken(page)
    record, slider = _json(analysis.record), slider_words(analysis.record)
    if len(record) > _LONG_RECORD:
        record, slider = _json({"gzip": _packed(record)}), slider_data(analysis.record)
    data = f'<script type="application/json" id="holdrank-record">{record}</script>'
    data += f'\n<script type="application/json" id="ladder-words">{_json(slider)}</script>'
    if len(analysis.items) > 1:
        data += f'\n<script type="application/json" id="pairs-data">{_json(pairs_data(analysis.record))}</script>'
    return page.replace(_SCRIPTS, f'{data}\n<script type="module">{script}</script>')


def unbroken(text: str) -> str:
    """Return text in which a number and its unit, percent or seconds, stay together."""
    return re.sub(r"(?<=\d) (?=%|s\b)", "\u00a0", text)


def _packed(text: str) -> str:
    """Return text compressed, in base64; the same for the same text."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def fingerprint(text: str) -> str:
    """Return the hash by which a content security policy allows exactly one inline style or script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def markdown(analysis: Analysis) -> str:
    """Return the report as Markdown: the tables, and the pictures as text."""
    view = page_view(analysis.record)
    text = _environment().get_template("report.md").render(**view)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def latex(analysis: Analysis) -> str:
    """Return places and tiers as a LaTeX table for a paper; it needs the package booktabs, or longtable if long."""
    record = analysis.record
    view = page_view(record)
    tied = record["tiers"] is not None
    columns = ["Places of the tier" if tied else "Place", "Item", view["gap_heading"].capitalize()]
    rated = {item: (rating, interval) for _, item, rating, interval, *_ in (view["ratings"] or {"rows": []})["rows"]}
    columns[2:2] = ["Rating", view["ratings"]["interval"]] if rated else []
    alone = ", without ties" * tied  # the others are of the tiers
    columns += [f"By chance{alone}"] * view["with_chance"] + [f"By attack{alone}"] * view["with_reach"]
    long = len(record["items"]) > _LONG_TABLE
    lines = [f"% {latex_text(text)}" for text in (view["headline"], view["subline"]) if text]
    lines += [f"% holdrank {record['version']}, votes {record['votes']['input_hash'][:12]}"]
    body = [" & ".join(map(latex_text, columns)) + r" \\", r"\midrule", *([r"\endhead"] if long else [])]
    for k, tier in enumerate(view["tiers"]):
        body += [r"\addlinespace"] * (k > 0)
        for j, row in enumerate(tier["rows"]):
            last = j == len(tier["rows"]) - 1
            cells = [tier["places"] if j == 0 else "", row["name"], (row["gap"] or "") if last else ""]
            cells[2:2] = rated.get(row["item"], ())
            cells += [row["chance"]] * view["with_chance"] + [row["reach"]] * view["with_reach"]
            body.append(" & ".join(map(latex_text, cells)) + r" \\")
    form = f"{{rl{'r' * (len(columns) - 2)}}}"
    caption = rf"\caption{{{latex_text(view['caption'])}}}"
    if long:
        lines += [
            rf"\begin{{longtable}}{form}",
            caption + r" \\",
            r"\toprule",
            *body,
            r"\bottomrule",
            r"\end{longtable}",
        ]
    else:
        lines += [r"\begin{table}", r"\centering", caption, rf"\begin{{tabular}}{form}", r"\toprule", *body,
                  r"\bottomrule", r"\end{tabular}", r"\end{table}"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _whole_json(analysis: Analysis) -> str:
    return _without_halves(analysis.to_json()) + "\n"


FORMS: dict[str, Callable[[Analysis], str]] = {".html": html, ".md": markdown, ".tex": latex, ".json": _whole_json}


# Text becomes part of a page, of Markdown, of LaTeX.


@cache
def _environment() -> Environment:
    """Return the template environment; everything except our own markup is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("holdrank.views"),
        autoescape=lambda name: bool(name) and str(name).endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(item=item_markup, svg=markup_of, md=markdown_text, in_text=in_text, percent=percent)
    return environment


def markup_of(markup: str) -> Markup:
    """Return markup of our own making, which templates must not escape."""
    from markupsafe import Markup

    return Markup(markup)


def item_markup(name: str) -> Markup:
    """Return a name for the page, isolated in its text direction, with the full name as a tooltip."""
    short, full = named(name), named(name, 400)
    title = f' title="{html_.escape(full)}"' if full != short else ""
    return markup_of(f"<bdi{title}>{html_.escape(short)}</bdi>")


def markdown_text(text: str) -> str:
    r"""Return text that Markdown shows literally.

    Examples
    --------
    >>> print(markdown_text("<b> *a*|b\n$x$"))
    &lt;b&gt; \*a\*\|b \$x\$
    """
    flat = html_.escape(" ".join(text.splitlines()), quote=False)
    marked = re.sub(r"([\\`*_{}\[\]|~$#!])", r"\\\1", flat)
    # What looks like an address would become a link.
    return marked.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;")


_LATEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
          "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "–": "--",
          **{sign: f"\\{sign}" for sign in "&%$#_"}}  # fmt: skip


def latex_text(text: str) -> str:
    r"""Return text that LaTeX prints literally.

    Examples
    --------
    >>> print(latex_text("5 % of A_1 \\ 1–2"))
    5 \% of A\_1 \textbackslash{} 1--2
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _json(record: Record) -> str:
    """Return the record for a script element; no name can break out of it."""
    text = json.dumps(record, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return _without_halves(text).replace("<", "\\u003c")


def _without_halves(text: str) -> str:
    """Return JSON with lone surrogates escaped, which no file can hold."""
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


@cache
def _file(name: str) -> str:
    return files("holdrank").joinpath(name).read_text("utf-8")
