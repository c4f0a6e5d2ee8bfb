"""A reclassified card keeps its mode when its statements are folded again, and a rebuild gives the same rows."""

from __future__ import annotations

from dataclasses import replace

from events.platform.database import Connection
from events.store import log
from events.types.envelope import NewEvent
from events.types.modes import CardReclassified
from tests.support.projectors.folding import event, fold_live, moved, noted, rebuild


def reclassified(card: NewEvent, kind: str, mode: str) -> NewEvent:
    payload = CardReclassified(card_id=card.event_id, kind=kind, positions=(1,), mode=mode, by="ann")  # type: ignore[arg-type]
    return event(payload)


def modes(connection: Connection) -> dict[str, str | None]:
    rows = connection.execute("SELECT content, mode FROM cards.cards ORDER BY content").fetchall()
    return dict(rows)


def test_cards_keep_the_mode_that_somebody_gave_them(database: str, connection: Connection) -> None:
    lisbon, porto, walk = moved("Lisbon", 3), moved("Porto", 5), noted("Ada walked")
    log.append(connection, [lisbon, walk])
    fold_live(database)
    log.append(connection, [reclassified(lisbon, "state", "journal"), reclassified(walk, "event", "code")])
    fold_live(database)
    assert modes(connection) == {"I live in Lisbon": "journal", "Ada walked": "code"}
    again = replace(moved("Lisbon", 4), dedupe_key="again")
    log.append(connection, [porto, again, reclassified(walk, "event", "journal")])
    fold_live(database, batch=1)
    live = modes(connection)
    assert live["Ada walked"] == live["I live in Lisbon"] == "journal"
    assert live["I live in Porto"] is None
    assert rebuild(database, verify=True).equal
    assert modes(connection) == live
