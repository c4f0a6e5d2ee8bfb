"""Erases users, persons, turns and old turns: destroys the keys of their words, and deletes what was derived from them.

An erasure of one user is one transaction: it appends the tombstone to the log, destroys the keys, and deletes every
derived row. A kill at any moment therefore leaves the user whole or erased. The queue is cleaned before and, when Redis
was away, later. The bytes in the files of the servers are removed by a scrub.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from uuid import UUID

import orjson
import redis
from psycopg.errors import DeadlockDetected

from events.platform.database import Connection, one_row, rows_of, statement
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY, connect_redis
from events.references import reference_log
from events.sealing import keystore
from events.store import asking, log
from events.types.envelope import Appended, Event, NewEvent, partition_of, uuid7
from events.types.modes import STREAM as MODES
from events.types.tenancy import storage_id as storage_id_of
from events.types.tombstones import STREAM, ErasureKind, ErasureReason, SubjectErased, digest_of
from events.types.turn_contract import turn_key
from events.types.turns import TurnRecorded
from ingest.erasure import tombstones
from ingest.erasure.selection import Selection, events_of, is_readable
from ingest.recording import forgotten_entries
from ingest.recording.forgotten_entries import Fields, ForgottenEntries

logger = logging.getLogger(__name__)

_PAGE = 500
_ATTEMPTS = 10
_EVENTS_A_TOMBSTONE = 5_000

Selects = Callable[[Connection, str], Selection]
"""Returns the events of a user to erase. It runs in the transaction of the erasure."""


class ErasureRefusedError(RuntimeError):
    """Nothing was erased. The message gives the reason and the remedy."""


class _MovedError(RuntimeError):
    """Events of the user arrived during the transaction. The next attempt sees them."""


@dataclass(slots=True)
class UserErasure:
    """What an erasure removed of one user, or would remove: the numbers by name."""

    user_id: str
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def nothing(self) -> bool:
        return not any(self.counts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On whose request something is erased, and how. ``by`` names an API key, or the command.

    ``derived_only`` leaves the words in the log and in the queue. It is refused when all of them are sealed.
    """

    by: str
    reason: ErasureReason = "request"
    dry_run: bool = False
    derived_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to erase. ``subject`` is the name of the user, person or turn; only its digest is kept.

    ``digest`` is the digest of a subject whose name is not known any more.
    ``waiting`` chooses the turns that wait in the queue, by their fields. Turns that were pushed after ``until`` stay.
    """

    kind: ErasureKind
    subject: str
    terms: Terms
    waiting: Callable[[Fields], bool] | None = None
    until: datetime | None = None
    erasure_id: UUID = field(default_factory=uuid7)
    digest: str | None = None

    @property
    def subject_digest(self) -> str:
        return self.digest or digest_of(self.kind, self.subject)


class Derived(Protocol):
    """Tables that were derived from events. Every method runs in the transaction of the erasure.

    ``hold`` keeps others from deriving anything of the user until the transaction ends. ``forget`` deletes what was
    derived from ``event_ids``, or everything of the user for None, and returns the numbers of deleted rows by name.
    ``forget_words`` deletes what is kept under the words of ``events`` without a user.
    """

    name: str

    def hold(self, connection: Connection, storage_id: str) -> None: ...

    def forget(
        self, connection: Connection, storage_id: str, event_ids: Sequence[UUID] | None
    ) -> dict[str, int]: ...

    def forget_words(self, connection: Connection, events: Sequence[Event]) -> int: ...


class Eraser:
    """Erases. ``derived`` are all tables with derived rows. Several erasers may run at once."""

    def __init__(self, settings: Settings, derived: Sequence[Derived]) -> None:
        self._settings = settings
        self._derived = sorted(derived, key=lambda one: one.name)

    def erase(
        self,
        connection: Connection,
        storage_ids: Collection[str],
        request: Request,
        selects: Selects | None,
    ) -> list[UserErasure]:
        """Erases the events of each user that ``selects`` returns, or all events for None. Repeating changes nothing.

        Returns the users of whom something went. Each user is a transaction of its own. A user of whom nothing goes
        costs one reading, and stops no fold. Raises :class:`ErasureRefusedError` when the words stay readable because
        the log is not sealed, and when events of a user arrive faster than the erasure reads them. Raises the errors
        of the database.
        """
        began = datetime.now(UTC)
        queue = self._clean(storage_ids, request)
        erased: list[UserErasure] = []
        try:
            for storage_id in storage_ids:
                done = self._erase_user(connection, storage_id, request, selects, queue, began)
                if not done.nothing:
                    erased.append(done)
        finally:
            if erased and not request.terms.dry_run and not request.terms.derived_only:
                log.announce(connection)
                self.keep_tombstones(connection)
        return erased

    def resume(self, connection: Connection) -> int:
        """Cleans the queue for erasures that found Redis away. Returns the number of users. Raises ``REDIS_AWAY``."""
        rows = rows_of(connection, statement("ingest.erasure", "tombstones_of"), {"erasure_id": None})
        for row in rows:
            if row["kind"] == "user":
                self._forget_entries([row["user_id"]], lambda _: True, until=row["erased_at"])
            _queue_done(connection, row["erasure_id"], row["user_id"])
        self.keep_tombstones(connection)
        return len(rows)

    def keep_tombstones(self, connection: Connection) -> int:
        """Writes tombstones that the file lacks. Returns their number. An install without the file writes none."""
        if not self._settings.tombstones_file:
            return 0
        return tombstones.keep(Path(self._settings.tombstones_file), connection)

    def _erase_user(
        self,
        connection: Connection,
        storage_id: str,
        request: Request,
        selects: Selects | None,
        queue: ForgottenEntries | None,
        began: datetime,
    ) -> UserErasure:
        if selects is not None and queue is not None and storage_id not in queue.turn_ids:
            with connection.transaction():
                if not selects(connection, storage_id).events:
                    return UserErasure(storage_id, queue.counts[storage_id].copy())
        for number in range(_ATTEMPTS):
            attempt = _Attempt(connection, storage_id, request, selects, queue, began, self._derived)
            try:
                return attempt.erase(stopped=number > 0)
            except (_MovedError, DeadlockDetected) as error:
                logger.debug("attempt %d: others wrote meanwhile: %r", number, error)
        raise ErasureRefusedError("others lock the tables of this user all the time; try again")

    def _clean(self, storage_ids: Collection[str], request: Request) -> ForgottenEntries | None:
        """Deletes the waiting turns of the users. Returns None when Redis is away; :meth:`resume` cleans later then.

        Raises :class:`ErasureRefusedError` when Redis is away and the turns cannot be told apart later.
        """
        if request.waiting is None or request.terms.derived_only:
            return ForgottenEntries()
        try:
            return self._forget_entries(
                storage_ids, request.waiting, until=request.until, dry_run=request.terms.dry_run
            )
        except REDIS_AWAY as error:
            if request.kind != "user":
                raise ErasureRefusedError(
                    "redis is away, so turns may wait there: try again when it is back"
                ) from error
            logger.warning("redis is away; the queue is cleaned later: %s", error)
            return None

    def _forget_entries(
        self,
        storage_ids: Collection[str],
        waiting: Callable[[Fields], bool],
        *,
        until: datetime | None = None,
        dry_run: bool = False,
    ) -> ForgottenEntries:
        if not self._settings.redis_url:
            return ForgottenEntries()

        erased = frozenset(storage_ids)

        def chooses(fields: Fields) -> str | None:
            owner = owner_of(fields)
            return owner if owner in erased and waiting(fields) else None

        client: redis.Redis = connect_redis(
            self._settings.redis_url, socket_timeout=10, socket_connect_timeout=2
        )
        with client:
            return forgotten_entries.forget(client, self._settings, chooses, until=until, dry_run=dry_run)


class _Attempt:
    """One attempt to erase events of one user, in one transaction. ``began`` is the instant at which the erasure began.

    It collects the events that go, and what is said again in their place. ``_read_up_to`` is the last position that was
    read, and ``_page`` are those of the events whose words must still be forgotten.
    """

    def __init__(
        self,
        connection: Connection,
        storage_id: str,
        request: Request,
        selects: Selects | None,
        queue: ForgottenEntries | None,
        began: datetime,
        derived: Sequence[Derived],
    ) -> None:
        self._connection = connection
        self._storage_id = storage_id
        self._request = request
        self._selects = selects
        self._queue = queue
        self._began = began
        self._derived = derived
        self._done = UserErasure(storage_id, Counter() if queue is None else queue.counts[storage_id].copy())
        self._event_ids: list[UUID] = []
        self._positions: list[int] = []
        self._said_again: list[NewEvent] = []
        self._read_up_to = 0
        self._page: list[Event] = []

    def erase(self, *, stopped: bool) -> UserErasure:
        """Returns what went. ``stopped``: nothing of the user is appended from the beginning of the transaction."""
        connection, storage_id, terms = self._connection, self._storage_id, self._request.terms
        with connection.transaction(force_rollback=terms.dry_run):
            for each in self._derived:
                each.hold(connection, storage_id)
            # A writer that read a complete value before the erasure must not append it again after it.
            reference_log.lock_owner(connection, storage_id)
            asking.lock(connection, storage_id, MODES)
            if stopped:
                log.stop_appends(connection, storage_id)
            self._select()
            event_ids = None if self._selects is None else self._event_ids
            waiting = set() if self._queue is None else self._queue.turn_ids.get(storage_id, set())
            if not self._event_ids and not waiting:
                return self._done
            if terms.derived_only:
                self._check_unsealed()
            for each in self._derived:
                self._done.counts.update(each.forget(connection, storage_id, event_ids))
            if terms.derived_only or terms.dry_run:
                return self._done
            if event_ids is None:
                # What arrived during the reading goes, too. The key can then be destroyed with nothing left unread.
                log.stop_appends(connection, storage_id)
                self._select()
                keystore.destroy_subject(connection, storage_id)
            elif event_ids:
                keystore.destroy_events(connection, storage_id, event_ids)
            self._keep(event_ids, self._append(waiting))
            self._check_unreadable()
            if self._queue is not None:
                _queue_done(connection, self._request.erasure_id, storage_id)
        return self._done

    def _select(self) -> None:
        """Adds what goes of the events after the last position, and forgets the words of these events."""
        if self._selects is None:
            for event in events_of(self._connection, self._storage_id, self._read_up_to):
                self._read_up_to = event.position
                if is_readable(event):
                    self._take(event)
        else:
            selection = self._selects(self._connection, self._storage_id)
            self._read_up_to, self._said_again = selection.read_up_to, selection.said_again
            for event in selection.events:
                self._take(event)
        self._forget_words()

    def _take(self, event: Event) -> None:
        self._event_ids.append(event.event_id)
        self._positions.append(event.position)
        self._done.counts["turns" if isinstance(event.payload, TurnRecorded) else "other events"] += 1
        self._page.append(event)
        if len(self._page) >= _PAGE:
            self._forget_words()

    def _forget_words(self) -> None:
        for each in self._derived:
            if number := each.forget_words(self._connection, self._page):
                self._done.counts[f"{each.name} cache"] += number
        self._page.clear()

    def _append(self, waiting: Collection[str]) -> list[Appended]:
        """Appends what is said again and the tombstones. Raises :class:`_MovedError` when others wrote meanwhile."""
        request = self._request
        starts = range(0, max(1, len(self._positions)), _EVENTS_A_TOMBSTONE)
        parts: list[tuple[int, ...] | None] = [None]
        if self._selects is not None:
            parts = [tuple(self._positions[start : start + _EVENTS_A_TOMBSTONE]) for start in starts]
        named = [(part, f"erasure/{request.erasure_id}/{number}") for number, part in enumerate(parts)]
        # A recorder that holds such a turn in memory appends it later. The log then drops it as a duplicate.
        named = [*(((), turn_key(turn_id)) for turn_id in sorted(waiting)), *named]
        fresh = [
            NewEvent(
                event_id=uuid7(),
                user_id=self._storage_id,
                stream=STREAM,
                payload=SubjectErased(
                    erasure_id=request.erasure_id,
                    kind=request.kind,
                    subject=request.subject_digest,
                    by=request.terms.by,
                    reason=request.terms.reason,
                    positions=part,
                ),
                occurred_at=datetime.now(UTC),
                actor="erasure",
                dedupe_key=key,
            )
            for part, key in named
        ]
        appended = log.append(self._connection, [*self._said_again, *fresh])
        row = self._connection.execute(
            statement("ingest.erasure", "later_event"),
            {
                "partition": appended[-1].partition, "user_id": self._storage_id, "after": self._read_up_to,
                "before": appended[-1].position, "own": [event.event_id for event in self._said_again],
            },
        ).fetchone()  # fmt: skip
        if row is not None:
            raise _MovedError
        return appended

    def _keep(self, event_ids: list[UUID] | None, appended: Sequence[Appended]) -> None:
        """Keeps the tombstone in the table, with the digests of the log before and after it."""
        request, last = self._request, appended[-1]
        first = min(each.position for each in appended if not each.duplicate)
        digests = [
            self._connection.execute(
                statement("events.store", "digest_at"), {"partition": last.partition, "position": position}
            ).fetchone()
            for position in (first - 1, last.position)
        ]
        before, after = (b"" if row is None else row[0] for row in digests)
        self._connection.execute(
            statement("ingest.erasure", "add_tombstone"),
            {
                "user_id": self._storage_id, "erasure_id": request.erasure_id, "kind": request.kind,
                "subject": request.subject_digest, "by": request.terms.by, "reason": request.terms.reason,
                "events": event_ids, "partition": last.partition, "position": last.position,
                "began_at": self._began, "counts": orjson.dumps(self._done.counts).decode(),
                "before": before, "after": after,
            },
        )  # fmt: skip

    def _check_unsealed(self) -> None:
        """Raises :class:`ErasureRefusedError` when the words can be erased, too."""
        if not self._number("unsealed"):
            raise ErasureRefusedError(
                f"--derived-only: all {len(self._positions)} events are sealed, and a rebuild would bring back what "
                "was made of them; leave --derived-only out, and the words go for ever, too"
            )

    def _check_unreadable(self) -> None:
        """Raises :class:`ErasureRefusedError` when an erased event can still be read. The transaction then ends."""
        readable = self._number("readable")
        if readable:
            raise ErasureRefusedError(
                f"{readable} of {len(self._positions)} events are not sealed, so their words would stay in the log: "
                "run `cardlog log seal` first, or erase only what was derived with `cardlog erase --derived-only`"
            )

    def _number(self, name: str) -> int:
        """Returns the number that a statement counts among the events that go."""
        values = {
            "partition": partition_of(self._storage_id),
            "user_id": self._storage_id,
            "positions": self._positions,
        }
        [number] = one_row(self._connection, statement("ingest.erasure", name), values)
        return int(number)


def _queue_done(connection: Connection, erasure_id: UUID, storage_id: str) -> None:
    connection.execute(
        statement("ingest.erasure", "queue_done"), {"erasure_id": erasure_id, "user_id": storage_id}
    )


def owner_of(fields: Fields) -> str:
    """Returns the storage id of the user of a queue entry."""
    tenant = fields.get("tenant")
    user_id = fields.get("user_id", "")
    return storage_id_of(tenant, user_id) if tenant else user_id


def users_of(connection: Connection, tenant: str | None) -> list[str]:
    """Returns the storage ids of the users of a tenant, or of all tenants for None."""
    return [row[0] for row in connection.execute(statement("ingest.erasure", "users"), {"tenant": tenant})]
