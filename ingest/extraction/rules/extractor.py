"""The rules extractor: no model, no network, the same cards from the same turns."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from events.types.cards import EventNoted, SourceSpan
from events.types.migrations import migrated
from events.types.problems import ProblemAttempted
from events.types.turns import TurnRecorded
from ingest.extraction import fiction
from ingest.extraction.extractor_port import CardEvent, Extraction, ProblemTold, RecordedTurn, SessionBatch
from ingest.extraction.memory_blocks import memory_blocks
from ingest.extraction.rules import corrections
from ingest.extraction.rules.drafts import DialogueState
from ingest.extraction.rules.notes import HEDGED, clauses
from ingest.extraction.rules.problems import noted
from ingest.extraction.rules.reader import TurnReader
from ingest.extraction.rules.sentences import sentences

_REMEMBERED = 6


_MOST_S = 30.0


class ReadingTooSlowError(RuntimeError):
    """The rules do not come to an end with a text: a fault of a pattern."""


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Raises :class:`ReadingTooSlowError` when the block uses more processor time than ``seconds``.

    One text must not stop the reading of all others. A signal ends a search of :mod:`re`, and Python gives signals to
    the main thread only, so in other threads the block has no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: object) -> None:
        raise ReadingTooSlowError(f"the rules read for more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class RulesExtractor:
    """Extracts cards by pattern from English and Chinese turns, and an episode from every substantive turn.

    The extractor prefers no card to a wrong card: questions, hypotheses, hedges, requests, quotations, pasted text and
    role play give no cards. It is pure: the same batch gives the same cards. It raises on no text.
    """

    name = "rules"
    model: str | None = None
    prompt_version = "rules-12"

    def extract(self, batch: SessionBatch) -> Extraction:
        conversation = _Conversation(batch)
        cards: list[CardEvent] = []
        problems: list[ProblemTold] = []
        with processor_time(_MOST_S):
            for recorded in batch.turns:
                cards.extend(_read(recorded, conversation, problems))
        return Extraction(tuple(cards), problems=tuple(problems))


class _Conversation:
    """What each speaker told so far. The turns before the batch are read at the first question."""

    def __init__(self, batch: SessionBatch) -> None:
        self._preceding = batch.preceding
        self.played = fiction.played(batch)
        """The ids of the turns that belong to a role play from before them."""
        self._before: dict[str | None, DialogueState] = {}
        self._said: dict[str | None, DialogueState] = {}

    def told(self, speaker: str | None) -> DialogueState:
        """Returns what the speaker told in the session so far, the newest last."""
        if speaker not in self._before:
            self._before[speaker] = self._read_before(speaker)
        return self._before[speaker] + self.said(speaker)

    def reader(self, turn: TurnRecorded, *, played: bool = False) -> TurnReader:
        """Returns the reader of a turn, which knows what its speaker told."""
        return TurnReader(turn, partial(self.told, turn.speaker), self.said(turn.speaker), played=played)

    def said(self, speaker: str | None) -> DialogueState:
        """Returns what the speaker told in the batch so far. The reader of a turn adds to it."""
        return self._said.setdefault(speaker, DialogueState())

    def _read_before(self, speaker: str | None) -> DialogueState:
        turns = [r for r in self._preceding if r.turn.role == "user" and r.turn.speaker == speaker][
            -_REMEMBERED:
        ]
        if not turns:
            return DialogueState()
        past = _Conversation(SessionBatch(tuple(turns)))
        for recorded in turns:
            reader = past.reader(recorded.turn, played=recorded.turn.turn_id in self.played)
            _read_sentences(reader, list(_human_segments(recorded.turn.text)), [])
        return past.said(speaker)


def _read(
    recorded: RecordedTurn, conversation: _Conversation, problems: list[ProblemTold]
) -> Iterator[CardEvent]:
    """Yields the cards of the turn: its episode, then its facts. Adds what it tells of problems to ``problems``."""
    turn = recorded.turn
    if turn.role == "system":
        return
    segments = list(_human_segments(turn.text))
    if not segments:
        return
    reader = conversation.reader(turn, played=turn.turn_id in conversation.played)
    mark = migrated(turn.metadata)
    if mark is not None and mark.notes:
        cards, question = _read_note(turn, mark.user_name, conversation, problems), False
    else:
        cards, question = _read_sentences(reader, segments, problems)
    episode = reader.episode(segments, cards, question)
    if episode is not None:
        yield episode
    yield from cards


def _read_note(
    turn: TurnRecorded, user_name: str | None, conversation: _Conversation, problems: list[ProblemTold]
) -> list[CardEvent]:
    """Returns the facts of a note about the user, read clause by clause as if the user had said them.

    ``user_name`` is what the note calls the user.
    Each fact rests on the whole note. What the note is not sure of has little confidence.
    """
    whole = SourceSpan(turn_id=turn.turn_id, start=0, end=len(turn.text), text=turn.text)
    cards: list[CardEvent] = []
    for clause in clauses(turn.text, user_name):
        told: list[ProblemTold] = []
        reader = conversation.reader(replace(turn, text=clause.text))
        found, _ = _read_sentences(reader, [(0, clause.text)], told)
        for card in found:
            confidence = min(card.confidence, HEDGED) if clause.hedged else card.confidence
            # An event has the words of its note: "I is planning a trip" is no sentence.
            retold = isinstance(card, EventNoted) and card.content in clause.text
            content = clause.said if retold else card.content
            origin = replace(card.origin, source_span=whole)
            cards.append(replace(card, content=content, origin=origin, confidence=confidence))
        problems += [replace(each, origin=replace(each.origin, source_span=whole)) for each in told]
    return cards


def _read_sentences(
    reader: TurnReader, segments: list[tuple[int, str]], problems: list[ProblemTold]
) -> tuple[list[CardEvent], bool]:
    """Returns the facts of the sentences, and True when the last sentence asks."""
    cards: list[CardEvent] = []
    question = False
    for begin, text in segments:
        pending = False
        for sentence in sentences(text):
            question = sentence.question
            cards.extend(reader.sentence(sentence, begin + sentence.begin, pending))
            for told in reader.problems(sentence, begin + sentence.begin):
                problems.append(told)
                if isinstance(told, ProblemAttempted) and told.successful is not None:
                    cards.append(noted(told))
            pending = corrections.announces(sentence)
    return cards, question


def _human_segments(text: str) -> Iterator[tuple[int, str]]:
    """Yields the non-empty parts of a turn between memory blocks, with their offsets."""
    reached = 0
    for start, end in (*memory_blocks(text), (len(text), len(text))):
        if text[reached:start].strip():
            yield reached, text[reached:start]
        reached = end
