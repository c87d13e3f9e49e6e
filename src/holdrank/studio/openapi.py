"""The requests and answers of the studio: one `Route` for each, and the OpenAPI description of all.

The table of routes is in `app`; it builds the web application and, through `describe`, the description that tests
compare with the answers. The studio does not serve the description: its users have the package.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, get_args

from holdrank import __version__
from holdrank.studio.forms import FILE, OF, Fields
from holdrank.studio.jobs import State

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
THING: Schema = {"type": "object"}

JOB = (413, 422, 500, 501, 504, 507)
"""What a job may end with."""


@dataclass(frozen=True, slots=True)
class Route:
    """One type of request: its address, its handler, and its answer.

    Attributes
    ----------
    method, path : str
    handler : callable
        The method of `Studio` that answers.
    answer : dict
        The kinds of content and their schemas. A form has none: it leads to a page.
    problems : tuple of int
        The statuses that it may end with, beyond those of all requests.
    form : dict, optional
        The fields of the form that is sent, see `forms`.
    choices : dict
        Allowed values of a path parameter that is not an identifier.
    download : bool
        Whether the answer is a file with a name.
    """

    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]
    answer: Mapping[str, Schema] = field(default_factory=dict)
    problems: tuple[int, ...] = ()
    form: Fields | None = None
    choices: Mapping[str, Iterable[str]] = field(default_factory=dict)
    download: bool = False


def describe(routes: Iterable[Route]) -> Schema:
    """Return the OpenAPI description of some routes."""
    paths: Schema = {}
    for route in routes:
        paths.setdefault(route.path, _braces(route))[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "holdrank studio", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Holdrank-Token"}},
        },
    }


def events_of(name: str) -> dict[str, Schema]:
    """Return the answer of a stream: events, each with JSON of a shape."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": _named(name)}
    return {"text/event-stream": _at_least(data=data)}


def json_of(name: str) -> dict[str, Schema]:
    """Return the answer of a twin: JSON of a shape."""
    return {"application/json": _named(name)}


# Operations. The words of problems stand here once, for every request that may meet them.

_PROBLEMS = {
    400: "the request contradicts itself, or its form cannot be read",
    403: "the request comes from another site or user, or lacks the token",
    404: "not found, or no longer open",
    405: "method not allowed",
    408: "the request timed out",
    409: "not ready yet, or there are no tiers",
    413: "too large, too long, or too many items",
    415: "not a UTF-8 form",
    421: "the host name is not the studio's",
    422: "invalid votes or settings",
    500: "internal error",
    501: "an optional package is missing",
    503: "busy: try again after the given seconds",
    504: "the job hit the time limit",
    507: "the job hit the memory limit",
}
_ALWAYS = (400, 403, 405, 421, 503)
_FORM = (408, 413, 415, 422)

PAGE: dict[str, Schema] = {"text/html": TEXT}


def _operation(route: Route) -> Schema:
    """Return the description of a request and its answers."""
    missing = [404] if "{" in route.path else []
    if route.form is None:
        found = {"description": "what was asked for", "content": _content(route.answer)}
        if route.download:
            found["headers"] = _header("Content-Disposition")
        return {"responses": {"200": found, **_refusals(*missing, *route.problems)}}
    fields = {name: _field(choices) for name, choices in {**route.form, "token": ()}.items()}
    plain = {name: part for name, part in fields.items() if part != _field(FILE)}
    kinds = {"multipart/form-data": fields, "application/x-www-form-urlencoded": plain}
    responses = {
        "200": {"description": "where it is", "content": _content(json_of("made"))},
        "303": {"description": "redirect for browsers", "headers": _header("Location")},
        **_refusals(*_FORM, *missing, *route.problems),
    }
    body = {"content": _content({kind: {**_shape(**parts), "required": []} for kind, parts in kinds.items()})}
    return {"requestBody": body, "responses": responses, "security": [{"token": []}]}


def _braces(route: Route) -> Schema:
    """Return the descriptions of the parameters of a path."""
    braces = {"id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,40}$"}}
    braces |= {name: _one_of(choices) for name, choices in route.choices.items()}
    found = [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name, schema in braces.items()
        if f"{{{name}}}" in route.path
    ]
    return {"parameters": found} if found else {}


def _field(choices: Iterable[str] | None) -> Schema:
    """Return the schema of a field of a form: a file, one of some choices, or any text."""
    if choices is FILE:
        return {"type": "string", "format": "binary"}
    return _one_of(choices) if choices else TEXT


def _content(kinds: Mapping[str, Schema]) -> Schema:
    return {kind: {"schema": schema} for kind, schema in kinds.items()}


def _header(name: str) -> Schema:
    return {name: {"schema": TEXT, "required": True}}


def _refusals(*statuses: int) -> Schema:
    found: Schema = {}
    for status in sorted({*_ALWAYS, *statuses}):
        found[str(status)] = {"description": _PROBLEMS[status], "content": _content({**json_of("problem"), **PAGE})}
        name = {405: "Allow", 503: "Retry-After"}.get(status)
        if name is not None:
            found[str(status)]["headers"] = _header(name)
    return found


# Shapes.


def _shape(**parts: Schema) -> Schema:
    """Return the schema of an object that has these parts and no others."""
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


def _at_least(**parts: Schema) -> Schema:
    """Return the schema of an object that has these parts, and may have others."""
    return {"type": "object", "properties": parts, "required": list(parts)}


def _many(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _or_none(of: Schema) -> Schema:
    return {"anyOf": [of, {"type": "null"}]}


def _one_of(names: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(names)}


def _named(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas() -> Schema:
    record = json.loads(files("holdrank").joinpath("analysis/analysis.schema.json").read_text("utf-8"))
    parts = _moved(record.pop("$defs"))
    record.pop("$schema")
    step = _or_none(_shape(name=TEXT, done=WHOLE, total=WHOLE, known=TEXT))
    return {
        **parts,
        "record": _moved(record),
        "trouble": _shape(code=TEXT, message={"type": "string", "minLength": 1}, place=TEXT, repair=TEXT),
        "problem": _shape(error=_named("trouble")),
        "job": _shape(
            id=TEXT, task=TEXT, state=_one_of(get_args(State)), step=step, version=WHOLE, content=WHOLE, seconds=NUMBER,
            error=_or_none(_named("trouble")), words=TEXT, detail=TEXT, share=NUMBER, over=FLAG,
        ),
        "made": _shape(url=TEXT, job=_or_none(_named("job"))),
        "health": _shape(ok={"const": True}, running=WHOLE, queued=WHOLE),
        "index": _shape(
            opened=_many(_shape(id=TEXT, name=TEXT, bytes=WHOLE, url=TEXT)), compared=_many(TEXT)
        ),
        "replay": _or_none(
            _many(_shape(changed=NUMBER, share=NUMBER, ranks=_many(WHOLE), unique=_or_none(FLAG)))
        ),
        "file": _shape(
            id=TEXT, name=TEXT, reading=THING, votes=_or_none(_named("votes")), items=_or_none(_many(TEXT)),
            replay=_named("replay"), record=_or_none(_named("record")), job=_or_none(_named("job")),
            curve_job=_or_none(_named("job")), claims=_many(TEXT),
        ),
        "claim": _shape(
            id=TEXT, about=TEXT, claim=TEXT, of=_one_of(OF),
            answer=_or_none(_shape(claim=TEXT, holds=FLAG, attack=_named("attack"))),
            replay=_named("replay"), job=_named("job"),
        ),
        "comparison": _shape(
            id=TEXT, job=_named("job"),
            comparison=_or_none(_named("compared")),
        ),
    }  # fmt: skip


def _moved(schema: Any) -> Any:
    """Return a schema whose own definitions stand where OpenAPI keeps them."""
    if isinstance(schema, dict):
        return {
            name: part.replace("#/$defs/", "#/components/schemas/") if name == "$ref" else _moved(part)
            for name, part in schema.items()
        }
    return [_moved(part) for part in schema] if isinstance(schema, list) else schema
