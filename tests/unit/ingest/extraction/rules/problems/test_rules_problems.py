"""The rules open, attempt and close problems only on words of the speaker that say so."""

import pytest

from events.problems.naming import words_of
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.rules import EXTRACTOR, turn
from tests.support.tables import LongText, examples, rows, texts

DialogueState = tuple[str, ...]
"""open, what · try, what, worked (yes, no, ?), against what · close, what"""


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


@pytest.mark.parametrize(("said", "expected"), [(row[0], row[1:]) for row in rows(__file__, "problems.txt")])
def test_words_that_say_so_are_read(said: str, expected: list[str]) -> None:
    found = told(*said.split(" | "))
    assert alike(found, [tuple(each.split(" · ")) for each in expected]), found


@pytest.mark.parametrize("text", texts(__file__, "no_problems.txt"))
def test_other_words_give_nothing(text: str) -> None:
    assert told(text) == []


@examples
def test_a_hostile_sentence_ends(text: LongText) -> None:
    assert len(told(text)) <= 1


@pytest.mark.parametrize("speaker", ["Nora", "小美"])
def test_another_speaker_has_no_problem_of_the_user(speaker: str) -> None:
    said = (turn("I've been struggling with insomnia.", speaker=speaker),)
    assert EXTRACTOR.extract(SessionBatch(said)).problems == ()


def test_an_assistant_opens_nothing() -> None:
    said = (turn("I've been struggling with insomnia.", role="assistant"),)
    assert EXTRACTOR.extract(SessionBatch(said)).problems == ()
