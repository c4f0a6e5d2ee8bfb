"""Each family of facts in both languages: what the reader finds, and the traps in which it finds nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from events.types.cards import StateAsserted
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from tests.support.events.turns import recorded
from tests.support.ingest.rules import EXTRACTOR, cards, ended, events, facts, knowledge, states
from tests.support.tables import rows, texts


@pytest.mark.parametrize(("text", "fact"), rows(__file__, "facts.txt"))
def test_a_fact_is_found(text: str, fact: str) -> None:
    assert fact in {" ".join(found) for found in facts(text)}


@pytest.mark.parametrize("text", texts(__file__, "no_facts.txt"))
def test_nothing_is_read_when_in_doubt(text: str) -> None:
    assert [(one.concept_key, one.value) for one in states(text)] == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I no longer work at Kestrel Labs.", ("user", "employer", "Kestrel Labs")),
        ("I no longer work as a teacher, the hours were too long.", ("user", "occupation", "teacher")),
        ("I'm no longer a nurse.", ("user", "occupation", "nurse")),
        ("I gave up on keto.", ("user", "diet", "keto")),
        ("I moved from Graz to Aarhus.", ("user", "residence", "Graz")),
        ("我已經不吃素了。", ("user", "diet", "吃素")),
        ("我從研華科技離職了。", ("user", "employer", "研華科技")),
    ],
)
def test_the_end_of_a_fact_is_found(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in ended(text)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I've lived in Graz since 2019.", "2019-01-01", None),
        ("Since 2019 I live in Graz.", "2019-01-01", None),
        ("From next month I live in Graz.", "2026-06-01", None),
        ("I live in Graz from 1 January 2027.", "2027-01-01", None),
        ("Next year I live in Graz.", "2027-01-01", None),
        ("我從2019年就住在屏東。", "2019-01-01", None),
        ("下個月起我住在屏東。", "2026-06-01", None),
        ("I work at Kestrel Labs until June.", "2026-05-08", "2026-07-01"),
        ("I live in Graz, and my sister visits next month.", "2026-05-08", None),
        ("I have a dog who sees the vet tomorrow.", "2026-05-08", None),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "announced"),
    [
        ("My new boss is Ann.", True),
        ("我的新主管是志明。", True),
        ("我現在住高雄。", True),
        ("I live in Graz.", False),
        ("I live in Graz, and the rent went up.", False),
    ],
)
def test_words_of_change_in_its_clause_announce_a_value(text: str, announced: bool) -> None:
    assert states(text)[0].announced is announced


@pytest.mark.parametrize(
    ("texts", "value", "replaces"),
    [
        (("I live in Graz.", "Sorry, I meant Aarhus."), "Aarhus", "Graz"),
        (("I live in Graz.", "Oops. It's Aarhus."), "Aarhus", "Graz"),
        (("My rent is $1,450.", "Correction: my rent is $1,540."), "$1,540", "$1,450"),
        (("我住在屏東。", "打錯了，是台東。"), "台東", "屏東"),
        (("I live in Graz.", "Sorry, I meant St. Pölten, not Graz."), "St. Pölten", "Graz"),
        (("My rent is $1,450.", "Sorry, I meant $1,540."), "$1,540", "$1,450"),
        (("My locker number is 14.", "Sorry, I meant 41."), "41", "14"),
        (("I live in Graz, sorry, I meant Aarhus.",), "Aarhus", "Graz"),
        (("I moved to Graz, no wait, to Aarhus.",), "Aarhus", "Graz"),
        (("我住在屏東，不對，是台東。",), "台東", "屏東"),
    ],
)
def test_a_correction_replaces_the_value_told_before(
    texts: tuple[str, ...], value: str, replaces: str
) -> None:
    last = states(*texts)[-1]
    assert (last.statement, last.value, last.replaces) == ("corrected", value, replaces)


@pytest.mark.parametrize(
    ("texts", "state", "event"),
    [
        (
            ("I moved to Porto on May 1.", "Sorry, I meant April 1."),
            ("Porto", "04-01"),
            ("corrected", "04-01"),
        ),
        (("我5月1日搬到高雄了。", "打錯了，是4月1日。"), ("高雄", "04-01"), ("corrected", "04-01")),
        (
            ("I moved to Porto on May 1.", "I'm flying to Rome on June 3.", "Sorry, I meant June 4."),
            ("Porto", "05-01"),
            ("planned", "06-04"),
        ),
    ],
)
def test_a_corrected_time_is_that_of_what_was_told_last(
    texts: tuple[str, ...], state: tuple[str, str], event: tuple[str, str]
) -> None:
    last = states(*texts)[-1]
    assert (last.value, f"{last.effective_at:%m-%d}") == state
    assert last.replaces == (last.value if state[1] == event[1] else None)
    changed = events(*texts)[-1]
    assert (changed.status, f"{changed.occurred_at:%m-%d}") == event
    assert changed.replaces == texts[-2]


@pytest.mark.parametrize(
    "text", ["Hang on, make that the later train.", "Sorry, I meant to call you.", "不對，我再想想。"]
)
def test_a_correction_without_a_right_value_gives_nothing(text: str) -> None:
    assert [one.value for one in states("I live in Graz.", text) if one.statement == "corrected"] == []


@pytest.mark.parametrize(
    ("text", "status", "day", "replaces"),
    [
        ("I'm flying to Turku next Friday.", "planned", "2026-05-15", None),
        ("I have a dentist appointment on Tuesday at 3pm.", "planned", "2026-05-12", None),
        ("下週六要去龜山島。", "planned", "2026-05-16", None),
        ("We went to the zoo yesterday.", "happened", "2026-05-07", None),
        ("昨天我和阿哲去看了展覽。", "happened", "2026-05-07", None),
        ("The Turku trip is off.", "cancelled", "2026-05-08", "Turku trip"),
        ("Dinner with Ivo moved to Friday.", "planned", "2026-05-15", "Dinner with Ivo"),
        ("讀書會取消了。", "cancelled", "2026-05-08", "讀書會"),
        ("吉他課改到星期四了。", "planned", "2026-05-14", "吉他課"),
        ("The exam moved from Monday to Thursday at 4pm.", "planned", "2026-05-14", "exam"),
    ],
)
def test_a_plan_has_its_day(text: str, status: str, day: str, replaces: str | None) -> None:
    (found,) = events(text)
    assert (found.status, str(found.occurred_at.date()), found.replaces) == (status, day, replaces)


@pytest.mark.parametrize(
    ("plan", "correction", "day"),
    [
        ("I'm flying to Turku on May 14.", "Sorry, I meant May 15.", "2026-05-15"),
        ("我訂了6月3日的高鐵票。", "說錯了,是6月13日。", "2026-06-13"),
    ],
)
def test_a_corrected_day_is_the_day_of_the_plan_told_before(plan: str, correction: str, day: str) -> None:
    _, mended = events(plan, correction)
    assert (mended.status, str(mended.occurred_at.date()), mended.replaces) == ("planned", day, plan)


@pytest.mark.parametrize("text", ["說錯了,是6月13日。", "No wait, it's the 4th.", "我有一隻貓，今年三歲。"])
def test_a_right_day_of_nothing_and_an_age_are_no_event(text: str) -> None:
    assert events(text) == []


def test_a_corrected_day_of_a_fact_replaces_the_day_told_before() -> None:
    *_, mended = states("My flight is on September 3.", "Sorry, I meant September 4.")
    assert (mended.statement, mended.value, str(mended.value_at)[:10]) == (
        "corrected",
        "September 4",
        "2026-09-04",
    )
    assert len(states("My flight is on September 3.", "No wait, it's the 4th.")) == 1


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I don't drink coffee anymore, doctor's orders.", ["coffee"]),
        ("I don't eat pork, beef and lamb.", ["pork", "beef", "lamb"]),
    ],
)
def test_an_aside_and_an_adverb_are_no_member_of_a_list(text: str, values: list[str]) -> None:
    assert [one.value for one in states(text)] == values


@pytest.mark.parametrize("text", ["The concert today was far too loud.", "Paid the dentist this morning."])
def test_the_name_of_an_occasion_on_a_day_that_has_begun_is_no_plan(text: str) -> None:
    assert all(event.status != "planned" for event in events(text))


@pytest.mark.parametrize(
    "text",
    [
        "Maybe I'll swim tomorrow.",
        "我在考慮搬家，但還沒決定。",
        "也許明天去爬山。",
        "I didn't run yesterday.",
        "Shall we meet on Friday?",
    ],
)
def test_an_unsure_day_is_no_event(text: str) -> None:
    assert events(text) == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I live in Graz.", "Lives in Graz"),
        ("I work as an usher.", "Works as an usher"),
        ("I'm vegan.", "Follows a vegan diet"),
        ("my sister lives in Split", "My sister lives in Split"),
        ("I have a dog.", "Has a dog"),
        ("My manager is Odalys.", "Has a manager named Odalys"),
        ("The standup is at 9:45.", "The standup is at 9:45"),
        ("Our rent is $1,450 a month.", "The rent is $1,450 a month"),
        ("我爸是電工。", "爸爸的職業是電工"),
        ("我兒子八歲。", "兒子八歲"),
        ("我從屏東搬到台東了。", "住在台東"),
    ],
)
def test_a_card_is_a_sentence_in_its_language_and_script(text: str, content: str) -> None:
    assert content in [card.content for card in cards(text)]


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
