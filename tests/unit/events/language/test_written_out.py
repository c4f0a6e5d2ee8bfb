"""Casual English is read as books write it, and every span leads back to what was said."""

from hypothesis import given
from hypothesis import strategies as st

from events.language.casual import written_out
from tests.support.ingest.rules import cards, events, facts
from tests.support.tables import examples

_CASUAL = "i im ill were going sat u w/ my sis brothers name is leeds in It's don’t , . \n 我"
WORDS = st.sampled_from(_CASUAL.split(" "))


@examples
def test_only_forms_with_one_reading_are_written_out(said: str, written: str) -> None:
    assert written_out(said).text == written


@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_every_span_leads_back_to_what_was_said(said: str) -> None:
    written = written_out(said)
    assert written.original(0, len(written.text)) == (0, len(said))
    for begin in range(len(written.text)):
        first, last = written.original(begin, begin + 1)
        assert 0 <= first <= last <= len(said)
        if said[first:last] == written.text[begin]:
            continue
        # A changed word counts as a whole.
        assert said[first:last].strip() == said[first:last] != ""


@examples
def test_facts_of_casual_turns_are_read_and_their_sources_are_the_words_said(
    said: str, fact: tuple[str, str, str]
) -> None:
    assert fact in facts(said)
    for card in cards(said):
        span = card.origin.source_span
        assert span is not None
        assert said[span.start : span.end] == span.text


def test_a_plan_of_a_casual_turn_lies_ahead() -> None:
    # Said on a Friday.
    [plan] = events("sunday im flying to rome")
    assert (plan.status, plan.occurred_at.date().isoformat()) == ("planned", "2026-05-10")
