"""Turns for the rules extractor, and the cards that it finds in them."""

from datetime import datetime
from zoneinfo import ZoneInfo

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.turns import Role
from ingest.extraction.extractor_port import CardEvent, RecordedTurn, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from tests.support.events.turns import recorded

# A Friday.
SAID_AT = datetime(2026, 5, 8, 16, 44, 10, tzinfo=ZoneInfo("Asia/Taipei"))


EXTRACTOR = RulesExtractor()


def turn(text: str, number: int = 0, *, role: Role = "user", speaker: str | None = None) -> RecordedTurn:
    return RecordedTurn(
        "u1",
        number + 1,
        recorded(
            text, turn_id=f"t{number}", role=role, said_at=SAID_AT, timezone="Asia/Taipei", speaker=speaker
        ),
    )


def cards(
    *texts: str, role: Role = "user", speaker: str | None = None, preceding: tuple[str, ...] = ()
) -> list[CardEvent]:
    before = tuple(turn(text, number, speaker=speaker) for number, text in enumerate(preceding))
    said = tuple(
        turn(text, number, role=role, speaker=speaker) for number, text in enumerate(texts, len(before))
    )
    return list(EXTRACTOR.extract(SessionBatch(said, before)).cards)


def states(*texts: str, speaker: str | None = None, preceding: tuple[str, ...] = ()) -> list[StateAsserted]:
    return [
        one for one in cards(*texts, speaker=speaker, preceding=preceding) if isinstance(one, StateAsserted)
    ]


def events(*texts: str, speaker: str | None = None) -> list[EventNoted]:
    return [one for one in cards(*texts, speaker=speaker) if isinstance(one, EventNoted) and not one.episode]


def episodes(*texts: str, role: Role = "user", speaker: str | None = None) -> list[EventNoted]:
    return [
        one
        for one in cards(*texts, role=role, speaker=speaker)
        if isinstance(one, EventNoted) and one.episode
    ]


def knowledge(*texts: str, role: Role = "user") -> list[KnowledgeLearned]:
    return [one for one in cards(*texts, role=role) if isinstance(one, KnowledgeLearned)]


def facts(*texts: str) -> set[tuple[str, str, str]]:
    """(entity, concept key, value) of every asserted state."""
    return {(one.entity, one.concept_key, one.value) for one in states(*texts) if one.statement == "asserted"}


def ended(*texts: str) -> set[tuple[str, str, str]]:
    return {(one.entity, one.concept_key, one.value) for one in states(*texts) if one.statement == "ended"}
