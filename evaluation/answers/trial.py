"""The trial of answers: conversations are read, questions are asked, and what the answers hold is counted."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.answers.conversations import Conversation, Question
from evaluation.answers.judging import Way, answers_differ, holds, swapped, way_of
from evaluation.answers.memory import Answered, Memory, open_memory
from evaluation.answers.recorded_model import RecordedExtractor
from evaluation.answers.shown_cards import ShownCard, of_document, of_prompt
from events.platform.settings import Settings
from events.resources.resource import plain
from retrieval.http.resources import recalled

CUTS = (5, 10)
PLACES = ("top_5", "top_10", "block", "top_5_alone", "block_alone")
"""Where an answer may be. ``alone`` leaves out the words of the turn that are shown with a card."""
ALL = "all"


@dataclass(slots=True)
class Score:
    """What the answers to ``asked`` questions hold: sums of questions and of shares of evidence."""

    asked: int = 0
    held: Counter[str] = field(default_factory=Counter)
    control_asked: int = 0
    control_held: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PLACES, 0.0))
    recall: dict[int, float] = field(default_factory=lambda: dict.fromkeys(CUTS, 0.0))
    block_cards: int = 0

    def share(self, place: str) -> float:
        """Returns the share of questions whose answer stands in ``place``."""
        return self.held[place] / self.asked if self.asked else 0.0

    def control(self, place: str) -> float:
        """Returns the share of answers to other questions in ``place``: what the judgement finds by chance."""
        return self.control_held[place] / self.control_asked if self.control_asked else 0.0

    def evidence(self, cut: int) -> float:
        """Returns the mean share of the evidence behind the first ``cut`` cards."""
        return self.recall[cut] / self.asked if self.asked else 0.0

    def document(self) -> dict[str, Any]:
        """Returns the figures, rounded, for JSON."""
        return {
            "questions": self.asked,
            **{place: round(self.share(place), 4) for place in PLACES},
            **{f"evidence_at_{cut}": round(self.evidence(cut), 4) for cut in CUTS},
            "block_cards": round(self.block_cards / self.asked, 1) if self.asked else 0.0,
            "control": {place: round(self.control(place), 4) for place in PLACES},
        }


@dataclass(slots=True)
class Result:
    """The scores of one reader by (set, category). The set and the category ``all`` are sums."""

    scores: dict[tuple[str, str], Score] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)
    ways: Counter[Way] = field(default_factory=Counter)

    def score(self, group: str = ALL, category: str = ALL) -> Score:
        """Returns the score of a set and a category. It is empty when no such question was asked."""
        return self.scores.get((group, category), Score())


def read_all(
    memory: Memory,
    read: Sequence[Conversation],
    progress: Callable[[int, int], None],
    check: Callable[[], None],
) -> None:
    """Reads the conversations one after the other, session by session, and projects them."""
    done, total = 0, sum(each.turns for each in read)
    for conversation in read:
        for session in conversation.sessions:
            memory.read(conversation.name, session, check)
            done += len(session)
            progress(done, total)


def run_trial(
    settings: Settings,
    read: Sequence[Conversation],
    extractor: RecordedExtractor | None,
    progress: Callable[[int, int], None],
) -> Result:
    """Reads ``read`` with recorded readings, or with the rules when ``extractor`` is None, and judges the answers."""
    asked = [(conversation, question) for conversation in read for question in conversation.questions]
    with open_memory(settings, extractor) as memory:
        read_all(memory, read, progress, lambda: check_recording(extractor))
        memory.project()
        answers = memory.answers([(each.name, question.text, each.asked_at) for each, question in asked])
    result = Result()
    for (conversation, question), answer in zip(asked, answers, strict=True):
        _judge(result, conversation, question, answer)
    return result


def check_recording(extractor: RecordedExtractor | None) -> None:
    """Raises the failure of a recording that cannot go on."""
    if extractor is not None and extractor.failure is not None:
        raise extractor.failure


def _judge(result: Result, conversation: Conversation, question: Question, answer: Answered) -> None:
    way = way_of(question)
    result.ways[way] += 1
    if way == "none":
        return
    # As a client gets them.
    documents = plain(recalled(answer.recall).cards)
    cards = [of_document(card) for card in documents]
    shown: dict[str, Sequence[ShownCard]] = {f"top_{cut}": cards[:cut] for cut in CUTS}
    shown["top_5_alone"] = [of_document(card, alone=True) for card in documents[:5]]
    prompt, count = answer.prompt.text, len(answer.prompt.cards)
    shown |= {"block": of_prompt(prompt, count), "block_alone": of_prompt(prompt, count, alone=True)}
    held = {place: holds(question, some) for place, some in shown.items()}
    others = [swapped(question, each) for each in _others(conversation, question)]
    control = {place: sum(holds(each, some) for each in others) for place, some in shown.items()}
    for group in (ALL, conversation.group):
        for category in (ALL, question.category):
            score = result.scores.setdefault((group, category), Score())
            score.asked += 1
            score.block_cards += len(shown["block"])
            score.held.update(place for place, found in held.items() if found)
            for cut in CUTS:
                behind = {turn for card in documents[:cut] for turn in card["turn_ids"]}
                score.recall[cut] += len(question.evidence & behind) / len(question.evidence)
            if others:
                score.control_asked += 1
                for place, found in control.items():
                    score.control_held[place] += found / len(others)
    missing = [place for place, found in held.items() if not found]
    if missing:
        behind = {turn for card in documents[: CUTS[-1]] for turn in card["turn_ids"]}
        result.misses.append(
            f"{question.question_id} ({question.category}): not in {', '.join(missing)}; "
            f"{len(question.evidence & behind)} of {len(question.evidence)} turns of evidence behind {CUTS[-1]} cards"
        )


def _others(conversation: Conversation, question: Question) -> list[Question]:
    """Returns the questions whose answers were said in other sessions and have nothing in common with this answer.

    An answer that stands beside the right one in the conversation would be found rightly, and would say nothing about
    the judgement.
    """
    ours = _sessions(conversation, question)
    return [
        each
        for each in conversation.questions
        if way_of(each) != "none"
        and not ours & _sessions(conversation, each)
        and answers_differ(question, each)
    ]


def _sessions(conversation: Conversation, question: Question) -> set[str]:
    """Returns the ids of the sessions in which the evidence was said."""
    return {
        turn.session_id
        for session in conversation.sessions
        for turn in session
        if turn.turn_id in question.evidence
    }
