"""Small talk makes no episode, and pasted data makes one of least importance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.cards import PASTED
from ingest.extraction.episodes.judging import read
from ingest.extraction.episodes.small_talk import is_small_talk
from tests.support.ingest.rules import episodes

SMALL_TALK = [
    "ok",
    "See you later!",
    "Bye Tom, take care!",
    "Thanks so much, Nora!",
    "Haha yes!!",
    "No worries, talk soon 😊",
    "You got this!! Never give up, I believe in you",
    "I'm so proud of you!",
    "Wow, that's amazing, Lena!",
    "Really? Tell me more!",
    "Same here",
    "Me too!",
    "I totally agree with you",
    "Can't wait to hear more about it",
    "It really means a lot to me.",
    "That sounds like fun!",
    "I appreciate your support",
    "Good luck, you'll do great!",
    "How are you doing today?",
    "I gotta go now. Catch you later!",
    "Good night, sleep well",
    "我懂",
    "好的，謝謝你！",
    "加油！你一定可以的",
    "哈哈哈 真的假的",
    "改天再聊，早點休息喔",
    "辛苦了，保重",
    "謝謝你的支持",
    "太棒了吧！",
    "原來如此，了解",
    "晚安，做個好夢",
    "嗯嗯 我也是",
    "恭喜恭喜！",
    "听起来不错",
    "是吗？然后呢？",
    "路上小心，拜拜",
    "不客气😊",
    "回头见",
    "替你高兴",
]
CONTENT = [
    "ok, Tuesday then",
    "Sounds good, Monday",
    "Paris",
    "Yes, Paris",
    "I work hard",
    "I'm tired",
    "I love my new job, thanks!",
    "Thanks! I got the job",
    "I keep bees",
    "My dream is to sing",
    "We moved",
    "I'm a nurse",
    "No, Anna",
    "You're my best friend",
    "good night, I'm off to Rome tomorrow",
    "I'm 34",
    "我很累",
    "我要結婚了",
    "謝謝，我拿到錄取通知了",
    "好，那就星期五",
    "我喜歡貓",
    "早上好，我在台北",
    "不吃辣",
    "我搬家了",
    "加油站在哪",
    "他走了",
    "我懷孕了",
    "明天見老闆",
    "我也是老師",
    "你好香",
    "早餐吃麵",
    "對海鮮過敏",
    "真的很痛",
    "好痛",
    "我不行",
    "I can't swim",
    "I hope to retire early",
    "He died",
    "She's pregnant",
    "Let's meet at noon",
    "blue",
    "7",
    "Tom",
    "We broke up",
    "I quit",
    "I'm in",
    "It was in Rome",
    "I do yoga",
    "not yet",
    "Thanks, the surgery went well",
    "I know Japanese",
    "I believe in God",
    "tell Sam hi",
]
DATA = [
    '{"lives_in": "Zurich", "age": 3}',
    '{\n  "lives_in": "Zurich",\n  "pets": ["cat"]\n}',
    "def f(x):\n    return x + 1\n",
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    main()\nValueError: bad',
    "name: Tom\nlives_in: Zurich\njob: nurse",
    "<user><name>Tom</name></user>",
    "2026-01-01 10:00:00 INFO started\n2026-01-01 10:00:02 INFO stopped",
    "SELECT *\nFROM users\nWHERE id = 3;",
    "const a = 1;\nlet b = 2;",
]
SAID = [
    "I live in Lisbon.",
    "Plan:\n- milk\n- bread",
    "My list: eggs, milk",
    "I moved.\nI have two cats.\nMy job: nurse",
    "### Notes\nI like tea\n### More\nWe met",
    "Why does this fail?\nI tried everything.\nreturn foo;",
    "(laughs) no way",
    "Name: we call him Rex",
]


@pytest.mark.parametrize("text", SMALL_TALK)
def test_greetings_thanks_cheering_and_assent_make_no_episode(text: str) -> None:
    assert episodes(text) == []


@pytest.mark.parametrize("text", CONTENT)
def test_one_word_of_content_keeps_the_turn(text: str) -> None:
    (found,) = episodes(text)
    assert found.content == text


@given(st.sampled_from(SMALL_TALK), st.sampled_from(CONTENT))
def test_small_talk_around_content_hides_no_content(small: str, content: str) -> None:
    assert not is_small_talk(f"{small}\n{content}")
    assert not is_small_talk(f"{content}\n{small}")


@given(st.text(max_size=700))
def test_any_text_gets_a_judgement(text: str) -> None:
    assert is_small_talk(text) in (True, False)


@pytest.mark.parametrize("text", DATA)
def test_pasted_data_and_code_are_marked_and_matter_least(text: str) -> None:
    found = read(text)
    assert found.pasted
    assert found.tags[0] == PASTED
    assert found.importance(cards=2, question=False) == 1


@pytest.mark.parametrize("text", SAID)
def test_words_that_somebody_says_are_not_data(text: str) -> None:
    assert not read(text).pasted
