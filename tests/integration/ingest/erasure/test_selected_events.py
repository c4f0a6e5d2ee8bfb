"""Every event that names an erased card goes with the card, whatever its field is called."""

from dataclasses import fields, replace
from typing import get_type_hints
from uuid import UUID

from events.platform.database import Connection
from events.store import log
from events.types.codec import decode
from ingest.erasure.selection import of_turn, of_turns
from tests.support.events.turns import recorded, turn
from tests.support.projectors.folding import ORIGIN, event, noted
from tests.unit.events.types.test_upcasting import golden

STAYS = {
    "person_id", "into_id", "other_id", "from_id",  # a person, whose id is made of a name
    "run_id", "webhook_id", "erasure_id",  # no card
    "thread_id", "reference_id", "insight_id", "InsightRetracted.sources",  # goes or is said again with its own cards
    "event_ids", "replaces", "replaces_event",  # what an event took back or replaced; its own turns tell its words
}  # fmt: skip
"""The fields that name something an event does not rest on."""


def test_an_event_that_names_an_erased_card_goes_with_it(connection: Connection) -> None:
    card = noted("I oiled the gate")
    [turn_id] = ORIGIN.turn_ids
    named = []
    for line in golden():
        payload = decode(line["type"], line["schema_version"], line["data"])
        for each in fields(payload):
            hint = get_type_hints(type(payload))[each.name]
            if hint == tuple[UUID, ...] or UUID in (hint, *getattr(hint, "__args__", ())):
                ids = (card.event_id,) if hint == tuple[UUID, ...] else card.event_id
                named.append((line["type"], each.name, event(replace(payload, **{each.name: ids}))))
    log.append(
        connection,
        [turn("alex", recorded("I oiled the gate", turn_id=turn_id)), card, *(each for _, _, each in named)],
    )
    found = of_turns(connection, "alex", of_turn(turn_id))
    taken = {each.event_id for each in found.events}
    stayed = {(name, field) for name, field, each in named if each.event_id not in taken}
    assert {field if field != "sources" else f"{name}.{field}" for name, field in stayed} == STAYS
