"""Each family of facts in both languages: what the reader finds, and the traps in which it finds nothing."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from events.types.cards import StateAsserted
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from tests.support.events.turns import recorded
from tests.support.ingest.rules import EXTRACTOR, cards, ended, events, facts, knowledge, states
from tests.support.tables import examples, rows, texts


@pytest.mark.parametrize(("text", "fact"), rows(__file__, "facts.txt"))
def test_a_fact_is_found(text: str, fact: str) -> None:
    assert fact in {" ".join(found) for found in facts(text)}


@pytest.mark.parametrize("text", texts(__file__, "no_facts.txt"))
def test_nothing_is_read_when_in_doubt(text: str) -> None:
    assert [(one.concept_key, one.value) for one in states(text)] == []


@examples
def test_the_end_of_a_fact_is_found(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in ended(text)


@examples
def test_a_time_beside_a_fact_limits_it(text: str, since: str, until: str | None) -> None:
    [state] = states(text)
    assert f"{state.effective_at:%Y-%m-%d}" == since
    assert (state.effective_until and f"{state.effective_until:%Y-%m-%d}") == until


@pytest.mark.parametrize("zone", ["Asia/Taipei", "America/Sao_Paulo", "Asia/Beirut", "America/New_York"])
def test_today_begins_its_day_although_the_clocks_change(zone: str) -> None:
    year = 1961 if zone == "Asia/Taipei" else 2017
    noons = [datetime(year, 1, 1, 12, tzinfo=ZoneInfo(zone)) + timedelta(days=day) for day in range(365)]
    changing = [
        noon
        for noon, before, after in zip(noons[1:-1], noons, noons[2:], strict=False)
        if len({noon.utcoffset(), before.utcoffset(), after.utcoffset()}) > 1
    ]
    assert len(changing) == 4  # the days before and after the two changes
    for noon in changing:
        turn = recorded("我今天搬到高雄了。", said_at=noon, timezone=zone)
        answer = EXTRACTOR.extract(SessionBatch((RecordedTurn("u1", 1, turn),)))
        [state] = [card for card in answer.cards if isinstance(card, StateAsserted)]
        first = noon.replace(hour=0)
        # A clock that skips midnight begins the day at one o'clock.
        assert state.effective_at.timestamp() == first.timestamp()


@examples
def test_words_of_change_in_its_clause_announce_a_value(text: str, announced: bool) -> None:
    assert states(text)[0].announced is announced


@examples
def test_a_correction_replaces_the_value_told_before(
    texts: tuple[str, ...], value: str, replaces: str
) -> None:
    last = states(*texts)[-1]
    assert (last.statement, last.value, last.replaces) == ("corrected", value, replaces)


@pytest.mark.parametrize(
    "text", ["Hang on, make that the later train.", "Sorry, I meant to call you.", "不對，我再想想。"]
)
def test_a_correction_without_a_right_value_gives_nothing(text: str) -> None:
    assert [one.value for one in states("I live in Graz.", text) if one.statement == "corrected"] == []


@examples
def test_a_plan_has_its_day(text: str, status: str, day: str, replaces: str | None) -> None:
    (found,) = events(text)
    assert (found.status, str(found.occurred_at.date()), found.replaces) == (status, day, replaces)


@pytest.mark.parametrize("text", ["No wait, it's the 4th.", "我有一隻貓，今年三歲。"])
def test_a_right_day_of_nothing_and_an_age_are_no_event(text: str) -> None:
    assert events(text) == []


@examples
def test_an_aside_and_an_adverb_are_no_member_of_a_list(text: str, values: list[str]) -> None:
    assert [one.value for one in states(text)] == values


@pytest.mark.parametrize("text", ["The concert today was far too loud.", "Paid the dentist this morning."])
def test_the_name_of_an_occasion_on_a_day_that_has_begun_is_no_plan(text: str) -> None:
    assert all(event.status != "planned" for event in events(text))


@examples
def test_an_unsure_day_is_no_event(text: str) -> None:
    assert events(text) == []


@examples
def test_a_card_is_a_sentence_in_its_language_and_script(text: str, content: str) -> None:
    assert content in [card.content for card in cards(text)]


def test_a_card_of_a_simplified_turn_is_in_simplified_script() -> None:
    said = recorded("我最喜欢的歌手是孙燕姿", timezone="Asia/Shanghai")
    (fact,) = (
        card
        for card in EXTRACTOR.extract(SessionBatch((RecordedTurn("u1", 1, said),))).cards
        if isinstance(card, StateAsserted)
    )
    assert fact.content == "最喜欢的歌手是孙燕姿"


def test_a_definition_is_knowledge() -> None:
    (found,) = knowledge("CRDT stands for conflict-free replicated data type.")
    assert (found.title, found.definition) == ("CRDT", "conflict-free replicated data type")


def test_a_verb_of_a_third_person_is_not_the_users() -> None:
    assert [one.concept_key for one in states("My boss is Ann and lives in Split.")] == ["manager"]
    assert "Lena residence Oslo" in {
        " ".join(found) for found in facts("My sister Lena has a son named Tom and lives in Oslo.")
    }


def test_the_speaker_of_a_turn_is_the_subject() -> None:
    assert [(one.entity, one.content) for one in states("I live in Graz.", speaker="Ivo")] == [
        ("Ivo", "Ivo lives in Graz")
    ]
