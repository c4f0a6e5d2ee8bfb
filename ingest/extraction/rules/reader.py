"""Reads the sentences of one turn and makes its cards, with their times, scope and source."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from events.language.casual import WrittenOut
from events.language.changes import tells_of_a_change
from events.language.chinese_script import to_simplified
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
from ingest.extraction import episodes
from ingest.extraction.extractor_port import CardEvent
from ingest.extraction.rules import corrections, finder, knowledge, plans, wording
from ingest.extraction.rules.drafts import DialogueState, EventDraft, KnowledgeDraft, KnownState, StateDraft
from ingest.extraction.rules.factual import FactualText
from ingest.extraction.rules.moments import Dates, Moment, coming
from ingest.extraction.rules.problems.reader import ProblemReader
from ingest.extraction.rules.sentences import Sentence, clause, dictated, irrealis, simplified
from ingest.extraction.rules.values import TIME
from ingest.extraction.rules.words import SETS

# "Moved the date to August": August is the new date and not the time of the event.
_MOVED_TO = re.compile(r"\b(?:to|until|till) ?$|[到至]$")
_TRADITIONAL_ZONES = frozenset(("Asia/Taipei", "Asia/Hong_Kong", "Asia/Macau"))
# "[name]", "{city}", "XXX", "____", 某某: a template.
_BLANK = re.compile(r"[\[\]{}<>【】]|\b[xX]{2,}\b|_{2}|\*{2}|某某|\bXYZ\b|○○|[〇OＸ]{2,}")
_READ = 2000  # characters of a turn in which a time without a date is looked for
# What began, or lasts. The perfective 了 before a length of time ends with it: 住了三個月.
_LASTS_ZH = re.compile(rf"了(?!{TIME})|[起就从自已]|开始|以来|至今|一直")
_PAST_TENSE = re.compile(r"\b(?:[a-z]{3,}ed|left|got|began|went|took|gave|quit|sold|bought)\b")


class TurnReader:
    """Reads one turn with its clock and its speaker. Each fact becomes one card."""

    def __init__(
        self, turn: TurnRecorded, told: Callable[[], DialogueState], said: DialogueState, written: WrittenOut
    ) -> None:
        """``told`` returns what the speaker told in the conversation. The reader adds its finds to ``said``.

        The sentences that the reader gets are those of ``written``, the turn's text with its casual spellings written
        out. Sources are spans of the turn's own text.
        """
        self._turn = turn
        self._written = written
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
        self._text = FactualText(written.text)
        self._clock = clock_of(turn)
        self._seen: set[tuple[str, str, str, str]] = set()
        self._concept: KnowledgeLearned | None = None
        """The concept that "it" means."""

    def problems(self) -> ProblemReader:
        """Returns the reader of the turn's sentences about problems."""
        turn = self._turn
        if turn.text != self._written.text:
            turn = replace(turn, text=self._written.text)
        return ProblemReader(turn, self._told, self._said, self._origin)

    def sentence(self, sentence: Sentence, offset: int, correction_announced: bool) -> Iterator[CardEvent]:
        if sentence.question:
            return
        for definition in knowledge.definition(sentence):
            if self._text.holds(offset, offset + len(sentence.raw)):
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
            if not self._is_told(draft, sentence, offset, dates):
                continue
            if isinstance(draft, StateDraft):
                state = self._state(draft, sentence, offset, dates)
                if state is not None:
                    found.append(state)
            elif not any(isinstance(one, EventNoted) for one in found):
                event = self._event(draft, sentence, offset, dates)
                if event is not None:
                    self._said.events.append(event)
                    found.append(event)
        yield from _with_announced(found)

    def _is_told(self, draft: StateDraft | EventDraft, sentence: Sentence, offset: int, dates: Dates) -> bool:
        """Returns False for a condition, a wish, an example, the words of another, and an order to the reader.

        What held "when I was ten" or 去年 is no state of now.
        """
        return not (
            irrealis(sentence, draft.span[1])
            or (isinstance(draft, StateDraft) and self._is_of_then(draft, sentence, dates))
            or dictated(sentence, draft.span[0])
            or not self._text.holds(offset, offset + len(sentence.raw))
        )

    def _is_of_then(self, draft: StateDraft, sentence: Sentence, dates: Dates) -> bool:
        """Returns True for a state of a time of life, and for a Chinese one beside a time that is over: 去年我住在東京.

        Chinese verbs have no tense, so the time tells what is past. A change lasts, and so does what began then.
        """
        if _is_of_a_life_time(sentence, *draft.span):
            return True
        lasting = draft.timed or draft.dated or draft.announced or draft.statement != "asserted"
        if not sentence.chinese or lasting or draft.value_span is not None:
            return False
        moment = dates.of(*draft.span)
        if moment is None or moment.end is None or moment.end.date() > self._reference.date():
            return False
        first, last = clause(sentence, *draft.span)
        of_another = moment.stop <= first and TIME in dates.masked[first:last]
        return not of_another and _LASTS_ZH.search(dates.masked, first, last) is None

    def _drafts(self, sentence: Sentence, dates: Dates, announced: bool) -> Iterator[StateDraft | EventDraft]:
        masked = dates.masked
        corrects = announced or corrections.marks(sentence)
        told = self._told() if corrects else None
        right = corrections.right_value(sentence, masked, announced=announced) if corrects else None
        if told is not None and right is not None:
            mended = corrections.correction(sentence, right, told)
            moved = plans.corrected(sentence, right, told, self._owner)
            yield from filter(None, (mended, moved))
            if mended is not None or TIME in right["v"]:
                return
        change = plans.changed(sentence, masked, self._owner, self._told)
        if change is not None:
            yield change
        for draft in finder.states(sentence, masked, self._owner):
            known = _same_fact(told, draft) if told is not None and draft.statement == "asserted" else None
            yield draft if known is None else replace(draft, statement="corrected", corrects=known)
        if change is None:
            yield from plans.dated(sentence, masked, self._owner, dates.moments, self._reference)

    def _state(
        self, draft: StateDraft, sentence: Sentence, offset: int, dates: Dates
    ) -> StateAsserted | None:
        entity = "user" if normalise_entity(draft.entity) == "user" else draft.entity
        identity = (entity, draft.key, normalise_value(draft.key, draft.value), draft.statement)
        if identity in self._seen or not identity[2] or not self._concerns_speaker(draft, entity, offset):
            return None
        self._seen.add(identity)
        moment = self._time_of(draft, dates)
        if moment is not None and self._is_told_as_past(moment, draft, sentence):
            moment = None
        until = moment.end if moment is not None and moment.start is None else None
        point = moment.point if moment is not None else None
        if draft.announced and moment is not None and self._is_running(moment):
            point = None  # "moved this month": what was said earlier in the month held until then
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
            cardinality=draft.cardinality or default_cardinality(draft.key),
            tags=tuple(
                dict.fromkeys((known.category if known is not None else "fact", draft.key, *draft.tags))
            ),
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
            confidence=draft.confidence,
        )
        if draft.corrects is not None:
            earlier = draft.corrects.event
            # The time that is put right tells on which side of the turn the right one lies.
            begun = replace(event, replaces=earlier.value, alternative_at=None)
            event = begun if draft.timed else _at_time_of(earlier, event)
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

    def _concerns_speaker(self, draft: StateDraft, entity: str, offset: int) -> bool:
        """Returns False for people and things of an exercise, a story or a document, and for a blank to fill in."""
        if (
            not self._text.typed(offset + draft.span[0])
            or _BLANK.search(draft.value)
            or (_BLANK.search(entity) and entity != self._owner)
        ):
            return False
        named = entity != self._owner and (not entity.isascii() or entity[:1].isupper())
        stranger = (
            named
            and draft.corrects is None
            and to_simplified(entity).casefold() not in SETS["kin"] | SETS["亲"]
        )
        return not (stranger or draft.impersonal) or self._text.personal

    def _is_running(self, moment: Moment) -> bool:
        """Returns True when the turn was said within a longer time: "this month", "this year"."""
        if moment.start is None or moment.end is None:
            return False
        # Days are counted on the calendar, because a day on which the clocks change lasts 23 or 25 hours.
        if moment.end.date() - moment.start.date() <= timedelta(days=1):
            return False
        return moment.start <= self._reference < moment.end

    def _is_told_as_past(self, moment: Moment, draft: StateDraft, sentence: Sentence) -> bool:
        """Returns True when the words are in the past tense but the resolved time is in the future.

        "Left at the end of the month" means a past month, and nobody knows which one.
        """
        future = moment.start is not None and moment.start > self._reference
        return future and _PAST_TENSE.search(sentence.plain, *draft.span) is not None

    def _event(self, draft: EventDraft, sentence: Sentence, offset: int, dates: Dates) -> EventNoted | None:
        moment = self._moment_of(draft, sentence, dates)
        if draft.when in ("past", "future"):
            if moment is None or moment.start is None:
                return None
            if _MOVED_TO.search(sentence.plain[max(0, moment.begin - 6) : moment.begin]):
                return None
            coming = moment.start > self._reference
            if draft.when == "future":
                coming = coming or (moment.end is not None and moment.end > self._reference)
            if (draft.when == "future") != coming:
                return None
        if draft.when == "coming" and moment is None:
            return None
        content = draft.content.strip(" \t,;，；-–—")
        words = content
        if self._owner != "user":
            words = f"{self._owner}：{words}" if sentence.chinese else f"{self._owner}: {words}"
        begin, stop = draft.span if draft.when == "any" else (0, len(sentence.raw))
        entity = "user" if normalise_entity(draft.entity) == "user" else draft.entity
        topics, sentiment = episodes.gist(draft.content)
        dated = moment is not None and moment.start is not None
        return EventNoted(
            content=words,
            entity=entity,
            tags=(draft.key, *(topic.lower() for topic in topics[:3])),
            origin=self._origin(offset + begin, offset + stop),
            occurred_at=moment.start
            if moment is not None and moment.start is not None
            else self._turn.said_at,
            occurred_until=moment.end if moment is not None else None,
            occurred_at_hint=moment.words if moment is not None else None,
            time_grain=moment.grain if moment is not None else None,
            time_resolved=dated,
            alternative_at=moment.alternative if moment is not None else None,
            concept_key=draft.key,
            value=draft.value,
            importance=draft.importance,
            sentiment=sentiment,
            status=draft.status,
            replaces=draft.replaces,
            confidence=0.9,
        )

    def _moment_of(self, draft: EventDraft, sentence: Sentence, dates: Dates) -> Moment | None:
        """Returns the time of an event, or None.

        A plan that moves has the time it moves to, which lies ahead. A plan that is called off has a time only when it
        is past: a time ahead is that of the plan.
        """
        if draft.when == "coming":
            return coming(sentence, *draft.span, self._reference)
        moment = dates.of(*draft.span)
        if draft.when == "said" and moment is not None:
            of_plan = moment.words in (draft.replaces or "")
            past = moment.start is not None and moment.start <= self._reference
            return moment if past and not of_plan else None
        return moment

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
            tags=read.tags,
            origin=self._origin_of(begin, begin + len(longest.strip())),
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
        """Returns the source of a span of the text that is written out."""
        return self._origin_of(*self._written.original(begin, stop))

    def _origin_of(self, begin: int, stop: int) -> CardOrigin:
        turn = self._turn
        span = SourceSpan(turn_id=turn.turn_id, start=begin, end=stop, text=turn.text[begin:stop])
        return replace(origin_of(turn, span), time_zone=self._clock)


def _with_announced(cards: list[CardEvent]) -> Iterator[CardEvent]:
    """Yields the cards. A value next to the end of another value of the same fact becomes an announced change.

    A value that the same sentence ends is not asserted ("my dog Rex died" asserts no dog).
    """
    ended = {
        (_fact(one), one.value)
        for one in cards
        if isinstance(one, StateAsserted) and one.statement == "ended"
    }
    for one in cards:
        if not isinstance(one, StateAsserted) or one.statement != "asserted":
            yield one
        elif (_fact(one), one.value) not in ended:
            changes = not one.announced and any(_fact(one) == fact for fact, _ in ended)
            yield replace(one, announced=True) if changes else one


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


def _at_time_of(earlier: StateAsserted, correction: StateAsserted) -> StateAsserted:
    return replace(
        correction,
        replaces=earlier.value,
        effective_at=earlier.effective_at,
        occurred_at_hint=earlier.occurred_at_hint,
        time_grain=earlier.time_grain,
        time_resolved=earlier.time_resolved,
        alternative_at=earlier.alternative_at,
    )


def _one_time(cards: list[CardEvent]) -> EventNoted | None:
    """Returns an event with the one past time that the cards tell, or None when they tell none or several."""
    dated = [one for one in cards if isinstance(one, EventNoted) and one.time_resolved]
    if not dated:
        return None
    times = {(one.occurred_at, one.occurred_until) for one in dated}
    if len(times) > 1 or dated[0].status != "happened" or dated[0].occurred_at > dated[0].origin.said_at:
        return None
    return dated[0]


def _fact(state: StateAsserted) -> tuple[str, str]:
    return state.entity, state.concept_key
