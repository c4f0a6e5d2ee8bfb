"""A model's problems count only in words that the user said."""

from typing import Any

from events.types.cards import EventNoted
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from ingest.extraction.claude.cards import ground_cards
from ingest.extraction.claude.schema import answer_of
from ingest.extraction.extractor_port import Extraction, SessionBatch
from tests.support.ingest.rules import turn
from tests.support.tables import examples, examples_and

SLEEP = "I've been struggling with insomnia. I tried melatonin and it helped a lot."
TRIED = {
    "turn": 1, "quote": "I tried melatonin and it helped a lot", "step": "attempted", "problem": "insomnia",
    "approach": "melatonin", "outcome": "helped a lot", "worked": True,
}  # fmt: skip


def read(text: str, *problems: dict[str, Any], role: Any = "user", speaker: str | None = None) -> Extraction:
    said = SessionBatch((turn(text, role=role, speaker=speaker),))
    return ground_cards(answer_of({"problems": list(problems)}), said)


def test_what_was_said_is_opened_tried_and_closed() -> None:
    opened = {
        "turn": 1,
        "quote": "I've been struggling with insomnia",
        "step": "opened",
        "problem": "insomnia",
    }
    found = read(SLEEP, opened, TRIED)
    first, second = found.problems
    assert isinstance(first, ProblemOpened)
    assert isinstance(second, ProblemAttempted)
    assert (first.description, second.approach, second.outcome, second.successful) == (
        "insomnia", "melatonin", "helped a lot", True,
    )  # fmt: skip
    [card] = [each for each in found.cards if isinstance(each, EventNoted) and not each.episode]
    assert card.content == "Tried melatonin for insomnia. It helped."
    gone = {"turn": 1, "quote": "我的背痛好了", "step": "closed", "problem": "背痛"}
    [closed] = read("我的背痛好了", gone).problems
    assert isinstance(closed, ProblemClosed)
    assert found.refused == 0


@examples
def test_what_nobody_said_and_what_is_asked_is_refused(text: str, changed: dict[str, Any]) -> None:
    found = read(text, TRIED | changed)
    assert (found.problems, found.refused) == ((), 1)


@examples
def test_a_problem_that_is_told_before_a_question_counts(text: str, quote: str, problem: str) -> None:
    found = read(text, {"turn": 1, "quote": quote, "step": "opened", "problem": problem})
    assert [each.description for each in found.problems if isinstance(each, ProblemOpened)] == [problem]


@examples
def test_a_problem_of_a_question_does_not_count(text: str, quote: str, problem: str) -> None:
    found = read(text, {"turn": 1, "quote": quote, "step": "opened", "problem": problem})
    assert (found.problems, found.refused) == ((), 1)


def test_an_outcome_that_nobody_said_is_left_out() -> None:
    [tried] = read(SLEEP, TRIED | {"outcome": "sleeps ten hours"}).problems
    assert isinstance(tried, ProblemAttempted)
    assert tried.outcome is None


def test_an_assistant_has_no_problem_and_a_speaker_with_a_name_has_their_own() -> None:
    assert read(SLEEP, TRIED, role="assistant").problems == ()
    [tried] = read(SLEEP, TRIED, speaker="Nora").problems
    assert isinstance(tried, ProblemAttempted)
    assert tried.problem == "Nora's insomnia"
    gone = {"turn": 1, "quote": "我的背痛好了", "step": "closed", "problem": "背痛"}
    [closed] = read("我的背痛好了", gone, speaker="小美").problems
    assert isinstance(closed, ProblemClosed)
    assert closed.problem == "小美的背痛"


def test_the_problem_of_one_speaker_is_not_closed_by_another() -> None:
    said = SessionBatch((turn("My insomnia is back.", speaker="Nora"), turn("It is gone!", speaker="Piet")))
    closed = {"turn": 2, "quote": "It is gone", "step": "closed", "problem": "insomnia"}
    found = ground_cards(answer_of({"problems": [closed]}), said)
    assert (found.problems, found.refused) == ((), 1)


@examples_and(
    {"problem": "x" * 300},
)
def test_a_wrong_shape_is_a_fault_and_no_problem(wrong: dict[str, Any]) -> None:
    answer = answer_of({"problems": [TRIED | wrong]})
    assert (answer.problems, answer.faulty) == ((), 1)
    assert answer.faults
