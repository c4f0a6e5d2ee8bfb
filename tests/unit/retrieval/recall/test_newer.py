"""What was said later stands above what was said earlier about the same thing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retrieval.recall.ranking.changes import amounts
from tests.support.cards import NOW
from tests.unit.retrieval.recall.test_places import episode, order, state

EARLIER, LATER = NOW - timedelta(days=30), NOW - timedelta(days=3)


def told(question: str, earlier: str, later: str) -> list[int]:
    return order(question, episode(1, earlier, said_at=EARLIER), episode(2, later, said_at=LATER))


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("What time is my haircut?", "My haircut is at 2pm", "The salon bumped my haircut to 4:30"),
        ("When is the bake sale?", "The bake sale is on May 3", "They pushed the bake sale back to May 10"),
        ("Where is my bike?", "I locked my bike at the library", "I moved my bike to the station"),
        ("How much is my gym membership?", "The gym is 30 a month", "The gym went up to 42 a month"),
        (
            "How often do I water the fern?",
            "I water the fern once a week",
            "The fern gets water twice a week",
        ),
        ("What is the boat called?", "The boat is called Molly", "We renamed the boat Sirocco"),
        ("What is the parking fee now?", "The parking fee is 5 dollars", "The parking fee rose to 7 dollars"),
        ("What do I drink in the evening?", "I drink tea in the evening", "I drink water in the evening now"),
        ("我的眼科幾點？", "我的眼科約在上午十點", "診所說眼科挪到下午四點"),
        ("書展是哪天？", "書展在三月二號", "書展順延到三月九號"),
        ("腳踏車停哪？", "腳踏車停在圖書館", "我把腳踏車移到車站了"),
        ("游泳課現在一期多少？", "游泳課一期三千", "游泳課漲價到三千六"),
        ("我的植物一天澆幾次水？", "植物一天澆一次水", "植物一天要澆兩次水"),
        ("小狗叫什麼？", "小狗叫可可", "我把小狗改名叫奶茶了"),
    ],
)
def test_a_change_stands_above_what_it_changed(question: str, earlier: str, later: str) -> None:
    assert told(question, earlier, later) == [2, 1]


@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        ("When is the bake sale?", "The bake sale is on May 3", "The bake sale flyer changed to yellow"),
        ("How much is my gym membership?", "The gym membership is 30 a month", "The gym has new lockers"),
        ("What is my parrot called?", "My parrot is called Kiwi", "I switched my parrot to new seeds"),
        ("What is the boat budget?", "The boat budget is 9k", "The boat captain is now Ines"),
        ("書展是哪天？", "書展在三月二號", "書展的海報改成黃色"),
        ("游泳課一期多少？", "游泳課一期三千", "游泳課換了新教練"),
        ("我的鸚鵡叫什麼？", "我的鸚鵡叫奇異果", "我的鸚鵡換了新飼料"),
    ],
)
def test_a_change_of_something_else_passes_nothing(question: str, earlier: str, later: str) -> None:
    assert told(question, earlier, later) == [1, 2]


@pytest.mark.parametrize(
    "question",
    ["What time was my haircut originally?", "我的剪髮原本是幾點？", "When was my haircut in May?"],
)
def test_a_question_about_before_keeps_the_order(question: str) -> None:
    assert told(
        question, "My haircut 剪髮 is at 2pm 下午兩點", "My haircut 剪髮 was moved to 4pm 改到四點"
    ) == [1, 2]


def test_a_state_in_force_passes_an_earlier_episode_about_the_same() -> None:
    earlier = episode(1, "My swimming coach is Ken", said_at=EARLIER)
    later = state(2, "The swimming coach is Ada", "swimming_coach", said_at=LATER)
    assert order("Who is my swimming coach?", earlier, later) == [2, 1]
    replaced = state(2, "The swimming coach is Ada", "swimming_coach", said_at=LATER, superseded_at=NOW)
    assert order("Who is my swimming coach?", earlier, replaced) == [1, 2]


def test_the_amount_of_chinese_numerals_is_exact() -> None:
    assert amounts("一百二十三萬四千五百六十七元") == amounts("1234567元")


@pytest.mark.parametrize("numerals", ["九" * 590, "二" + "万" * 590, "9" * 590, "二千" * 290])
def test_a_text_of_numerals_alone_harms_no_question(numerals: str) -> None:
    told(f"{numerals}在哪？", f"會議室{numerals}在三樓", f"會議室{numerals}改到四樓")
    told("會議室在哪？", "會議室在三樓", f"會議室{numerals}改到四樓")
