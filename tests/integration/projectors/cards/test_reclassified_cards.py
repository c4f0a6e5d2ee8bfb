"""A reclassified card keeps its mode whatever is said later, and a rebuild gives the same rows."""

from dataclasses import replace

from events.platform.database import Connection
from events.store import log
from events.types.envelope import NewEvent
from events.types.modes import CardReclassified
from tests.support.projectors.folding import event, fold_live, moved, noted, rebuild


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
