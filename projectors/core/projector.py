"""The projector of the core document."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from uuid import UUID

from events.core.cards import Statements
from events.core.fold import CoreFold
from events.core.rows import change_values, entry_values, state_of, state_values
from events.core.state import CoreState
from events.platform.database import Connection, statement
from events.platform.linger import UNHURRIED_S
from events.store.asking import answered_by
from events.types.core import CORE_TYPES
from events.types.envelope import Event, partition_of
from projectors.cards.arbitration import Thresholds
from projectors.core.card_feed import StateFeed
from projectors.core.loading import folding
from projectors.generations.copy_format import CopyBuffer, line
from projectors.generations.projector import Projector

_PACKAGE = "projectors.core"
_TABLES = ("documents", "snapshots", "changes", "queue", "card_statements", "card_remarks")


class CoreProjector(Projector):
    """Folds the log into the tables of ``tables.sql``."""

    name = "core"
    package = _PACKAGE
    rest_s = UNHURRIED_S  # a read folds the end of the log itself, so the tables need not follow each patch

    def __init__(self, *, supersede: bool = True, thresholds: Thresholds | None = None) -> None:
        self.feed = StateFeed(supersede=supersede, thresholds=thresholds)
        self.types = CORE_TYPES | self.feed.types

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        by_user: dict[str, list[Event]] = {}
        for event in events:
            if event.type in self.types:
                by_user.setdefault(event.user_id, []).append(event)
        writer = _Writer(connection)
        for user_id, own in by_user.items():
            fold = self._fold(connection, user_id, own)
            known = fold.state.version, fold.state.position
            said = _Said(self.feed)
            for event in own:
                said.take(event)
                fold.take(event)
            if fold.queued or (fold.state.version, fold.state.position) != known:
                self._rows(connection, "delete_present", {"user_id": user_id, "entries": list(fold.queued)})
            if said.withdrawn:
                rows = self._rows(
                    connection,
                    "withdrawn_statements",
                    {"user_id": user_id, "positions": said.withdrawn},
                )
                gone = [row["event_id"] for row in rows]
                said.forget(said.withdrawn)
                self._rows(connection, "delete_statements", {"user_id": user_id, "events": gone})
            writer.add(user_id, fold, said)
        writer.flush()

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Folds whole users, one after the other, into empty tables. Memory holds the history of one user."""
        writer = _Writer(connection)
        for user_id, history in groupby(events, key=lambda event: event.user_id):
            fold = CoreFold(CoreState(), Statements(self.feed), self.feed)
            said = _Said(self.feed)
            for event in history:
                said.take(event)
                fold.take(event)
            said.forget(said.withdrawn)
            if fold.state.position:
                writer.add(user_id, fold, said)
        writer.flush()

    def _fold(self, connection: Connection, user_id: str, events: Sequence[Event]) -> CoreFold:
        named = {"user_id": user_id, "partition": partition_of(user_id)}
        [row] = self._rows(connection, "document", named)
        asking = folding(user_id, state_of(row, 0), events, self.feed)
        return answered_by(lambda query: self._rows(connection, *query), asking)


class _Said:
    """The rows of statements and remarks that events make."""

    def __init__(self, feed: StateFeed) -> None:
        self._feed = feed
        self.statements: dict[int, tuple[Event, Sequence[str]]] = {}
        self.remarks: list[tuple[UUID, Event]] = []
        self.withdrawn: list[int] = []

    def take(self, event: Event) -> None:
        if identities := [each.identity for each in self._feed.statements(event)]:
            self.statements[event.position] = (event, identities)
        elif (target := self._feed.target(event)) is not None:
            self.remarks.append((target, event))
        else:
            self.withdrawn += self._feed.withdrawn(event)

    def forget(self, positions: Iterable[int]) -> None:
        for position in positions:
            self.statements.pop(position, None)


class _Writer:
    """Writes folds as COPY lines."""

    def __init__(self, connection: Connection) -> None:
        self._buffers = {
            name: CopyBuffer(connection, name, statement(_PACKAGE, f"copy_{name}")) for name in _TABLES
        }

    def add(self, user_id: str, fold: CoreFold, said: _Said) -> None:
        for name, values in _rows_of(user_id, fold, said):
            self._buffers[name].add(line(values))

    def flush(self) -> None:
        for buffer in self._buffers.values():
            buffer.flush()


def _rows_of(user_id: str, fold: CoreFold, said: _Said) -> Iterator[tuple[str, Sequence[object]]]:
    for change in fold.changes:
        yield "changes", change_values(user_id, change)
    for state in fold.snapshots:
        yield "snapshots", state_values(user_id, state)
    for entry in fold.queued.values():
        yield "queue", entry_values(user_id, entry)
    for event, identities in said.statements.values():
        for identity in identities:
            yield "card_statements", (user_id, identity, event.event_id, event.partition, event.position)
    for target, event in said.remarks:
        yield "card_remarks", (user_id, target, event.partition, event.position)
    yield "documents", state_values(user_id, fold.state)
