"""Every table takes the largest cards that may be appended. Larger cards are not appended."""

import random
from dataclasses import replace
from typing import Any

import pytest

from events.platform.database import Connection
from events.store import log
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.codec import PayloadError
from events.types.envelope import NewEvent
from events.types.extraction import TurnsExtracted
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import Extraction, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from tests.support.events.payloads import EVENT, KNOWLEDGE, STATE
from tests.support.ingest.claude import said
from tests.support.projectors.folding import event, fold_live

_CHANCE = random.Random(7)


def name(size: int) -> str:
    """A name that no compression shortens."""
    return "".join(_CHANCE.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=size))


def longest(*, aliases: int = 64) -> list[NewEvent]:
    origin = replace(STATE.origin, project_id=name(512), session_id=name(512), turn_ids=(name(512),))
    state = replace(STATE, origin=origin, entity=name(512), concept_key=name(128), value=name(768))
    cards: list[Any] = [
        state,
        replace(state, cardinality="multi_value", replaces=name(768), statement="updated"),
        replace(state, cardinality="multi_value", tags=tuple(name(512) for _ in range(64))),
        replace(EVENT, origin=origin, entity=name(512), content=name(65_536), episode=True),
        replace(KNOWLEDGE, origin=origin, title=name(512), aliases=tuple(name(512) for _ in range(aliases))),
    ]
    return [event(card, user=name(512)) for card in cards]


def test_the_largest_cards_that_may_be_appended_are_taken_by_every_table(connection: Connection) -> None:
    log.append(connection, [*longest(), event(STATE, user="ana")])
    fold_live(connection)
    counts = connection.execute(
        "SELECT kind, count(*) FROM cards.cards GROUP BY kind ORDER BY kind"
    ).fetchall()
    assert dict(counts) == {"event": 1, "knowledge": 1, "state": 4}
    assert connection.execute("SELECT count(*) FROM log.parked").fetchone() == (0,)


@pytest.mark.parametrize(
    "card",
    [
        replace(STATE, concept_key="k" * 20_000),
        replace(KNOWLEDGE, aliases=("a",) * 1_000_000),
        replace(EVENT, importance=99_999),
    ],
)
def test_a_card_no_table_takes_is_not_appended(
    connection: Connection, card: StateAsserted | EventNoted | KnowledgeLearned
) -> None:
    with pytest.raises(PayloadError):
        log.append(connection, [event(card)])
    assert sum(log.heads(connection).values()) == 0


def test_whatever_an_extractor_makes_of_a_turn_the_cards_that_fit_are_kept_and_the_others_counted() -> None:
    cards = (
        STATE,
        replace(STATE, concept_key="k" * 20_000),
        KNOWLEDGE,
        replace(KNOWLEDGE, title="t" * 9_999),
    )
    burst = SessionBatch((said("I moved to Lisbon."),))
    leader, *caused = events_of(burst, Extraction(cards, refused=1), RulesExtractor())
    assert isinstance(leader.payload, TurnsExtracted)
    assert (leader.payload.cards, leader.payload.refused) == (2, 3)
    assert [each.payload for each in caused] == [STATE, KNOWLEDGE]
