"""Cards that a user already has, as a session batch carries them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from events.types.cards import CardOrigin, EventNoted, SourceSpan, StateAsserted
from events.types.envelope import NewEvent, Payload
from ingest.extraction.known_cards import KnownCards, KnownEvent, fold_known, known_card
from tests.support.projectors.folding import event

NOW = datetime(2026, 5, 8, 9, 0, tzinfo=UTC)


def origin(said_at: datetime, words: str = "", *, project: str = "default", zone: str = "UTC") -> CardOrigin:
    return CardOrigin(
        project_id=project, session_id="s", turn_ids=("t",), said_at=said_at, provenance="user_stated",
        source_span=SourceSpan(turn_id="t", start=0, end=len(words), text=words), time_zone=zone,
    )  # fmt: skip


def event_with(payload: Payload, number: int | None = None) -> NewEvent:
    """Returns an event of ana's. ``number`` makes its id."""
    made = uuid4() if number is None else UUID(int=number)
    return event(payload, "ana", event_id=made, stream="extraction/default/s", occurred_at=NOW)


def stated(key: str, value: str, number: int | None = None, **more: Any) -> NewEvent:
    """Returns a state. ``days`` is when it was said, in days from :data:`NOW`."""
    said_at = NOW + timedelta(days=more.pop("days", -1))
    project = more.pop("project", "default")
    given: dict[str, Any] = {
        "content": f"{key} {value}", "entity": "user", "concept_key": key, "value": value,
        "cardinality": "single_value", "tags": (), "origin": origin(said_at, project=project),
        "effective_at": said_at,
    }  # fmt: skip
    return event_with(StateAsserted(**(given | more)), number)


def planned(content: str, number: int | None = None, **more: Any) -> NewEvent:
    """Returns an event, planned unless told otherwise. ``on`` is its day in May 2026, ``days`` when it was said."""
    said_at = NOW + timedelta(days=more.pop("days", -1))
    on = more.pop("on", None)
    start = None if on is None else datetime(2026, 5, on, tzinfo=UTC)
    given: dict[str, Any] = {
        "content": content, "entity": "user", "tags": (), "status": "planned", "time_resolved": start is not None,
        "origin": origin(said_at, content, project=more.pop("project", "default"), zone=more.pop("zone", "UTC")),
        "occurred_at": start or said_at, "occurred_until": None if start is None else start + timedelta(days=1),
    }  # fmt: skip
    return event_with(EventNoted(**(given | more)), number)


def known_of(*events: NewEvent, at: datetime = NOW, project: str = "default") -> KnownCards:
    """Returns what these events make known."""
    return fold_known([card for each in events if (card := known_card(each))], project, at)


def candidates(*events: NewEvent) -> Sequence[KnownEvent]:
    return [card for each in events if isinstance(card := known_card(each), KnownEvent)]
