"""The rules extractor: no model, no network, the same cards from the same turns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ingest.extraction.extractor_port import CardEvent, Extraction, RecordedTurn, SessionBatch
from ingest.extraction.grounding import memory_blocks
from ingest.extraction.rules.changes import announcements, corrections
from ingest.extraction.rules.drafts import Told
from ingest.extraction.rules.sentences import sentences
from ingest.extraction.rules.turn_reader import TurnReader

_REMEMBERED = 6


class RulesExtractor:
    """Extracts cards by pattern from English and Chinese turns, and an episode from every substantive turn.

    The extractor prefers no card to a wrong card: questions, hypotheses, hedges, requests, quotations, pasted text and
    role play give no cards. It is pure: the same batch gives the same cards. It raises on no text.
    """

    name = "rules"
    model: str | None = None
    prompt_version = "rules-2"

    def extract(self, batch: SessionBatch) -> Extraction:
        conversation = _Conversation(batch)
        cards: list[CardEvent] = []
        for recorded in batch.turns:
            cards.extend(_read(recorded, conversation))
        return Extraction(tuple(cards))


class _Conversation:
    """What each speaker told so far. The turns before the batch are read at the first question."""

    def __init__(self, batch: SessionBatch) -> None:
        self._preceding = batch.preceding
        self._before: dict[str | None, Told] = {}
        self._said: dict[str | None, Told] = {}

    def told(self, speaker: str | None) -> Told:
        """Returns what the speaker told in the session so far, the newest last."""
        if speaker not in self._before:
            self._before[speaker] = self._read_before(speaker)
        return self._before[speaker] + self.said(speaker)

    def said(self, speaker: str | None) -> Told:
        """Returns what the speaker told in the batch so far. The reader of a turn adds to it."""
        return self._said.setdefault(speaker, Told())

    def _read_before(self, speaker: str | None) -> Told:
        turns = [r for r in self._preceding if r.turn.role == "user" and r.turn.speaker == speaker][
            -_REMEMBERED:
        ]
        if not turns:
            return Told()
        past = _Conversation(SessionBatch(tuple(turns)))
        for recorded in turns:
            reader = TurnReader(recorded.turn, partial(past.told, speaker), past.said(speaker))
            _read_sentences(reader, list(_human_segments(recorded.turn.text)), by_user=True)
        return past.said(speaker)


def _read(recorded: RecordedTurn, conversation: _Conversation) -> Iterator[CardEvent]:
    """Yields the cards of the turn: its episode, then its facts."""
    turn = recorded.turn
    if turn.role == "system":
        return
    segments = list(_human_segments(turn.text))
    if not segments:
        return
    reader = TurnReader(turn, partial(conversation.told, turn.speaker), conversation.said(turn.speaker))
    cards, question = _read_sentences(reader, segments, by_user=turn.role == "user")
    episode = reader.episode(segments, cards, question)
    if episode is not None:
        yield episode
    yield from announcements.beside_an_end(cards)


def _read_sentences(
    reader: TurnReader, segments: list[tuple[int, str]], *, by_user: bool
) -> tuple[list[CardEvent], bool]:
    """Returns the facts of the sentences, and True when the last sentence asks."""
    cards: list[CardEvent] = []
    question = False
    for begin, text in segments:
        pending = False
        for sentence in sentences(text, by_user=by_user):
            question = sentence.question
            cards.extend(reader.sentence(sentence, begin + sentence.begin, pending))
            pending = corrections.announces(sentence.plain, sentence.chinese)
    return cards, question


def _human_segments(text: str) -> Iterator[tuple[int, str]]:
    """Yields the non-empty parts of a turn between memory blocks, with their offsets."""
    reached = 0
    for start, end in (*memory_blocks(text), (len(text), len(text))):
        if text[reached:start].strip():
            yield reached, text[reached:start]
        reached = end
