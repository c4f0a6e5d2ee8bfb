"""What an erasure says again, because its effect must stay: references, modes, modes of cards, runs of the curator.

An event of a reference holds the complete value, and an event of a mode holds all modes. One name is thus in many
events. All these events go, and the rest of their content is said again in new events. A run of the curator keeps
digests of words. A digest of a guessed sentence is compared in a moment, so it goes with the words.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from events.core.patches import texts_in
from events.curator import asked_pairs
from events.http.errors import ProblemError
from events.platform.database import Connection
from events.references.declarations import kind_of
from events.references.kinds import batch
from events.references.kinds.custom import validate
from events.references.kinds.kind import Kind, ReferenceInvalidError, rendering_of
from events.references.reference import Reference, folded
from events.types.curation import ACTOR, CuratorRan, CuratorUndone
from events.types.envelope import Event, NewEvent, Payload, uuid7
from events.types.extraction import Usage
from events.types.json_values import Json
from events.types.modes import (
    CardReclassified,
    Mode,
    ModeDeclared,
    ModeDeleted,
    ModeReembedded,
    ModeRegistry,
    ModeRenamed,
    Project,
    ProjectDeclared,
)
from events.types.references import (
    ReferenceArchived,
    ReferenceChanged,
    ReferenceCreated,
    ReferenceKindDeclared,
    ReferenceMoved,
    ReferenceTierChanged,
)
from events.types.tenancy import tenant_of
from events.types.threads import CardsThreaded, CardsUnthreaded, ThreadClosed, ThreadOpened, ThreadRenamed
from ingest.references.reference_commands import MOVE

ERASE = "erase"
"""The op of a change by which an erasure says the rest of a value again."""
NOBODY = "erasure"
_ANNOTATIONS = ("title", "description", "$comment", "examples", "default")
_MODES = ModeDeclared | ModeRenamed | ModeDeleted | ModeReembedded | ProjectDeclared
_REFERENCES = ReferenceCreated | ReferenceChanged | ReferenceArchived | ReferenceMoved | ReferenceTierChanged
_Named = Callable[[Iterable[str | None]], bool]


def again(event: Event, payload: Payload) -> NewEvent:
    """Returns a new event with the words that stay of ``event``."""
    return NewEvent(
        event_id=uuid7(),
        user_id=event.user_id,
        stream=event.stream,
        payload=payload,
        occurred_at=event.occurred_at,
        actor=event.actor,
        correlation_id=event.correlation_id,
    )


class Restating:
    """Follows the events of one user in order. ``named`` says whether texts name the person who is erased."""

    def __init__(self, connection: Connection, named: _Named) -> None:
        self._connection = connection
        self._named = named
        self._references: dict[str, _ReferenceStream] = {}
        self._kinds: dict[str, Event | None] = {}
        self._modes: list[Event] = []
        self._reclassified: list[Event] = []

    def takes(self, event: Event, chosen: bool, rests: bool) -> bool:
        """True when ``event`` goes: it is ``chosen``, or it repeats what is erased.

        ``rests``: it is chosen because it rests on an erased turn.
        """
        payload = event.payload
        if isinstance(payload, _REFERENCES):
            stream = self._references.get(event.stream)
            if stream is None:
                kind = self._kind(event, payload.name.kind)
                stream = self._references[event.stream] = _ReferenceStream(kind, self._named)
            return stream.takes(event, chosen, rests)
        if isinstance(payload, _MODES) and (chosen or self._modes):
            self._modes.append(event)
            return True
        # A later event of the same kind replaces an earlier one, so both are said again in their order.
        if isinstance(payload, CardReclassified) and (chosen or self._reclassified):
            self._reclassified.append(event)
            return True
        if isinstance(payload, ReferenceKindDeclared):
            self._kinds[event.stream] = event if chosen else None
        return chosen

    def said_again(self) -> list[NewEvent]:
        """Returns the events to append, in order."""
        found = [each for stream in self._references.values() for each in stream.said_again()]
        for event in self._kinds.values():
            if event is not None and (declared := self._declaration(event.payload)) is not None:
                found.append(again(event, declared))
        for event in self._modes:
            restated = replace(again(event, self._mode_event(event.payload)), causation_id=event.event_id)
            found.append(restated)
        for event in self._reclassified:
            found.append(again(event, self._reclassification(event.payload)))
        return found

    def _kind(self, event: Event, name: str) -> Kind | None:
        try:
            return kind_of(self._connection, tenant_of(event.user_id), name)
        except (ProblemError, ReferenceInvalidError):
            return None

    def _declaration(self, payload: ReferenceKindDeclared) -> ReferenceKindDeclared | None:
        """Returns the declaration without its comments on a person. None: the schema itself names the person."""
        description = "" if self._named([payload.description]) else payload.description
        cleaned = replace(payload, description=description, schema=self._schema(payload.schema))
        return None if self._named(texts_in([cleaned.schema, cleaned.initial])) else cleaned

    def _schema(self, value: object) -> Any:
        if isinstance(value, list):
            return [self._schema(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            name: self._schema(each)
            for name, each in value.items()
            if not (name in _ANNOTATIONS and not isinstance(each, dict) and self._named(texts_in(each)))
        }

    def _reclassification(self, payload: CardReclassified) -> CardReclassified:
        by = NOBODY if self._named([payload.by]) else payload.by
        return replace(payload, by=by, reason=None if self._named([payload.reason]) else payload.reason)

    def _mode_event(self, payload: Any) -> Payload:
        payload = replace(payload, registry=self._registry(payload.registry))
        if isinstance(payload, ModeDeclared):
            return replace(payload, mode=self._mode(payload.mode))
        if isinstance(payload, ProjectDeclared):
            return replace(payload, project=self._project(payload.project))
        return payload

    def _registry(self, registry: ModeRegistry) -> ModeRegistry:
        return replace(
            registry,
            modes=tuple(map(self._mode, registry.modes)),
            projects=tuple(map(self._project, registry.projects)),
        )

    def _mode(self, mode: Mode) -> Mode:
        hints = {name: hint for name, hint in mode.prompt_overrides.items() if not self._named((name, hint))}
        description = "" if self._named([mode.description]) else mode.description
        return replace(mode, description=description, prompt_overrides=hints)

    def _project(self, project: Project) -> Project:
        return replace(project, description="") if self._named([project.description]) else project


@dataclass(slots=True)
class _ReferenceStream:
    """One reference: what it is with all events, what it is without those that go, and the rest of its value.

    ``kept`` is the value that the other ops make. ``tainted``: the last value in the log holds more than that, and
    ``by_turn``: it may hold what an erased turn asked for. ``by_name``: the key names the person.
    """

    kind: Kind | None
    named: _Named
    whole: Reference | None = None
    left: Reference | None = None
    kept: object = None
    kept_at: dict[int, object] = field(default_factory=dict)
    tainted: bool = False
    by_turn: bool = False
    by_name: bool = False
    last: Event | None = None
    again: list[tuple[Event, dict[str, object], object]] = field(default_factory=list)

    def takes(self, event: Event, chosen: bool, rests: bool) -> bool:
        payload = event.payload
        self.last = event
        self.whole = folded(event, self.whole)
        # A person's name in the key is a name of the whole reference.
        self.by_name = self.by_name or self.named([payload.name.key.replace("_", " ").replace("-", " ")])
        if isinstance(payload, ReferenceCreated):
            self.kept = self._without_names(payload.data) if chosen else payload.data
            if rests:
                self.kept = self.kind and self.kind.initial()
            self.tainted, self.by_turn = chosen, rests
        elif isinstance(payload, ReferenceChanged):
            left_out = rests or self.named([*texts_in(payload.op), payload.quote])
            self.by_turn = rests or (self.by_turn and self.kept != payload.data)
            if self.kept is None and self.kind is not None:
                self.kept = self.kind.initial()  # what was before is erased
            before = self.kept
            if chosen or self.by_turn:
                self.kept = self._without_names(before if left_out else self._applied(payload))
            else:
                self.kept = payload.data
            self.tainted = chosen = chosen or self.kept != payload.data
            if not chosen:
                self.again.clear()
            elif not left_out and self.kept != before:
                self.again.append((event, payload.op, self.kept))
        self.kept_at[event.version] = self.kept
        goes = chosen or self.by_name
        if not goes:
            self.left = folded(event, self.left)
        return goes

    def said_again(self) -> list[NewEvent]:
        whole, left = self.whole, self.left
        if self.last is None or whole is None or self.by_name or whole.moved_to is not None:
            return []
        found: list[NewEvent] = []
        if self.tainted:
            if self.kind is None or self.kept is None:
                return []
            found = [again(event, self._changed(whole, op, data)) for event, op, data in self.again]
            if not self.again or self.again[-1][2] != self.kept:
                op = {"op": ERASE, "at": self.last.occurred_at.isoformat()}
                found.append(again(self.last, self._changed(whole, op, self.kept)))
        elif left is None:
            return []
        elif (left.tier, left.tier_reason) != (whole.tier, whole.tier_reason):
            moved = ReferenceTierChanged(
                reference_id=whole.reference_id, name=whole.name, tier=whole.tier, reason=""
            )
            found.append(again(self.last, moved))
        if whole.archived and (self.tainted or left is None or not left.archived):
            archived = ReferenceArchived(reference_id=whole.reference_id, name=whole.name)
            found.append(again(self.last, archived))
        return found

    def _changed(self, whole: Reference, op: dict[str, Json], data: object) -> ReferenceChanged:
        assert self.kind is not None
        return ReferenceChanged(
            reference_id=whole.reference_id,
            name=whole.name,
            op=op,
            data=data,
            rendering=rendering_of(self.kind, whole.name.key, data),
            tier=whole.tier,
        )

    def _applied(self, payload: ReferenceChanged) -> object:
        """Returns the rest of the value after an op. An op that does not fit the rest changes nothing."""
        if payload.op["op"] in (ERASE, MOVE):
            return self.kept
        if payload.op["op"] == "restore":
            return self.kept_at.get(payload.op.get("version", 0), self.kept)
        if self.kind is None:
            return self.kept
        try:
            data = batch.applied(self.kind, self.kept, payload.op)
            validate(self.kind, data)
        except (ReferenceInvalidError, KeyError, TypeError):
            return self.kept
        return data

    def _without_names(self, data: object) -> object:
        """Returns ``data`` without the items and members that name the person; the first value if nothing else fits."""
        if not self.named(texts_in(data)):
            return data
        if self.kind is None:
            return None
        rest = self._pruned(data)
        try:
            validate(self.kind, rest)
        except ReferenceInvalidError:
            rest = None
        if rest is None or self.named(texts_in(rest)):
            rest = self.kind.initial()
        return None if self.named(texts_in(rest)) else rest

    def _pruned(self, value: object) -> object:
        if isinstance(value, list):
            return [each for each in value if not self.named(texts_in(each))]
        if isinstance(value, dict):
            return {
                name: self._pruned(each)
                for name, each in value.items()
                if not self.named([name])
                and (isinstance(each, dict | list) or not self.named(texts_in(each)))
            }
        return value


_OF_THREAD = CardsThreaded | CardsUnthreaded | ThreadClosed | ThreadRenamed


class Curated:
    """Follows the events of one user in order."""

    def __init__(self) -> None:
        self._runs: list[Event] = []
        self._threads: dict[UUID, list[Event]] = {}  # those that the curator opened, each with its events

    def read(self, event: Event) -> None:
        """Takes the next event."""
        payload = event.payload
        if isinstance(payload, CuratorRan | CuratorUndone):
            self._runs.append(event)
        elif isinstance(payload, ThreadOpened) and event.actor == ACTOR:
            self._threads[event.event_id] = [event]
        elif isinstance(payload, ThreadOpened | _OF_THREAD) and payload.thread_id in self._threads:
            self._threads[payload.thread_id].append(event)

    def threads_without(self, gone: Collection[UUID]) -> Iterator[Event]:
        """Yields the events of the curator's threads of which no card stays. Their titles are words of these cards."""
        for events in self._threads.values():
            cards = {
                card
                for event in events
                if isinstance(event.payload, CardsThreaded)
                for card in event.payload.card_ids
            }
            if cards and cards <= {*gone}:
                yield from events

    def shortened(
        self, gone: Collection[UUID], keys: Collection[str | None]
    ) -> Iterator[tuple[Event, Payload]]:
        """Yields each event of a run that keeps something of the ``gone`` cards, with what stays of it.

        ``keys`` are the idempotency keys of the erased events.
        """
        dropped: dict[UUID, set[str]] = defaultdict(set)
        for event in self._runs:
            payload = event.payload
            if isinstance(payload, CuratorRan):
                run_id = payload.run_id or event.event_id
                acts = list(zip(payload.keys, payload.digests, strict=False))
                kept = [act for act in acts if act[0] not in keys]
                dropped[run_id] = {digest for _, digest in acts} - {digest for _, digest in kept}
                pairs = asked_pairs(payload.asked)
                asked = tuple(
                    entry for entry, (later, earlier, _) in pairs.items() if not {later, earlier} & {*gone}
                )
                if len(kept) < len(acts) or asked != payload.asked:
                    # The cost stays readable in the erased event, so it is not counted again.
                    yield (
                        event,
                        replace(
                            payload,
                            keys=tuple(key for key, _ in kept),
                            digests=tuple(digest for _, digest in kept),
                            asked=asked,
                            usage=Usage(),
                            run_id=run_id,
                        ),
                    )
            elif lost := dropped[payload.run_id] & {*payload.digests}:
                digests = tuple(each for each in payload.digests if each not in lost)
                yield event, replace(payload, digests=digests)
