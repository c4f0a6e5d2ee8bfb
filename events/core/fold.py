"""The fold of the document of one user: from events to versions, snapshots and the review queue.

The fold uses no clock, no network and no database. Events come in the order of the log.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from events.core.cards import Statements
from events.core.contributions import SlotChange, operations, slot_changes
from events.core.evolution.migration import LOG_END, logged
from events.core.evolution.old_pointers import redirected, resolved
from events.core.feed import CardFeed, CardValue, Trust
from events.core.patches import Op, PatchConflictError, applied, conflict_of, shown
from events.core.pointers import MISSING, join, value_at
from events.core.proposals import proposals, sure
from events.core.replay import difference, in_force, picked, replayed
from events.core.schema import check_document
from events.core.state import (
    SNAPSHOT_EVERY,
    Change,
    ChangeKind,
    CoreState,
    Mark,
    QueueEntry,
    mark_of,
    queued,
    stepped,
)
from events.resources.core import QueueStatus
from events.types.core import (
    CoreCherryPicked,
    CorePatched,
    CoreRolledBack,
    PatchApproved,
    PatchQueued,
    PatchRefused,
    SchemaPromoted,
    SchemaProposed,
    SchemaReverted,
)
from events.types.envelope import Event
from events.types.json_values import Json

INFERRED = "inference"


def trust_of(by: str, source: str | None) -> Trust:
    """Returns whose word a patch is. A user who patches the document corrects what is there."""
    if by == "user":
        return Trust.CORRECTION
    return Trust.INFERENCE if source == INFERRED else Trust.AGENT


CONFIDENCE_MARGIN = 0.2
"""How much less sure a value may be that replaces another one of the same trust."""


class CoreFold:
    """Folds the events of one user.

    ``state`` is the fold of all earlier events. ``statements`` holds the earlier statements of every identity that the
    events touch. ``history`` are all earlier changes when an event is a rollback or a cherry-pick. ``queue`` holds the
    entries that wait or that the events answer. The results are in ``changes``, ``snapshots`` and ``queued``.
    """

    def __init__(
        self,
        state: CoreState,
        statements: Statements,
        feed: CardFeed,
        *,
        history: Iterable[Change] = (),
        queue: Iterable[QueueEntry] = (),
    ) -> None:
        self.state = state
        self.changes: list[Change] = []
        self.snapshots: list[CoreState] = []
        self.queued: dict[UUID, QueueEntry] = {}
        self._statements = statements
        self._feed = feed
        self._history = list(history)
        self._queue = {each.queue_id: each for each in queue}

    @property
    def history(self) -> Sequence[Change]:
        """The changes that the fold was given, and those that it made."""
        return self._history

    def entry(self, queue_id: UUID) -> QueueEntry | None:
        """Returns an entry of the queue that the fold was given or made."""
        return self._queue.get(queue_id)

    @property
    def waiting(self) -> list[QueueEntry]:
        """The open entries that the fold was given or made."""
        return [each for each in self._queue.values() if each.status == "open"]

    def compared(self, events: Iterable[Event]) -> int:
        """Returns how many statements the fold of ``events`` compares: each time all of an identity."""
        told = Counter(each.identity for event in events for each in self._feed.statements(event))
        return sum(more * (self._statements.count(identity) + more) for identity, more in told.items())

    def take(self, event: Event) -> None:
        """Folds one event. An event that was folded before changes nothing."""
        if event.position > self.state.position:
            self.change(event)
            if self.state.position != event.position:
                self.state = replace(self.state, position=event.position)

    def change(self, event: Event) -> None:
        """Makes the changes of one event, wherever it stands in the log."""
        payload = event.payload
        match payload:
            case CorePatched():
                trust = trust_of(payload.by, payload.source)
                change = self._next(event, "patch", payload, payload.patch, payload.guards, trust)
                self._change(event, change)
            case PatchApproved():
                trust = Trust.CORRECTION
                change = self._next(event, "approval", payload, payload.patch, payload.guards, trust)
                self._change(event, change)
                self._decide(payload.queue_id, "approved", event, payload.by, payload.reason)
            case PatchRefused():
                self._decide(payload.queue_id, "refused", event, payload.by, payload.reason)
            case PatchQueued():
                entry = queued(event, payload.patch, conflict_of(payload), payload, guards=payload.guards)
                self._enqueue(entry)
            case CoreRolledBack():
                self._roll_back(event, payload)
            case SchemaProposed() | SchemaPromoted() | SchemaReverted():
                kind, logged_entry = logged(payload, event.occurred_at)
                log_it = {"op": "add", "path": LOG_END, "value": logged_entry}
                self._change(event, self._next(event, kind, payload, [log_it]))
            case CoreCherryPicked():
                others = set(payload.event_ids)
                found, guards = picked(each for each in self._history if each.event_id in others)
                ops = redirected(self.state.document, found)
                self._change(
                    event, self._next(event, "cherry_pick", payload, ops, guards, others=payload.event_ids)
                )
            case _:
                self._cards(event)

    def _change(self, event: Event, change: Change, *, check: bool = False) -> None:
        """Makes the next version of ``change``, or queues it when it does not fit."""
        try:
            document, marks, done = stepped(self.state.document, self.state.marks, change)
            if check:
                check_document(document, list(done))
        except PatchConflictError as error:
            # It fitted when it was made. An event that it depends on was erased since, or a bound is reached.
            self._enqueue(queued(event, change.ops, error, change, guards=change.guards))
            return
        # Only a guard rewrites operations.
        self._advance(replace(change, ops=done) if change.guards else change, document, marks)

    def _next(
        self,
        event: Event,
        kind: ChangeKind,
        about: object,
        ops: Sequence[Op] = (),
        guards: tuple[int, ...] = (),
        trust: Trust = Trust.USER,
        others: tuple[UUID, ...] = (),
    ) -> Change:
        """Returns the change that makes the next version. ``about`` is the payload or the value behind it."""
        return Change(
            version=self.state.version + 1,
            event_id=event.event_id,
            position=event.position,
            kind=kind,
            ops=ops,
            guards=guards,
            at=event.occurred_at,
            recorded_at=event.recorded_at,
            actor=event.actor,
            trust=trust,
            source=getattr(about, "source", None),
            confidence=getattr(about, "confidence", None),
            rationale=getattr(about, "rationale", None),
            turn_ids=tuple(getattr(about, "turn_ids", ())),
            others=others,
        )

    def _advance(self, change: Change, document: object, marks: object) -> None:
        self.state = CoreState(
            document=document,
            marks=marks,
            version=change.version,
            position=change.position,
            updated_at=change.recorded_at,
        )
        self.changes.append(change)
        self._history.append(change)
        if change.version % SNAPSHOT_EVERY == 0 or change.kind == "rollback":
            self.snapshots.append(self.state)

    def _roll_back(self, event: Event, payload: CoreRolledBack) -> None:
        change = self._next(event, "rollback", payload, others=payload.event_ids)
        made = replayed(in_force([*self._history, change]))
        ops = difference(self.state.document, made.document)
        self._advance(replace(change, ops=ops), made.document, made.marks)

    def _enqueue(self, entry: QueueEntry) -> None:
        self._queue[entry.queue_id] = self.queued[entry.queue_id] = entry

    def _decide(self, queue_id: UUID, status: QueueStatus, event: Event, by: str, reason: str | None) -> None:
        entry = self._queue.get(queue_id)
        if entry is not None and entry.status == "open":
            self._enqueue(
                replace(
                    entry,
                    status=status,
                    decided_at=event.recorded_at,
                    decided_by=by,
                    decision_reason=reason,
                )
            )

    def _cards(self, event: Event) -> None:
        """Folds an event of the cards: the values that hold before and after it differ in some slots."""
        statements = self._statements
        withdrawn = statements.at(self._feed.withdrawn(event))
        target = self._feed.target(event)
        touched = [each.identity for each in self._feed.statements(event)]
        if target is not None:
            touched += statements.identities_of(target)
        for each in withdrawn:
            touched += statements.identities_of(each)
        before = statements.values(touched)
        statements.add(event)
        statements.remark(event)
        for each in withdrawn:
            statements.remove(each)
        after = statements.values(touched)
        document = self.state.document
        for entry in proposals(event, document, self._queue, before, after):
            self._enqueue(entry)
        self.change_values(event, before, after)

    def change_values(self, event: Event, before: Sequence[CardValue], after: Sequence[CardValue]) -> None:
        """Makes one change of the slots whose values differ before ``event`` and after it.

        A value that contradicts a more trusted one waits in the queue.
        """
        document = self.state.document
        ops: list[Op] = []
        guards: tuple[int, ...] = ()
        changes = slot_changes(sure(document, before), sure(document, after))
        for each in changes:
            change = replace(each, slot=(resolved(document, each.slot[0]), each.slot[1]))
            self._withdraw_contradictions(event, change)
            fitting = None if self._contradicts(change) else operations(document, change)
            more, tests = self._contradicting(event, document, change) if fitting is None else fitting
            guards += tuple(len(ops) + each for each in tests)
            ops += more
            document = applied(document, more)
        if ops:
            by = changes[-1].by
            self._change(event, self._next(event, "card", by, ops, guards, by.trust), check=True)

    def _contradicts(self, change: SlotChange) -> bool:
        """True when words of another memory would replace a value that is trusted more."""
        if change.by.source is None or change.slot[1] is not None or MISSING in (change.before, change.after):
            return False
        mark = hardest_mark(value_at(self.state.marks, change.slot[0]))
        return mark is not None and not outweighs(change.by.trust, change.by.confidence, mark)

    def _contradicting(
        self, event: Event, document: Json, change: SlotChange
    ) -> tuple[list[Op], tuple[int, ...]]:
        """Returns the operations that replace a value that no card gave, or none and queues them."""
        path = join(change.slot[0])
        held = value_at(document, change.slot[0])
        mark = hardest_mark(value_at(self.state.marks, change.slot[0]))
        value = change.after if change.slot[1] is None else [change.after]
        op: dict[str, object] = {"op": "add", "path": path, "value": value}
        if mark is not None and change.by.since.timestamp() < mark.at:
            # The words are older than the value. They count if the value could not have replaced them.
            said = Mark(0, change.by.trust, change.by.confidence, 0)
            return ([], ()) if outweighs(mark.trust, mark.confidence, said) else ([op], ())
        if mark is None or outweighs(change.by.trust, change.by.confidence, mark):
            return [op], ()
        if not any(each.path == path and each.status == "open" for each in self._queue.values()):
            reason = (
                f"a card says {shown(value)!r}; the document has a value of version {mark.version}, "
                "which is trusted more"
            )
            conflict = PatchConflictError("contradiction", 0, path, reason, shown(value), shown(held))
            basis = replace(change.by, source=change.by.trust.name.lower(), rationale=None)
            self._enqueue(queued(event, [op], conflict, basis, kind="contradiction", taken=self._queue))
        return [], ()

    def _withdraw_contradictions(self, event: Event, change: SlotChange) -> None:
        """Closes the entry about a slot whose contradicting value the cards do not hold any more."""
        path = join(change.slot[0])
        for entry in list(self._queue.values()):
            if entry.kind == "contradiction" and entry.status == "open" and entry.path == path:
                self._enqueue(replace(entry, status="withdrawn", decided_at=event.recorded_at))


@dataclass(frozen=True, slots=True)
class Present:
    """The document of a user at the end of the log.

    ``folded_to`` is the last event that is folded, or the checkpoint of the tables. ``seen_to``: the user has no other
    event up to there. ``history`` are all changes when they were asked for.
    """

    user_id: str
    fold: CoreFold
    folded_to: int
    seen_to: int
    history: Sequence[Change]

    @property
    def state(self) -> CoreState:
        return self.fold.state


def outweighs(trust: Trust, confidence: float, held: Mark) -> bool:
    """True when a value may replace another one: it is trusted more, or as much and not much less sure."""
    return trust > held.trust or (trust == held.trust and confidence >= held.confidence - CONFIDENCE_MARGIN)


def hardest_mark(marks: Json) -> Mark | None:
    """Returns the mark in ``marks`` that is hardest to outweigh. None: there is no value, so there is no mark."""
    best: Mark | None = None
    waiting = [marks]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif each is not MISSING:
            mark = mark_of(each)
            if best is None or (mark.trust, mark.confidence) > (best.trust, best.confidence):
                best = mark
    return best
