"""Reads the sentences of one turn and makes its cards, with their times, scope and source."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from events.language.changes import tells_of_a_change
from events.language.concepts import (
    concept,
    concepts_changed,
    default_cardinality,
    normalise_entity,
    normalise_value,
)
from events.language.life_times import life_time
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted, origin_of
from events.types.turn_contract import clock_of, local_said_at
from events.types.turns import TurnRecorded
from ingest.extraction import episodes, fiction
from ingest.extraction.extractor_port import CardEvent, ProblemTold
from ingest.extraction.rules import corrections, finder, knowledge, plans, problems, wording
from ingest.extraction.rules.drafts import DialogueState, EventDraft, KnowledgeDraft, KnownState, StateDraft
from ingest.extraction.rules.factual import FactualText, dictated
from ingest.extraction.rules.moments import Dates, Moment, coming
from ingest.extraction.rules.sentences import Sentence, clause, irrealis, simplified

_TRADITIONAL_ZONES = frozenset(("Asia/Taipei", "Asia/Hong_Kong", "Asia/Macau"))
# Characters. What follows them in a turn is mostly pasted: of 20 states in real chats with an assistant, 3 were right.
_TYPED = 1000
_READ = 2000  # characters of a turn in which a time without a date is looked for
# What began, or lasts. The perfective 了 before a length of time ends with it: 住了三個月.
_LASTS_ZH = re.compile("了$|[起就从自已]|开始|以来|至今|一直|现在")


class TurnReader:
    """Reads one turn with its clock and its speaker. Each fact becomes one card."""

    def __init__(
        self,
        turn: TurnRecorded,
        told: Callable[[], DialogueState],
        said: DialogueState,
        *,
        played: bool = False,
    ) -> None:
        """``told`` returns what the speaker told in the conversation. The reader adds its finds to ``said``.
        ``played``: the turn belongs to a role play that began before it.
        """
        self._turn = turn
        self._told = told
        self._said = said
        self._owner = turn.speaker or ("assistant" if turn.role == "assistant" else "user")
        if turn.said_at.tzinfo is None:
            turn = replace(turn, said_at=turn.said_at.replace(tzinfo=UTC))
        self._reference: datetime = local_said_at(turn)
        # Words like 我的狗 are equal in both scripts. The time zone of the speaker then decides.
        self._traditional = turn.timezone in _TRADITIONAL_ZONES or (
            not turn.text.isascii() and simplified(turn.text) != turn.text
        )
        self._text = FactualText(turn.text, by_user=turn.role == "user", played=played)
        self._clock = clock_of(turn)
        self._seen: set[tuple[str, str, str, str]] = set()
        self._concept: KnowledgeLearned | None = None
        """The concept that "it" means."""

    def sentence(self, sentence: Sentence, offset: int, correction_announced: bool) -> Iterator[CardEvent]:
        if sentence.question:
            return
        definition = knowledge.definition(sentence)
        if definition is not None and self._text.holds(offset, offset + len(sentence.raw)):
            self._concept = self._knowledge(definition, sentence, offset)
            yield self._concept
        names = knowledge.related(sentence) if self._concept is not None else ()
        if self._concept is not None and names:
            origin = self._origin(offset, offset + len(sentence.raw))
            yield replace(self._concept, origin=origin, related_titles=names)
        if self._turn.role != "user":
            return
        dates = Dates(sentence, self._reference)
        found: list[CardEvent] = []
        for draft in self._drafts(sentence, dates, correction_announced):
            if not self._is_told(*draft.span, sentence, offset):
                continue
            if isinstance(draft, EventDraft):
                event = self._event(draft, sentence, offset)
                self._said.events.append(event)
                found.append(event)
            elif not self._is_of_then(draft, sentence, dates):
                found += filter(None, (self._state(draft, sentence, offset, dates),))
        yield from found

    def problems(self, sentence: Sentence, offset: int) -> Iterator[ProblemTold]:
        """Yields what a sentence of the user at ``offset`` tells of problems of the user."""
        turn = self._turn
        if (
            sentence.question
            or turn.role != "user"
            or turn.by_contact
            or normalise_entity(self._owner) != "user"
        ):
            return
        origin = self._origin(offset, offset + len(sentence.raw.rstrip()))
        for found in problems.told(sentence):
            begin, stop = found.span()
            if self._is_told(begin, stop, sentence, offset):
                told = problems.problem(found, sentence, turn, origin, self._told, self._said)
                yield from filter(None, (told,))

    def _is_told(self, begin: int, stop: int, sentence: Sentence, offset: int) -> bool:
        """Returns False for a condition, a wish, an example, the words of another, and an order to the reader."""
        return not (
            irrealis(sentence, stop)
            or dictated(sentence, begin)
            or not self._text.holds(offset, offset + len(sentence.raw))
        )

    def _is_of_then(self, draft: StateDraft, sentence: Sentence, dates: Dates) -> bool:
        """Returns True for a state of a time of life, and for a Chinese one beside a time that is over: 去年我住在東京.

        Chinese verbs have no tense, so the time tells what is past. A change lasts, and so does what began then.
        """
        if _is_of_a_life_time(sentence, *draft.span):
            return True
        if not sentence.chinese or draft.timed or draft.announced or draft.statement != "asserted":
            return False
        moment = dates.of(*draft.span) if draft.value_span is None else None
        over = moment is not None and moment.end is not None and moment.end.date() <= self._reference.date()
        return over and _LASTS_ZH.search(sentence.plain) is None

    def _drafts(self, sentence: Sentence, dates: Dates, announced: bool) -> Iterator[StateDraft | EventDraft]:
        masked = dates.masked
        told = self._told() if announced or corrections.marks(sentence) else None
        mended = corrections.correction(sentence, masked, told) if told is not None else None
        if mended is not None:
            yield mended
            return
        for draft in finder.states(sentence, masked, self._owner):
            known = _same_fact(told, draft) if told is not None and draft.statement == "asserted" else None
            yield draft if known is None else replace(draft, statement="corrected", corrects=known)
        event = plans.changed(sentence, masked, self._owner, self._told, self._reference)
        event = event or plans.dated(sentence, masked, dates.moments, self._reference)
        if event is not None:
            yield event

    def _state(
        self, draft: StateDraft, sentence: Sentence, offset: int, dates: Dates
    ) -> StateAsserted | None:
        entity = "user" if normalise_entity(draft.entity) == "user" else draft.entity
        identity = (entity, draft.key, normalise_value(draft.key, draft.value), draft.statement)
        if identity in self._seen or not identity[2] or offset + draft.span[0] > _TYPED:
            return None
        self._seen.add(identity)
        moment = self._time_of(draft, dates)
        until = moment.end if moment is not None and moment.start is None else None
        point = moment.point if moment is not None else None
        if draft.statement == "ended" and until is not None:
            point, until = until, None
        begin, stop = draft.span
        if moment is not None:
            begin, stop = min(begin, moment.begin), max(stop, moment.stop)
        due = coming(sentence, *draft.value_span, self._reference) if draft.value_span is not None else None
        known = concept(draft.key)
        content = draft.content or wording.state(
            draft.key,
            draft.value,
            entity,
            ended=draft.statement == "ended",
            chinese=sentence.chinese,
            kind=draft.kind,
        )
        if sentence.chinese and not self._traditional:
            content = wording.fold_script_except(content, draft.value, entity)
        event = StateAsserted(
            content=content,
            entity=entity,
            concept_key=draft.key,
            value=draft.value,
            cardinality=default_cardinality(draft.key),
            tags=tuple(dict.fromkeys((known.category if known is not None else "fact", draft.key))),
            origin=self._origin(offset + begin, offset + stop),
            effective_at=point or self._turn.said_at,
            statement=draft.statement,
            effective_until=until,
            announced=draft.announced or _announces_change(draft, sentence),
            occurred_at_hint=moment.words if moment is not None else None,
            time_grain=moment.grain if moment is not None else None,
            time_resolved=point is not None or until is not None,
            alternative_at=moment.alternative if moment is not None else None,
            value_hint=sentence.raw[slice(*draft.value_span)].strip()
            if draft.value_span is not None
            else None,
            value_at=due.start if due is not None else None,
            value_until=due.end if due is not None else None,
            value_grain=due.grain if due is not None else None,
            confidence=0.9,
        )
        if draft.corrects is not None:
            earlier = draft.corrects.event
            event = replace(
                event,
                replaces=earlier.value,
                effective_at=earlier.effective_at,
                occurred_at_hint=earlier.occurred_at_hint,
                time_grain=earlier.time_grain,
                time_resolved=earlier.time_resolved,
                alternative_at=earlier.alternative_at,
            )
        self._said.states.append(KnownState(event, draft.kind))
        return event

    def _time_of(self, draft: StateDraft, dates: Dates) -> Moment | None:
        """Returns the time that tells when a state began or ends, or None."""
        if draft.timed:
            return dates.of(*draft.span)
        added = dates.added(draft.span[1]) if draft.dated else None
        if added is None and draft.statement == "asserted" and draft.value_span is None:
            return dates.limiting(*draft.span)
        return added

    def _event(self, draft: EventDraft, sentence: Sentence, offset: int) -> EventNoted:
        moment = draft.moment
        content = sentence.raw.strip(" ,;，；-–—")
        topics, sentiment = episodes.gist(content)
        by_another = f"{self._owner}{'：' if sentence.chinese else ': '}" if self._owner != "user" else ""
        return EventNoted(
            content=by_another + content,
            entity="user" if normalise_entity(self._owner) == "user" else self._owner,
            tags=(draft.key, *(topic.lower() for topic in topics[:3])),
            origin=self._origin(offset, offset + len(sentence.raw)),
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
            sentiment=sentiment,
            status=draft.status,
            replaces=draft.replaces,
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

    def episode(
        self, segments: list[tuple[int, str]], cards: list[CardEvent], question: bool
    ) -> EventNoted | None:
        """Returns the turn as one episode, without memory blocks, or None for small talk.

        The episode has the time of the one past event that the turn tells, and otherwise the time of the turn.
        """
        content = " ".join(text.strip() for _, text in segments)
        read = episodes.read(content)
        if not cards and not read.substantive:
            return None
        begin, longest = max(segments, key=lambda segment: len(segment[1]))
        begin += len(longest) - len(longest.lstrip())
        episode = EventNoted(
            content=content,
            entity=self._owner,
            tags=(*fiction.tags(self._text.fiction), *read.tags),
            origin=self._origin(begin, begin + len(longest.strip())),
            occurred_at=self._turn.said_at,
            episode=True,
            topics=read.topics,
            importance=read.importance(cards=len(cards), question=question),
            sentiment=read.sentiment,
        )
        told = _one_time(cards)
        if told is None:
            of_a_life = None if question else life_time(content[:_READ])
            return (
                episode
                if of_a_life is None
                else replace(episode, occurred_at_hint=content[slice(*of_a_life)])
            )
        return replace(
            episode,
            occurred_at=told.occurred_at,
            occurred_until=told.occurred_until,
            occurred_at_hint=told.occurred_at_hint,
            time_grain=told.time_grain,
            time_resolved=True,
            alternative_at=told.alternative_at,
        )

    def _origin(self, begin: int, stop: int) -> CardOrigin:
        turn = self._turn
        span = SourceSpan(turn_id=turn.turn_id, start=begin, end=stop, text=turn.text[begin:stop])
        return replace(origin_of(turn, span), time_zone=self._clock)


def _same_fact(told: DialogueState, draft: StateDraft) -> KnownState | None:
    if default_cardinality(draft.key) != "single_value":
        return None
    for known in reversed(told.states):
        if (known.key, known.entity) == (draft.key, draft.entity):
            return known if known.value != draft.value and known.event.statement != "ended" else None
    return None


def _announces_change(draft: StateDraft, sentence: Sentence) -> bool:
    """True when the clause of the state tells of a change, or its sentence has a word of news of its concept."""
    own = sentence.plain[slice(*clause(sentence, *draft.span))]
    changed = draft.statement != "ended" and tells_of_a_change(own)
    return changed or draft.key in concepts_changed(sentence.plain)


def _is_of_a_life_time(sentence: Sentence, begin: int, stop: int) -> bool:
    found = life_time(sentence.plain)
    first, last = clause(sentence, begin, stop)
    return found is not None and (found[0] == 0 or (found[0] < last and found[1] > first))


def _one_time(cards: list[CardEvent]) -> EventNoted | None:
    """Returns an event with the one past time that the cards tell, or None when they tell none or several."""
    dated = [one for one in cards if isinstance(one, EventNoted) and one.time_resolved]
    if not dated:
        return None
    times = {(one.occurred_at, one.occurred_until) for one in dated}
    if len(times) > 1 or dated[0].status != "happened" or dated[0].occurred_at > dated[0].origin.said_at:
        return None
    return dated[0]
