"""An audit as a page: raised findings first, each with its interval, its bar and the adversary's number."""

from __future__ import annotations

from collections.abc import Callable

from holdrank.analysis.audit import Audit
from holdrank.views.notebook import FINDINGS, audit_html, stand_alone
from holdrank.views.report import markdown_text


def audit_page(found: Audit) -> str:
    """Return an audit as a page that works offline."""
    return stand_alone(f'<main style="padding:1rem">{audit_html(found)}</main>', "Audit")


def audit_markdown(found: Audit) -> str:
    """Return an audit as Markdown."""
    lines = [f"# {markdown_text(found.headline)}", "", markdown_text(found.about), ""]
    for state, head in FINDINGS.items():
        some = [one for one in found.findings if one.state == state]
        if some:
            lines += [f"## {head}", ""]
        for one in some:
            if state == "does not apply":
                lines.append(f"- {one.title.capitalize()}: {markdown_text(one.reason_text)}")
                continue
            lines += [f"### {one.title.capitalize()}", "", markdown_text(one.text()), ""]
            lines += [f"- statistic: {markdown_text(one.statistic_text)}", f"- {one.bar_text}"]
            if one.adversary_text:
                lines.append(f"- adversary: {markdown_text(one.adversary_text)}")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


AUDIT_FORMS: dict[str, Callable[[Audit], str]] = {".html": audit_page, ".md": audit_markdown}
"""How an audit is written, by the ending of the file."""
