"""How the documentation is built: Sphinx, MyST and furo, from files alone; nothing is fetched."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import click
from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import holdrank
from holdrank.cli import cli

project = "holdrank"
author = "The holdrank developers"
copyright = author
release = version = holdrank.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = False
default_role = "code"  # docstrings put names between single backticks

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say the types in words
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"holdrank {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["pages.css"]
pygments_style = "tango"
pygments_dark_style = "monokai"


def own_options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def reading_options() -> list[click.Option]:
    """Return the options that say how FILE is read: those that all commands with a FILE share, bar output options."""
    with_file = [c for c in cli.commands.values() if any(p.name == "file" for p in c.params)]
    shared = set.intersection(*({option.name for option in own_options(command)} for command in with_file))
    return [option for option in own_options(cli.commands["validate"]) if option.name in shared - {"as_json", "quiet"}]


def rows(options: list[click.Option]) -> str:
    """Return a Markdown table of options: name, value, default, meaning."""
    lines = ["| option | value | default | meaning |", "| --- | --- | --- | --- |"]
    for option in options:
        names = ", ".join(f"`{name}`" for name in option.opts)
        if option.metavar and not isinstance(option.type, click.Choice):
            value = " ".join(f"`{word}`" for word in option.metavar.split())
        elif isinstance(option.type, click.Choice):
            listed = all(choice in (option.help or "") for choice in option.type.choices)
            value = "name" if listed else " ".join(f"`{choice}`" for choice in option.type.choices)
        elif option.is_flag:
            value = ""
        else:
            value = {"text": "text", "integer": "whole number"}.get(option.type.name, "number")
        if isinstance(option.type, click.FloatRange) and option.type.max is not None:
            value += f" from {option.type.min:g} to {option.type.max:g}"
        if option.multiple:
            value += ", may be repeated"
        default = option.get_default(click.Context(cli))
        shown = option.show_default and isinstance(default, str | int | float) and not isinstance(default, bool)
        lines.append(f"| {names} | {value} | {f'`{default}`' if shown else ''} | {option.help or ''} |")
    return "\n".join(lines)


class Command(SphinxDirective):
    """The usage, the description and the options of one command, taken from the command itself."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        command = cli.commands[self.arguments[0]]
        usage = " ".join(command.collect_usage_pieces(click.Context(command)))
        shared = {option.name for option in reading_options()}
        options = [option for option in own_options(command) if option.name not in shared]
        text = f"```text\nholdrank {command.name} {usage}\n```\n\n{inspect.cleandoc(command.help or '')}\n\n"
        text += rows(options) + "\n" if options else ""
        if len(options) < len(own_options(command)):
            text += "\nand the options that say [how FILE is read](#how-file-is-read).\n"
        return self.parse_text_to_nodes(text)


class ReadingOptions(SphinxDirective):
    """The options that say how FILE is read."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(rows(reading_options()))


def take_root_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a page of the repository's root here, its links turned to where the pages stand in the book."""
    if docname not in ("architecture", "contributing", "changelog"):
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


def hide_signature(
    _app: Sphinx, _what: str, name: str, _obj: object, _options: object, _signature: str, _result: str
) -> tuple[str, None] | None:
    """Show no signature for what users get but do not construct."""
    made_elsewhere = ("Attack", "Breakdown", "Consensus", "Goal", "Statistic", "Status", "Tradeoff", "Votes")
    return ("", None) if name in {f"holdrank.{made}" for made in made_elsewhere} else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", take_root_page)
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("autodoc-process-signature", hide_signature)
    app.add_lexer("csv", TextLexer)
    app.add_directive("command", Command)
    app.add_directive("reading-options", ReadingOptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
