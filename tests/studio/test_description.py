"""The description of all requests, held against the answers."""

from __future__ import annotations

import json
import time

import pytest

from holdrank.studio.app import create_app, description

from studios import VOTES

pytestmark = pytest.mark.slow


def test_every_request_is_described_and_nothing_else():
    described = {
        (method, path) for path, how in description()["paths"].items() for method in how if method in ("get", "post")
    }
    answered = {
        (method.lower(), route.path) for route in create_app(8000).routes for method in route.methods - {"HEAD"}
    }
    assert described == answered


def test_the_description_itself_is_not_handed_out(studio):
    for path in ("/openapi.json", "/docs", "/redoc"):
        assert studio.ask("GET", path)[0] == 404


DESCRIBED = [
    (method, path) for path, how in description()["paths"].items() for method in how if method in ("get", "post")
]
STARTS_JOBS = ("/open", "/compare", "/v/{id}/read", "/v/{id}/analyse", "/v/{id}/curve", "/v/{id}/claims")


@pytest.fixture(scope="module")
def ids(studio):
    """What the braces of paths may stand for: a file, a claim, a comparison and a job that there are."""
    url = json.loads(studio.form("/open", text=VOTES.replace("\n", "%0A"))[2])["url"]
    while not json.loads(studio.ask("GET", f"{url}.json")[2])["job"]["over"]:
        time.sleep(0.1)
    claim = json.loads(studio.form(f"{url}/claims", claim="a+wins")[2])
    pair = json.loads(studio.form("/compare", old_id=url[3:], new_id=url[3:])[2])
    return {"v": url[3:], "c": claim["url"][3:], "compare": pair["url"][9:], "jobs": claim["job"]["id"]}


@pytest.mark.parametrize(("method", "path"), DESCRIBED)
def test_answers_are_as_described(studio, ids, method, path):
    """Requests made from the description, sound and unsound: the status, the kind, the headers and the body fit."""
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st
    from schemathesis.specs.openapi import checks

    fitting = [checks.status_code_conformance, checks.content_type_conformance, checks.response_headers_conformance,
               checks.response_schema_conformance]  # fmt: skip
    operation = schemathesis.openapi.from_dict(description())[path][method.upper()]
    modes = (
        list(schemathesis.GenerationMode) if "{" in path or method == "post" else [schemathesis.GenerationMode.POSITIVE]
    )
    cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])
    statuses = set()

    @seed(1)
    @settings(max_examples=4 if path in STARTS_JOBS or "attacked" in path else 12, phases=[Phase.generate],
              database=None, suppress_health_check=list(HealthCheck), deadline=None)  # fmt: skip
    @given(cases, st.booleans(), st.sampled_from(["application/json", "text/html"]), st.integers(0, 5))
    def holds(case, there, accept, guess):
        kind = path.split("/")[1]
        if there and kind in ids and not path.endswith("/close"):
            case.path_parameters["id"] = ids[kind]
        headers = {"Accept": accept, "X-Holdrank-Token": studio.token if guess else "wrong"}
        answer = case.call(base_url=f"http://{studio.host}", headers=headers, timeout=60)
        statuses.add(answer.status_code)
        case.validate_response(answer, checks=fitting)

    holds()
    assert {status for status in statuses if status >= 500} <= {503}
