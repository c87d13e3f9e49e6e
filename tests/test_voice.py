"""What people read is plain English: a list of phrases that read like a translation, and must not come back.

Code is searched as a whole: the phrases have spaces in them, so that no name is one.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md", ROOT / "action.yml"]
SHOWN = [page for ending in ("html", "md", "js", "tex") for page in (ROOT / "src").rglob(f"*.{ending}")]
CODE = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.[ch]"), *(ROOT / "examples").glob("*.py")]

PHRASES = {
    r"to repair\b": "Fix:",
    r"\b(?:is|are|was|were|as) told\b(?! (?:apart|from|to)\b)": "reported",
    r"found out\b": "auto-detected",
    r"\bif not given\b": "by default",
    r"no attack is known": "no attack found",
    r"\bnone is excluded": "none ruled out",
    r"\bnot excluded\b": "not ruled out",
    r"the least share": "minimum share",
    r"least number of votes": "minimum number of votes",
    r"no proof that none": "cheaper attacks may exist",
    r"minimises no\b": "not a distance minimiser",
    r"put to the test": "tested",
    r"order by chance": "same order in bootstrap samples",
    r"\bkinds? of ballots?\b": "distinct ballots",
    r"\btak(?:e|es|en|ing) away\b": "removed",
    r"\bput in \(": "added (",
    r"left empty is": "Empty fields are auto-detected",
    r"\bone (?:row|column|line) an? \w+": "one row per ballot",
    r"\b(?:1|one|object|voter|mark|list|pair|item) a (?:row|line|ballot|voter|column)\b": "1 per row",
    r"whatever votes": "no matter which votes",
    r"\bmend(?:s|ed|ing)?\b": "fix, correct",
    r"\bgone on with\b": "resumed",
    r"\bgoes on from there": "is resumed",
    r"(?:it|this|that) is of (?:other|another)": "created from different",
    r"\bNobody\.": "None.",
    r"Of the (?:draws|text|estimates)\b": "Bootstrap seed, text encoding",
    r"Which consensus": "Aggregation rule",
    r"quotes of a row": "malformed quoting",
    r"\bmeans? (?:nothing|something) for\b": "does not apply to format, applies only to",
    r"both proved": "lower and upper bound",
    r"takes? [^.\n]{0,30} votes, proved": "needs ... votes (proven minimum)",
    r"proved optimal": "proven optimal",
    r"proved median": "proven optimal ranking",
    r"votes? (?:is|are|were|was) drawn again|drawing the votes again|draws of the votes": "bootstrap samples",
    r"for want of": "because there is not enough",
    r"absurdly": "far too",
    r"\bfor the votes do\b": "because the votes do",
    r"(?:found|proved|computed|tested|tried|known|solved) in time\b": "within the time limit",
    r"\bat one's leisure\b|\bat its leisure\b": "when it can",
    r"\bspeaks only about\b": "compares only",
    r"\bwhoever (?:asked|asks|wants|has|reads|made|makes|counted|looks|goes|left|decides)\b": "the user, the caller",
    r"what is known (?:about|so far|by then)\b|gives what is known": "bounds so far, the result so far",
    r"\bnobody (?:reads|compare[sd]|listens|looks|attacks|lists)\b": "unused, that no vote compares",
    r"\b(?:is|are) no (?:metric|goal|checkpoint|executor|threshold|counts|battles|median|statements?)\b": "is not a",
    r"\b(?:of|in|for|least|after|No|than) so many\b": "this many, a number of",
    r"\bone's own\b": "user-defined",
    r"makes no sense": "invalid",
    r"\b(?:is the|front) doors?\b|at the door\b": "entry point",
    r"\bby a hair\b|\ba hair (?:of|more|wider)\b": "slightly",
    r"\b(?:a|the|its) dear(?:er|est)\b": "more expensive",
    r"\b(?:ballots?|battles?|votes?|rankings?) (?:to )?put in\b": "added",
    r"[Ww]hat it takes at least": "a lower bound on",
    r"\bwhatever (?:breaks|rule|the|they are)\b": "no matter how, for any",
    r"ties what chance\b|that chance does not explain": "items that differ by no more than chance, significant",
    r"leaves? nobody": "leaves no item",
    r", for (?:it|they|there) (?:is|are|was|were|may|does|do|has|have|needs?)\b": "because",
    r"upside down": "reversed",
    r"out of the question": "not feasible",
    r"\bneeds no network\b": "works offline",
    r"(?:raises?|error) on purpose": "deliberately",
    r"\b(?:are|is) taken for (?:far|equal|lost|proved)\b": "counts as",
    r"\b(?:thread|process|page|stream|function) of its own\b": "separate",
    r"looked at together": "over all ... together",
}


def stilted(text: str) -> list[str]:
    """Return the phrases in a text that are on the list, each with what says it better."""
    text = " ".join(text.split())
    return [
        f"{match[0]!r}; better: {better}" for phrase, better in PHRASES.items() for match in re.finditer(phrase, text)
    ]


@pytest.mark.parametrize("where", ["pages", "templates", "code"])
def test_no_phrase_reads_like_a_translation(where):
    paths = {"pages": PAGES, "templates": SHOWN, "code": CODE}[where]
    assert paths
    found = [f"{path.relative_to(ROOT)}: {said}" for path in paths for said in stilted(path.read_text("utf-8"))]
    assert not found, "\n".join(found)


def test_the_list_finds_what_it_names():
    assert len(stilted("Weights are told as such;\none row a ballot. To count: 1 a row; to repair: mend it")) == 5
    stale = (
        "Refuse what makes no sense, for it is no metric: a hair more, whatever breaks ties, of so many battles put in"
    )
    assert len(stilted(stale)) == 7
    assert not stilted("They cannot be told apart. Fix: correct the row; one row per ballot")
