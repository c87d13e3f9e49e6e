"""Public calls look alike: few positional arguments, shared options under one name in one place, exported types."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module

import pytest

import holdrank as hr

SHARED = ("time_limit", "rng", "progress", "executor", "checkpoint")  # in this order, after all other options
MODULES = ("clusters", "paper", "plots", "report")

# What may stand without its name although it may be left out: the question, and what it is asked of.
OPTIONAL = {
    "Distance": "distance",
    "Robust": "base theta",
    "Spec": "rule",
    "BucketMass": "gap",
    "Step": "",
    "analyse": "spec",
    "paper.arena": "votes",
    "audit": "T",
    "bootstrap": "T",
    "breakdown": "T deltas",
    "leaderboard": "T",
    "leave_one_out": "T",
    "breakdowns": "T deltas",
    "rank_sets": "T",
    "reach": "T budget",
    "tradeoff": "base",
    "verify": "result",
    "plots.attack": "T",
    "plots.attack_data": "T",
    "plots.ladder": "gaps",
    "plots.page": "columns rows",
    "plots.ladder_data": "gaps",
    "plots.ranges": "reach",
    "plots.ranges_data": "reach",
    "PairCounts.from_wins": "items",
    "PairCounts.of_nobody": "items",
    "Votes.from_orders": "weights items",
    "Votes.from_ranks": "weights items",
    "Votes.from_score_rows": "weights items",
    "Votes.loss": "distance",
    "Ranking.text": "items",
    "HoldrankError.told": "spell",
    "Distance.text": "n",
    "Analysis.to_json": "indent",
    "clusters.Processes.shutdown": "wait",  # as in concurrent.futures
    "clusters.Cluster.shutdown": "wait",
}

# Types of the readers and engines in calls that only these make.
INNER = {
    "HoldrankError.told",
    "PairCounts.from_raw",
    "PairCounts.from_tally",
    "Votes.from_raw",
    "Votes.ballots",
}


def public() -> Iterator[tuple[str, object]]:
    """Yield every public function, class, and public method of a class."""
    things = [(name, getattr(hr, name)) for name in hr.__all__]
    for module in MODULES:
        room = getattr(hr, module)
        things += [(f"{module}.{name}", getattr(room, name)) for name in room.__all__]
    known = {thing for _, thing in things if inspect.isclass(thing)}
    for name, thing in things:
        if not inspect.isclass(thing):
            yield name, thing
            continue
        yield name, thing
        # What a public class hands down counts once; what comes from a hidden one is the heir's own.
        own = [k for k in thing.__mro__ if k.__module__.startswith("holdrank.") and (k is thing or k not in known)]
        parts = {part: value for kind in reversed(own) for part, value in vars(kind).items()}
        for part, value in parts.items():
            if not part.startswith("_"):
                yield f"{name}.{part}", value.__func__ if isinstance(value, classmethod) else value


FUNCTIONS = {name: thing for name, thing in public() if inspect.isfunction(thing)}
CLASSES = {name: thing for name, thing in public() if inspect.isclass(thing)}
MADE_BY_USERS = ("BucketMass", "Distance", "Robust", "Spec")  # all others are made from what they need, or by us
CALLS = {**FUNCTIONS, **{name: CLASSES[name] for name in MADE_BY_USERS}}


def parameters(call: object) -> list[inspect.Parameter]:
    found = list(inspect.signature(call).parameters.values())
    return found[found[0].name in ("self", "cls") :] if found else found


@pytest.mark.parametrize("name", CALLS)
def test_what_may_be_left_out_has_a_name_unless_it_is_a_main_argument(name):
    positional = [p for p in parameters(CALLS[name]) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    optional = [p.name for p in positional if p.default is not p.empty]
    assert optional == OPTIONAL.get(name, "").split()
    assert len(positional) <= 4


@pytest.mark.parametrize("name", CALLS)
def test_shared_options_have_one_place(name):
    named = [p.name for p in parameters(CALLS[name]) if p.kind is p.KEYWORD_ONLY]
    shared = [option for option in SHARED if option in named]
    assert named[len(named) - len(shared) :] == shared or name in ("analyse", "Spec")
    others = {p.name for p in parameters(CALLS[name])} - set(named)
    assert not others & {"time_limit", "progress", "executor", "checkpoint"}
    assert not {"seed", "jobs", "timeout_s", "callback", "random_state"} & set(named) or name == "Spec"


def test_the_tables_of_this_file_name_what_there_is():
    assert set(OPTIONAL) - set(CALLS) <= {"Step"}
    assert set(INNER) <= {name for name, _ in public()}


@cache
def imported(module: str) -> dict[str, str]:
    """Return where the names of a module come from, also those for type checkers alone."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    lines = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: f"{line.module}.{alias.name}" for line in lines for alias in line.names}


def classes_of(annotation: object, module: str) -> Iterator[type]:
    """Yield the classes of this package that an annotation names."""
    text = re.sub(r"Literal\[[^\]]*\]", "", annotation if isinstance(annotation, str) else repr(annotation))
    for word in re.findall(r"[A-Za-z_]\w*", text):
        home = imported(module).get(word, f"{module}.{word}")
        if home.startswith("holdrank."):
            where, _, what = home.rpartition(".")
            thing = getattr(import_module(where), what, None)
            if inspect.isclass(thing) and thing.__module__.startswith("holdrank."):
                yield thing


def test_every_class_that_a_public_name_takes_or_gives_is_public():
    exported = set(CLASSES.values())
    hidden = set()
    for name, thing in public():
        if name in INNER:
            continue
        found: list[object] = []
        call = thing.fget if isinstance(thing, property) else thing
        if inspect.isfunction(call):
            found = list(call.__annotations__.values())
        elif inspect.isclass(call) and is_dataclass(call):
            found = [
                field.type
                for field in fields(call)
                if not field.name.startswith("_") and f"{name}.{field.name}" not in INNER
            ]
        for annotation in found:
            used = set(classes_of(annotation, call.__module__))
            hidden |= {(name, one.__name__) for one in used - exported}
    assert not hidden, sorted(hidden)


@pytest.mark.parametrize("name", CLASSES)
def test_results_are_frozen_and_say_in_one_line_what_they_are(name):
    kind = CLASSES[name]
    if is_dataclass(kind):
        assert kind.__dataclass_params__.frozen
        assert hasattr(kind, "__slots__")
    assert kind.__doc__
