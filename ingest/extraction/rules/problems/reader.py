"""Reads the sentences of one turn for problems, and makes their events with their words and their source."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from events.language.concepts import normalise_entity
from events.problems import wording
from events.problems.naming import named
from events.types.cards import CardOrigin, EventNoted, Sentiment
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import ProblemTold
from ingest.extraction.rules.drafts import DialogueState
from ingest.extraction.rules.factual import FactualText
from ingest.extraction.rules.problems import chinese, english
from ingest.extraction.rules.problems.found import Found
from ingest.extraction.rules.sentences import Sentence, dictated, hedged, irrealis

_IMPORTANCE = 6
_EDGES = ' \t,.;:!?，。；：！？、~～"“”「」'
_LEADING = ("my ", "the ", "this ", "these ", "some ", "a bad case of ", "我的")


class ProblemReader:
    """Reads the sentences of a turn in order. Only the speaker's own problems count: those of the user.

    ``told`` returns what the speaker told in the conversation, and ``said`` takes what this turn tells. An attempt
    that names no problem is about the one that the speaker told last. ``origin`` gives the source of a span.
    """

    def __init__(
        self,
        turn: TurnRecorded,
        told: Callable[[], DialogueState],
        said: DialogueState,
        origin: Callable[[int, int], CardOrigin],
    ) -> None:
        self._turn = turn
        self._told = told
        self._said = said
        self._origin = origin
        self._text = FactualText(turn.text)
        self._own = (
            turn.role == "user" and not turn.by_contact and normalise_entity(turn.speaker or "user") == "user"
        )
        self._pending: ProblemAttempted | None = None
        """The attempt of the sentence before, which has no outcome yet."""

    def sentence(self, sentence: Sentence, offset: int) -> Iterator[ProblemTold]:
        """Yields the problem events of a sentence at ``offset`` of the turn."""
        pending, self._pending = self._pending, None
        asks = sentence.question and not (sentence.chinese and chinese.only_at_a_loss(sentence))
        if not self._own or asks:
            return
        language = chinese if sentence.chinese else english
        if pending is not None and (told := language.result(sentence)) is not None:
            if self._is_told(told, sentence, offset):
                yield from self._with_outcome(pending, told, sentence, offset)
            return
        for found in language.finds(sentence):
            if self._is_told(found, sentence, offset):
                yield from self._events(found, sentence, offset)

    def _is_told(self, found: Found, sentence: Sentence, offset: int) -> bool:
        begin, stop = found.span
        return (
            not irrealis(sentence, stop)
            and not dictated(sentence, begin)
            and not hedged(sentence, begin, begin)
            and self._text.holds(offset, offset + len(sentence.raw))
            and self._text.typed(offset + begin)
        )

    def _events(self, found: Found, sentence: Sentence, offset: int) -> Iterator[ProblemTold]:
        name = None if found.about is None else _named(sentence, found.about) + found.suffix
        origin = self._origin(offset, offset + len(sentence.raw.rstrip()))
        ailment = chinese.AILMENT if sentence.chinese else english.AILMENT
        if found.step == "opened" and name:
            self._said.problems.append(name)
            yield ProblemOpened(description=name, origin=origin)
        elif found.step == "closed" and name:
            words = sentence.plain[slice(*found.about)] + found.suffix if found.about else ""
            known = named(name, ((each, each) for each in self._told().problems))
            if known is not None or ailment.search(words):
                yield ProblemClosed(problem=known or name, origin=origin)
        elif found.step == "attempted" and found.with_ is not None:
            known = self._told().problems[-1] if name is None and self._told().problems else name
            if known is None:
                return
            tried = ProblemAttempted(
                approach=_cut(sentence.raw[slice(*found.with_)]),
                problem=known,
                outcome=None if found.outcome is None else _cut(sentence.raw[slice(*found.outcome)]),
                successful=found.successful,
                tried_at=self._turn.said_at,
                origin=origin,
            )
            if name is not None:
                self._said.problems.append(name)
            if tried.successful is None and tried.outcome is None:
                self._pending = tried
            yield tried

    def _with_outcome(
        self, pending: ProblemAttempted, told: Found, sentence: Sentence, offset: int
    ) -> Iterator[ProblemTold]:
        """Yields the attempt of the sentence before again, with its outcome."""
        tried = replace(
            pending,
            outcome=None if told.outcome is None else _cut(sentence.raw[slice(*told.outcome)]),
            successful=told.successful,
            origin=self._origin(offset, offset + len(sentence.raw.rstrip())),
        )
        yield tried


def noted(tried: ProblemAttempted) -> EventNoted:
    """Returns the card of an attempt: the approach with the problem that it is about."""
    mood: Sentiment = (
        "neutral" if tried.successful is None else "positive" if tried.successful else "negative"
    )
    outcome = () if tried.successful is None else ("worked" if tried.successful else "failed",)
    return EventNoted(
        content=wording.attempted(tried.problem, tried.approach, None, tried.successful),
        entity="user",
        tags=("problem", "attempt", *outcome),
        origin=tried.origin,
        occurred_at=tried.tried_at,
        importance=_IMPORTANCE,
        sentiment=mood,
    )


def _named(sentence: Sentence, span: tuple[int, int]) -> str:
    """Returns the words of a problem as spoken, without "my" and "the"."""
    words = _cut(sentence.raw[slice(*span)])
    lowered = words.casefold()
    for leading in _LEADING:
        if lowered.startswith(leading) and len(words) > len(leading):
            return words[len(leading) :]
    return words


def _cut(words: str) -> str:
    return words.strip(_EDGES)
