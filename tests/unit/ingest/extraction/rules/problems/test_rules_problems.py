"""The rules open, attempt and close problems only on words of the speaker that say so."""

from __future__ import annotations

import pytest

from events.problems.naming import words_of
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.rules import EXTRACTOR, turn

DialogueState = tuple[str, ...]
"""open, what · try, what, worked (yes, no, ?), against what · close, what"""

SAID: list[tuple[tuple[str, ...], list[DialogueState]]] = [
    (("I've been struggling with insomnia for weeks now.",), [("open", "insomnia")]),
    (("Ugh, I'm really struggling with my high morning sugars lately",), [("open", "high morning sugars")]),
    (("I have been dealing with lower back pain since the move.",), [("open", "lower back pain")]),
    (("I keep getting migraines after lunch.",), [("open", "migraines after lunch")]),
    (("I suffer from hay fever.",), [("open", "hay fever")]),
    (("I've been having trouble staying asleep.",), [("open", "trouble staying asleep")]),
    (
        ("Hi! I work from home, and I've been battling procrastination all year. Any tips?",),
        [("open", "procrastination")],
    ),
    (("I tried melatonin for my insomnia and it helped.",), [("try", "melatonin", "yes", "insomnia")]),
    (
        ("I've tried an ergonomic chair for my back pain but it didn't help at all.",),
        [("try", "an ergonomic chair", "no", "back pain")],
    ),
    (
        ("Walking after dinner has really helped my morning sugars.",),
        [("try", "walking after dinner", "yes", "morning sugars")],
    ),
    (("I'm trying magnesium for my leg cramps.",), [("try", "magnesium", "?", "leg cramps")]),
    (
        ("I've been struggling with heartburn.", "I tried cutting out coffee. It worked!"),
        [("open", "heartburn"), ("try", "cutting out coffee", "yes", "heartburn")],
    ),
    (
        ("I've been struggling with heartburn.", "I tried smaller meals, no luck though"),
        [("open", "heartburn"), ("try", "smaller meals", "no", "heartburn")],
    ),
    (("My back pain is finally gone!",), [("close", "back pain")]),
    (("I got rid of my cough.",), [("close", "cough")]),
    (
        ("I've been struggling with the squeaky brakes.", "Good news: the squeaky brakes are fixed."),
        [("open", "squeaky brakes"), ("close", "squeaky brakes")],
    ),
    (("我最近一直為失眠所苦。",), [("open", "失眠")]),
    (("早上的血糖一直困擾著我，不知道怎麼辦",), [("open", "早上的血糖")]),
    (("我深受偏頭痛困擾",), [("open", "偏頭痛")]),
    (("我这阵子老是睡不好。",), [("open", "睡不好")]),
    (("我一直有拖延的問題。",), [("open", "拖延")]),
    (("最近总是头痛，好烦",), [("open", "头痛")]),
    (("為了失眠我試了褪黑激素，很有效。",), [("try", "褪黑激素", "yes", "失眠")]),
    (("我試了針灸來改善背痛，但沒有用。",), [("try", "針灸", "no", "背痛")]),
    (("我试过少吃淀粉，对早上的血糖很有帮助。",), [("try", "少吃淀粉", "yes", "早上的血糖")]),
    (
        ("我被鼻過敏困擾很久了。", "我試了洗鼻器，結果完全沒有效果。"),
        [("open", "鼻過敏"), ("try", "洗鼻器", "no", "鼻過敏")],
    ),
    (("我一直被失眠困扰。", "试了睡前泡脚，有用！"), [("open", "失眠"), ("try", "睡前泡脚", "yes", "失眠")]),
    (("我的背痛終於好了！",), [("close", "背痛")]),
    (("咳嗽已经好了",), [("close", "咳嗽")]),
    (("我的膝蓋不痛了。",), [("close", "膝蓋痛")]),
]

NOT_SAID: list[tuple[str, ...]] = [
    ("What helps against insomnia?",),
    ("Have you tried melatonin for insomnia? It helped a lot of people.",),
    ("If I were struggling with insomnia, I would try melatonin.",),
    ("I might try yoga for my back pain.",),
    ("My brother has been struggling with gambling for years.",),
    ("My sister tried keto for her migraines and it helped.",),
    ('She wrote: "I\'ve been struggling with anxiety since May."',),
    ("Translate into French: I've been struggling with my homework.",),
    (
        "Subject: Complaint\nDear Sir,\nI have been dealing with back pain since your chair arrived.\nRegards, Tom",
    ),
    ("I used to struggle with insomnia as a teenager.",),
    ("I don't suffer from headaches.",),
    ("I tried the new pasta place and it was great.",),
    ("I tried calling you but it didn't work.",),
    ("My back pain isn't gone yet.",),
    ("My money is gone, and so is my phone.",),
    ("Is my back pain gone once I stretch daily?",),
    ("Write a story about a man who says: I've been battling dragons for years.",),
    ("Let's pretend I'm struggling with debt.",),
    ("失眠要怎麼改善？",),
    ("你有試過褪黑激素嗎？很有效。",),
    ("如果我一直為失眠所苦，我會去看醫生。",),
    ("我想試試針灸來改善背痛。",),
    ("我媽一直為失眠所苦。",),
    ("我朋友試了針灸，背痛好多了。",),
    ("他說：「我最近老是睡不好。」",),
    ("請幫我翻譯：我深受偏頭痛困擾。",),
    ("我的背痛還沒好。",),
    ("我的手機好了，晚點打給你。",),
    ("我試了那家新的拉麵店，很好吃。",),
    ("飯煮好了，快來吃。",),
]


def told(*texts: str) -> list[DialogueState]:
    """What the turns tell of problems, in short. A later outcome of an attempt takes the place of none."""
    turns = tuple(turn(text, number) for number, text in enumerate(texts))
    short: list[DialogueState] = []
    for card in EXTRACTOR.extract(SessionBatch(turns)).problems:
        if isinstance(card, ProblemOpened):
            short.append(("open", card.description))
        elif isinstance(card, ProblemAttempted):
            worked = {True: "yes", False: "no", None: "?"}[card.successful]
            if short and short[-1][:2] == ("try", card.approach):
                short.pop()
            short.append(("try", card.approach, worked, card.problem or ""))
        else:
            assert isinstance(card, ProblemClosed)
            short.append(("close", card.problem or ""))
    return short


def alike(one: list[DialogueState], other: list[DialogueState]) -> bool:
    return [tuple(map(_plain, each)) for each in one] == [tuple(map(_plain, each)) for each in other]


def _plain(words: str) -> object:
    return words if words in ("open", "try", "close", "yes", "no", "?") else words_of(words)


@pytest.mark.parametrize(("texts", "expected"), SAID, ids=[each[0][-1][:30] for each in SAID])
def test_words_that_say_so_are_read(texts: tuple[str, ...], expected: list[DialogueState]) -> None:
    found = told(*texts)
    assert alike(found, expected), found


@pytest.mark.parametrize("texts", NOT_SAID, ids=[each[0][:30] for each in NOT_SAID])
def test_other_words_give_nothing(texts: tuple[str, ...]) -> None:
    assert told(*texts) == []


@pytest.mark.parametrize(
    "text",
    [
        "我试了" + "对" * 400,
        "我试了冰敷" + "，很" * 200 + "对我" * 40,
        "I tried " + "and it really " * 34,
        "my " + "the my " * 70 + "is finally",
        "我" + "最近一直老是" * 80,
        "I've been struggling with " + "a " * 230,
    ],
)
def test_a_hostile_sentence_ends(text: str) -> None:
    assert len(told(text)) <= 1


@pytest.mark.parametrize("speaker", ["Nora", "小美"])
def test_another_speaker_has_no_problem_of_the_user(speaker: str) -> None:
    said = (turn("I've been struggling with insomnia.", speaker=speaker),)
    assert EXTRACTOR.extract(SessionBatch(said)).problems == ()


def test_an_assistant_opens_nothing() -> None:
    said = (turn("I've been struggling with insomnia.", role="assistant"),)
    assert EXTRACTOR.extract(SessionBatch(said)).problems == ()
