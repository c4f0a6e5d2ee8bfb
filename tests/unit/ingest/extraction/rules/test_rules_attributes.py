"""Any attribute gets a concept key of its own, and the words of a change put the new value above the old one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice

import pytest

from events.types.cards import StateAsserted
from events.types.envelope import Event
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from tests.support.ingest.rules import EXTRACTOR, SAID_AT, events, states, turn
from tests.support.projectors.statements import event
from tests.support.projectors.tables import tables_of

# Seven topics: the noun, how its value is stated, and values. Every word is made up for this test.
ENGLISH = {
    "wifi password": ("is {}", ["bluebird7", "redfox9", "plum42", "kestrel88"]),
    "team meeting": ("is in {}", ["room 4B", "room 7C", "the Oak room", "room 12"]),
    "kitchen budget": ("is {}", ["$5,000", "$4,200", "6,100 euros", "$7,350"]),
    "parking spot": ("is {}", ["A17", "C04", "B22", "D9"]),
    "pottery class": ("is in {}", ["the Linden studio", "the Birch hall", "room 3", "the Maple studio"]),
    "train fare": ("is {}", ["12 euros", "15 euros", "18 euros", "21 euros"]),
    "grant deadline": ("is {}", ["June 3", "June 15", "July 2", "August 9"]),
}
ENGLISH_CHANGES = [
    "We changed the {n} to {v}.",
    "They moved the {n} to {v}.",
    "The {n} has been changed to {v}.",
    "The {n} is now {v}.",
    "Our {n} was switched from {o} to {v}.",
]
CHINESE = {
    "wifi密碼": ("是{}", ["bluebird7", "redfox9", "plum42", "kestrel88"]),
    "讀書會": ("在{}", ["星巴克", "圖書館", "活動中心", "誠品書店"]),
    "裝潢預算": ("是{}", ["五十萬", "六十萬", "四十五萬", "八十萬"]),
    "停車位": ("是{}", ["A17", "C04", "B22", "D9"]),
    "瑜伽課": ("在{}", ["三樓教室", "大禮堂", "五樓", "地下室"]),
    "停車費": ("是{}", ["三百塊", "五百塊", "六百塊", "八百塊"]),
    "報告截止日": ("是{}", ["六月三號", "六月十五號", "七月二號", "八月九號"]),
}
CHINESE_CHANGES = [
    "{n}改成{v}了",
    "{n}改到{v}了",
    "我們的{n}換成{v}了",
    "{n}已經改為{v}了",
    "{n}從{o}改成{v}了",
]


def pairs(
    topics: dict[str, tuple[str, list[str]]], changes: list[str], stated: str
) -> Iterator[tuple[str, str, str, str]]:
    """Two turns, the old value, the new value: every topic, every way to say a change, every ordered pair of values."""
    for shift in range(1, 4):
        for first in range(4):
            for noun, (link, values) in topics.items():
                for change in changes:
                    old, new = values[first], values[(first + shift) % 4]
                    prep = "in " if "is in" in link and " is now " in change else ""
                    yield (
                        stated.format(n=noun, link=link.format(old)),
                        change.format(n=noun, v=f"{prep}{new}", o=old),
                        old,
                        new,
                    )


ENGLISH_PAIRS = list(islice(pairs(ENGLISH, ENGLISH_CHANGES, "The {n} {link}."), 0, 420, 2))[:200]
CHINESE_PAIRS = list(islice(pairs(CHINESE, CHINESE_CHANGES, "{n}{link}"), 0, 420, 2))[:200]


def told(*days: tuple[str, int]) -> list[Event]:
    """The states of turns in sessions of their own, each said so many days after the first."""
    found: list[Event] = []
    for text, day in days:
        one = turn(text, day)
        said = replace(one.turn, said_at=SAID_AT + timedelta(days=day), session_id=f"s{day}")
        batch = SessionBatch((RecordedTurn(one.user_id, day + 1, said),))
        found += [
            event(card, day) for card in EXTRACTOR.extract(batch).cards if isinstance(card, StateAsserted)
        ]
    return found


def current(*days: tuple[str, int]) -> set[str]:
    """The values of the state cards that hold at the end."""
    rows = tables_of(told(*days)).cards.values()
    return {str(row.value) for row in rows if row.superseded_at is None}


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_of_two_hundred_pairs_the_newer_value_alone_holds(language: str) -> None:
    made = ENGLISH_PAIRS if language == "english" else CHINESE_PAIRS
    assert len(made) == 200
    wrong = [(said, changed) for said, changed, _, new in made if current((said, 0), (changed, 9)) != {new}]
    assert len(wrong) <= 20, wrong[:20]


def test_different_attributes_never_supersede_each_other() -> None:
    for topics, stated in ((ENGLISH, "The {n} {link}."), (CHINESE, "{n}{link}")):
        said = [
            (stated.format(n=noun, link=link.format(values[0])), day)
            for day, (noun, (link, values)) in enumerate(topics.items())
        ]
        assert all(row.superseded_at is None for row in tables_of(told(*said)).cards.values())
        assert len(tables_of(told(*said)).cards) == len(topics)


SAME = [
    ("The team meeting is in room 4B.", "They moved it to 7C.", "7C"),
    ("The spare key is under the mat.", "We moved it to the shed.", "the shed"),
    ("My locker number is 112.", "It's now 208.", "208"),
    ("讀書會在星巴克", "換到圖書館了", "圖書館"),
    ("读书会在星巴克", "换到图书馆了", "图书馆"),
]


@pytest.mark.parametrize(("said", "changed", "value"), SAME)
def test_a_pronoun_stands_for_the_last_attribute(said: str, changed: str, value: str) -> None:
    for found in (states(said, changed), states(said, changed, preceding=("Hello there.",))):
        first, second = found
        assert (second.entity, second.concept_key) == (first.entity, first.concept_key)
        assert (second.value, second.announced) == (value, True)
    assert states(changed) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The ticket price is 30 euros.", "The price of the tickets is 40 euros."),
        ("The kitchen budget is $5,000.", "The budget for the kitchen is $4,000."),
        ("讀書會的地點是圖書館", "读书会改到星巴克了"),
        ("我們的裝潢預算是五十萬", "裝潢的預算調高到六十萬了"),
    ],
)
def test_the_same_thing_in_other_words_has_one_key(first: str, second: str) -> None:
    (one,), (other,) = states(first), states(second)
    assert (one.entity, one.concept_key) == (other.entity, other.concept_key)


def test_a_place_and_a_time_of_one_thing_are_two_facts() -> None:
    place, time = states("The book club is in the library. The book club is at 7:30 pm.")
    assert place.concept_key != time.concept_key


def test_what_was_at_first_does_not_hold() -> None:
    (found,) = states("讀書會原本在星巴克，後來改到圖書館")
    assert (found.value, found.announced) == ("圖書館", True)
    assert states("The team meeting was originally in room 4B.") == []


def test_a_value_that_is_a_time_carries_its_instant() -> None:
    (found,) = states("The grant deadline is June 15.")
    assert (found.value, found.value_hint, found.value_grain) == ("June 15", "June 15", "day")
    assert found.value_at is not None
    assert found.value_at.date().isoformat() == "2026-06-15"
    assert found.effective_until is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 42.",
        "The problem is the database.",
        "The capital of France is Paris.",
        "The main reason is John.",
        "The movie is 3 hours long",
        "The meeting is great.",
        "The project is on hold.",
        "My head is spinning.",
        "My day was great.",
        "My car is in the garage.",
        "I changed my mind.",
        "I moved the sofa to the window.",
        "I set the table for dinner.",
        "If the budget is $500, fine.",
        "Is the meeting in room 4B?",
        "The budget might be $500.",
        "我在家",
        "我的重點是這個",
        "今天的天氣是晴天",
        "社會是複雜的",
        "我換了衣服",
        "他改變了我",
        "價格是個問題",
        "我的課很有趣",
        "會議可能改到三樓",
        "如果會議改到三樓就好了",
    ],
)
def test_what_is_no_attribute_makes_no_state(text: str) -> None:
    assert states(text) == []
    assert events(text) == []


def test_a_favourite_is_named_in_chinese() -> None:
    assert [each.content for each in states("我最喜歡的餐廳是山海樓")] == ["最喜歡的餐廳是山海樓"]
