"""Hard turns with recorded answers: of a good model, and of a careless one that obeys, invents and misses fields."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from events.platform.settings import Settings
from events.types.cards import EventNoted, StateAsserted
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.extractor_port import CardEvent, Extraction, SessionBatch
from tests.support.ingest.claude import said
from tests.support.ingest.messages_api import MessagesApi, calls

READINGS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[4] / "support" / "ingest" / "readings.json").read_text("utf-8")
)
NAMES = [f"{reading['kind']}: {reading['turns'][0]['text'][:30]}" for reading in READINGS]


@pytest.fixture(scope="module")
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as server:
        yield server


@pytest.fixture(scope="module")
def claude(api: MessagesApi) -> Iterator[ClaudeExtractor]:
    extractor = ClaudeExtractor(Settings(anthropic_base_url=api.url))
    yield extractor
    extractor.close()


def grounded(api: MessagesApi, claude: ClaudeExtractor, reading: dict[str, Any], answer: str) -> Extraction:
    api.trouble = lambda _: calls(reading[answer])
    return claude.extract(
        SessionBatch(tuple(said(number=number, **turn) for number, turn in enumerate(reading["turns"], 1)))
    )


def local(instant: datetime, zone: str | None) -> datetime:
    assert zone is not None
    return instant.astimezone(ZoneInfo(zone))


def told(card: CardEvent) -> str:
    """One line: what the card says, and when on the speaker's clock."""
    if isinstance(card, StateAsserted):
        line = f"state {card.entity}.{card.concept_key}={card.value}"
        if card.statement != "asserted":
            line += f" {card.statement}"
        if card.statement == "corrected":
            line += f" {card.replaces or '-'}"
        if card.time_resolved:
            line += f" @{local(card.effective_at, card.origin.time_zone):%Y-%m-%d}"
        if card.value_at is not None:
            line += f" is {local(card.value_at, card.origin.time_zone):%Y-%m-%d}"
        assert card.effective_until is None or card.value_at is None
        return line
    assert isinstance(card, EventNoted)
    at = local(card.occurred_at, card.origin.time_zone)
    day = f"{at:%Y-%m-%d}" if (at.hour, at.minute) == (0, 0) else f"{at:%Y-%m-%dT%H:%M}"
    line = f"event {card.status} {day if card.time_resolved else '-'} {card.entity}: {card.content}"
    if card.participants:
        line += f" [{', '.join(card.participants)}]"
    return line + (f" ({card.replaces})" if card.replaces else "")


def lines(found: Extraction) -> list[str]:
    return sorted(told(card) for card in found.cards if not (isinstance(card, EventNoted) and card.episode))


def test_every_kind_is_there_in_english_and_in_chinese() -> None:
    kinds = {"en": set[str](), "zh": set[str]()}
    for reading in READINGS:
        text = reading["turns"][0]["text"]
        chinese = any("\u4e00" <= character <= "\u9fff" for character in text)
        kinds["zh" if chinese else "en"].add(reading["kind"])
    assert kinds["en"] == kinds["zh"]
    assert len(kinds["en"]) >= 12


@pytest.mark.parametrize("reading", READINGS, ids=NAMES)
def test_a_good_answer_becomes_the_cards_of_the_turns(
    api: MessagesApi, claude: ClaudeExtractor, reading: dict[str, Any]
) -> None:
    found = grounded(api, claude, reading, "good")
    assert lines(found) == sorted(reading["cards"])
    assert found.refused == 0


@pytest.mark.parametrize("reading", READINGS, ids=NAMES)
def test_of_a_careless_answer_the_borne_out_part_is_kept_and_the_rest_counted(
    api: MessagesApi, claude: ClaudeExtractor, reading: dict[str, Any]
) -> None:
    found = grounded(api, claude, reading, "careless")
    assert lines(found) == sorted(reading["left"])
    assert found.refused == reading["refused"]
