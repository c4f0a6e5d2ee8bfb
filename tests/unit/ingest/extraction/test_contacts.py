"""What a contact says never becomes a state of the user, whatever an extractor makes of it."""

from datetime import UTC, datetime

import pytest

from events.types.cards import SourceSpan, StateAsserted, origin_of
from events.types.turn_contract import TurnInvalidError, parse_turn
from events.types.turns import TurnRecorded
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import Extraction, RecordedTurn, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from tests.support.tables import examples

NOW = datetime(2026, 5, 8, 16, tzinfo=UTC)


def turn(text: str, **fields: str) -> TurnRecorded:
    return parse_turn({"user_id": "ada", "text": text, **fields}, entry_time=NOW, entry_id="1-0")[1]


def states(said: TurnRecorded, extraction: Extraction | None = None) -> list[tuple[str, str]]:
    batch = SessionBatch((RecordedTurn("ada", 1, said),))
    rules = RulesExtractor()
    events = events_of(batch, extraction or rules.extract(batch), rules)
    return [
        (each.payload.entity, each.payload.value)
        for each in events
        if isinstance(each.payload, StateAsserted)
    ]


def test_a_contact_speaks_for_themselves_and_for_their_own() -> None:
    said = turn(
        "I live in Porto. My wife works at Acme. You live in Rome.", contact="Nora", direction="incoming"
    )
    assert states(said) == [("Nora", "Porto"), ("Nora's wife", "Acme")]
    own = turn("I live in Porto. My wife works at Acme.", contact="Nora", direction="outgoing")
    assert states(own) == [("user", "Porto"), ("wife", "Acme")]


@examples
def test_a_state_of_the_user_is_refused_from_every_extractor(entity: str, kept: str | None) -> None:
    said = turn("words", contact="Nora", direction="incoming")
    state = StateAsserted(
        content="words", entity=entity, concept_key="residence", value="Rome", cardinality="single_value", tags=(),
        origin=origin_of(said, SourceSpan(turn_id=said.turn_id, start=0, end=5, text="words")), effective_at=NOW,
    )  # fmt: skip
    assert states(said, Extraction((state,))) == ([] if kept is None else [(kept, "Rome")])


def test_the_words_of_a_contact_open_no_problem() -> None:
    batch = SessionBatch((RecordedTurn("ada", 1, turn("I've been struggling with insomnia.")),))
    assert RulesExtractor().extract(batch).problems
    theirs = turn("I've been struggling with insomnia.", contact="Nora", speaker="user", direction="incoming")
    assert not RulesExtractor().extract(SessionBatch((RecordedTurn("ada", 1, theirs),))).problems


def test_a_direction_needs_its_contact_and_is_one_of_two() -> None:
    assert turn("Hi", contact="Nora", direction="incoming").speaker == "Nora"
    assert turn("Hi", contact="Nora", direction="outgoing").speaker is None
    assert turn("Hi", contact="Club", speaker="Nora", direction="incoming").speaker == "Nora"
    for fields, field in (({"direction": "incoming"}, "contact"), ({"direction": "in"}, "direction")):
        with pytest.raises(TurnInvalidError) as refused:
            turn("Hi", **fields)
        assert refused.value.field == field
