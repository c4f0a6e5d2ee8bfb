"""Modes that users declare: their cards, vectors and names, and what a recall makes of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.cards import StateAsserted
from events.types.modes import CardReclassified, Decay
from ingest import modes as mode_commands
from ingest.decider import Command
from ingest.modes import UserModes
from projectors.embedding.embedders import dimension_of, embedders_of
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import NOW, ORIGIN, apart, event, fold_live, rebuild
from tests.support.retrieval.channels import noted
from tests.support.waiting import ALONE

AT = datetime(2026, 5, 1, tzinfo=UTC)


@dataclass
class Memory:
    """The memory of alex: three harbours in three modes with three models."""

    settings: Settings
    connection: Connection
    client: TestClient
    ids: dict[str, UUID]

    def declare(self, name: str, project_id: str | None = None, **given: Any) -> None:
        mode_commands.declare(
            self.modes,
            project_id,
            name,
            given,
            lambda model: dimension_of(self.settings, model),
        )

    @property
    def modes(self) -> UserModes:
        return UserModes(self.connection, Command(owner="alex", actor="test", at=AT))

    def say(self, text: str, mode: str | None, **more: Any) -> UUID:
        said = noted(text, mode=mode)
        new = apart(replace(said, origin=replace(said.origin, **more)))
        log.append(self.connection, [new])
        self.ids[text] = new.event_id
        return new.event_id

    def fold(self) -> None:
        fold_live(self.settings.database_url)
        fold_live(self.settings.database_url, VectorsProjector(embedders_of(self.settings)))

    def ask(self, **more: Any) -> dict[str, Any]:
        body = {"user_id": "alex", "query": "harbour", "as_of": NOW.isoformat(), "project_id": "*", **more}
        answer = self.client.post("/v1/recall", json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def found(self, **more: Any) -> list[str]:
        return [card["content"] for card in self.ask(**more)["cards"]]

    def by_meaning(self, **more: Any) -> set[str]:
        return {card["content"] for card in self.ask(**more)["cards"] if "semantic" in card["channels"]}

    def models(self) -> dict[str, str]:
        query = " UNION ALL ".join(
            f"SELECT card_id, model FROM vectors.card_vectors_{dimension}" for dimension in (384, 768, 1024)
        )
        by_id = dict(self.connection.execute(query.encode()).fetchall())
        return {text: by_id[card] for text, card in self.ids.items() if card in by_id}


PLAIN, CODE, DIARY = (
    "The harbour was closed",
    "The harbour class closes a socket",
    "The harbour looked sad to me",
)


@pytest.fixture
def memory(database: str, connection: Connection) -> Iterator[Memory]:
    settings = replace(Settings(), database_url=database, **ALONE)
    with TestClient(create_app(settings)) as client:
        made = Memory(settings, connection, client, {})
        made.declare("code", embedder="hash-768", default_decay="slow")
        made.declare("journal", embedder="hash-1024")
        for text, mode in ((PLAIN, None), (CODE, "code"), (DIARY, "journal")):
            made.say(text, mode)
        made.fold()
        yield made


def test_each_mode_has_its_model_and_is_asked_in_its_own_space(memory: Memory) -> None:
    assert memory.models() == {PLAIN: "hash", CODE: "hash-768", DIARY: "hash-1024"}
    for mode, text in (("general", PLAIN), ("code", CODE), ("journal", DIARY)):
        assert memory.found(mode=mode) == [text]
        assert memory.by_meaning(mode=mode) == {text}
        assert memory.ask(mode=mode)["warnings"] == []
    assert memory.by_meaning() == {PLAIN, CODE, DIARY}
    for several, texts in ((["code", "journal"], {CODE, DIARY}), ("all", {PLAIN, CODE, DIARY})):
        answer = memory.ask(modes=several)
        assert memory.by_meaning(modes=several) == texts == {card["content"] for card in answer["cards"]}
        [warning] = answer["warnings"]
        assert "joined by rank" in warning
    for asked in ({"mode": "kode"}, {"modes": ["kode"]}):
        answer = memory.ask(**asked)
        [warning] = answer["warnings"]
        assert answer["cards"] == []
        assert "the mode kode is not declared" in warning
        assert "declared are general" in warning
    both = memory.client.post(
        "/v1/recall", json={"user_id": "alex", "query": "x", "mode": "a", "modes": ["b"]}
    )
    assert (both.status_code, both.json()["field"]) == (422, "modes")


def test_a_renamed_mode_keeps_its_cards_and_a_deleted_one_gives_them_to_general(memory: Memory) -> None:
    mode_commands.rename(memory.modes, None, "code", "programming")
    for name in ("programming", "code"):
        [card] = memory.ask(mode=name)["cards"]
        assert (card["content"], card["mode"]) == (CODE, "programming")
        assert memory.by_meaning(mode=name) == {CODE}
    mode_commands.delete(memory.modes, None, "programming")
    for name in ("general", "programming", "code"):
        assert set(memory.found(mode=name)) == memory.by_meaning(mode=name) == {PLAIN, CODE}
    memory.declare("programming")
    assert memory.found(mode="programming") == [CODE]


def test_a_reclassified_card_has_the_mode_and_the_vector_of_the_mode(memory: Memory) -> None:
    [(position,)] = memory.connection.execute(
        "SELECT position FROM log.events WHERE event_id = %s", [memory.ids[PLAIN]]
    ).fetchall()
    card = memory.ids[PLAIN]
    moved = CardReclassified(card_id=card, kind="event", positions=(position,), mode="journal", by="alex")
    log.append(memory.connection, [event(moved)])
    memory.fold()
    assert memory.models()[PLAIN] == "hash-1024"
    assert set(memory.found(mode="journal")) == memory.by_meaning(mode="journal") == {PLAIN, DIARY}
    assert memory.found(mode="general") == []
    elsewhere = replace(moved, card_id=memory.ids[CODE])
    log.append(memory.connection, [event(elsewhere)])  # names the position of another card
    memory.fold()
    assert CODE not in memory.models()
    rebuild(memory.settings.database_url, VectorsProjector(embedders_of(memory.settings)))
    assert memory.models()[PLAIN] == "hash-1024"


def test_a_later_model_is_for_later_cards_and_a_rebuild_agrees(memory: Memory) -> None:
    memory.declare("code", embedder="hash-1024")
    later = "The harbour module has a bug"
    memory.say(later, "code")
    memory.fold()
    expected = {PLAIN: "hash", CODE: "hash-768", DIARY: "hash-1024", later: "hash-1024"}
    assert memory.models() == expected
    assert memory.by_meaning(mode="code") == {CODE, later}
    rebuild(memory.settings.database_url, VectorsProjector(embedders_of(memory.settings)))
    assert memory.models() == expected
    assert memory.by_meaning(mode="code") == {CODE, later}


def test_a_project_has_modes_of_its_own(memory: Memory) -> None:
    memory.declare("code", "shop", embedder="hash-1024")
    shop = "The harbour of the shop closes a socket"
    memory.say(shop, "code", project_id="shop")
    memory.fold()
    assert memory.models()[shop] == "hash-1024"
    assert memory.by_meaning(mode="code") == {CODE, shop}
    mode_commands.delete(memory.modes, "shop", "code")
    assert memory.by_meaning(mode="code") == {CODE, shop}, "the user's own mode of that name is left"
    mode_commands.delete(memory.modes, None, "code")
    assert memory.by_meaning(mode="general") == {PLAIN, CODE, shop}


def test_without_a_mode_the_sessions_recent_mode_comes_first(memory: Memory) -> None:
    told = {
        "code": "A lighthouse stood in the light at noon",
        "journal": "A lighthouse stood in the rain at dusk",
    }
    for mode, text in told.items():
        memory.say(text, mode, session_id=f"session of {mode}")
    memory.fold()
    for mode, text in told.items():
        question = {"query": "lighthouse", "session_id": f"session of {mode}"}
        assert memory.found(**question)[0] == text


def test_a_mode_decides_how_fast_its_cards_decay(memory: Memory) -> None:
    said_at = NOW - timedelta(days=60)
    decays: tuple[Decay, ...] = ("fast", "medium", "slow", "none")
    for decay in decays:
        memory.declare(decay, default_decay=decay)
        origin = replace(ORIGIN, mode=decay, said_at=said_at, session_id=decay)
        skill = StateAsserted(
            content="I can sail a dinghy", entity="user", concept_key="skill", value="sailing", tags=(), origin=origin,
            cardinality="multi_value", effective_at=said_at,
        )  # fmt: skip
        log.append(memory.connection, [apart(skill)])
    memory.fold()
    scores, lost = [], []
    for decay in decays:
        answer = memory.ask(query="who can sail a dinghy?", mode=decay, kinds=["state"], explain=True)
        [card] = answer["cards"]
        [explained] = answer["explain"]["cards"]
        scores.append(card["score"])
        lost.append(explained["contributions"].get("decayed", 0.0))
    assert lost == sorted(lost)
    assert len({*lost}) == len(decays)
    assert lost[-1] == 0
    assert scores == sorted(scores)


def test_a_changed_default_leaves_the_models_that_users_name(memory: Memory) -> None:
    memory.settings = replace(memory.settings, embed_model="hash-768")
    memory.declare("plain", embedder="hash-768")
    plain, other = "The harbour has plain walls", "The harbour has other walls"
    memory.say(plain, "plain")
    memory.say(other, None)
    memory.fold()
    assert memory.models()[plain] == "hash-768", "the user's mode names its model"
    assert memory.models()[other] == "hash", "the default stays until the cards are embedded again"
    with TestClient(create_app(memory.settings)) as client:
        memory.client = client
        assert memory.by_meaning(mode="plain") == {plain}
        assert memory.by_meaning(mode="general") == {PLAIN, other}
        assert memory.by_meaning() == {PLAIN, CODE, DIARY, plain, other}
