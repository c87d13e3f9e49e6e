"""How the documentation is built: Sphinx, MyST and furo, from files alone; nothing is fetched."""

from __future__ import annotations

import inspect
import re
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import click
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

import holdrank
import holdrank.cli
from holdrank.cli import cli
from holdrank.cli.options import READING_OPTIONS
from holdrank.errors import HoldrankError

project = "holdrank"
author = "The holdrank developers"
copyright = author
release = version = holdrank.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = False
default_role = "code"  # docstrings put names between single backticks
smartquotes_action = "De"  # dashes and dots; quotes are often part of code

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say the types in words
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"holdrank {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["pages.css"]
pygments_style = "tango"
pygments_dark_style = "monokai"


def mathml(translator: HTML5Translator, node: nodes.math | nodes.math_block, as_block: bool) -> str:
    """Return a formula as MathML, which browsers show without a script; one that cannot be read is a warning."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        return translator.encode(node.astext())


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(mathml(translator, node, as_block=False))
    raise nodes.SkipNode


def visit_math_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    formula = mathml(translator, node, as_block=True)
    translator.body.append(f'<div class="formula">\n{formula}\n</div>\n')
    raise nodes.SkipNode


def own_options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def worded(text: str | None) -> str:
    """Return a help text with options and shell lines in code, where their dashes stay, and kept lines as they are."""
    marked = re.sub(r'(?<![`\w-])(--[a-z][a-z-]*|eval ".*")', r"`\1`", inspect.cleandoc(text or ""))
    kept_lines = re.compile(r"^\x08\n((?:.+\n?)+)", re.MULTILINE)
    return kept_lines.sub(lambda kept: f"```text\n{inspect.cleandoc(kept[1])}\n```\n", marked)


def rows(options: list[click.Option]) -> str:
    """Return a Markdown table of options: name and value, then meaning, what is allowed, and the default."""
    lines = ["| option | meaning |", "| --- | --- |"]
    for option in options:
        name, meaning = ", ".join(f"`{name}`" for name in option.opts), [worded(option.help).replace("|", "\\|")]
        if isinstance(option.type, click.Choice):
            if not all(choice in meaning[0] for choice in option.type.choices):
                meaning.append(f"One of {', '.join(f'`{choice}`' for choice in option.type.choices)}.")
        elif option.metavar:
            name += " " + " ".join(f"`{word}`" for word in option.metavar.split())
        elif not option.is_flag:
            name += {"text": " text", "integer": " whole number", "integer range": " whole number"}.get(
                option.type.name, " number"
            )
        if isinstance(option.type, click.FloatRange) and option.type.max is not None:
            meaning.append(f"From {option.type.min:g} to {option.type.max:g}.")
        if option.multiple and "repeat" not in meaning[0]:
            meaning.append("May be repeated.")
        default = option.get_default(click.Context(cli))
        if option.show_default and isinstance(default, str | int | float) and not isinstance(default, bool):
            meaning.append(f"Default: `{default}`.")
        lines.append(f"| {name} | {' '.join(meaning)} |")
    return "\n".join(lines)


def exit_code(kind: type[HoldrankError]) -> int:
    """Return the exit code of a command that ends with such an error, as the command line itself decides it."""
    error = kind.__new__(kind)
    HoldrankError.__init__(error)  # whatever its own arguments are
    with patch.object(cli, "main", side_effect=error), redirect_stderr(StringIO()):
        return holdrank.cli._run()


class Raised(SphinxDirective):
    """When an error comes, what else it is and the exit code of a command, taken from its class."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        kind = getattr(holdrank, self.arguments[0])
        summary = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]
        parents = ", ".join(f"`{parent.__name__}`" for parent in kind.__bases__)
        ends = "" if kind is HoldrankError else f" A command ends with exit code {exit_code(kind)}."
        text = f"{summary}{ends} Derived from: {parents}."
        return self.parse_text_to_nodes(text)


class Command(SphinxDirective):
    """The usage, the description and the options of one command, taken from the command itself."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        command = cli.commands[self.arguments[0]]
        usage = " ".join(command.collect_usage_pieces(click.Context(command)))
        options = [option for option in own_options(command) if option not in READING_OPTIONS]
        text = f"```text\nholdrank {command.name} {usage}\n```\n\n{worded(command.help)}\n\n"
        text += rows(options) + "\n" if options else ""
        if len(options) < len(own_options(command)):
            text += "\nFurther options say [how FILE is read](#how-file-is-read).\n"
        return self.parse_text_to_nodes(text)


class ReadingOptions(SphinxDirective):
    """The options that say how FILE is read."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(rows(READING_OPTIONS))


def take_root_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a page of the repository's root here, its links turned to where the pages stand in the book."""
    if docname not in ("architecture", "contributing", "changelog", "security"):
        return
    path = Path(app.srcdir).parent / f"{docname.upper()}.md"
    app.env.note_dependency(str(path))
    text = path.read_text("utf-8").replace("](docs/", "](")
    source[0] = re.sub(r"\]\(([A-Z]+)\.md", lambda link: f"]({link[1].lower()}.md", text)


def escape_bars(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Let a bar in a docstring be a bar, as in |p - q|; reStructuredText would take it for a substitution."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[k] = re.sub(r"(``.*?``)|\|", lambda part: part[1] or r"\|", line)


def rejoin_colons(_app: Sphinx, what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Put a property's sentence together again: napoleon takes what stands before a colon for a type."""
    for line in [line for line in lines if what == "property" and line.startswith(":type: ")]:
        lines.remove(line)
        lines[0] = f"{line.removeprefix(':type: ')}: {lines[0]}"


def break_long_names(_app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """Let names of tests be broken between words; they are wider than a column of a table."""
    for name in list(doctree.findall(nodes.literal)):
        if len(name.astext()) > 30 and " " not in name.astext():
            words = re.split(r"(?<=[/:_])(?=\w)", name.astext())
            name.children = []
            for word in words:
                name += [nodes.Text(word), nodes.raw("", "<wbr>", format="html")]


def hide_signature(
    _app: Sphinx, _what: str, name: str, _obj: object, _options: object, _signature: str, _result: str
) -> tuple[str, None] | None:
    """Show no signature for what users get but do not construct."""
    made_elsewhere = ("Attack", "Breakdown", "Consensus", "Goal", "Statistic", "Status", "Tradeoff", "Votes")
    return ("", None) if name in {f"holdrank.{made}" for made in made_elsewhere} else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", take_root_page)
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("autodoc-process-docstring", rejoin_colons, priority=900)  # after napoleon
    app.connect("autodoc-process-signature", hide_signature)
    app.connect("doctree-resolved", break_long_names)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.add_lexer("csv", TextLexer)
    app.add_directive("command", Command)
    app.add_directive("raised", Raised)
    app.add_directive("reading-options", ReadingOptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
