"""Tables of results (a rating and its interval, a mean and its error, a place and a count) are never read as votes."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest

from holdrank.errors import InputError

from reading import read

NAMES = ("aspen-7b", "birch-70b", "cedar-mini", "dogwood", "elm-xl", "fir-2", "ginkgo", "holly-chat")
WORDS = {
    "centre": ("rating", "Elo", "score", "mean", "Arena Score", "avg", "points", "estimate", "win_rate", "mu", "skill"),
    "low": ("{}_q025", "{}_lower", "{} lower bound", "{}_ci_low", "{} 2.5%", "{}_lb", "lower", "CI lower", "{}_p5",
            "{}Lower"),
    "high": ("{}_q975", "{}_upper", "{} upper bound", "{}_ci_high", "{} 97.5%", "{}_ub", "upper", "CI upper", "{}_p95",
             "{}Upper"),
    "error": ("std", "{}_std", "stderr", "Standard Error", "{}_se", "sd", "sem", "± {}", "uncertainty", "variance",
              "stdDev"),
    "count": ("votes", "Votes", "num_battles", "n_games", "battles", "matches", "n", "count", "number of votes",
              "appearances"),
    "place": ("rank", "Rank", "Rank* (UB)", "position", "place", "rk"),
    "test": ("p_value", "p-value", "pval", "pvalue", "significance"),
    "wins": ("wins", "Won", "total wins"),
    "losses": ("losses", "Lost", "defeats"),
}  # fmt: skip
TABLES = (
    ("centre", "low", "high"),
    ("centre", "low", "high", "count"),
    ("low", "high"),
    ("centre", "error"),
    ("centre", "error", "count"),
    ("centre", "count"),
    ("place", "centre"),
    ("place", "centre", "low", "high", "count"),
    ("centre", "test"),
    ("centre", "wins", "losses"),
    ("wins", "losses", "place"),
    ("centre", "error", "test", "count"),
)


def _column(kind: str, centre: list[float], rng: random.Random) -> list[float]:
    n = len(centre)
    places = {value: place for place, value in enumerate(sorted(centre, reverse=True), start=1)}
    makers = {
        "centre": lambda: centre,
        "low": lambda: [value - rng.uniform(5, 9) for value in centre],
        "high": lambda: [value + rng.uniform(5, 9) for value in centre],
        "error": lambda: [rng.uniform(2, 5) for _ in range(n)],
        "count": lambda: [rng.randrange(200, 9000) for _ in range(n)],
        "place": lambda: [places[value] for value in centre],
        "test": lambda: [rng.uniform(0, 1) for _ in range(n)],
        "wins": lambda: [rng.randrange(10, 400) for _ in range(n)],
        "losses": lambda: [rng.randrange(10, 400) for _ in range(n)],
    }
    return [round(value, 3) for value in makers[kind]()]


def mutated(seed: int) -> tuple[list[str], list[list[object]]]:
    """Return the header and the rows of a table of results, with names, order, scale and size by chance."""
    rng = random.Random(seed)
    kinds = list(TABLES[seed % len(TABLES)])
    names = rng.sample(NAMES, rng.randrange(3, len(NAMES) + 1))
    scale = rng.choice([1, 1, 0.01, 10])
    centre = [scale * (1000 + 40 * k + rng.uniform(-15, 15)) for k in range(len(names))]
    stem = rng.choice(WORDS["centre"])
    side = rng.randrange(len(WORDS["low"]))
    columns = {}
    for kind in kinds:
        word = WORDS[kind][side] if kind in ("low", "high") else stem if kind == "centre" else rng.choice(WORDS[kind])
        head = word.format(stem)
        head = rng.choice([head, head.upper(), head.replace("_", " "), head.replace("_", "-"), f" {head} "])
        columns[head] = _column(kind, centre, rng)
    order = list(columns)
    rng.shuffle(order)
    key = rng.choice(["model", "Model", "system", "team", "player", "model_name", "name"])
    rows: list[list[object]] = [[name, *(columns[head][k] for head in order)] for k, name in enumerate(names)]
    rng.shuffle(rows)
    return [key, *order], rows


def as_text(header: list[str], rows: list[list[object]], how: str) -> str:
    if how == "jsonl":
        return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows)
    if how == "melted":
        rows = [[row[0], head, cell] for row in rows for head, cell in zip(header[1:], row[1:], strict=True)]
        header = [header[0], "metric", "value"]
    if how == "turned":
        rows = [[head, *(row[k] for row in rows)] for k, head in enumerate(header) if k]
        header = ["", *NAMES[: len(rows[0]) - 1]]
    out = io.StringIO()
    writer = csv.writer(out, delimiter={"semicolon": ";", "tab": "\t"}.get(how, ","))
    writer.writerows([header, *rows])
    return out.getvalue()


@pytest.mark.parametrize("how", ["comma", "semicolon", "tab", "jsonl", "melted", "turned"])
def test_no_mutation_of_a_results_table_is_read_as_votes(how):
    read_in_silence = []
    for seed in range(60):
        text = as_text(*mutated(seed), how)
        try:
            votes = read(text)
        except InputError:
            continue
        read_in_silence.append((votes.reading.choices["format"], text))
    assert not read_in_silence


def test_the_refusal_says_why_and_how_to_force_it():
    text = "model,rating,rating_q025,rating_q975\na,1200,1190,1210\nb,1100,1090,1111\nc,1000,990,1009\n"
    with pytest.raises(
        InputError, match=r"results, not votes: 'rating_q025' is a bound of 'rating'.*columns=.*format="
    ) as said:
        read(text)
    assert said.value.column == "rating_q025"
    assert read(text, columns=["rating"]).total == 1
    assert read(text, format="score-table").total == 3


@pytest.mark.parametrize(
    "header",
    [
        "model,MMLU,GSM8K,HellaSwag",
        "model,Average,MMLU,GSM8K",
        "Model,Arena Elo rating,MT-bench (score),MMLU",
        "model,Q1,Q2,Q3,Average",
        "model,p1,p2,p10,p95",
        "model,Mean win rate,NarrativeQA - F1,MMLU - EM",
        "model,accuracy,f1,auc",
        "model,Upper Body,Lower House,Max Planck Exam",
    ],
)
def test_tables_of_tasks_are_still_read(header):
    width = header.count(",")
    rng = random.Random(header)
    for rows in (2, 3, 5, 8):
        text = (
            header
            + "\n"
            + "".join(
                f"{name}," + ",".join(f"{rng.uniform(20, 90):.2f}" for _ in range(width)) + "\n"
                for name in NAMES[:rows]
            )
        )
        assert read(text).reading.format == "score-table"


def test_bounds_and_places_are_told_by_their_numbers_whatever_their_names():
    rows = [
        (81.2, 79.9, 82.4, 1),
        (77.0, 75.8, 78.3, 2),
        (70.4, 69.0, 71.7, 3),
        (66.6, 65.1, 68.0, 4),
        (59.5, 58, 61.1, 5),
    ]
    bounded = "model,x,y,z\n" + "".join(
        f"{name},{a},{b},{c}\n" for name, (a, b, c, _) in zip(NAMES, rows, strict=False)
    )
    with pytest.raises(InputError, match="results, not votes"):
        read(bounded)
    placed = "model,x,y\n" + "".join(f"{name},{a},{d}\n" for name, (a, _, _, d) in zip(NAMES, rows, strict=False))
    with pytest.raises(InputError, match=r"results, not votes: the numbers are the places by 'x'"):
        read(placed)
    spread = [(81.2, 40.1, 12.4), (77.0, 44.8, 16.3), (70.4, 30.9, 20.7), (66.6, 35.1, 8.8), (59.5, 28.2, 11.1)]
    tasks = "model,x,y,z\n" + "".join(f"{name},{a},{b},{c}\n" for name, (a, b, c) in zip(NAMES, spread, strict=False))
    assert read(tasks).total == 3
