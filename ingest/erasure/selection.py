"""Which events of a user an erasure takes: whole turns, and every event that was made of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from events.language.concepts import normalise_value
from events.people.people_log import told_of
from events.platform.database import Connection
from events.store.log import Unreadable, history
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.core import (
    SCHEMA_EVENTS,
    CorePatched,
    CoreRolledBack,
    PatchApproved,
    PatchQueued,
    PatchRefused,
)
from events.types.curation import CuratorUndone
from events.types.envelope import Event, NewEvent, Payload
from events.types.extraction import CardsWithdrawn, ExtractionFailed
from events.types.insights import InsightDerived, InsightRetracted
from events.types.people import PERSON_EVENTS
from events.types.problems import PROBLEM_EVENTS
from events.types.references import (
    ReferenceChanged,
    ReferenceProposalAccepted,
    ReferenceProposalRefused,
    ReferenceProposed,
)
from events.types.relations import CardsConnected, ConnectionWithdrawn
from events.types.sessions import SessionCheckpointed
from events.types.threads import CardsThreaded, CardsUnthreaded, ThreadClosed, ThreadOpened
from events.types.tombstones import Erased, SubjectErased
from events.types.turns import TurnRecorded
from ingest.erasure.names import Names, words_of
from ingest.erasure.restating import Curated, Restating, again
from ingest.extraction.extraction_events import words_before

Chooses = Callable[[TurnRecorded], bool]


@dataclass(slots=True)
class Selection:
    """The events to erase, in order. ``said_again`` are events of other turns, without the words of erased turns.

    ``read_up_to`` is the last position that was read.
    """

    events: list[Event] = field(default_factory=list)
    said_again: list[NewEvent] = field(default_factory=list)
    read_up_to: int = 0


def events_of(connection: Connection, storage_id: str, after: int = 0) -> Iterator[Event]:
    """Yields the events of a user after a position in order, also those that nobody can read, but no tombstones."""
    for event in history(connection, storage_id, after=after):
        if not isinstance(event.payload, SubjectErased):
            yield event


def is_readable(event: Event) -> bool:
    """True unless the words of ``event`` were erased. An event that this build cannot decode still has its words."""
    return not isinstance(event.payload, Erased)


def of_turns(connection: Connection, storage_id: str, chooses: Chooses) -> Selection:
    """Selects the turns that ``chooses`` names, and what was made of them."""
    turns = {
        event.payload.turn_id: event.payload
        for event in events_of(connection, storage_id)
        if isinstance(event.payload, TurnRecorded) and chooses(event.payload)
    }
    return _made_of(connection, storage_id, turns, lambda _: False)


def of_turn(turn_id: str) -> Chooses:
    """Chooses one turn."""
    return lambda turn: turn.turn_id == turn_id


def said_before(instant: datetime, mode: str | None = None, without: frozenset[str] = frozenset()) -> Chooses:
    """Chooses the turns that were said before ``instant``, of one mode or of every mode but ``without``."""

    def chooses(turn: TurnRecorded) -> bool:
        own = turn.mode or "general"
        return turn.said_at < instant and (own == mode if mode is not None else own not in without)

    return chooses


def of_person(connection: Connection, storage_id: str, names: Names) -> tuple[Selection, Names]:
    """Selects every turn that names a person, and what was made of them. Returns all names that were looked for.

    A name that the memory itself tells (a nickname, another name, a name of the same person) counts as a name too.
    """
    selection, people = Selection(), told_of(connection, storage_id).people()
    named = True
    while named:
        more = set(names.known_to(people))
        named = False
        for event in events_of(connection, storage_id):
            selection.read_up_to = event.position
            more |= names.known_from(event.payload)
            named = named or names.said_in(*words_of(event.payload)) or names.meant_by(event.payload)
        if not more:
            break
        names = names.with_more(more)
    if not named:
        return selection, names
    turns: dict[str, TurnRecorded] = {}
    wanted: set[str] = set()
    for event in events_of(connection, storage_id):
        payload = event.payload
        if isinstance(payload, TurnRecorded):
            turns[payload.turn_id] = payload
            if names.said_in(*_own_words(payload)):
                wanted.add(payload.turn_id)
        elif isinstance(payload, (StateAsserted, EventNoted, KnowledgeLearned, *PROBLEM_EVENTS)) and (
            names.said_in(*_own_words(payload)) or names.meant_by(payload)
        ):
            wanted.update(payload.origin.turn_ids)
        elif isinstance(payload, ReferenceProposed) and names.said_in(*_own_words(payload)):
            wanted.update(payload.turn_ids)
    chosen = {turn_id: turns[turn_id] for turn_id in wanted & turns.keys()}
    selection = _made_of(
        connection,
        storage_id,
        chosen,
        lambda texts: names.said_in(*texts),
        wanted - turns.keys(),
        names.meant_by,
    )
    return selection, names


def _made_of(
    connection: Connection,
    storage_id: str,
    turns: dict[str, TurnRecorded],
    named: Callable[[Iterable[str | None]], bool],
    unknown: Iterable[str] = (),
    meant: Callable[[Payload], bool] = lambda _: False,
) -> Selection:
    """Selects ``turns``, and every event that rests on them, repeats their words, is ``meant``, or has ``named`` texts.

    An answer that only its reason names is said again without it, because its effect must stay.
    """
    selection = Selection()
    restating, curated = Restating(connection, named), Curated()
    answers: dict[UUID, NewEvent] = {}
    turn_ids = {*turns, *unknown}
    sessions = {(turn.project_id, turn.session_id) for turn in turns.values()}
    said = {(words_before(turn), turn.speaker) for turn in turns.values()}
    gone: set[UUID] = set()
    erased: set[UUID] = set()
    facts: dict[UUID, tuple[str, ...]] = {}
    for event in events_of(connection, storage_id):
        selection.read_up_to = event.position
        payload = event.payload
        if not is_readable(event):
            erased.add(event.event_id)
            continue
        if isinstance(payload, Unreadable):
            continue
        for left_out in (*_undone_by(payload, answers), *_repeated_by(payload, answers, facts)):
            answers.pop(left_out)
        if isinstance(payload, StateAsserted | KnowledgeLearned):
            facts[event.event_id] = _fact(payload)
        curated.read(event)
        # The note of a problem's event repeats the words of the problem, and may rest on no turn.
        rests = _rests_on(payload, turn_ids, gone) or event.causation_id in gone
        rests = rests or (isinstance(payload, SessionCheckpointed) and _is_state_of(payload, sessions))
        if restating.takes(event, rests or named(_own_words(payload)) or meant(payload), rests):
            gone.add(event.event_id)
            selection.events.append(event)
            if not rests and (kept_answer := _without_reason(payload)) is not None:
                answers[event.event_id] = replace(again(event, kept_answer), actor="erasure")
        elif isinstance(payload, EventNoted):
            kept = tuple(
                one
                for one in payload.before
                if (one.text, one.speaker) not in said and not named((one.text, one.speaker))
            )
            if kept != payload.before:
                gone.add(event.event_id)
                selection.events.append(event)
                selection.said_again.append(again(event, replace(payload, before=kept)))
    _forget_runs(selection, curated, gone, erased, answers)
    selection.said_again += answers.values()
    selection.said_again += restating.said_again()
    return selection


def _forget_runs(
    selection: Selection, curated: Curated, gone: set[UUID], erased: set[UUID], answers: dict[UUID, NewEvent]
) -> None:
    """Adds to ``selection`` what the runs of the curator keep of erased cards, and says the rest of it again.

    ``erased`` are the events that earlier erasures took.
    """
    taken = {event.event_id: event for event in selection.events}
    for event in curated.threads_without(gone | erased):
        taken[event.event_id] = event
        answers.pop(event.event_id, None)
    keys = {event.dedupe_key for event in taken.values()}
    for event, payload in curated.shortened(gone, keys):
        taken[event.event_id] = event
        if (answer := answers.get(event.event_id)) is not None and isinstance(payload, CuratorUndone):
            answers[event.event_id] = replace(answer, payload=replace(payload, reason=""))
        else:
            selection.said_again.append(again(event, payload))
    selection.events = sorted(taken.values(), key=lambda event: event.position)


def _is_state_of(saved: SessionCheckpointed, sessions: Set[tuple[str, str]]) -> bool:
    """True for a state of a session. It may repeat each turn, and so may a state whose name goes on with a tilde."""
    parts = saved.session_id.split("~")
    return any((saved.project_id, "~".join(parts[:end])) in sessions for end in range(1, len(parts) + 1))


def _own_words(payload: Payload) -> Iterable[str | None]:
    """Returns the texts of a payload without the words said before it. Those belong to another turn."""
    return words_of(replace(payload, before=()) if isinstance(payload, EventNoted) else payload)


def _undone_by(payload: Payload, answers: Mapping[UUID, NewEvent]) -> list[UUID]:
    """Returns the answers that ``payload``, a later event, takes back. They must not be said again after it."""
    if isinstance(payload, CoreRolledBack):
        return [event_id for event_id in payload.event_ids if event_id in answers]
    if isinstance(payload, CardsConnected | ConnectionWithdrawn):
        same = (payload.from_card, payload.to_card, payload.predicate)
        return [
            event_id
            for event_id, answer in answers.items()
            if isinstance(kept := answer.payload, CardsConnected | ConnectionWithdrawn)
            and (kept.from_card, kept.to_card, kept.predicate) == same
        ]
    if isinstance(payload, ThreadOpened):
        return [
            event_id
            for event_id, answer in answers.items()
            if isinstance(kept := answer.payload, ThreadClosed) and kept.thread_id == payload.thread_id
        ]
    return []


def _repeated_by(
    payload: Payload, answers: Mapping[UUID, NewEvent], facts: Mapping[UUID, tuple[str, ...]]
) -> list[UUID]:
    """Returns the retractions of what ``payload`` says again. Said again after it, they would take that back too."""
    if not isinstance(payload, StateAsserted | KnowledgeLearned):
        return []
    return [
        event_id
        for event_id, answer in answers.items()
        if isinstance(kept := answer.payload, CardsConnected) and facts.get(kept.to_card) == _fact(payload)
    ]


def _fact(payload: StateAsserted | KnowledgeLearned) -> tuple[str, ...]:
    """Returns what is the same in two statements of one fact."""
    if isinstance(payload, KnowledgeLearned):
        return (payload.origin.project_id, payload.title.casefold())
    key = payload.concept_key
    return (payload.origin.project_id, payload.entity.casefold(), key, normalise_value(key, payload.value))


_EXPLAINED = (
    CardsWithdrawn, ConnectionWithdrawn, CardsThreaded, CardsUnthreaded, ThreadClosed, CuratorUndone, InsightRetracted,
)  # fmt: skip
"""What stays in force when the words of its reason are erased."""


def _without_reason(payload: Payload) -> Payload | None:
    """Returns an answer without the words of who gave it. None: the event is no answer, or would replace later ones."""
    if isinstance(payload, CoreRolledBack):
        return replace(payload, rationale=None)
    if isinstance(payload, PatchRefused | ReferenceProposalRefused):
        return replace(payload, reason=None, by="erasure")
    if isinstance(payload, ReferenceProposalAccepted):
        return replace(payload, by="erasure")
    retracts = isinstance(payload, CardsConnected) and payload.predicate == "retracts"
    return replace(payload, reason="") if retracts or isinstance(payload, _EXPLAINED) else None


# What rests on the turns of its origin, and what names its turns itself.
_OF_ORIGIN = (StateAsserted, EventNoted, KnowledgeLearned, *PROBLEM_EVENTS, *PERSON_EVENTS)
_OF_TURNS = (
    ExtractionFailed, PatchApproved, ReferenceProposed, ReferenceChanged, CorePatched, PatchQueued, *SCHEMA_EVENTS,
)  # fmt: skip
# The fields of events that name one other event on which they rest.
_ABOUT = ("problem_id", "queue_id", "proposal_id", "card_id", "arbitration_id", "from_card", "to_card")


def _rests_on(payload: Payload, turn_ids: set[str], gone: set[UUID]) -> bool:
    if isinstance(payload, TurnRecorded):
        return payload.turn_id in turn_ids
    named: tuple[object, ...] = ()
    if isinstance(payload, _OF_ORIGIN):
        named = payload.origin.turn_ids
    elif isinstance(payload, _OF_TURNS):
        named = (*payload.turn_ids, getattr(payload, "source", None))
    if not turn_ids.isdisjoint(named):
        return True
    if isinstance(payload, CardsThreaded | CardsUnthreaded):
        return gone.issuperset(payload.card_ids)
    if isinstance(payload, InsightDerived):
        return not gone.isdisjoint(payload.sources)
    return any(getattr(payload, name, None) in gone for name in _ABOUT)
