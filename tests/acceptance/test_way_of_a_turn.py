"""The way from a push to an answer, as an app and an assistant use it."""

from datetime import datetime
from typing import Any

from tests.support.stack import Running
from tests.support.waiting import eventually
from tests.support.web import WEB


def test_a_turn_pushed_onto_the_stream_is_recalled_as_a_state_with_its_reasons(stack: Running) -> None:
    turn: dict[Any, Any] = {"user_id": "u1", "text": "I moved to Lisbon last week", "turn_id": "t1"}
    turn["said_at"] = "2026-05-08T10:00:00+01:00"
    stack.redis.xadd("turns", turn)
    stack.wait()
    answer = stack.told("recall", "--user", "u1", "where do I live?")
    card = answer["cards"][0]
    assert (card["kind"], card["concept_key"], card["value"]) == ("state", "residence", "Lisbon")
    since = datetime.fromisoformat(card["effective_at"]) - datetime.fromisoformat("2026-05-01T00:00:00Z")
    assert abs(since.days) <= 4
    assert card["turn_ids"] == ["t1"]
    span = card["source_span"]
    assert "I moved to Lisbon last week"[span["start"] : span["end"]] == span["text"]
    assert "Lisbon" in span["text"]
    assert card["provenance"] == "user_stated"
    assert card["channels"]
    assert set(answer) == {"current_time", "cards", "contradictions", "channels", "warnings"}


def test_a_turn_pushed_over_http_is_recalled(stack: Running) -> None:
    of_wei = {"user_id": "wei", "timezone": "Asia/Taipei"}
    pushed = stack.push(
        {**of_wei, "text": "我住在台北", "said_at": "2026-01-03T10:00:00+08:00"},
        {**of_wei, "text": "我搬到高雄了", "said_at": "2026-04-03T10:00:00+08:00"},
    )
    assert len(pushed["turn_ids"]) == 2
    assert pushed["token"]
    stack.wait()
    now = stack.recall("wei", "我現在住在哪裡？")["cards"][0]
    assert (now["value"], now["superseded_at"]) == ("高雄", None)
    then = stack.recall("wei", "我住在哪裡？", as_of="2026-02-01T00:00:00+08:00")["cards"][0]
    assert then["value"] == "台北"


def test_push_reports_bad_lines_and_takes_the_rest(stack: Running) -> None:
    lines = '{"user_id":"filer","text":"I work at Acme."}\nnot json\n{"user_id":"filer"}\n'
    done = stack.command("push", "-", input=lines)
    assert done.returncode == 1
    assert "line 2:" in done.stderr
    assert "line 3: text: is required" in done.stderr
    assert "pushed 1 turn; 2 invalid lines" in done.stderr
    stack.wait()
    assert stack.recall("filer", "where do I work?")["cards"][0]["value"] == "Acme"


def test_a_worker_that_is_killed_comes_back(stack: Running) -> None:
    [extractor] = stack.workers("extractor")
    extractor.kill()
    eventually(lambda: any(worker.pid != extractor.pid for worker in stack.workers("extractor")))
    stack.redis.xadd("turns", {"user_id": "phoenix", "text": "I live in Cairo."})
    stack.wait()
    assert stack.recall("phoenix", "where do I live?")["cards"][0]["value"] == "Cairo"


def test_a_recall_can_wait_for_what_was_just_pushed(stack: Running) -> None:
    for city in ("Bonn", "Graz", "Bern"):
        pushed = stack.push({"user_id": "own", "text": f"I moved to {city} today."})
        answer = stack.recall("own", "where do I live?", wait_for=pushed["token"])
        assert answer["cards"][0]["value"] == city
        assert not [warning for warning in answer["warnings"] if warning.startswith("wait_for")]
    refused = WEB.post(
        f"{stack.read_url}/v1/recall",
        headers=stack.headers,
        json={"user_id": "own", "query": "x", "wait_for": "soon"},
    )
    assert (refused.status_code, refused.json()["field"]) == (422, "wait_for")


def test_the_embedding_of_questions_goes_before_that_of_cards(stack: Running) -> None:
    # The read service embeds questions, and the vectors worker embeds cards. A lower niceness goes first.
    [cards], [questions] = stack.workers("vectors"), stack.workers("read")
    assert cards.nice() > questions.nice()
