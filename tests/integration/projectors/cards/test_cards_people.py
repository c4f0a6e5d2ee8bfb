"""Chains of the people of a memory, and cards whose mode somebody gave."""

import random
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from events.people.judgement import person_id
from events.platform.database import Connection
from events.store import log
from events.types.cards import StateAsserted
from events.types.envelope import NewEvent
from events.types.extraction import CardsWithdrawn
from events.types.modes import CardReclassified
from events.types.people import PersonAliased, PersonNoted, PersonsDistinct, PersonsMerged, PersonsSplit
from projectors.cards.projector import CardsProjector
from projectors.generations.digest import digest_of
from tests.support.databases import Place
from tests.support.projectors.folding import NOW, ORIGIN, event, fold_live, moved, noted, rebuild

USER = "alex"
_days = count(0, 31)  # no third change within 30 days, which would wait for a verdict
SAID = {
    "robin|": "Robin",
    "robin|sister": "My sister Robin",
    "robin|elder_sister": "My elder sister Robin",
    "robin|work": "Robin from work",
    "robina castellanos|": "Robina Castellanos",
}


def ident(handle: str) -> UUID:
    return person_id(USER, handle)


def lives(handle: str, city: str, **more: Any) -> NewEvent:
    """The words of ``handle`` say that the person lives in ``city``, a month after the last such words."""
    at = NOW + timedelta(days=next(_days))
    entity = "Robin" if handle.startswith("robin|") else "Robina Castellanos"
    usual: dict[str, Any] = {
        "content": f"{SAID[handle]} lives in {city}", "entity": entity, "concept_key": "residence",
        "value": city, "cardinality": "single_value", "tags": (), "effective_at": at, "announced": True,
    }  # fmt: skip
    return event(StateAsserted(**usual | more, origin=replace(ORIGIN, said_at=at)), USER)


def merged(one: str, other: str) -> NewEvent:
    return event(PersonsMerged(person_id=ident(one), into_id=ident(other), origin=ORIGIN), USER)


def split(one: str, other: str) -> NewEvent:
    return event(PersonsSplit(person_id=ident(one), from_id=ident(other), origin=ORIGIN), USER)


def distinct(one: str, other: str) -> NewEvent:
    return event(PersonsDistinct(person_id=ident(one), other_id=ident(other), origin=ORIGIN), USER)


def tell(database: Place, connection: Connection, *events: NewEvent) -> set[str]:
    """Returns where people live after ``events``."""
    log.append(connection, list(events))
    fold_live(database)
    rows = connection.execute(
        "SELECT value FROM cards.cards WHERE superseded_at IS NULL AND concept_key = 'residence'"
    )
    return {value for (value,) in rows}


def test_a_second_tie_parts_the_chains_and_a_withdrawal_joins_them(connection: Connection) -> None:
    assert tell(connection, connection, lives("robin|", "Rome"), lives("robin|sister", "Milan")) == {"Milan"}
    told = noted("Robin from work told me that the museum is closed.", USER)
    # The episode alone says that there are two: the name alone is nobody of them.
    assert tell(connection, connection, told) == {"Rome", "Milan"}
    assert tell(connection, connection, lives("robin|work", "Porto")) == {"Rome", "Milan", "Porto"}
    assert tell(connection, connection, lives("robin|work", "Faro")) == {"Rome", "Milan", "Faro"}
    places = dict(connection.execute("SELECT event_id, position FROM log.events").fetchall())
    last = [each for each, at in places.items() if at >= places[told.event_id]]
    gone = CardsWithdrawn(
        event_ids=tuple(last), positions=tuple(places[each] for each in last), reason="read again"
    )
    assert tell(connection, connection, event(gone, USER)) == {"Milan"}


def test_a_sister_is_the_elder_sister(connection: Connection) -> None:
    told = (lives("robin|sister", "Milan"), lives("robin|work", "Porto"))
    assert tell(connection, connection, *told) == {"Milan", "Porto"}
    assert tell(connection, connection, lives("robin|elder_sister", "Rome")) == {"Rome", "Porto"}


def test_chains_follow_a_merge_and_a_split(connection: Connection) -> None:
    pair = ("robin|work", "robina castellanos|")
    two = [lives("robin|sister", "Milan"), lives("robin|work", "Porto"), lives("robina castellanos|", "Faro")]
    assert tell(connection, connection, *two) == {"Milan", "Porto", "Faro"}
    assert tell(connection, connection, merged(*pair)) == {"Milan", "Faro"}
    assert tell(connection, connection, lives("robin|work", "Lagos")) == {"Milan", "Lagos"}
    assert tell(connection, connection, split(*pair)) == {"Milan", "Lagos", "Faro"}
    assert tell(connection, connection, merged(*pair)) == {"Milan", "Lagos"}
    assert tell(connection, connection, distinct(*pair)) == {"Milan", "Lagos", "Faro"}
    assert tell(connection, connection, merged(*pair)) == {"Milan", "Lagos", "Faro"}
    # The two of one name are one person, so the name alone is that person again.
    assert tell(connection, connection, merged("robin|sister", "robin|work"), lives("robin|", "Bern")) == {
        "Bern",
        "Faro",
    }


def _story(chosen: random.Random) -> list[NewEvent]:
    handles = list(SAID)
    told: list[NewEvent] = []
    for _ in range(40):
        one, other = chosen.sample(handles, 2)
        make = chosen.choice(
            (lives, lives, lives, merged, split, distinct, "noted", "aliased", "episode", "tags")
        )
        if make is lives:
            told.append(lives(one, chosen.choice(("Rome", "Milan", "Porto"))))
        elif make == "tags":
            values = {
                "cardinality": "multi_value",
                "concept_key": "hobby",
                "value": chosen.choice(("chess", "golf")),
            }
            told.append(lives(one, "Rome", statement=chosen.choice(("asserted", "ended")), **values))
        elif make == "noted":
            told.append(
                event(
                    PersonNoted(name="Robin", kinship=chosen.choice(("sister", "coach")), origin=ORIGIN), USER
                )
            )
        elif make == "aliased":
            told.append(
                event(PersonAliased(person_id=ident(one), alias="Robina Castellanos", origin=ORIGIN), USER)
            )
        elif make == "episode":
            told.append(noted(f"{SAID[one]} called.", USER))
        else:
            told.append(make(one, other))  # type: ignore[operator]
    return told


@pytest.mark.parametrize("seed", range(6))
def test_chains_are_those_of_a_rebuild_whatever_was_told(connection: Connection, seed: int) -> None:
    chosen = random.Random(seed)
    told = _story(chosen)
    while told:
        size = chosen.randint(1, 7)
        batch, told = told[:size], told[size:]
        log.append(connection, batch)
        fold_live(connection)
        if chosen.random() < 0.3:
            taken = chosen.choice(batch)
            [(position,)] = connection.execute(
                "SELECT position FROM log.events WHERE event_id = %s", [taken.event_id]
            ).fetchall()
            gone = CardsWithdrawn(event_ids=(taken.event_id,), positions=(position,), reason="read again")
            told.append(event(gone, USER))
    fold_live(connection)
    live = digest_of(connection, CardsProjector(), "cards")
    assert live["ties"].rows + live["person_events"].rows > 0
    rebuild(connection)
    assert digest_of(connection, CardsProjector(), "cards") == live


def reclassified(card: NewEvent, kind: str, mode: str) -> NewEvent:
    payload = CardReclassified(card_id=card.event_id, kind=kind, positions=(1,), mode=mode, by="ann")  # type: ignore[arg-type]
    return event(payload)


def modes(connection: Connection) -> set[tuple[str, str | None, bool]]:
    """The cards with their modes. True: the card is true now."""
    return set(connection.execute("SELECT content, mode, superseded_at IS NULL FROM cards.cards").fetchall())


def test_cards_keep_the_mode_that_somebody_gave_them(connection: Connection) -> None:
    lisbon, porto, walk = moved("Lisbon", 3), moved("Porto", 5), noted("Ada walked")
    log.append(connection, [lisbon, walk])
    fold_live(connection)
    log.append(connection, [reclassified(lisbon, "state", "journal"), reclassified(walk, "event", "code")])
    fold_live(connection)
    assert modes(connection) == {("I live in Lisbon", "journal", True), ("Ada walked", "code", True)}
    again = replace(moved("Lisbon", 4), dedupe_key="again")
    log.append(connection, [porto, again, reclassified(walk, "event", "journal")])
    fold_live(connection, batch=1)
    live = modes(connection)
    assert live == {
        ("I live in Lisbon", "journal", True),
        ("I live in Lisbon", None, False),
        ("I live in Porto", None, True),
        ("Ada walked", "journal", True),
    }
    assert rebuild(connection, verify=True).equal
    assert modes(connection) == live
