"""What the studio answers, for programs: its OpenAPI description, which tests hold against its answers.

The studio does not hand it out: whoever may ask has the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, get_args

from holdrank import __version__
from holdrank.analysis.analyse import RULES
from holdrank.studio.forms import FIELDS
from holdrank.studio.jobs import State
from holdrank.studio.replies import STATIC, WRITTEN
from holdrank.views.svg import PICTURES

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
THING: Schema = {"type": "object"}
FILE: Schema = {"type": "string", "format": "binary"}


def described() -> Schema:
    """Return the OpenAPI description of all requests that the studio understands."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "holdrank studio", "version": __version__},
        "paths": {path: dict(_asked(path, how)) for path, how in _PATHS.items()},
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Holdrank-Token"}},
        },
    }


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
    place = _shape(place=NUMBER, best=NUMBER, worst=NUMBER)
    moved = _at_least(item=TEXT, old=place, new=place, beyond_noise=FLAG)
    step = _or_none(_shape(name=TEXT, done=WHOLE, total=WHOLE))
    votes = _moved(record["properties"]["votes"])
    return {
        **parts,
        "record": _moved(record),
        "votes": votes,
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
            id=TEXT, about=TEXT, claim=TEXT, of=_one_of(("strict", "tiers")),
            answer=_or_none(_shape(claim=TEXT, holds=FLAG, attack=_named("attack"))),
            replay=_named("replay"), job=_named("job"),
        ),
        "comparison": _shape(
            id=TEXT, job=_named("job"),
            comparison=_or_none(_at_least(
                items=_many(moved), only_old=_many(TEXT), only_new=_many(TEXT), moved=WHOLE, beyond_noise=WHOLE,
                turned=WHOLE, pairs=WHOLE, draws=WHOLE, seed=WHOLE, level=NUMBER, rule=_one_of(RULES),
                old=_named("votes"), new=_named("votes"),
            )),
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


# Requests. The words of problems stand here once, for every request that may meet them.

_PROBLEMS = {
    400: "the request contradicts itself, or its form cannot be read",
    403: "another site asks, another user, or nobody who holds the token",
    404: "there is no such thing, or not any more",
    405: "this cannot be asked so",
    408: "the request did not arrive in time",
    409: "it is too early, or there are no tiers",
    413: "too large, too long, or too many items",
    415: "this is no form in UTF-8",
    421: "the name is not the studio's",
    422: "votes or settings that make no sense",
    500: "an error of the studio's own",
    501: "an optional package is missing",
    503: "too much to do: come back after so many seconds",
    504: "the job was ended for lack of time",
    507: "the job was ended for lack of memory",
}
_ALWAYS = (400, 403, 405, 421, 503)
_FORM = (408, 413, 415, 422)
_JOB = (413, 422, 500, 501, 504, 507)  # what a job may end with

_HTML = {"text/html": TEXT}
_EVENT = _at_least(data={"type": "string", "contentMediaType": "application/json", "contentSchema": _named("job")})
_SETTINGS: Schema = {
    "rule": _one_of(RULES), "tiers": TEXT, "merge": _one_of(("downward", "naive", "smith")), "k": TEXT, "budget": TEXT,
    "draws": TEXT, "seed": TEXT, "time_limit": TEXT,
}  # fmt: skip
_CLAIM: Schema = {
    "kind": _one_of(("text", "above", "top")), "claim": TEXT, "first": TEXT, "second": TEXT, "k": TEXT,
    "of": _one_of(("strict", "tiers")), "change": _one_of(("replace", "drop", "add")), "time_limit": TEXT,
}  # fmt: skip
_READING: Schema = {
    field.name: _one_of(value for value, _ in field.choices) if field.choices else TEXT for field in FIELDS
}
_COMPARED: Schema = {"old": FILE, "new": FILE, "old_id": TEXT, "new_id": TEXT, "rule": _one_of(RULES)}
_CURVE: Schema = {"of": _one_of(("strict", "tiers")), "time_limit": TEXT}


def _get(kinds: Mapping[str, Schema], *problems: int, headers: Iterable[str] = ()) -> Schema:
    found = {"description": "what was asked for", "content": {kind: {"schema": part} for kind, part in kinds.items()}}
    if headers:
        found["headers"] = {name: {"schema": TEXT, "required": True} for name in headers}
    return {"get": {"responses": {"200": found, **_refusals(*problems)}}}


def _twin(name: str, *problems: int) -> Schema:
    return _get({"application/json": _named(name)}, *problems)


def _download(kind: str, *problems: int) -> Schema:
    return _get({kind: TEXT}, *problems, headers=["Content-Disposition"])


def _post(fields: Schema, *problems: int) -> Schema:
    known = {**fields, "token": TEXT}
    plain = {name: part for name, part in known.items() if part != FILE}
    forms = {"multipart/form-data": known, "application/x-www-form-urlencoded": plain}
    kinds = {kind: {"schema": {**_shape(**parts), "required": []}} for kind, parts in forms.items()}
    made = {"description": "where it is", "content": {"application/json": {"schema": _named("made")}}}
    there = {"description": "a browser is led to it", "headers": {"Location": {"schema": TEXT, "required": True}}}
    responses = {"200": made, "303": there, **_refusals(*_FORM, *problems)}
    return {"post": {"requestBody": {"content": kinds}, "responses": responses, "security": [{"token": []}]}}


def _refusals(*statuses: int) -> Schema:
    content = {"application/json": {"schema": _named("problem")}, "text/html": {"schema": TEXT}}
    found: Schema = {}
    for status in sorted({*_ALWAYS, *statuses}):
        found[str(status)] = {"description": _PROBLEMS[status], "content": content}
        name = {405: "Allow", 503: "Retry-After"}.get(status)
        if name is not None:
            found[str(status)]["headers"] = {name: {"schema": TEXT, "required": True}}
    return found


_ATTACKED = _get(dict.fromkeys(WRITTEN.values(), TEXT), 404, *_JOB, headers=["Content-Disposition"])
_PATHS: dict[str, Schema] = {
    "/": _get(_HTML),
    "/index.json": _twin("index"),
    "/v/{id}": _get(_HTML, 404, *_JOB),
    "/v/{id}.json": _twin("file", 404, *_JOB),
    "/c/{id}": _get(_HTML, 404, *_JOB),
    "/c/{id}.json": _twin("claim", 404, *_JOB),
    "/compare/{id}": _get(_HTML, 404, *_JOB),
    "/compare/{id}.json": _twin("comparison", 404, *_JOB),
    "/static/{name}": _get({kind: TEXT for _, kind in STATIC.values()}, 404),
    "/healthz": _twin("health"),
    "/open": _post({"file": FILE, "text": TEXT, "example": TEXT}),
    "/v/{id}/read": _post(_READING, 404),
    "/v/{id}/analyse": _post(_SETTINGS, 404),
    "/v/{id}/curve": _post(_CURVE, 404, 409),
    "/v/{id}/claims": _post(_CLAIM, 404, 409),
    "/v/{id}/close": _post({}, 404),
    "/v/{id}/pictures/{name}.svg": _get({"image/svg+xml": TEXT}, 404, 409),
    "/v/{id}/report.html": _download("text/html", 404, 409),
    "/v/{id}/analysis.json": _get({"application/json": _named("record")}, 404, 409, headers=["Content-Disposition"]),
    "/v/{id}/attacked.{to}": _ATTACKED,
    "/c/{id}/attacked.{to}": _ATTACKED,
    "/compare": _post(_COMPARED, 404),
    "/jobs/{id}.json": _twin("job", 404),
    "/jobs/{id}/events": _get({"text/event-stream": _EVENT}, 404),
    "/jobs/{id}/cancel": _post({"back": TEXT}, 404),
}


def _asked(path: str, how: Schema) -> Iterable[tuple[str, Any]]:
    """Yield the methods of a path, and what stands in its braces."""
    names = STATIC if path.startswith("/static/") else [picture.name for picture in PICTURES]
    braces: Schema = {
        "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,40}$"},
        "name": _one_of(names),
        "to": _one_of(WRITTEN),
    }
    found = [name for name in braces if f"{{{name}}}" in path]
    if found:
        yield "parameters", [{"name": name, "in": "path", "required": True, "schema": braces[name]} for name in found]
    yield from how.items()
