"""Earlier turns are needed where a turn begins with a pronoun, an ellipsis or a very short answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction.earlier_turns import MOST_TURNS, leans_back, needed_turns
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.claude import said


@pytest.mark.parametrize(
    "text",
    [
        "It is lovely there, I must say.",
        "She told me about it yesterday.",
        "Tuesday.",
        "Two of them.",
        "Yes, two of them, and one is ginger.",
        "That sounds great, I'd love to come along with you!",
        "Because the rent went up again this year.",
        "I tried this last summer and hated every minute.",
        "Their boat sank near the old harbour on Sunday.",
        "他上週換工作了，薪水比較高",
        "她住在花蓮，很少回來",
        "兩個",
        "對啊，我們去年就訂好了機票",
        "对啊，我们去年就订好了机票",
        "那間餐廳真的很好吃，下次再一起去",
        "那件事後來就沒有下文了，真可惜",
        "因為太貴了所以我們沒有去成",
        "リスボンに引っ越しました",
        "Я переехал в Лиссабон",
    ],
)
def test_a_turn_that_leans_back(text: str) -> None:
    assert leans_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Lisbon last week with my two cats.",
        "My sister moved to Oslo and she loves it there.",
        "We went to the beach on Saturday and had ice cream.",
        "I think that we should go to Rome together in the spring.",
        "There is a new bakery near my office in Ghent.",
        "It's raining in Bergen since Monday morning.",
        "Last weekend I went hiking with Nora and it rained.",
        "This month I finally finished my thesis.",
        "Guess what? I got the job at the museum!",
        "這個月我搬到台南了，房租便宜很多",
        "我妹妹生了，她現在在家休息",
        "昨天我在公園撿到一隻小貓，帶去看獸醫了",
        "吉他課改到星期四晚上了，老師比較有空",
        "我每天早上七點起床然後去跑步三公里",
        "其他同事都去日本玩了，只有我留下來",
        "",
        "   ",
    ],
)
def test_a_turn_that_stands_alone(text: str) -> None:
    assert not leans_back(text)


EARLIER = tuple(said(f"I told you of my cat number {number}.", number) for number in range(6))


def test_only_the_nearest_turns_are_given_and_only_where_they_are_needed() -> None:
    alone = said("I moved to Lisbon last week with my two cats.", 7)
    leaning = said("She sleeps all day on the warm sofa.", 7)
    assert needed_turns(SessionBatch((alone, leaning), EARLIER)) == ()
    assert needed_turns(SessionBatch((leaning, alone), EARLIER)) == EARLIER[-MOST_TURNS:]
    assert needed_turns(SessionBatch((leaning,))) == ()


def test_the_second_turn_counts_when_the_first_says_nothing() -> None:
    leaning = said("She sleeps all day on the warm sofa.", 8)
    assert needed_turns(SessionBatch((said("haha", 7), leaning), EARLIER)) == EARLIER[-MOST_TURNS:]


@given(st.text(max_size=500))
def test_no_text_makes_it_raise(text: str) -> None:
    assert leans_back(text) in (True, False)
