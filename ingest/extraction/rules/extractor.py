"""The rules extractor: no model, no network, the same cards from the same turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from events.language.concepts import concept, default_cardinality, normalise_entity, normalise_value
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, Provenance, SourceSpan, StateAsserted
from events.types.turn_contract import clock_of, local_said_at
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import CardEvent, Extraction, RecordedTurn, SessionBatch
from ingest.extraction.grounding import memory_blocks
from ingest.extraction.prompt_injection import untrusted_spans
from ingest.extraction.rules import announcements, corrections, episodes, knowledge, wording
from ingest.extraction.rules.chinese import pattern_rules as chinese
from ingest.extraction.rules.drafts import Draft, EventDraft, KnowledgeDraft, KnownState, StateDraft
from ingest.extraction.rules.english import pattern_rules as english
from ingest.extraction.rules.moments import TIME, Moment, lasting, mask, moments, nearest
from ingest.extraction.rules.scene import Scene, compiled
from ingest.extraction.rules.sentences import Sentence, hedged, irrealis, sentences, simplified
from ingest.extraction.rules.triggers import may_correct, triggered

# "Moved the date to August": August is the new date and not the time of the event.
_MOVED_TO = re.compile(r"\b(?:to|until|till) ?$|[到至]$")
_REMEMBERED = 6
_TRADITIONAL_ZONES = frozenset(("Asia/Taipei", "Asia/Hong_Kong", "Asia/Macau"))


class RulesExtractor:
    """Extracts cards by pattern from English and Chinese turns, and an episode from every substantive turn.

    The extractor prefers no card to a wrong card: questions, hypotheses, hedges, requests and quotations give no cards.
    It is pure: the same batch gives the same cards. It raises on no text.
    """

    name = "rules"
    model: str | None = None
    prompt_version = "rules-1"

    def extract(self, batch: SessionBatch) -> Extraction:
        conversation = _Conversation(batch)
        cards: list[CardEvent] = []
        for recorded in batch.turns:
            cards.extend(_read(recorded, conversation))
        return Extraction(tuple(cards))


class _Conversation:
    """The states found so far, by speaker. The turns before the batch are read at the first question."""

    def __init__(self, batch: SessionBatch) -> None:
        self._preceding = batch.preceding
        self._before: dict[str | None, list[KnownState]] = {}
        self._said: dict[str | None, list[KnownState]] = {}

    def earlier(self, speaker: str | None) -> list[KnownState]:
        if speaker not in self._before:
            self._before[speaker] = self._read_before(speaker)
        return [*self._before[speaker], *self._said.get(speaker, ())]

    def _read_before(self, speaker: str | None) -> list[KnownState]:
        turns = [r for r in self._preceding if r.turn.role == "user" and r.turn.speaker == speaker][
            -_REMEMBERED:
        ]
        if not turns:
            return []
        past = _Conversation(SessionBatch(tuple(turns)))
        for recorded in turns:
            for _ in _read(recorded, past):
                pass
        return past.earlier(speaker)

    def remember(self, speaker: str | None, known: KnownState) -> None:
        self._said.setdefault(speaker, []).append(known)


def _read(recorded: RecordedTurn, conversation: _Conversation) -> Iterator[CardEvent]:
    turn = recorded.turn
    if turn.role == "system":
        return
    segments = list(_human_segments(turn.text))
    if not segments:
        return
    reader = _TurnReader(turn, conversation)
    orders = untrusted_spans(turn.text)
    cards: list[CardEvent] = []
    question = False
    for begin, text in segments:
        pending = False
        for sentence in sentences(text):
            question = sentence.question
            first = begin + sentence.begin
            if any(start < first + len(sentence.raw) and first < end for start, end in orders):
                continue
            cards.extend(reader.sentence(sentence, begin + sentence.begin, pending))
            pending = corrections.announces(sentence.plain, sentence.chinese)
    episode = reader.episode(segments, len(cards), question)
    if episode is not None:
        yield episode
    yield from announcements.beside_an_end(cards)


_PAST_TENSE = re.compile(r"\b(?:[a-z]{3,}ed|left|got|began|went|took|gave|quit|sold|bought)\b")


def _human_segments(text: str) -> Iterator[tuple[int, str]]:
    """Yields the non-empty parts of a turn between memory blocks, with their offsets."""
    reached = 0
    for start, end in (*memory_blocks(text), (len(text), len(text))):
        if text[reached:start].strip():
            yield reached, text[reached:start]
        reached = end


class _TurnReader:
    """Reads one turn with its clock and its speaker. Each fact becomes one card."""

    def __init__(self, turn: TurnRecorded, conversation: _Conversation) -> None:
        self._turn = turn
        self._conversation = conversation
        self._owner = turn.speaker or ("assistant" if turn.role == "assistant" else "user")
        said_at = turn.said_at if turn.said_at.tzinfo is not None else turn.said_at.replace(tzinfo=UTC)
        self._reference: datetime = local_said_at(replace(turn, said_at=said_at))
        self._provenance: Provenance = "assistant_stated" if turn.role == "assistant" else "user_stated"
        # Words like 我的狗 are equal in both scripts. The time zone of the speaker then decides.
        self._traditional = simplified(turn.text) != turn.text or turn.timezone in _TRADITIONAL_ZONES
        self._seen: set[tuple[str, str, str, str]] = set()

    def sentence(self, sentence: Sentence, offset: int, correction_announced: bool) -> Iterator[CardEvent]:
        if sentence.question:
            return
        for definition in knowledge.definition(sentence):
            yield self._knowledge(definition, sentence, offset)
        if self._turn.role != "user":
            return
        dates = _Dates(sentence, self._reference)
        happened = False
        found: list[CardEvent] = []
        for draft in self._drafts(sentence, correction_announced):
            if isinstance(draft, KnowledgeDraft) or irrealis(sentence, draft.span[1]):
                continue
            if isinstance(draft, StateDraft):
                state = self._state(draft, sentence, offset, dates)
                if state is not None:
                    found.append(state)
            elif not happened:
                event = self._event(draft, sentence, offset, dates)
                if event is not None:
                    happened = True
                    found.append(event)
        yield from _without_ended(found)

    def _drafts(self, sentence: Sentence, correction_announced: bool) -> Iterator[Draft]:
        rules = triggered(sentence)
        correcting = correction_announced or may_correct(sentence)
        if not rules and not correcting:
            return
        masked = mask(sentence)
        if TIME not in masked:
            table = chinese.RULES if sentence.chinese else english.RULES
            rules = [index for index in rules if not table[index].dated]
            if not rules and not correcting:
                return
        speaker = self._turn.speaker
        scene = Scene(
            sentence, masked, self._owner, self._traditional, lambda: self._conversation.earlier(speaker)
        )
        yield from (_chinese if sentence.chinese else _english)(scene, rules)
        if correcting:
            yield from corrections.correction(scene, announced=correction_announced)

    def _state(
        self, draft: StateDraft, sentence: Sentence, offset: int, dates: _Dates
    ) -> StateAsserted | None:
        entity = "user" if normalise_entity(draft.entity) == "user" else draft.entity
        identity = (entity, draft.key, normalise_value(draft.key, draft.value), draft.statement)
        if identity in self._seen or not identity[2]:
            return None
        self._seen.add(identity)
        moment = dates.of(*draft.span) if draft.timed else None
        if moment is not None and self._is_told_as_past(moment, draft, sentence):
            moment = None
        until = moment.end if moment is not None and moment.start is None else None
        point = moment.point if moment is not None else None
        if draft.statement == "ended" and until is not None:
            point, until = until, None
        begin, stop = draft.span
        if moment is not None:
            begin, stop = min(begin, moment.begin), max(stop, moment.stop)
        correction = draft.corrects.event if draft.corrects is not None else None
        known = concept(draft.key)
        content = draft.content or wording.state(
            draft.key,
            draft.value,
            entity,
            ended=draft.statement == "ended",
            chinese=sentence.chinese,
            traditional=self._traditional,
            kind=draft.kind,
        )
        event = StateAsserted(
            content=content,
            entity=entity,
            concept_key=draft.key,
            value=draft.value,
            cardinality=default_cardinality(draft.key),
            tags=tuple(
                dict.fromkeys((known.category if known is not None else "fact", draft.key, *draft.tags))
            ),
            origin=self._origin(offset + begin, offset + stop),
            effective_at=correction.effective_at if correction is not None else point or self._turn.said_at,
            statement=draft.statement,
            replaces=correction.value if correction is not None else None,
            effective_until=until,
            announced=draft.announced or announcements.made(draft.key, sentence),
            occurred_at_hint=correction.occurred_at_hint
            if correction is not None
            else moment.words
            if moment is not None
            else None,
            time_grain=correction.time_grain
            if correction is not None
            else moment.grain
            if moment is not None
            else None,
            time_resolved=correction.time_resolved
            if correction is not None
            else point is not None or until is not None,
            alternative_at=correction.alternative_at
            if correction is not None
            else moment.alternative
            if moment is not None
            else None,
            confidence=draft.confidence,
        )
        self._conversation.remember(self._turn.speaker, KnownState(event, draft.kind))
        return event

    def _is_told_as_past(self, moment: Moment, draft: StateDraft, sentence: Sentence) -> bool:
        """Returns True when the words are in the past tense but the resolved time is in the future.

        "Left at the end of the month" means a past month, and nobody knows which one.
        """
        future = moment.start is not None and moment.start > self._reference
        return future and _PAST_TENSE.search(sentence.plain, *draft.span) is not None

    def _event(self, draft: EventDraft, sentence: Sentence, offset: int, dates: _Dates) -> EventNoted | None:
        moment = dates.of(*draft.span)
        if draft.when != "any":
            if moment is None or moment.start is None:
                return None
            if _MOVED_TO.search(sentence.plain[max(0, moment.begin - 6) : moment.begin]):
                return None
            future = moment.start > self._reference or (
                moment.end is not None and moment.end > self._reference
            )
            if (draft.when == "future") != (
                future if draft.when == "future" else moment.start > self._reference
            ):
                return None
        words = draft.content.strip(" \t,;，；-–—")
        if self._owner != "user":
            words = f"{self._owner}：{words}" if sentence.chinese else f"{self._owner}: {words}"
        begin, stop = draft.span if draft.when == "any" else (0, len(sentence.raw))
        entity = "user" if normalise_entity(draft.entity) == "user" else draft.entity
        read = episodes.read(draft.content)
        return EventNoted(
            content=words,
            entity=entity,
            tags=(draft.key, *(topic.lower() for topic in read.topics[:3])),
            origin=self._origin(offset + begin, offset + stop),
            occurred_at=moment.start
            if moment is not None and moment.start is not None
            else self._turn.said_at,
            occurred_until=moment.end if moment is not None else None,
            occurred_at_hint=moment.words if moment is not None else None,
            time_grain=moment.grain if moment is not None else None,
            time_resolved=moment is not None and moment.start is not None,
            alternative_at=moment.alternative if moment is not None else None,
            concept_key=draft.key,
            value=draft.value,
            importance=draft.importance,
            sentiment=read.sentiment,
            confidence=0.9,
        )

    def _knowledge(self, draft: KnowledgeDraft, sentence: Sentence, offset: int) -> KnowledgeLearned:
        content = sentence.raw[draft.begin : draft.stop]
        return KnowledgeLearned(
            content=content,
            title=draft.title,
            definition=draft.definition,
            tags=("knowledge", draft.title.lower()),
            origin=self._origin(offset + draft.begin, offset + draft.stop),
            aliases=draft.aliases,
            confidence=0.9 if self._turn.role == "user" else 0.8,
        )

    def episode(self, segments: list[tuple[int, str]], cards: int, question: bool) -> EventNoted | None:
        """Returns the turn as one episode, without memory blocks, or None for small talk."""
        content = " ".join(text.strip() for _, text in segments)
        read = episodes.read(content)
        if not cards and not read.substantive:
            return None
        begin, longest = max(segments, key=lambda segment: len(segment[1]))
        begin += len(longest) - len(longest.lstrip())
        return EventNoted(
            content=content,
            entity=self._owner,
            tags=read.tags,
            origin=self._origin(begin, begin + len(longest.strip())),
            occurred_at=self._turn.said_at,
            episode=True,
            topics=read.topics,
            importance=read.importance(cards=cards, question=question),
            sentiment=read.sentiment,
        )

    def _origin(self, begin: int, stop: int) -> CardOrigin:
        turn = self._turn
        return CardOrigin(
            project_id=turn.project_id,
            session_id=turn.session_id,
            turn_ids=(turn.turn_id,),
            said_at=turn.said_at,
            source_span=SourceSpan(turn_id=turn.turn_id, start=begin, end=stop, text=turn.text[begin:stop]),
            provenance=self._provenance,
            speaker=turn.speaker,
            agent_id=turn.agent_id,
            document_id=turn.document_id,
            context_layer=turn.context_layer,
            mode=turn.mode,
            time_zone=clock_of(turn),
        )


class _Dates:
    """The times of a sentence. The grammar finds them once, at the first question. Offsets are in the sentence."""

    def __init__(self, sentence: Sentence, reference: datetime) -> None:
        self._sentence = sentence
        self._reference = reference
        self._found: list[Moment] | None = None

    def of(self, begin: int, stop: int) -> Moment | None:
        if self._found is None:
            self._found = moments(self._sentence, self._reference)
        return nearest(self._found, self._sentence, begin, stop) or lasting(
            self._sentence, begin, stop, self._reference
        )


def _without_ended(cards: list[CardEvent]) -> list[CardEvent]:
    """Returns the cards without the states that the same sentence ends ("my dog Rex died" asserts no dog)."""
    ended = {_fact(one) for one in cards if isinstance(one, StateAsserted) and one.statement == "ended"}
    if not ended:
        return cards
    return [
        one
        for one in cards
        if not (isinstance(one, StateAsserted) and one.statement == "asserted" and _fact(one) in ended)
    ]


def _fact(state: StateAsserted) -> tuple[str, str, str]:
    return state.entity, state.concept_key, state.value


def _english(scene: Scene, rules: list[int]) -> Iterator[Draft]:
    for index in rules:
        one = english.RULES[index]
        for found in compiled(one.source).finditer(scene.masked):
            if one.free or not hedged(scene.sentence, found.start(), found.start()):
                yield from one.make(found, scene)


def _chinese(scene: Scene, rules: list[int]) -> Iterator[Draft]:
    for inner, rest, end in chinese.clauses(scene):
        for index in rules:
            one = chinese.RULES[index]
            found = compiled(one.source).match(scene.masked, rest, end)
            if found is not None and (one.free or not hedged(scene.sentence, rest, rest)):
                yield from one.make(found, inner)
