"""The core document of a user as commands decide on it (:mod:`ingest.decider`), and the port to documents.

A command folds the document at the end of the log. When another event of the user came between, the append is taken
back and the command is decided again. What was decided is therefore what every fold of the log makes of the event,
whatever the projector's lag is.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from events.core.fold import Present
from events.core.patches import PatchConflictError
from events.http.errors import ProblemError, missing
from events.platform.database import Connection
from events.references.reference_log import lock
from events.types.core import STREAM, PatchQueued, PatchRefused
from events.types.envelope import Event
from ingest.decider import Aggregate, Command


class Documents(Protocol):
    """Reads documents on a connection of the caller, within the transaction of the caller."""

    def present(
        self, connection: Connection, storage_id: str, *, history: bool = False, entries: Iterable[UUID] = ()
    ) -> Present:
        """Returns the present document of a user; the empty one of a user of whom nothing is known.

        With ``history`` it has all changes, and with ``entries`` these entries of the queue and the open ones.
        """

    def has_later(self, connection: Connection, storage_id: str, after: int, before: int) -> bool:
        """True when the log has an event between two positions that may change the document."""

    def keys_of_others(self, connection: Connection, storage_id: str) -> list[list[str]]:
        """Returns the keys that other users of the tenant made, a list for each user. At most 500 users count."""

    def changed_users(self, connection: Connection, since: datetime, after: str) -> list[str]:
        """Returns the next users, of all tenants, whose documents changed since an instant, in order."""


class NoDocuments:
    """The documents of a process that cannot fold them. Every command gets a 503 problem."""

    def present(
        self, connection: Connection, storage_id: str, *, history: bool = False, entries: Iterable[UUID] = ()
    ) -> Present:
        raise ProblemError(503, "Documents unavailable", "this process does not fold documents")

    def has_later(self, connection: Connection, storage_id: str, after: int, before: int) -> bool:
        return False

    def keys_of_others(self, connection: Connection, storage_id: str) -> list[list[str]]:
        return []

    def changed_users(self, connection: Connection, since: datetime, after: str) -> list[str]:
        return []


class CoreDocument(Aggregate[Present, int]):
    """The document of a user. The answer to a command is the version of the document after it.

    With ``history`` a rule sees all changes, and with ``entries`` these entries of the queue with the open ones.
    """

    attempts = 20
    keyed: str = "core"
    entries: Collection[UUID] = ()
    history = False

    def __init__(self, connection: Connection, documents: Documents, command: Command) -> None:
        super().__init__(connection, STREAM, command)
        self.documents = documents

    def hold(self) -> None:
        lock(self.connection, self.owner, self.stream)

    def load(self) -> Present:
        return self.present(history=self.history, entries=self.entries)

    def present(self, *, history: bool = False, entries: Collection[UUID] = ()) -> Present:
        """Returns the document at the end of the log."""
        return self.documents.present(self.connection, self.owner, history=history, entries=entries)

    def keys_of_others(self) -> list[list[str]]:
        """Returns the keys that other users of the tenant made, a list for each user."""
        return self.documents.keys_of_others(self.connection, self.owner)

    def answer(self, state: Present, event: Event | None) -> int:
        unchanged = event is None or isinstance(event.payload, PatchQueued | PatchRefused)
        return state.state.version + (not unchanged)

    def first_answer(self, event: Event) -> int:
        present = self.present(history=True)
        versions = (each.version for each in present.history if each.position <= event.position)
        return max(versions, default=0)

    def position(self, state: Present) -> int:
        return state.folded_to

    def moved(self, state: Present, position: int) -> bool:
        return self.documents.has_later(self.connection, self.owner, state.seen_to, position)


class CoreHistory(CoreDocument):
    """The document of a user with its history. Raises a 404 problem for a user without a document."""

    history = True

    def load(self) -> Present:
        present = super().load()
        if present.state.version == 0:
            raise missing("document", "user_id")
        return present


def conflict_problem(error: PatchConflictError, version: int, **more: Any) -> ProblemError:
    """Returns the problem of a patch that does not fit: operation, path, expected and actual value."""
    status = 409 if error.fault in ("test", "path", "contradiction") else 422
    return ProblemError(
        status,
        "Patch does not fit",
        f"patch/{error.op}: {error.reason} (at {error.path[:200]!r}); read the document, and send a patch that fits",
        field=f"patch/{error.op}",
        reason=error.reason,
        fault=error.fault,
        op=error.op,
        path=error.path,
        expected=error.expected,
        actual=error.actual,
        version=version,
        **more,
    )


def as_sent(error: PatchConflictError, guards: Sequence[int]) -> PatchConflictError:
    """Returns the error with the number that the operation has in the patch as it was sent."""
    number = error.op - sum(1 for each in guards if each < error.op)
    return PatchConflictError(error.fault, number, error.path, error.reason, error.expected, error.actual)
