"""The read service's JSON of one fixed history, byte for byte: names, order and values of every field.

``CARDLOG_TEST_RECORD=1`` writes the answers of this version to ``answers.txt``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted
from events.types.codec import Payload
from events.types.envelope import NewEvent
from events.types.relations import CardsConnected
from retrieval.http.read_api import create_app
from tests.support.conversing import day
from tests.support.projectors.folding import fold_live
from tests.support.waiting import PATIENT

RECORDED = Path(__file__).with_name("answers.txt")
AS_OF = day(95).isoformat()
# Values that depend on the clock: the latency of a channel, and the time of recording.
CHANGING = re.compile(r'("(?:ms|created_at)":)("[^"]*"|[0-9.]+)')
# The fixed words of a prompt do not belong to the form of the answer.
FIXED = re.compile(r"<(core).*?</\1>")
RECALLS = (
    {"query": "Where do I live?"},
    {"query": "Where have I ever lived?", "k": 20},
    {"query": "What do I know about JWT?", "explain": True},
    {"query": "What happened on the walk with Rex?", "context_layer": "personal"},
    {"query": "Which city do I like best?", "kinds": ["state"]},
    {"query": "Who drinks tea?", "project_id": "*"},
)
PAGES = (
    "cards?status=*&limit=4",
    "cards?kind=event&as_of={as_of}",
    "cards/{rome}/history",
    "cards/{rome}/relations",
    "cards/{taipei}/latest",
    "cards/{jwt}",
    "cards/{walk}",
    "cards/aggregate?group_by=kind,concept_key",
    "arbitrations",
    "arbitrations/{milan}",
)
NAMES = ("rome", "milan", "taipei", "lisbon", "walk", "jwt", "token", "tea", "connected", "tainan", "coffee")


def origin(number: int, **more: object) -> CardOrigin:
    turn = f"t{number}"
    span = SourceSpan(turn_id=turn, start=3, end=9, text='"quoted" 羽')
    fields: dict[str, object] = {
        "project_id": "default",
        "session_id": f"s{number // 30}",
        "turn_ids": (turn,),
    }
    fields |= {"said_at": day(number), "source_span": span if number % 2 else None}
    return CardOrigin(**(fields | {"provenance": "user_stated"} | more))  # type: ignore[arg-type]


def state(key: str, value: str, number: int, **more: object) -> StateAsserted:
    fields: dict[str, object] = {
        "content": f"{key} is {value}",
        "entity": "user",
        "concept_key": key,
        "tags": ("home",),
    }
    fields |= {
        "value": value,
        "cardinality": "single_value",
        "effective_at": day(number),
        "origin": origin(number),
    }
    return StateAsserted(**(fields | more))  # type: ignore[arg-type]


HISTORY: dict[str, tuple[Payload, int]] = {
    "taipei": (state("residence", "Taipei", 1), 1),
    "rome": (state("residence", "Rome", 2, announced=True, origin=origin(2, speaker="Ana", mode="code")), 2),
    "lisbon": (state("likes", "Lisbon", 5, cardinality="multi_value", content="likes the city of Lisbon best"), 5),
    "walk": (
        EventNoted(
            content="Rex was walked in the park", entity="Rex", tags=("pets",), topics=("dogs",), episode=True,
            sentiment="positive", confidence=0.4, weight=1.5, importance=8, occurred_at=day(7), occurred_until=day(8),
            origin=origin(7, context_layer="personal", agent_id="coder", document_id="paper.pdf"),
        ),
        7,
    ),
    "jwt": (
        KnowledgeLearned(
            content="JWT is a signed token", title="JSON Web Token (JWT)", definition="a signed token", tags=(),
            aliases=("jwt",), origin=origin(9), related_titles=("Token",),
        ),
        9,
    ),
    "token": (
        KnowledgeLearned(
            content="A token stands for a session", title="Token", definition="stands for a session", tags=("web",),
            origin=origin(11), aliases=(),
        ),
        11,
    ),
    "tea": (state("drink", "tea", 13, entity="Mei", origin=origin(13, project_id="novel"), confidence=0.75), 13),
    "milan": (state("residence", "Milan", 90), 90),
    "connected": (
        CardsConnected(from_card=UUID(int=1), to_card=UUID(int=4), predicate="contradicts", reason="one is best"),
        91,
    ),
}  # fmt: skip
# Above the checkpoint of the tables: a recall shows these as pending.
UNFOLDED: dict[str, tuple[Payload, int]] = {
    "tainan": (state("hometown", "Tainan", 93, content="grew up in Tainan, and lives there no more"), 93),
    "coffee": (
        EventNoted(content="I drank tea in Lisbon", entity="user", tags=(), occurred_at=day(94), origin=origin(94)),
        94,
    ),
}  # fmt: skip


def append(connection: Connection, history: dict[str, tuple[Payload, int]]) -> None:
    for name, (payload, number) in history.items():
        new = NewEvent(
            event_id=UUID(int=NAMES.index(name) + 1), user_id="alex", stream="s", payload=payload,
            occurred_at=day(number), actor="test",
        )  # fmt: skip
        log.append(connection, [new])


@pytest.fixture
def client(database: str, connection: Connection) -> Iterator[TestClient]:
    append(connection, HISTORY)
    fold_live(database)
    append(connection, UNFOLDED)
    # The weight of the semantic channel depends on its model, and a machine may have none of the built ones.
    settings = replace(Settings(), database_url=database, fault_semantic="down", **PATIENT)
    with TestClient(create_app(settings)) as opened:
        yield opened


def test_the_json_of_every_answer_is_as_recorded(client: TestClient) -> None:
    texts = []
    for request in RECALLS:
        body = {"user_id": "alex", "as_of": AS_OF, **request}
        texts.append(client.post("/v1/recall", json=body).text)
        texts.append(
            client.post(
                "/v1/context", json={name: value for name, value in body.items() if name != "explain"}
            ).text
        )
    ids = {name: str(UUID(int=NAMES.index(name) + 1)) for name in NAMES}
    for path in PAGES:
        asked = path.format(as_of=AS_OF.replace("+", "%2B"), **ids)
        texts.append(client.get(f"/v1/{asked}{'&' if '?' in asked else '?'}user_id=alex").text)
    found = "".join(FIXED.sub("_", CHANGING.sub(r"\1_", text)) + "\n" for text in texts)
    if os.environ.get("CARDLOG_TEST_RECORD"):
        RECORDED.write_text(found, "utf-8")
    assert found == RECORDED.read_text("utf-8")
