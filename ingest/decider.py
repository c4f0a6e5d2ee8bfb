"""The one way to decide a command: lock, look for its idempotency key, load, decide, append, answer.

:func:`decide` guarantees that a command with a key that was seen before appends nothing and gets its first answer, and
that a rule decides on the state that its events follow. A capability gives an :class:`Aggregate` and a pure rule. A
command runs in a transaction of the caller, which announces the append after the commit
(:func:`events.store.log.announce`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Generic, TypeVar
from uuid import UUID

from events.access.principal import EVERYTHING, Reach
from events.http.errors import ProblemError, invalid
from events.platform.database import Connection
from events.store import asking, log
from events.store.asking import first_event
from events.store.log import AppendConflictError
from events.types.cards import CardOrigin
from events.types.commands import STREAM, CommandAnswered
from events.types.core import Author
from events.types.envelope import Event, NewEvent, Payload, uuid7

OF_THE_USER = "api"
"""The actor of a command that a key sends for the user. An erasure leaves ``erasure`` in its place."""
State = TypeVar("State")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Who sends a command about the memory of ``owner``, and when.

    ``owner`` is a storage id. ``idempotency_key``: a repeated command gets the first answer.

    ``request`` is the digest of what was sent. It tells another command from a repeat of one that changed nothing.
    ``turn_ids``, ``source``, ``quote``, ``confidence`` and ``derived`` tell what the command rests on, and
    ``rationale`` why it is sent. Only what is in ``reach`` exists for the sender.
    """

    owner: str
    actor: str
    at: datetime
    idempotency_key: str | None = None
    request: str | None = None
    by: Author = "user"
    agent_id: str | None = None
    turn_ids: tuple[str, ...] = ()
    source: str | None = None
    quote: str | None = None
    confidence: float | None = None
    derived: bool = False
    rationale: str | None = None
    reach: Reach = EVERYTHING

    def origin(self, project_id: str = "default", mode: str | None = None) -> CardOrigin:
        """Returns where the words of this command come from: from no turn, or from those that it rests on."""
        by_user = self.by == "user" and self.agent_id is None
        return CardOrigin(
            project_id=project_id,
            session_id="default",
            turn_ids=self.turn_ids,
            said_at=self.at,
            source_span=None,
            provenance="user_stated" if by_user else "agent_inferred",
            agent_id=self.agent_id,
            mode=mode,
        )

    def event(self, stream: str, payload: Payload, **more: object) -> NewEvent:
        """Returns an event of this command. ``more`` are further fields of the event."""
        fields: dict[str, Any] = {"event_id": uuid7(), "occurred_at": self.at, "actor": self.actor} | more
        return NewEvent(user_id=self.owner, stream=stream, payload=payload, **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision of a rule: the event with ``payload``, and events that are appended with it.

    ``key`` is the idempotency key of the event in the place of the command's own, and ``cause`` the event that it
    rests on. ``occurred_at`` is the instant that the event is about; None is that of the command. Without a payload the
    command is not done, and its key stays free.
    """

    payload: Payload | None
    key: str | None = None
    before: Sequence[NewEvent] = ()
    after: Sequence[NewEvent] = ()
    event_id: UUID = field(default_factory=uuid7)
    occurred_at: datetime | None = None
    cause: UUID | None = None


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Answer]):
    """``state`` is the state after the command. ``position`` is the last position that it rests on.

    ``event`` is None when the wanted state already held. ``repeated``: an earlier command with the key got the answer.
    """

    state: Answer
    position: int
    event: Event | None = None
    repeated: bool = False

    @property
    def changed(self) -> bool:
        return self.event is not None and not self.repeated


class Aggregate(ABC, Generic[State, Answer]):
    """What one command decides on: the events of one owner that make one state, in the transaction of the caller.

    ``attempts`` is the number of times that a command is decided while others append to the aggregate. It is 1 where
    :meth:`hold` keeps all others away. ``keyed`` is what the idempotency keys of the events begin with; None: the
    events have none.
    """

    attempts = 1
    keyed: str | None = None

    def __init__(self, connection: Connection, stream: str, command: Command) -> None:
        self.connection = connection
        self.owner = command.owner
        self.stream = stream
        self.command = command

    def hold(self) -> None:
        """Lets commands on the aggregate work one after the other, until the transaction ends."""

    @abstractmethod
    def load(self) -> State:
        """Returns the fold of the events at the end of the log."""

    @abstractmethod
    def answer(self, state: State, event: Event | None) -> Answer:
        """Returns the answer of the command: ``state`` after ``event``, or ``state`` as it is."""

    @abstractmethod
    def first_answer(self, event: Event) -> Answer:
        """Returns the answer to the command that appended ``event``: one of this aggregate, or ``CommandAnswered``."""

    def key(self) -> str | None:
        """Returns the idempotency key of the event: that of the command, of any length and form, as a digest."""
        own = self.command.idempotency_key
        return None if own is None or self.keyed is None else dedupe_key(self.keyed, own)

    def position(self, state: State) -> int:
        """Returns the last position that ``state`` rests on."""
        return 0

    def expected_version(self, state: State) -> int | None:
        """Returns the version of the stream that ``state`` is of. None: the append fits any version."""
        return None

    def moved(self, state: State, position: int) -> bool:
        """True when an event that ``state`` does not have came before ``position``."""
        return False


class UserStream(Aggregate[State, Answer]):
    """The events of a user in the stream ``name``. Commands on it work one after the other.

    ``about`` is the id of what the command changes. None: the command makes it, or changes the whole state.
    """

    name: str

    def __init__(self, connection: Connection, command: Command, about: UUID | None = None) -> None:
        super().__init__(connection, self.name, command)
        self.about = about

    @property
    def id(self) -> UUID:
        """The id of what the command changes."""
        assert self.about is not None, "the command makes nothing new"
        return self.about

    def hold(self) -> None:
        asking.lock(self.connection, self.owner, self.name)

    def present(self, state: State, event: Event | None = None) -> Answer:
        """Returns what the command is about, or what ``event`` made. Raises a 404 problem when it is not in reach."""
        raise NotImplementedError

    def answer(self, state: State, event: Event | None) -> Answer:
        return self.present(state) if event is None else self.first_answer(event)

    def first_answer(self, event: Event) -> Answer:
        """Returns the answer as it is now: a repeated command tells what became of the first one."""
        return self.present(self.load(), event)

    def position(self, state: State) -> int:
        position: int = getattr(self.present(state), "position", 0)
        return position


class Keyed(Aggregate[None, None]):
    """A stream from which nothing is decided: it has one event for each ``key``."""

    def __init__(self, connection: Connection, stream: str, command: Command, key: str) -> None:
        super().__init__(connection, stream, command)
        self._key = key

    def load(self) -> None:
        return None

    def answer(self, state: None, event: Event | None) -> None:
        return None

    def first_answer(self, event: Event) -> None:
        return None

    def key(self) -> str:
        return self._key


def dedupe_key(kind: str, key: str) -> str:
    """Returns the idempotency key of an event of this kind, made of that of its command."""
    return f"{kind}/{sha256(key.encode()).hexdigest()}"


class _MovedError(Exception):
    """Another event came between reading and appending."""


def decide(
    aggregate: Aggregate[State, Answer],
    rule: Callable[[State], Payload | Decision | None],
    is_repeat: Callable[[Payload], bool] = lambda _: True,
) -> Outcome[Answer]:
    """Appends the decision of ``rule`` on the present state. None: the wanted state holds; only the key is kept.

    Raises what ``rule`` raises, and a 422 problem when ``is_repeat`` does not know the payload of the first command
    with the same key. When the aggregate moved meanwhile, the append is taken back and the command is decided again.
    Raises :class:`AppendConflictError` after the last attempt.
    """
    connection, owner = aggregate.connection, aggregate.owner
    aggregate.hold()
    own_key = aggregate.key()
    first = None if own_key is None else first_event(connection, owner, own_key)
    if first is not None:
        return _repeated(aggregate, first, is_repeat)
    attempts = aggregate.attempts
    while True:
        attempts -= 1
        state = aggregate.load()
        made = rule(state)
        decision = made if isinstance(made, Decision) else Decision(payload=made)
        if decision.payload is None:
            if made is None and own_key is not None:
                answered = CommandAnswered(
                    request=aggregate.command.request, version=aggregate.expected_version(state)
                )
                kept = aggregate.command.event(STREAM, answered, dedupe_key=own_key)
                log.append(aggregate.connection, [kept])
            return Outcome(aggregate.answer(state, None), aggregate.position(state))
        event = aggregate.command.event(
            aggregate.stream,
            decision.payload,
            event_id=decision.event_id,
            occurred_at=decision.occurred_at or aggregate.command.at,
            dedupe_key=decision.key or own_key,
            expected_version=aggregate.expected_version(state),
            causation_id=decision.cause,
        )
        try:
            with connection.transaction() if aggregate.attempts > 1 else nullcontext():
                places = log.append(connection, [*decision.before, event, *decision.after])
                place = places[len(decision.before)]
                if not place.duplicate and aggregate.moved(state, place.position):
                    raise _MovedError
        except (_MovedError, AppendConflictError) as error:
            if not attempts:
                raise AppendConflictError(f"{aggregate.stream} changed during every attempt") from error
            continue
        if place.duplicate:
            first = first_event(connection, owner, event.dedupe_key or "")
            assert first is not None, "a duplicate is in the log"
            return _repeated(aggregate, first, is_repeat)
        appended = log.recorded(event, place)
        return Outcome(aggregate.answer(state, appended), places[-1].position, appended)


def other_command() -> ProblemError:
    """Returns the 422 problem of an idempotency key that another command used."""
    return invalid("Idempotency-Key", "was used for another command; use a new key for each one")


def _repeated(
    aggregate: Aggregate[Any, Answer], first: Event, is_repeat: Callable[[Payload], bool]
) -> Outcome[Answer]:
    unchanged = isinstance(first.payload, CommandAnswered)
    if not (first.payload.request == aggregate.command.request if unchanged else is_repeat(first.payload)):
        raise other_command()
    return Outcome(aggregate.first_answer(first), first.position, None if unchanged else first, repeated=True)
