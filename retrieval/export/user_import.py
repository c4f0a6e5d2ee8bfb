"""Imports the export of a user: appends its turns and events again, so that the same cards are folded."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from events.people.judgement import handles_in, person_id
from events.platform.database import Connection, one_row, statement
from events.store import log
from events.types import tenancy
from events.types.codec import PayloadError, UnknownEventTypeError, decode
from events.types.envelope import NewEvent, partition_of, uuid7
from events.types.json_values import JsonObject
from events.types.relations import Relation, retraction_of
from events.types.webhooks import STREAM
from retrieval.export.export import FORMAT, KIND

_PACKAGE = "retrieval.export"
_BATCH = 500
_TOMBSTONE = "SubjectErased"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class ImportRefusedError(ValueError):
    """The export was not imported, and nothing was changed. The message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class ImportedUser:
    """The number of appended turns and of other events."""

    turns: int
    events: int


class _Importer:
    def __init__(self, connection: Connection, exported: str, storage_id: str, *, fresh_ids: bool) -> None:
        self._connection = connection
        self._exported = exported
        self._storage_id = storage_id
        self._fresh_ids = fresh_ids
        self._ids: dict[str, tuple[int, str]] = {}
        self._positions: dict[int, int] = {}
        self._waiting: list[tuple[int, NewEvent]] = []

    def add(self, number: int, line: JsonObject) -> None:
        """Appends the event of a line, in batches. Ids and positions inside are those of this log."""
        data = line["data"]
        if data is None:
            raise ImportRefusedError(f"line {number}: the event could not be read when it was exported")
        if self._fresh_ids:
            old, new = UUID(line["event_id"]), uuid7()
            self._rename(old, new)
            self._rename(retraction_of(old), retraction_of(new))
        refers = {position for name in ("turn_positions", "positions") for position in data.get(name) or ()}
        if not refers.isdisjoint(position for position, _ in self._waiting):
            self.flush()
        # A turn names no event, whatever its words are.
        said = data if line["kind"] == "turn" else self._renamed(data)
        payload = decode(line["type"], line["schema_version"], said)
        payload = _placed(payload, self._positions)
        if self._exported != self._storage_id:
            for handle in handles_in(payload):
                self._rename(person_id(self._exported, handle), person_id(self._storage_id, handle))
        key = line["dedupe_key"]
        event = NewEvent(
            event_id=UUID(self._renamed(line["event_id"])),
            user_id=self._storage_id,
            stream=payload.stream if isinstance(payload, Relation) else self._name(line["stream"]),
            payload=payload,
            occurred_at=datetime.fromisoformat(line["occurred_at"]),
            actor=line["actor"],
            dedupe_key=key and self._name(key),
            causation_id=_id(self._renamed(line["causation_id"])),
            correlation_id=_id(self._renamed(line["correlation_id"])),
        )
        self._waiting.append((line["position"], event))
        if len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        appended = log.append(self._connection, [event for _, event in waiting])
        for (position, _), place in zip(waiting, appended, strict=True):
            if place.duplicate:
                raise ImportRefusedError(
                    "this log holds or held turns of the user with the same ids: import the user under another name"
                )
            self._positions[position] = place.position

    def _rename(self, old: UUID, new: UUID) -> None:
        """Gives ``old`` a new id, and so each id of the queue that differs from it in the first two bytes."""
        self._ids[str(old)[4:]] = ((old.int ^ new.int) >> 112, str(new)[4:])

    def _name(self, name: str) -> str:
        """Returns the name of a stream or of a command with the new ids in the place of those inside it."""

        def renamed(found: re.Match[str]) -> str:
            first, rest = self._ids.get(found[0][4:], (0, found[0][4:]))
            return f"{int(found[0][:4], 16) ^ first:04x}{rest}"

        return _ID.sub(renamed, name)

    def _renamed(self, value: Any) -> Any:
        """Returns ``value`` with the new id in the place of every id that is another one here, also inside a key."""
        if isinstance(value, str):
            return self._name(value)
        if isinstance(value, list):
            return [self._renamed(each) for each in value]
        if isinstance(value, dict):
            return {name: self._renamed(each) for name, each in value.items()}
        return value


def import_user(connection: Connection, lines: Iterable[bytes], storage_id: str) -> ImportedUser:
    """Appends the events of an export as events of ``storage_id``, all or none.

    The cards get the ids that they had, unless this log holds their events already. Webhooks are left out. Raises
    :class:`ImportRefusedError` for a file that is no whole export, and for a user of whom the log knows something.
    """
    turns = events = 0
    importer: _Importer | None = None
    exported = ""
    end: Mapping[str, object] | None = None
    with connection.transaction():
        for number, text in enumerate(lines, 1):
            try:
                line = orjson.loads(text)
                kind = line["kind"]
                if number == 1:
                    if (line["archive"], line["format"]) != (KIND, FORMAT):
                        raise ValueError("format")
                    exported = tenancy.storage_id(line["tenant"], line["user_id"])
                if kind in ("turn", "event") and line["type"] != _TOMBSTONE and line["stream"] != STREAM:
                    if importer is None:
                        importer = _begun(connection, exported, storage_id, line["event_id"])
                    importer.add(number, line)
                    turns, events = turns + (kind == "turn"), events + (kind == "event")
                elif kind == "end":
                    end = line
            except (ValueError, KeyError, TypeError, PayloadError, UnknownEventTypeError) as error:
                if isinstance(error, ImportRefusedError):
                    raise
                raise ImportRefusedError(
                    f"line {number} is no line of an export of this build: {error}"
                ) from error
        if end is None:
            raise ImportRefusedError("the file has no last line, so it is not whole; export the user again")
        if importer is not None:
            importer.flush()
    log.announce(connection)
    return ImportedUser(turns, events)


def _begun(connection: Connection, exported: str, storage_id: str, first: str) -> _Importer:
    row = one_row(
        connection,
        statement(_PACKAGE, "known_before"),
        {"partition": partition_of(storage_id), "user_id": storage_id, "event_id": first},
    )
    if row[0]:
        raise ImportRefusedError("this log has events of the user: import the user under another name")
    return _Importer(connection, exported, storage_id, fresh_ids=row[1])


def _placed(payload: object, positions: Mapping[int, int]) -> object:
    """Returns ``payload`` with positions of this log. A position of an erased event is left out."""
    assert is_dataclass(payload)
    assert not isinstance(payload, type)
    changed = {
        field.name: tuple(positions[each] for each in getattr(payload, field.name) if each in positions)
        for field in fields(payload)
        if field.name in ("turn_positions", "positions") and getattr(payload, field.name) is not None
    }
    return replace(payload, **changed) if changed else payload


def _id(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)
