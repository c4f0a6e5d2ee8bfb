"""Grounds the cards of a model: checks each card against the words of the turns, and resolves its time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import (
    canonical_key,
    concept,
    default_cardinality,
    normalise_entity,
    normalise_value,
)
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted
from events.types.turn_contract import clock_of
from events.types.turns import TurnRecorded
from ingest.extraction.claude.moments import moment, sentence
from ingest.extraction.claude.schema import Answer, EventFound, KnowledgeFound, StateFound
from ingest.extraction.evidence.evidence import Evidence, points_back
from ingest.extraction.extractor_port import CardEvent, SessionBatch
from ingest.extraction.grounding import memory_blocks, without_memory_blocks
from ingest.extraction.prompt_injection import trusted_length
from ingest.extraction.rules import episodes

_SPACE = re.compile(r"\s")
_FOREIGN = re.compile(r"[^\W\d_]")
_QUOTES = str.maketrans("‘’“”", "''\"\"")
_SURE, _LESS_SURE = 0.9, 0.75
_YES_OR_NO = frozenset(("yes", "no"))
_BEFORE = 2_000  # Characters before a sentence in which a word that points back may find its meaning.
_AROUND = 6_000  # Characters to either side in which a name may have been said.


@dataclass(frozen=True, slots=True)
class GroundedCards:
    """The grounded cards in the order of their turns, and the number of refused cards."""

    cards: tuple[CardEvent, ...]
    refused: int


class TurnWords:
    """The words of one turn. Finds a quote without regard to spaces, case and width."""

    def __init__(self, turn: TurnRecorded) -> None:
        self.turn = turn
        self.words = without_memory_blocks(turn.text)
        # A prompt injection stays in the turn's words, but no card rests on it.
        self.trusted = self.words[: trusted_length(self.words)]
        self._plain, self._places = _plain(self.trusted)

    def find(self, quote: str) -> SourceSpan | None:
        """Returns the span of ``quote``, or None.

        A quote inside a memory block or a prompt injection does not count.
        """
        for wanted in dict.fromkeys((quote, unescape(quote))):
            plain, _ = _plain(wanted)
            at = self._plain.find(plain) if plain else -1
            if at >= 0:
                start, end = self._places[at], self._places[at + len(plain) - 1] + 1
                return SourceSpan(
                    turn_id=self.turn.turn_id, start=start, end=end, text=self.turn.text[start:end]
                )
        return None

    def says(self, value: str) -> bool:
        """Returns True when ``value`` occurs in the trusted words."""
        plain, _ = _plain(value)
        return plain in self._plain


def ground_cards(answer: Answer, batch: SessionBatch) -> GroundedCards:
    """Returns the cards of ``answer`` that the turns of ``batch`` bear out, and an episode of every substantive turn.

    A card is refused when nobody said its quote, when it is a state or an event that an assistant said, or when its
    value, names or numbers are not in the words around the quote (:mod:`ingest.extraction.evidence.evidence`).
    """
    words = [TurnWords(recorded.turn) for recorded in batch.turns]
    before = [TurnWords(recorded.turn) for recorded in batch.preceding]
    cards: list[list[CardEvent]] = [[] for _ in words]
    seen: set[tuple[object, ...]] = set()
    refused = answer.faulty
    findings: list[StateFound | EventFound | KnowledgeFound] = [
        *answer.states, *answer.events, *answer.knowledge,
    ]  # fmt: skip
    for found in findings:
        place = _place(found.turn, found.quote, words)
        card = (
            None
            if place is None
            else _card(found, _QuoteInContext([*before, *words], len(before) + place[0], place[1]))
        )
        if place is None or card is None:
            refused += 1
        elif (identity := _identity(card)) not in seen:
            seen.add(identity)
            cards[place[0]].append(card)
    return GroundedCards(
        tuple(
            card
            for each, found_here in zip(words, cards, strict=True)
            for card in (*_episode(each, len(found_here)), *found_here)
        ),
        refused,
    )


def substantive(turn: TurnRecorded) -> bool:
    """Returns True when a turn says more than small talk. Text in other scripts always counts as substantive."""
    words = without_memory_blocks(turn.text)
    if turn.role == "system" or not words.strip():
        return False
    return episodes.read(words).substantive or any(
        not character.isascii() and unicodedata.category(character).startswith("L") and not has_cjk(character)
        for character in _FOREIGN.findall(words)
    )


def _place(number: int, quote: str, words: Sequence[TurnWords]) -> tuple[int, SourceSpan] | None:
    """Returns the index of the turn with the quote, and the span, or None.

    The model may name the wrong turn. The nearest other turn with the quote is then taken.
    """
    wanted = number - 1
    order = sorted(range(len(words)), key=lambda index: (index != wanted, abs(index - wanted)))
    for index in order:
        span = words[index].find(quote)
        if span is not None:
            return index, span
    return None


class _QuoteInContext:
    """A quote in its turn, with the words around it."""

    def __init__(self, words: Sequence[TurnWords], index: int, span: SourceSpan) -> None:
        self.words = words[index]
        self.turn = self.words.turn
        self.span = span
        begin, end = sentence(self.words.trusted, span.start, span.end)
        self.sentence = self.words.trusted[begin:end].strip()
        own = [one.trusted for one in words[:index] if _same_speaker(one.turn, self.turn)]
        self._before = "\n".join((*own, self.words.trusted[:begin]))[-_BEFORE:]
        spoken = "\n".join(one.trusted for one in words[:index] if one.turn.role == "user")
        self._turn = self.words.trusted[max(0, begin - _AROUND) : end + _AROUND]
        self._around = f"{spoken[-_AROUND:]}\n{self._turn}\n{self.turn.speaker or ''}"

    def evidence(self, *, back: bool = False) -> Evidence:
        """Returns the evidence for a state or an event: the sentence of the quote.

        When the sentence points back, or with ``back``, the earlier words of the same speaker count too.
        """
        near = self.sentence
        if back or points_back(near):
            near = f"{self._before}\n{near}"
        return Evidence(near, self._around)

    def explanation(self) -> Evidence:
        """Returns the evidence for a definition: the words around the quote in its turn."""
        return Evidence(self._turn, self._around)


def _same_speaker(one: TurnRecorded, other: TurnRecorded) -> bool:
    return (one.role, one.speaker) == (other.role, other.speaker)


def _card(found: StateFound | EventFound | KnowledgeFound, quote: _QuoteInContext) -> CardEvent | None:
    role = quote.turn.role
    if role == "system":
        return None
    if isinstance(found, KnowledgeFound):
        return _knowledge(found, quote)
    if role != "user":
        return None
    return _state(found, quote) if isinstance(found, StateFound) else _event(found, quote)


def _content(text: str, quote: _QuoteInContext, evidence: Evidence, entity: str) -> str | None:
    """Returns the content of a card, or None when the words refuse ``text``.

    The content is ``text`` when the words bear it out. It is the speaker's own sentence when ``text`` is loose.
    """
    spoken = _as_spoken(text, quote.turn, quote.span.text)
    if spoken == quote.span.text:
        return spoken
    verdict = evidence.verdict(spoken, known=f"{entity} {quote.turn.speaker or ''}")
    if verdict == "refused":
        return None
    return spoken if verdict == "borne" else quote.sentence or quote.span.text


def _state(found: StateFound, quote: _QuoteInContext) -> StateAsserted | None:
    turn, span = quote.turn, quote.span
    key = canonical_key(found.concept_key)
    value = _as_spoken(found.value, turn).strip()
    identity = normalise_value(key, value)
    evidence = quote.evidence(back=found.statement == "ended")
    if not identity or not (identity in _YES_OR_NO or evidence.says(value)):
        return None
    entity = _entity(found.entity, turn)
    if normalise_entity(found.entity) != "user" and not evidence.knows(entity):
        return None
    content = _content(found.content, quote, evidence, entity)
    if content is None:
        return None
    known = concept(key)
    when = moment(found.occurred_at_hint, turn, span)
    until = when.end if when is not None and when.start is None else None
    point = when.point if when is not None else None
    if found.statement == "ended" and until is not None:
        point, until = until, None
    corrected = found.statement == "corrected" and found.replaces is not None
    return StateAsserted(
        content=content,
        entity=entity,
        concept_key=key,
        value=value,
        cardinality=default_cardinality(key) if known is not None else found.cardinality,
        tags=tuple(dict.fromkeys((known.category if known is not None else "fact", key))),
        origin=_origin(turn, span),
        effective_at=point or turn.said_at,
        statement=found.statement,
        replaces=found.replaces if corrected and evidence.knows(found.replaces or "") else None,
        effective_until=until,
        announced=found.announced,
        occurred_at_hint=found.occurred_at_hint,
        time_grain=when.grain if when is not None else None,
        time_resolved=point is not None or until is not None,
        alternative_at=when.alternative if when is not None else None,
        # A value in another form than the speaker's is less certain than a value that was said.
        confidence=_SURE if quote.words.says(value) else _LESS_SURE,
    )


def _event(found: EventFound, quote: _QuoteInContext) -> EventNoted | None:
    turn, span = quote.turn, quote.span
    evidence = quote.evidence()
    entity = _entity(found.entity, turn)
    if normalise_entity(found.entity) != "user" and not evidence.knows(entity):
        return None
    content = _content(found.content, quote, evidence, entity)
    if content is None:
        return None
    when = moment(found.occurred_at_hint, turn, span)
    start = when.start if when is not None else None
    topics = episodes.read(span.text).topics
    return EventNoted(
        content=content,
        entity=entity,
        tags=tuple(topic.lower() for topic in topics[:4]),
        origin=_origin(turn, span),
        occurred_at=start or turn.said_at,
        occurred_until=when.end if when is not None and start is not None else None,
        occurred_at_hint=found.occurred_at_hint,
        time_grain=when.grain if when is not None else None,
        time_resolved=start is not None,
        alternative_at=when.alternative if when is not None else None,
        topics=topics,
        importance=found.importance,
        sentiment=found.sentiment,
        confidence=_SURE,
    )


def _knowledge(found: KnowledgeFound, quote: _QuoteInContext) -> KnowledgeLearned | None:
    turn, span = quote.turn, quote.span
    title = found.title.strip()
    evidence = quote.explanation()
    definition = _as_spoken(found.definition, turn, span.text)
    if not evidence.knows(title) or evidence.verdict(definition, known=title, share=0.5) == "refused":
        return None
    content = _content(found.content or span.text, quote, evidence, title)
    if content is None:
        return None
    aliases = (alias.strip() for alias in found.aliases if alias.strip() != title)
    return KnowledgeLearned(
        content=content,
        title=title,
        definition=definition,
        tags=("knowledge", title.lower()),
        origin=_origin(turn, span),
        aliases=tuple(dict.fromkeys(alias for alias in aliases if evidence.knows(alias))),
        confidence=_SURE,
    )


def _episode(words: TurnWords, cards: int) -> list[EventNoted]:
    """Returns the turn as one episode, without memory blocks. Returns an empty list for small talk."""
    turn = words.turn
    if not substantive(turn) and not (cards and words.words.strip()):
        return []
    segments: list[tuple[int, int]] = []
    reached = 0
    for start, end in (*memory_blocks(turn.text), (len(turn.text), len(turn.text))):
        if turn.text[reached:start].strip():
            segments.append((reached, start))
        reached = end
    content = " ".join(turn.text[start:end].strip() for start, end in segments)
    start, end = max(segments, key=lambda segment: segment[1] - segment[0])
    longest = turn.text[start:end]
    start += len(longest) - len(longest.lstrip())
    end = start + len(longest.strip())
    read = episodes.read(content)
    question = content.rstrip().endswith(("?", "？"))
    return [
        EventNoted(
            content=content,
            entity=_owner(turn),
            tags=read.tags,
            origin=_origin(
                turn, SourceSpan(turn_id=turn.turn_id, start=start, end=end, text=turn.text[start:end])
            ),
            occurred_at=turn.said_at,
            episode=True,
            topics=read.topics,
            importance=read.importance(cards=cards, question=question),
            sentiment=read.sentiment,
        )
    ]


def _identity(card: CardEvent) -> tuple[object, ...]:
    """Returns a key that is equal for two cards of one batch when the model found the same card twice."""
    if isinstance(card, StateAsserted):
        value = normalise_value(card.concept_key, card.value)
        return (
            "state",
            normalise_entity(card.entity),
            card.concept_key,
            value,
            card.statement,
            card.effective_at,
        )
    if isinstance(card, EventNoted):
        return "event", normalise_entity(card.entity), card.content.casefold(), card.occurred_at
    return "knowledge", card.title.casefold(), card.definition.casefold()


def _owner(turn: TurnRecorded) -> str:
    return turn.speaker or ("assistant" if turn.role == "assistant" else "user")


def _entity(name: str, turn: TurnRecorded) -> str:
    return _owner(turn) if normalise_entity(name) == "user" else name.strip()


def _origin(turn: TurnRecorded, span: SourceSpan) -> CardOrigin:
    return CardOrigin(
        project_id=turn.project_id,
        session_id=turn.session_id,
        turn_ids=(turn.turn_id,),
        said_at=turn.said_at,
        source_span=span,
        provenance="assistant_stated" if turn.role == "assistant" else "user_stated",
        speaker=turn.speaker,
        agent_id=turn.agent_id,
        document_id=turn.document_id,
        context_layer=turn.context_layer,
        mode=turn.mode,
        time_zone=clock_of(turn),
    )


def _as_spoken(text: str, turn: TurnRecorded, instead: str | None = None) -> str:
    """Returns ``text`` in the speaker's script.

    Returns ``instead``, the speaker's own words, when one is Chinese, Japanese or Korean and the other is not.
    """
    text = text.strip()
    if instead is not None and has_cjk(text) != has_cjk(instead):
        return instead
    if not has_cjk(text) or not has_cjk(turn.text):
        return text
    folded = to_simplified(turn.text)
    if folded == turn.text:
        return to_simplified(text)
    if to_simplified(text) != text:
        return text
    # The speaker writes traditional characters, and ``text`` has none. The speaker's characters replace them.
    spoken = {plain: written for written, plain in zip(turn.text, folded, strict=True) if written != plain}
    return "".join(spoken.get(character, character) for character in text)


def _plain(text: str) -> tuple[str, list[int]]:
    """Returns ``text`` without spaces, in one case and width, and the source offset of each character."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if _SPACE.match(character):
            continue
        # NFKD, because the quote may have an accent as a separate character.
        for plain in unicodedata.normalize("NFKD", character.translate(_QUOTES)).casefold():
            if not _SPACE.match(plain):
                characters.append(plain)
                places.append(place)
    return "".join(characters), places
