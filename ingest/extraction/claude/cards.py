"""Grounds the cards of a model: checks each card against the words of the turns, and resolves its time."""

import re
import unicodedata
from collections.abc import Sequence

from events.language.asking import asking
from events.language.chinese_script import has_cjk
from events.language.concepts import canonical_key, normalise_entity, normalise_value
from events.types.cards import EventNoted, EventStatus, KnowledgeLearned, SourceSpan, StateAsserted, origin_of
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from events.types.turns import TurnRecorded
from ingest.extraction import episodes, fiction
from ingest.extraction.claude.grounding.occurrences import ground_event
from ingest.extraction.claude.grounding.quotes import QuoteInContext, TurnWords, place, same_speaker
from ingest.extraction.claude.grounding.spoken import SURE, Grounded, as_spoken, content_of, owner_of
from ingest.extraction.claude.grounding.states import ground_state
from ingest.extraction.claude.known_labels import KnownLabels
from ingest.extraction.claude.moments import CLAUSES
from ingest.extraction.claude.schema import Answer, EventFound, KnowledgeFound, ProblemFound, StateFound
from ingest.extraction.extractor_port import CardEvent, CardLink, Extraction, ProblemTold, SessionBatch
from ingest.extraction.memory_blocks import memory_blocks, without_memory_blocks
from ingest.extraction.rules.problems import noted

_ASKS = ("?", "？")
_INVERTED = re.compile(r"\W*(?:do|does|did|is|are|was|were|will|would|could|should)\b", re.IGNORECASE)
Finding = StateFound | EventFound | KnowledgeFound | ProblemFound


def ground_problem(
    found: ProblemFound, quote: QuoteInContext, heard: list[TurnWords], labels: KnownLabels
) -> ProblemTold | None:
    """Returns the event of a problem, or None.

    It is refused when an assistant says it, when its clause asks, and when the words of the problem or the approach
    are in no turn of the speaker. ``heard`` are the turns up to that of the quote. A speaker with a name is named in
    the problem ("Nora's insomnia"), so each speaker has problems of their own. A label of ``labels`` names an
    open problem, which is not opened again.
    """
    turn = quote.turn
    if turn.role != "user" or _asks(quote):
        return None
    own = [each for each in heard if same_speaker(each.turn, turn)]
    known = labels.problem(found.problem)
    problem = known or found.problem.strip()
    if known is None and not any(each.says(problem) for each in own):
        return None
    if known is not None and found.step == "opened":
        return None
    if known is None and turn.speaker and normalise_entity(turn.speaker) != "user":
        problem = f"{turn.speaker}的{problem}" if has_cjk(problem) else f"{turn.speaker}'s {problem}"
    origin = origin_of(turn, quote.span)
    if found.step == "opened":
        return ProblemOpened(description=problem, origin=origin)
    if found.step == "closed":
        return ProblemClosed(problem=problem, origin=origin)
    if found.approach is None or not any(each.says(found.approach) for each in own):
        return None
    said = found.outcome is not None and quote.words.says(found.outcome)
    return ProblemAttempted(
        approach=found.approach.strip(),
        problem=problem,
        outcome=found.outcome.strip() if said and found.outcome is not None else None,
        successful=found.worked,
        tried_at=turn.said_at,
        origin=origin,
    )


def _asks(quote: QuoteInContext) -> bool:
    """Returns True when a quote asks. "My knee hurts, any tips?" tells of the knee before it asks."""
    if not quote.sentence.endswith(_ASKS):
        return False
    clause = quote.touched(CLAUSES).rstrip(",，;； ")
    return clause.endswith(_ASKS) or asking(clause) > 0 or _INVERTED.match(clause) is not None


_FOREIGN = re.compile(r"[^\W\d_]")
# Keys of what happens or is going to happen. A model that gives such a state means an event.
_EVENT_KEYS: dict[str, EventStatus] = {
    "plan": "planned",
    "meeting": "planned",
    "activity": "happened",
    "travelled_to": "happened",
}


_WISH_KEYS = frozenset(("wish", "goal"))


def ground_cards(answer: Answer, batch: SessionBatch) -> Extraction:
    """Returns the cards of ``answer`` that the turns of ``batch`` bear out, and an episode of every substantive turn.

    A card is refused when nobody said its quote, when it is a state or an event that an assistant said, or when its
    value, names or numbers are not in the words around the quote (:mod:`ingest.extraction.claude.grounding.evidence`).
    A label of the answer is one of :class:`KnownLabels`, as the prompt showed them.
    """
    shown = KnownLabels(batch)
    known = shown.words()
    turns = [TurnWords(recorded.turn) for recorded in (*batch.preceding, *batch.turns)]
    first = len(batch.preceding)
    read: list[tuple[int, Grounded[CardEvent]]] = []
    told: list[tuple[int, EventFound]] = []
    refused = answer.faulty
    reasons: list[str] = []
    problems: list[tuple[int, ProblemTold]] = []
    findings: list[Finding] = [*answer.states, *answer.events, *answer.knowledge, *answer.problems]
    for found in findings:
        at = place(found.turn, found.quote, turns[first:])
        card: Grounded[CardEvent] | ProblemTold | None = None
        if at is not None:
            quote = QuoteInContext(turns, first, first + at[0], at[1], known)
            if isinstance(found, ProblemFound):
                card = ground_problem(found, quote, turns[: first + at[0] + 1], shown)
            else:
                card = _card(found, quote, shown)
        if at is None or card is None:
            refused += 1
            reasons.append(_reason(found, said=at is not None))
        elif isinstance(card, ProblemTold):
            problems.append((at[0], card))
        else:
            read.append((at[0], card))
            told += [(at[0], found)] if isinstance(found, EventFound) else []
            refused += card.refused
    problems.sort(key=lambda pair: pair[0])
    cards, links = _in_order(turns[first:], read, told, problems, fiction.played(batch))
    return Extraction(
        cards,
        refused=refused,
        links=links,
        problems=tuple(told for _, told in problems),
        reasons=tuple(reasons),
    )


def _reason(found: Finding, *, said: bool) -> str:
    kind = type(found).__name__.removesuffix("Found").lower()
    return (
        f"{kind} of turn {found.turn}: {'the words do not bear it out' if said else 'nobody said the quote'}"
    )


def _in_order(
    turns: Sequence[TurnWords],
    read: Sequence[tuple[int, Grounded[CardEvent]]],
    found: Sequence[tuple[int, EventFound]],
    problems: Sequence[tuple[int, ProblemTold]],
    played: frozenset[str],
) -> tuple[tuple[CardEvent, ...], tuple[CardLink, ...]]:
    """Returns the cards by turn, each once, behind the episode of their turn, and their links.

    An attempt with an outcome is a card. ``played`` are the ids of turns of a role play.
    """
    cards: list[list[Grounded[CardEvent]]] = [[] for _ in turns]
    attempts = [
        (number, Grounded(noted(told)))
        for number, told in problems
        if isinstance(told, ProblemAttempted) and told.successful is not None
    ]
    seen: set[tuple[object, ...]] = set()
    for number, one in (*read, *attempts):
        if (identity := _identity(one.card)) not in seen:
            seen.add(identity)
            cards[number].append(one)
    ordered: list[CardEvent] = []
    links: list[CardLink] = []
    for number, (words, here) in enumerate(zip(turns, cards, strict=True)):
        of_turn = [event for turn, event in found if turn == number]
        ordered += _episode(words, len(here), of_turn, played=words.turn.turn_id in played)
        for one in here:
            links += [CardLink(len(ordered), to_card, predicate) for predicate, to_card in one.relations]
            ordered.append(one.card)
    return tuple(ordered), tuple(links)


def substantive(turn: TurnRecorded) -> bool:
    """Returns True when a turn says more than small talk. Text in other scripts always counts as substantive."""
    words = without_memory_blocks(turn.text)
    if turn.role == "system" or not words.strip():
        return False
    return episodes.read(words).substantive or any(
        not character.isascii() and unicodedata.category(character).startswith("L") and not has_cjk(character)
        for character in _FOREIGN.findall(words)
    )


def _card(
    found: StateFound | EventFound | KnowledgeFound, quote: QuoteInContext, labels: KnownLabels
) -> Grounded[CardEvent] | None:
    role = quote.turn.role
    if role == "system":
        return None
    if isinstance(found, KnowledgeFound):
        return _knowledge(found, quote)
    if role != "user":
        return None
    if isinstance(found, EventFound):
        return ground_event(found, quote, labels)
    key = canonical_key(found.concept_key)
    if (
        key in _WISH_KEYS
    ):  # A model that reads the prompt gives a wish as an event. Others take conditions for wishes.
        return None
    if key in _EVENT_KEYS:
        return ground_event(_as_event(found, key), quote, labels)
    return ground_state(found, quote, labels)


def _as_event(found: StateFound, key: str) -> EventFound:
    """Returns the event that a model gives as a state ("plan = trip to Prague")."""
    return EventFound(
        turn=found.turn,
        quote=found.quote,
        content=found.content,
        entity=found.entity,
        importance=5,
        occurred_at_hint=found.occurred_at_hint or found.value_hint,
        status="cancelled" if found.statement == "ended" else _EVENT_KEYS[key],
        replaces=found.value if found.statement == "ended" else found.replaces,
    )


def _knowledge(found: KnowledgeFound, quote: QuoteInContext) -> Grounded[KnowledgeLearned] | None:
    turn, span = quote.turn, quote.span
    title = found.title.strip()
    evidence = quote.explanation()
    definition = as_spoken(found.definition, turn, span.text)
    if not evidence.knows(title) or evidence.verdict(definition, known=title, share=0.5) == "refused":
        return None
    content = content_of(found.content or span.text, quote, evidence, title)
    if content is None:
        return None
    aliases = (alias.strip() for alias in found.aliases if alias.strip() != title)
    card = KnowledgeLearned(
        content=content,
        title=title,
        definition=definition,
        tags=("knowledge", title.lower()),
        origin=origin_of(turn, span),
        aliases=tuple(dict.fromkeys(alias for alias in aliases if evidence.knows(alias))),
        confidence=SURE,
    )
    return Grounded(card)


def _episode(words: TurnWords, cards: int, events: Sequence[EventFound], *, played: bool) -> list[EventNoted]:
    """Returns the turn as one episode, without memory blocks. Returns an empty list for small talk.

    What the model says of the ``events`` of the turn outweighs what the words of the turn show.
    """
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
    read = episodes.read(content).told(
        tuple(topic.strip() for event in events for topic in event.topics),
        [each.sentiment for each in sorted(events, key=lambda each: -each.importance)],
    )
    question = content.rstrip().endswith(("?", "？"))
    importance = max(
        [each.importance for each in events], default=read.importance(cards=cards, question=question)
    )
    return [
        EventNoted(
            content=content,
            entity=owner_of(turn),
            tags=(*fiction.tags(fiction.spans(turn.text, played=played)[0]), *read.tags),
            origin=origin_of(
                turn, SourceSpan(turn_id=turn.turn_id, start=start, end=end, text=turn.text[start:end])
            ),
            occurred_at=turn.said_at,
            episode=True,
            topics=read.topics,
            importance=importance,
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
        return "event", normalise_entity(card.entity), card.content.casefold(), card.occurred_at, card.status
    return "knowledge", card.title.casefold(), card.definition.casefold()
