"""The studio by its requests: pages and their twins, reading, refusals, downloads, the command."""

from __future__ import annotations

import json
import re
import sys
import time

import pytest

import holdrank as hr
from holdrank.studio.app import ROUTES, Start
from holdrank.studio.limits import Limits

from studios import HERE, VOTES, is_error, opened, post, running, slow_votes, wait

pytestmark = [pytest.mark.slow, pytest.mark.traced]

HEADLINE = "a is firmly first; putting b first takes 11 of 101 ballots."
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def client():
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def shared():
    """One studio for tests that only look: a file is analysed, a claim is answered."""
    with running() as found:
        found.votes_url = opened(found, VOTES, "votes.csv")
        post(found, f"{found.votes_url}/analyse", tiers="none")
        wait(found, found.votes_url)
        found.claim_url = post(found, f"{found.votes_url}/claims", claim="a wins").json()["url"]
        wait(found, found.claim_url)
        yield found


# Pages and twins.


def test_a_file_is_read_and_analysed(shared):
    page = shared.get(shared.votes_url)
    assert page.status_code == 200
    assert HEADLINE in page.text
    twin = shared.get(f"{shared.votes_url}.json").json()
    assert twin["items"] == ["a", "b", "c"]
    assert twin["votes"]["format"] == "positions"
    assert twin["record"]["consensus"]["ranks"] == [1, 2, 3]
    assert twin["record"]["attack"]["needed"] == twin["record"]["attack"]["sufficient"] == 11
    assert twin["job"]["state"] == "done"


def test_the_first_page_lists_what_is_open(shared):
    assert f'href="{shared.votes_url}"' in shared.get("/").text
    twin = shared.get("/index.json").json()
    assert [one["name"] for one in twin["opened"]] == ["votes.csv"]
    assert [one["url"] for one in twin["opened"]] == [shared.votes_url]


def test_a_claim_that_holds_is_priced(shared):
    found = shared.get(f"{shared.claim_url}.json").json()
    assert found["answer"]["holds"] is True
    assert found["answer"]["attack"]["needed"] == found["answer"]["attack"]["sufficient"] == 11
    assert "It holds." in shared.get(shared.claim_url).text
    assert shared.claim_url in shared.get(f"{shared.votes_url}.json").json()["claims"]


@pytest.mark.parametrize(
    ("form", "claim", "holds", "votes"),
    [
        ({"claim": "b above a"}, "b above a", False, 11),
        ({"kind": "above", "first": "1", "second": "0"}, "b above a", False, 11),
        ({"kind": "above", "first": "0", "second": "1"}, "a above b", True, 11),
        ({"kind": "top", "k": "2"}, "top 2", True, 51),
        ({"claim": "c wins"}, "c wins", False, 51),
        ({"claim": "a wins", "change": "drop"}, "a wins", True, 22),  # 39 are left against 40
        ({"claim": "a wins", "change": "add"}, "a wins", True, 22),  # 62 against 61
    ],
)
def test_a_claim_that_does_not_hold_is_priced_too(shared, form, claim, holds, votes):
    url = post(shared, f"{shared.votes_url}/claims", **form).json()["url"]
    found = wait(shared, url)
    assert found["claim"] == claim
    assert found["answer"]["holds"] is holds
    needed, sufficient = (found["answer"]["attack"][name] for name in ("needed", "sufficient"))
    assert sufficient == votes
    # One vote less makes a tie where votes come or go one by one, and a tie is all that a bound excludes.
    assert votes - ("change" in form) <= needed <= votes


def test_a_claim_about_nobody_is_refused_with_a_hint(shared):
    url = post(shared, f"{shared.votes_url}/claims", claim="bb above a").json()["url"]
    wait(shared, url)
    error = is_error(shared.get(f"{url}.json"), 422, "usage")
    assert "'bb'" in error["message"]
    page = shared.get(url)
    assert page.status_code == 422
    assert "&#39;bb&#39;" in page.text


@pytest.mark.parametrize(
    ("form", "words"),
    [({"claim": " "}, "there is no claim"), ({"claim": "a wins", "change": "steal"}, "replaced, dropped or added"),
     ({"claim": "a wins", "of": "dreams"}, "the strict ranking or the tiers"),
     ({"claim": "a wins", "time_limit": "soon"}, "takes a number"), ({"kind": "top", "k": "-1"}, "whole number")],
)  # fmt: skip
def test_forms_that_make_no_sense_are_refused(shared, form, words):
    error = is_error(post(shared, f"{shared.votes_url}/claims", **form), 422, "usage")
    assert words in error["message"]


@pytest.mark.parametrize(
    ("path", "form", "words"),
    [
        ("claims", {"kind": "above", "first": "0", "second": "7"}, "only 3 items"),
        ("analyse", {"draws": "30000"}, "at most 20,000"),
        ("analyse", {"tiers": "0.7"}, "theta"),
        ("analyse", {"rule": "plurality"}, "plurality"),
        ("curve", {"time_limit": "long"}, "takes a number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(shared, path, form, words):
    error = is_error(post(shared, f"{shared.votes_url}/{path}", **form), 422, "usage")
    assert words in error["message"]


def test_what_is_not_there_cannot_be_asked_about(shared):
    """This analysis has no tiers."""
    for path, form in (("claims", {"claim": "top 2"}), ("curve", {})):
        is_error(post(shared, f"{shared.votes_url}/{path}", of="tiers", **form), 409, "no-tiers")


def test_the_replay_is_what_the_votes_say_at_each_step(shared):
    steps = shared.get(f"{shared.claim_url}.json").json()["replay"]
    assert steps[0]["changed"] == 0
    assert steps[-1]["changed"] == 11
    for step in steps:
        assert step["ranks"] == ([1, 2, 3] if step["changed"] < 11 else [2, 1, 3])
    assert len(steps) == 12
    assert shared.get(shared.claim_url).text.count('class="frame"') == 12


def test_the_steps_of_an_analysis_are_those_that_pages_name(shared):
    from holdrank.studio.pages import STEPS

    record = shared.get(f"{shared.votes_url}.json").json()["record"]
    assert [step["name"] for step in record["steps"]] == list(STEPS)


def test_a_job_tells_how_it_stands_until_it_is_over(client):
    url = opened(client, VOTES, "votes.csv")
    job = client.get(f"{url}.json").json()["job"]
    lines = client.get(f"/jobs/{job['id']}/events").text.split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert [event["version"] for event in events] == sorted(event["version"] for event in events)
    assert events[-1]["state"] == "done"
    assert events[-1]["share"] == 1
    assert client.get(f"/jobs/{job['id']}.json").json()["state"] == "done"


def test_pictures_are_files_of_their_own(shared):
    for name in ("ladder", "ranges", "heatmap", "breakdown", "attack"):
        answer = shared.get(f"{shared.votes_url}/pictures/{name}.svg")
        assert answer.status_code == 200, name
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert "script-src" not in answer.headers["content-security-policy"]
        assert answer.text.startswith("<svg ")
        assert 'xmlns="http://www.w3.org/2000/svg"' in answer.text
    for name in ("moon", "tradeoff"):  # there is none where the threshold was not chosen
        answer = shared.get(f"{shared.votes_url}/pictures/{name}.svg", headers={"accept": "application/json"})
        is_error(answer, 404, "not-found")
    assert "The threshold was set by hand" in shared.get(shared.votes_url).text


def test_settings_change_the_analysis(client):
    url = opened(client, VOTES, "votes.csv")
    post(client, f"{url}/analyse", rule="borda", tiers="none", k="1", budget="5", draws="250")
    record = wait(client, url)["record"]
    assert (record["spec"]["rule"], record["spec"]["theta"], record["spec"]["k"]) == ("borda", None, 1)
    assert record["spec"]["budget"] == 0.05
    assert record["bootstrap"]["draws"] == 250
    assert record["tiers"] is None
    assert record["cut"]["k"] == 1
    assert "The cut after the first 1" in client.get(url).text


def test_a_curve_fills_in(client):
    url = opened(client, VOTES, "votes.csv")
    wait(client, url)
    assert post(client, f"{url}/curve", of="strict").status_code == 200
    for _ in range(1200):
        twin = client.get(f"{url}.json").json()
        if twin["curve_job"]["over"]:
            break
        time.sleep(0.05)
    curve = twin["record"]["curves"][0]
    assert curve["statistic"] == "kemeny"
    assert curve["delta"] == pytest.approx([1 / 3, 2 / 3, 1])
    assert curve["lower"] == curve["upper"] == pytest.approx([10.5 / 101, 0.5, 0.5])
    assert curve["needed"] == [11, 51, 51]
    # Others of the analysis stay beside it.
    assert len(twin["record"]["curves"]) >= 2


def test_two_files_are_compared(client):
    files = {
        "old": ("old.csv", b"weight,rank1,rank2\n90,a,b\n10,b,a\n"),
        "new": ("new.csv", b"weight,rank1,rank2,rank3\n10,a,b,c\n90,b,a,c\n"),
    }
    url = post(client, "/compare", files=files, rule="kemeny").json()["url"]
    found = wait(client, url)["comparison"]
    moves = [(row["item"], row["old"]["place"], row["new"]["place"], row["beyond_noise"]) for row in found["moves"]]
    assert (found["items"], moves) == (["a", "b"], [(1, 2, 1, True), (0, 1, 2, True)])
    assert found["only_new"] == ["c"]
    assert (found["turned"], found["pairs"]) == (1, 1)
    page = client.get(url).text
    assert "2 of 2 items moved, 2 beyond noise" in page
    assert "Only in the new file" in page
    # It goes with its files.
    post(client, f"/v/{client.get('/index.json').json()['opened'][0]['id']}/close")
    is_error(client.get(f"{url}.json"), 404, "not-found")


def test_a_comparison_needs_two_files_with_something_in_common(client):
    is_error(post(client, "/compare", files={"old": ("old.csv", VOTES.encode())}), 422, "input")
    url = opened(client, VOTES, "votes.csv")
    other = {"new": ("new.csv", b"rank1,rank2\nx,y\n")}
    compared = post(client, "/compare", files=other, old_id=url.removeprefix("/v/")).json()["url"]
    wait(client, compared)
    assert "share 0 items" in is_error(client.get(f"{compared}.json"), 422, "usage")["message"]


def test_a_closed_file_is_gone(client):
    url = opened(client, VOTES, "votes.csv")
    job = client.get(f"{url}.json").json()["job"]["id"]
    assert post(client, f"{url}/close").json()["url"] == "/"
    is_error(client.get(f"{url}.json"), 404, "not-found")
    is_error(client.get(f"/jobs/{job}.json"), 404, "not-found")
    assert client.get("/index.json").json()["opened"] == []


def test_the_example_and_pasted_text_can_be_read(client):
    found = client.get(post(client, "/open", example="1").json()["url"] + ".json").json()
    assert found["votes"]["total"] == 500
    assert len(found["items"]) == 8
    url = post(client, "/open", text=VOTES.replace("\n", "\r\n")).json()["url"]
    assert client.get(f"{url}.json").json()["items"] == ["a", "b", "c"]
    is_error(post(client, "/open", text="  "), 422, "input")


def test_a_browser_is_led_to_the_page(client):
    answer = post(client, "/open", text=VOTES, accept="text/html")
    assert answer.status_code == 303
    assert re.fullmatch(r"/v/[\w-]{12}", answer.headers["location"])


def test_the_file_of_the_command_line_is_open_from_the_start():
    start = Start("votes.csv", VOTES.encode())
    with running(start=start) as client:
        assert wait(client, f"/v/{start.id}")["record"]["consensus"]["ranks"] == [1, 2, 3]


# Reading.


def test_a_bad_file_gets_its_place_and_a_repair(client):
    answer = post(client, "/open", files={"file": ("bad.csv", b"rank1,rank2\na,b\na,a\n")})
    url = answer.json()["url"]
    error = is_error(client.get(f"{url}.json"), 422, "input")
    assert error["place"].startswith("bad.csv, line 3")
    assert error["repair"]
    page = client.get(url)
    assert page.status_code == 422
    assert "bad.csv, line 3" in page.text
    assert "Traceback" not in page.text
    # The form is there to correct it, and it helps.
    post(client, f"{url}/read", repeated="first")
    assert client.get(f"{url}.json").json()["votes"]["total"] == 2
    assert re.search(r'<option value="first" selected>', client.get(url).text)


def test_the_direction_of_scores_can_be_corrected(client):
    url = opened(client, "model,task 1,task 2\nfast,1,2\nslow,8,9\n", "times.csv")
    assert wait(client, url, "content")["items"] == ["fast", "slow"]
    assert wait(client, url)["record"]["consensus"]["ranks"] == [2, 1]
    post(client, f"{url}/read", lower_is_better="all")
    assert wait(client, url)["record"]["consensus"]["ranks"] == [1, 2]


def test_reading_again_drops_claims_about_the_old_votes(client):
    url = opened(client, VOTES, "votes.csv")
    wait(client, url)
    claim = post(client, f"{url}/claims", claim="a wins").json()["url"]
    post(client, f"{url}/read", unlisted="observed")
    is_error(client.get(f"{claim}.json"), 404, "not-found")
    assert client.get(f"{url}.json").json()["votes"]["unlisted"] == "observed"


def test_options_of_the_form_speak_its_language(client):
    url = opened(client, VOTES, "votes.csv")
    post(client, f"{url}/read", format="battles", lower_is_better="all")
    error = is_error(client.get(f"{url}.json"), 422, "usage")
    assert "“Lower is better”" in error["message"]
    is_error(post(client, f"{url}/read", format="papyrus"), 422, "usage")
    assert "'plurality'" in is_error(post(client, "/compare", rule="plurality", old_id=url[3:], new_id=url[3:]), 422,
                                     "usage")["message"]  # fmt: skip
    is_error(post(client, f"{url}/read", header="two"), 422, "usage")


def test_the_name_of_a_file_is_never_a_path(client, tmp_path):
    (tmp_path / "secret.csv").write_text("rank1,rank2\nx,y\n", encoding="utf-8")
    url = opened(client, VOTES, str(tmp_path / "secret.csv"))
    found = client.get(f"{url}.json").json()
    assert found["name"] == found["votes"]["source"] == "secret.csv"
    assert found["items"] == ["a", "b", "c"]
    assert str(tmp_path) not in client.get(url).text


# Who may ask.


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:8001", "localhost:8000.evil.example", ""])
def test_requests_for_another_name_are_refused(client, host):
    answer = client.get("/index.json", headers={"host": host})
    is_error(answer, 421, "host")


def test_both_names_of_this_machine_are_known(client):
    for host in ("127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000"):
        assert client.get("/index.json", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://localhost:8000"])
def test_forms_of_other_sites_are_refused(client, origin):
    is_error(post(client, "/open", text=VOTES, headers={"origin": origin}), 403, "origin")
    assert client.get("/index.json").json()["opened"] == []


def test_pages_of_other_sites_cannot_look_in(client):
    strange = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "accept": "application/json"}
    is_error(client.get("/", headers=strange), 403, "origin")
    is_error(client.get("/", headers={**strange, "sec-fetch-site": "same-site"}), 403, "origin")
    # A link on another site may lead here.
    assert client.get("/", headers={**strange, "sec-fetch-mode": "navigate"}).status_code == 200
    answer = client.options("/open", headers={"origin": "http://evil.example", "access-control-request-method": "POST"})
    assert answer.status_code in (403, 405)
    assert "access-control-allow-origin" not in answer.headers


PATHS = ["/open", "/compare", "/v/x/read", "/v/x/analyse", "/v/x/curve", "/v/x/claims", "/v/x/close", "/jobs/x/cancel"]


def test_every_change_needs_the_token(shared):
    posts = {route.path for route in ROUTES if route.method == "POST"}
    assert {path.replace("{id}", "x") for path in posts} == set(PATHS)
    job = shared.get(f"{shared.votes_url}.json").json()["job"]["id"]
    known = {"/v/x": shared.votes_url, "/jobs/x": f"/jobs/{job}"}
    for path in PATHS:
        for stem, url in known.items():
            path = path.replace(stem, url)
        for token in ("", "x" * 32, "é"):
            is_error(post(shared, path, text=VOTES, token=token), 403, "token")
    assert shared.get(f"{shared.votes_url}.json").status_code == 200


def test_the_token_may_come_as_a_header(client):
    answer = post(client, "/open", text=VOTES, token="", headers={"x-holdrank-token": client.studio.token})
    assert answer.status_code == 200


def test_each_start_has_its_own_token():
    with running() as one, running() as other:
        assert one.studio.token != other.studio.token
        assert len(one.studio.token) >= 32


@pytest.mark.parametrize("path", ["/", "/index.json", "/nothing", "/static/studio.js", "/static/page.css", "/v/x.json"])
def test_every_answer_has_the_headers(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    wanted = ("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
              "connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'")  # fmt: skip
    assert [part.strip() for part in policy.split(";")] == list(wanted)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def test_refusals_have_the_headers_too(client):
    assert "content-security-policy" in client.get("/", headers={"host": "evil.example"}).headers


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/app.py", "/static/..%2fapp.py", "/docs", "/openapi.json"]
)
def test_nothing_else_is_handed_out(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


def test_errors_of_pages_are_pages(client):
    answer = client.get("/v/unknown", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "This file is not open, or no longer open" in answer.text
    assert "open the file again from the first page" in answer.text
    is_error(client.get("/v/unknown.json"), 404, "not-found")
    is_error(client.get("/nowhere.json"), 404, "http")
    is_error(client.put("/index.json"), 405, "method")
    is_error(client.post("/index.json", headers={"origin": HERE}), 405, "http")


def test_an_error_of_our_own_is_one_line(client, monkeypatch):
    monkeypatch.setattr(client.studio.shelf, "votes", lambda _: 1 / 0)
    answer = client.get("/v/x.json")
    assert is_error(answer, 500, "internal")["message"] == "internal error: ZeroDivisionError"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in client.get("/v/x").headers["content-security-policy"]


# Hostile names.


NAMES = [
    HOSTILE,
    "x" * 1713,
    "bell\x07 and escape\x1b[31m",
    "\u202egnp.exe",
    "</script><script>alert(1)</script>",
    "'\"&",
    "two  blanks",
]


def test_hostile_names_stay_text(client):
    lines = [{"order": NAMES, "weight": 3}, {"order": NAMES[::-1], "weight": 2}]
    url = opened(client, "\n".join(map(json.dumps, lines)), f"{HOSTILE}.jsonl")
    wait(client, url)
    claim = post(client, f"{url}/claims", kind="above", first="1", second="0").json()["url"]
    wait(client, claim)
    for path in (url, claim, "/", f"{url}/report.html", f"{url}/pictures/ladder.svg"):
        text = client.get(path).text
        assert "<img" not in text, path
        assert "<script>alert" not in text, path
        assert "\x1b" not in text, path
        assert "\u202e" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL), path
    assert "&lt;img src=x" in client.get(url).text
    data = re.search(
        r'<script type="application/json" id="ladder-data">(.*?)</script>', client.get(url).text, re.DOTALL
    )
    assert json.loads(data[1])["items"] == NAMES


def test_the_name_of_a_download_is_harmless(client):
    url = opened(client, VOTES, 'a"b\r\nset-cookie: x=1;é.csv')
    wait(client, url)
    answer = client.get(f"{url}/analysis.json")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert re.fullmatch(r"""attachment; filename="[\w-]+\.json"; filename\*=UTF-8''[\w%.-]+""",
                        answer.headers["content-disposition"])  # fmt: skip


# Downloads.


def test_the_report_and_the_analysis_can_be_taken_away(shared):
    report = shared.get(f"{shared.votes_url}/report.html")
    assert report.headers["content-disposition"].startswith('attachment; filename="votes-report.html"')
    assert HEADLINE in report.text
    from holdrank.analysis.result import Analysis

    text = shared.get(f"{shared.votes_url}/analysis.json").text
    assert Analysis.from_json(text).headline == HEADLINE


@pytest.mark.parametrize("ending", ["soc", "csv", "jsonl"])
def test_attacked_votes_do_what_they_say(shared, tmp_path, ending):
    (tmp_path / "votes.csv").write_text(VOTES, encoding="utf-8")
    before = hr.read_votes(tmp_path / "votes.csv")
    for url in (shared.votes_url, shared.claim_url):
        answer = shared.get(f"{url}/attacked.{ending}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith(f'attachment; filename="votes-attacked.{ending}"')
        path = tmp_path / f"attacked.{ending}"
        path.write_bytes(answer.content)
        attacked = hr.read_votes(path)
        assert before.total_variation(attacked) == pytest.approx(11 / 101)
        assert hr.fulfils(before, hr.kemeny, attacked, hr.NewWinner())


def test_downloads_that_are_not_there_are_errors(shared):
    asked = {"accept": "application/json"}
    is_error(shared.get(f"{shared.votes_url}/attacked.exe", headers=asked), 404, "not-found")
    is_error(shared.get("/v/x/report.html", headers=asked), 404, "not-found")


def test_nothing_can_be_taken_away_too_early():
    with running(Limits(running=1)) as client:
        first = opened(client, slow_votes(), "slow.jsonl")
        asked = {"accept": "application/json"}
        is_error(client.get(f"{first}/attacked.soc", headers=asked), 404, "not-found")
        client.studio.shelf.votes(first.removeprefix("/v/")).job.told.pop("record", None)
        is_error(client.get(f"{first}/analysis.json"), 409, "too-early")
        is_error(post(client, f"{first}/claims", claim="top 3"), 409, "too-early")


# The command.


def test_the_command_names_the_missing_extra(command_line, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    code, out, err = command_line("studio", "--no-browser")
    assert (code, out) == (2, "")
    assert err.startswith("holdrank: the studio needs starlette")
    assert err.endswith("Fix: pip install 'holdrank[studio]'\n")
    assert err.count("\n") == 1


def test_the_command_refuses_what_it_cannot_open(command_line, tmp_path):
    code, _, err = command_line("studio", "missing.csv", "--no-browser")
    assert code == 3
    assert "missing.csv" in err
    (tmp_path / "long.csv").write_text("a,b\n" * 2_000_002, encoding="utf-8")
    code, _, err = command_line("studio", "long.csv", "--no-browser")
    assert code == 3
    assert "2,000,002 lines" in err


def test_the_command_refuses_a_port_in_use(command_line):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = command_line("studio", "--port", str(port), "--no-browser")
    assert code == 2
    assert f"port {port} is not available" in err


def test_it_says_that_it_is_well_and_how_much_it_has_to_do(client):
    assert client.get("/healthz").json() == {"ok": True, "running": 0, "queued": 0}


def test_twenty_at_once_finish_or_are_refused_politely_and_leave_nothing():
    with running(Limits(queued=4)) as client:  # most are refused: what is taken starts a process each
        answers = [post(client, "/open", files={"file": (f"{k}.csv", VOTES.encode())}) for k in range(20)]
        assert {answer.status_code for answer in answers} <= {200, 429, 503}
        taken = [answer.json()["url"] for answer in answers if answer.status_code == 200]
        assert len(taken) >= 2
        for answer in answers:
            if answer.status_code != 200:
                assert answer.json()["error"]["repair"]
        for url in taken:
            assert client.get("/healthz").json()["ok"]
            assert wait(client, url)["record"]["consensus"]["ranks"] == [1, 2, 3]
        assert client.get("/healthz").json() == {"ok": True, "running": 0, "queued": 0}


def test_library_command_and_studio_tell_the_same_numbers(shared, tmp_path, command_line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text(VOTES, "utf-8")
    by_studio = shared.get(f"{shared.votes_url}/analysis.json").json()
    spec = hr.Spec(**{**by_studio["spec"], "claims": tuple(by_studio["spec"]["claims"])})
    by_library = hr.analyse(hr.read_votes("votes.csv"), spec).record
    args = ["report", "votes.csv", "-o", "report.json", "-q", "--theta", "none"]
    command_line(*args, "--time-limit", str(spec.time_limit), "--draws", str(spec.draws))
    by_command = json.loads((tmp_path / "report.json").read_text("utf-8"))
    for record in (by_studio, by_library, by_command):
        record.pop("steps")  # they tell how long things took
    assert by_library == by_command == by_studio
