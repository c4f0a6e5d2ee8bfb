"""Values that are not sure enough to apply: they wait in the queue as proposals. All functions are pure."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from events.core.contributions import Slot, SlotChange, operations, slot_changes, slot_of
from events.core.evolution.old_pointers import redirected
from events.core.feed import CardValue, Trust
from events.core.patches import Op, PatchConflictError, followed, same, shown
from events.core.places import APPEND
from events.core.pointers import MISSING, join, split, value_at
from events.core.state import QueueEntry, queued
from events.types.envelope import Event
from events.types.json_values import Json

MAX_WAITING = 200
"""The most entries of a user that wait. A further proposal is left out of the queue; its card stays."""


def sure(document: Json, values: Iterable[CardValue]) -> list[CardValue]:
    """Returns the values that need no approval: those that are sure enough, and those that ``document`` has."""
    return [each for each in values if not each.unsure or _has(document, each)]


def proposals(
    event: Event,
    document: Json,
    queue: Mapping[UUID, QueueEntry],
    before: Iterable[CardValue],
    after: Iterable[CardValue],
) -> Iterator[QueueEntry]:
    """Yields the entries that change when the cards say ``after`` in the place of ``before``.

    A new value that is not sure waits. An entry whose value does not hold any more, or is sure now, is withdrawn.
    """
    waiting = {each.queue_id: each for each in queue.values() if each.status == "open"}
    added: set[UUID] = set()
    for change in slot_changes(_unsure(document, before), _unsure(document, after)):
        for entry in list(waiting.values()):
            if _is_about(entry, change):
                del waiting[entry.queue_id]
                yield replace(entry, status="withdrawn", decided_at=event.recorded_at)
        if change.after is not MISSING and len(waiting) < MAX_WAITING:
            entry = _proposed(event, document, change, {*queue, *added})
            waiting[entry.queue_id] = entry
            added.add(entry.queue_id)
            yield entry


def approved(document: Json, entry: QueueEntry) -> Sequence[Op]:
    """Returns the operations that put a proposed value into ``document``, with the objects that lead to it."""
    tokens = split(entry.path)
    slot: Slot = (tokens[:-1], "") if tokens[-1] == APPEND else (tokens, None)
    by = CardValue(
        place=slot[0],
        key="",
        text="",
        since=entry.queued_at,
        until=None,
        event_id=entry.queue_id,
        turn_ids=entry.turn_ids,
        trust=Trust.CORRECTION,
        confidence=1.0 if entry.confidence is None else entry.confidence,
    )
    made = operations(document, SlotChange(slot, MISSING, entry.patch[0]["value"], by))
    return entry.patch if made is None else made[0]


def undone(document: Json, entries: Iterable[QueueEntry]) -> Iterator[QueueEntry]:
    """Yields the entries without those that still wait although ``document`` says what they would change."""
    for each in entries:
        if each.status == "open":
            try:
                wanted, _ = followed(document, redirected(document, each.patch), each.guards)
            except PatchConflictError:
                pass
            else:
                if same(wanted, document):
                    continue
        yield each


def _unsure(document: Json, values: Iterable[CardValue]) -> list[CardValue]:
    return [each for each in values if each.unsure and not _has(document, each)]


def _has(document: Json, value: CardValue) -> bool:
    slot = slot_of(value)
    wanted = SlotChange.of(slot, [value])
    if slot[1] is not None:
        return operations(document, wanted) == ([], ())
    held = value_at(document, slot[0])
    return held is not MISSING and same(held, wanted.after)


def _proposed(event: Event, document: Json, change: SlotChange, taken: Container[UUID]) -> QueueEntry:
    path = _path(change)
    held = MISSING if change.slot[1] is not None else value_at(document, change.slot[0])
    reason = f"the confidence {change.by.confidence:g} is below the one from which values apply"
    actual = None if held is MISSING else shown(held)
    conflict = PatchConflictError("confidence", 0, path, reason, shown(change.after), actual)
    patch: list[Op] = [{"op": "add", "path": path, "value": change.after}]
    return queued(event, patch, conflict, change.by, kind="proposal", taken=taken)


def _is_about(entry: QueueEntry, change: SlotChange) -> bool:
    """True when ``entry`` proposes the value that held before ``change``."""
    return (
        entry.kind == "proposal"
        and entry.path == _path(change)
        and change.before is not MISSING
        and same(entry.patch[0]["value"], change.before)
    )


def _path(change: SlotChange) -> str:
    place, key = change.slot
    return join(place if key is None else (*place, APPEND))
