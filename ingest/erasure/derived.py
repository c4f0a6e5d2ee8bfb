"""What was derived from events, as an erasure sees it. The projections implement the protocol."""

from collections.abc import Collection, Sequence
from typing import Protocol
from uuid import UUID

from events.platform.database import Connection
from events.types.envelope import Event


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


class Keystore(Protocol):
    """Destroys the keys of payloads, in the transaction of the caller: :mod:`events.sealing.keystore`."""

    def destroy_subject(self, connection: Connection, storage_id: str) -> int: ...

    def destroy_events(self, connection: Connection, storage_id: str, event_ids: Collection[UUID]) -> int: ...
