"""A card is kept when the words of the speaker bear it out. A spoken quote alone is not enough."""

from datetime import UTC, datetime

import pytest

from ingest.extraction.claude.cards import ground_cards
from ingest.extraction.claude.schema import answer_of
from ingest.extraction.extractor_port import Extraction, RecordedTurn, SessionBatch
from tests.support.events.turns import recorded
from tests.support.tables import rows

Pair = list[str]
HONEST, DISHONEST = rows(__file__, "honest.txt"), rows(__file__, "dishonest.txt")

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


def turns(text: str) -> tuple[RecordedTurn, ...]:
    return tuple(
        RecordedTurn(
            "ana",
            number,
            recorded(words, turn_id=f"t{number}"),
        )
        for number, words in enumerate(text.split("|"), 1)
    )  # fmt: skip


def judged(pair: Pair) -> Extraction:
    text, quote, value, content = pair
    spoken = turns(text)
    found: dict[str, object] = {
        "turn": 1, "quote": quote or spoken[-1].turn.text, "content": content, "entity": "user"
    }  # fmt: skip
    if not value:
        answer = answer_of({"events": [found | {"importance": 5}]})
    else:
        state = {
            "concept_key": "some_fact",
            "value": value,
            "cardinality": "multi_value",
            "statement": "asserted",
        }
        answer = answer_of({"states": [found | state]})
    assert not answer.faults
    return ground_cards(answer, SessionBatch(spoken[-1:], spoken[:-1]))


def test_there_are_enough_pairs_of_both() -> None:
    assert min(len(HONEST), len(DISHONEST)) >= 60


@pytest.mark.parametrize("pair", HONEST, ids=lambda pair: f"{pair[0]} => {pair[3]}")
def test_an_honest_card_is_kept_in_its_own_words(pair: Pair) -> None:
    found = judged(pair)
    assert found.refused == 0
    [card] = [card for card in found.cards if not getattr(card, "episode", False)]
    assert card.content == pair[3] or card.content in pair[0]


@pytest.mark.parametrize("pair", DISHONEST, ids=lambda pair: f"{pair[0]} => {pair[3]}")
def test_a_dishonest_card_is_refused_and_counted(pair: Pair) -> None:
    found = judged(pair)
    assert found.refused == 1
    assert [card for card in found.cards if not getattr(card, "episode", False)] == []
