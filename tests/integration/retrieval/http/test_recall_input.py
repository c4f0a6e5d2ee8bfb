"""Questions of every form, about nothing in particular, and at the start of a session."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.cards import EventNoted, StateAsserted
from retrieval.http.read_api import create_app
from tests.support.conversing import Memory, day
from tests.support.databases import copied
from tests.support.hostile import breaking
from tests.support.projectors.folding import NOW, ORIGIN, apart, fold_live, settings_of
from tests.support.retrieval.channels import noted
from tests.support.waiting import ALONE

_ANYTHING = st.text(st.characters(), max_size=60)  # lone surrogates and NUL too
_QUESTIONS = _ANYTHING | st.sampled_from(
    [
        "where do I live?", "what is secret", "", " ", "\0", "\ud800", "x" * 100_000, "问" * 6000, "😀😀", "\\",
        ".*(a+)+$", "'; DROP TABLE cards.cards; --", "%_%", "%(user_id)s", "{visible}", "$1",
        "last year yesterday 上个月", *breaking(),
    ]
)  # fmt: skip
_USERS = (
    st.sampled_from(["bob", "nobody", "BOB", "bob ", "", "\ud800", "\0", "' OR user_id = 'alice"]) | _ANYTHING
)
_ASKS = st.fixed_dictionaries(
    {"user_id": _USERS, "query": _QUESTIONS},
    optional={
        "k": st.integers(-5, 10_000) | st.just("5") | st.just(1e300),
        "project_id": st.sampled_from(
            ["*", "default", "nowhere", "", "\0", "\ud800", [], ["*"], ["a", "\0"]]
        ),
        "kinds": st.sampled_from([[], ["state"], ["dream"], ["event", "event"], None]),
        "context_layer": st.sampled_from(["work", "play", "", None]),
        "mode": st.sampled_from(["general", "code", "", "\0", "\ud800", "x" * 9000, None]),
        "as_of": st.sampled_from(
            ["2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "now", 0, 1e30]
        ),
        "known_at": st.sampled_from(
            ["2026-01-01T00:00:00+23:59", "9999-12-31T23:59:59-12:00", "2026-02-30T00:00:00Z"]
        ),
        "timezone": st.sampled_from(["Asia/Taipei", "Asia/Kathmandu", "UTC", "", "../etc", None]) | _ANYTHING,
        "session_id": _ANYTHING,
        "explain": st.booleans(),
        "wait_for": _ANYTHING,
    },
)


@pytest.fixture(scope="module")
def database_of_two(postgres_url: str, template: str) -> Iterator[str]:
    """The cards of alice, who has a secret, and the cards of bob."""
    with copied(postgres_url, template) as url:
        with connect(url, application="cardlog-test") as connection:
            for user, city, mode in (
                ("alice", "Secretville", None),
                ("bob", "Lisbon", None),
                ("bob", "Porto", "code"),
            ):
                origin = replace(ORIGIN, mode=mode)
                log.append(
                    connection,
                    [
                        apart(
                            StateAsserted(
                                content=f"I live in {city}", entity="user", concept_key="residence", value=city,
                                cardinality="multi_value", tags=(), origin=origin, effective_at=NOW,
                            ),
                            user,
                        ),
                        apart(
                            EventNoted(
                                content=f"{city} is secret 秘密", entity="user", tags=(), origin=origin,
                                occurred_at=NOW, episode=True,
                            ),
                            user,
                        ),
                    ],
                )  # fmt: skip
        fold_live(url)
        yield url


@pytest.fixture(scope="module")
def service(database_of_two: str) -> Iterator[TestClient]:
    """A read service over these cards."""
    options = replace(Settings(), database_url=database_of_two, wait_for_ms=10, **ALONE)
    with TestClient(create_app(options), raise_server_exceptions=False) as client:
        yield client


def ask(service: TestClient, **body: Any) -> Any:
    return service.post("/v1/recall", content=json.dumps(body), headers={"content-type": "application/json"})


@example({"user_id": "bob", "query": "where do I live?", "project_id": "*", "explain": True})
@example({"user_id": "bob", "query": "secret", "as_of": "0001-01-01T00:00:00Z"})
@example({"user_id": "bob", "query": "last year yesterday 上个月", "as_of": "9999-12-31T23:59:59Z"})
@example({"user_id": "bob", "query": "where?", "k": 10_000})
@example({"user_id": "bob", "query": "where?", "k": "5"})
@example({"user_id": "\x1f", "query": "where do I live?"})
@given(body=_ASKS)
def test_any_question_gets_an_answer_of_ones_own_cards_or_a_problem(
    service: TestClient, body: dict[str, Any]
) -> None:
    answer = ask(service, **body)
    assert answer.status_code in {200, 404, 422}, answer.text
    if answer.status_code == 404:
        assert "\x1f" in body["user_id"], "only a user id that nobody can have is unknown"
    elif answer.status_code == 200:
        assert not isinstance(body.get("k"), str)
    elif answer.status_code == 422:
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert problem["field"].partition(".")[0] in {*body, "(body)"}
        assert problem["detail"]
    else:
        assert "Secretville" not in answer.text
        if body["user_id"] != "bob":
            assert answer.json()["cards"] == []


def test_the_other_user_does_have_the_card(service: TestClient) -> None:
    assert (
        ask(service, user_id="alice", query="where do I live?").json()["cards"][0]["value"] == "Secretville"
    )


def test_a_mode_keeps_the_cards_of_other_registers_out(service: TestClient) -> None:
    def cities(**more: Any) -> set[str]:
        cards = ask(service, user_id="bob", query="where do I live?", kinds=["state"], **more).json()["cards"]
        return {card["value"] for card in cards}

    assert cities() == {"Lisbon", "Porto"}
    assert cities(mode="code") == {"Porto"}
    assert cities(mode="general") == {"Lisbon"}  # of turns that named none
    assert cities(mode="journal") == set()


@pytest.mark.parametrize(
    ("body", "field", "hint"),
    [
        ({"user": "bob", "query": "x"}, "user", "did you mean user_id?"),
        ({"user_id": "bob", "query": "x", "limit": 3}, "limit", "use one of user_id, query, "),
        ({"user_id": "bob", "query": "x", "project_id": []}, "project_id", "must have 1 or more items"),
        *(
            ({"user_id": "bob", "query": "x", name: instant}, name, "")
            for name in ("as_of", "known_at")
            for instant in ("2199-01-01T00:00:00Z", "2026-02-30T00:00:00Z")
        ),
    ],
)
def test_a_refusal_names_the_field_and_what_is_meant(
    service: TestClient, body: dict[str, Any], field: str, hint: str
) -> None:
    refused = ask(service, **body)
    assert (refused.status_code, refused.json()["field"]) == (422, field)
    assert hint in refused.json()["detail"]
    [place] = service.post("/v1/recall/batch", json={"questions": [body]}).json()["answers"]
    assert without_now(place["problem"]) == without_now(refused.json())


def without_now(problem: dict[str, Any]) -> dict[str, Any]:
    """Returns a problem without the second in which it was told."""
    return {name: re.sub(r"up to now, \S+", "", f"{told}") for name, told in problem.items()}


QUESTIONS = ("What do you know about me?", "tell me about myself", "你知道我什麼", "说说你对我的了解")


@pytest.fixture
def asking(database: str, memory: Memory) -> Iterator[Any]:
    memory.state("residence", "Porto", day(0), context_layer="personal")
    memory.state("residence", "Lisbon", day(1), context_layer="personal", announced=True)
    memory.state("employer", "Acme", day(2), context_layer="work")
    memory.state("team", "Blue", day(2), context_layer="work", turn_ids=("t-work-2",))
    memory.state("club", "chess club", day(3), context_layer="social", cardinality="multi_value")
    memory.state("name", "Alex", day(4))
    memory.state("residence", "Oslo", day(5), entity="Mei", context_layer="personal")
    for number in range(8):
        memory.state("hobby", f"hobby {number}", day(6), cardinality="multi_value", context_layer="personal")
        memory.event(f"I know what you know about me, number {number}", day(7), importance=9)
    memory.fold()
    settings = replace(Settings(), database_url=database, **ALONE)
    with TestClient(create_app(settings)) as client:

        def asked(query: str, route: str = "recall", **more: Any) -> Any:
            answer = client.post(f"/v1/{route}", json={"user_id": memory.user, "query": query, **more})
            assert answer.status_code == 200, answer.text
            return answer.json()

        yield asked


def contents(answer: Any) -> list[str]:
    return [card["content"] for card in answer["cards"]]


def test_the_most_important_current_states_of_every_layer_answer(asking: Any) -> None:
    for query in QUESTIONS:
        found = asking(query)["cards"]
        assert [card["kind"] for card in found] == ["state"] * 5
        assert {card["context_layer"] for card in found[:4]} == {"personal", "work", "social", None}
        assert {card["content"] for card in found[:4]} == {
            "residence is Lisbon", "employer is Acme", "club is chess club", "name is Alex",
        }  # fmt: skip
        assert contents(asking(query)) == [card["content"] for card in found]
    # What no longer holds is absent, and facts about others come behind. What happened fills the places that are left.
    found = contents(asking(QUESTIONS[0], k=200))
    assert "residence is Porto" not in found
    assert found.index("residence is Oslo") > found.index("residence is Lisbon")
    assert all(content.startswith("I know") for content in found[-8:])
    assert len(found) == len(set(found)) == 22
    # A question with a topic is an ordinary question.
    assert contents(asking("What do you know about Mei?"))[0] == "residence is Oslo"
    # The past is told as it was.
    assert contents(asking(QUESTIONS[0], as_of=day(0).isoformat())) == ["residence is Porto"]


def test_what_newer_words_ended_says_so_and_comes_behind(memory: Memory, asking: Any) -> None:
    memory.event("I quit my job at Acme", day(8), episode=True, turn_ids=("t-quit",))
    memory.fold()
    facts = asking(QUESTIONS[0], k=14)["cards"]
    assert [each["content"] for each in facts if "perhaps_no_longer" in each] == ["employer is Acme"]
    assert facts[-1]["content"] == "employer is Acme"


def test_kinds_k_layers_and_the_budget_decide_how_many(asking: Any) -> None:
    assert len(contents(asking(QUESTIONS[0], k=2))) == 2
    assert all(card["kind"] == "event" for card in asking(QUESTIONS[0], kinds=["event"])["cards"])
    only = asking(QUESTIONS[0], only_layers=["work"])["cards"]
    assert {card["content"] for card in only} == {"employer is Acme", "team is Blue"}
    assert contents(asking(QUESTIONS[0], context_layer="social"))[0] == "club is chess club"
    prompt = asking(QUESTIONS[0], "context", k=50)
    short = asking(QUESTIONS[0], "context", k=50, token_budget=500)
    assert "residence is Lisbon" in prompt["text"]
    assert len(short["text"]) < len(prompt["text"])
    assert short["left_out"]


def test_a_session_starts_with_what_was_told_and_not_with_what_was_asked(connection: Connection) -> None:
    told = ("The release is on Friday", "We deploy from the branch stable", "Dana reviews the parser")
    asked = ("What is the current plan for the open tasks?", "Which decisions matter for the work now?")
    at_work = replace(ORIGIN, context_layer="work")
    log.append(connection, [*map(apart, (replace(noted(text), origin=at_work) for text in asked))])
    log.append(connection, [*map(apart, map(noted, told))])
    fold_live(connection)
    with TestClient(create_app(settings_of(connection, **ALONE, hook_deadline_ms=60_000))) as client:
        answer = client.post(
            "/v1/hooks/claude-code",
            params={"user_id": "alex"},
            json={"hook_event_name": "SessionStart", "session_id": "new"},
        )
    context = answer.json()["hookSpecificOutput"]["additionalContext"]
    assert max(context.index(text) for text in told) < min(context.index(text) for text in asked)
