"""Verifies that the log holds exactly the appended events: no hole, no change, nothing out of order, nothing forged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import TupleRow, tuple_row

from events.platform.chains import SEED, difference, first_break
from events.platform.database import Connection, statement
from events.platform.settings import SettingsError
from events.sealing.sealer import PREFIX, SealBrokenError, Sealer
from events.store.anchors import Anchor
from events.store.authentication import Keyring, content
from events.store.log import stored_of
from events.types.envelope import PARTITIONS
from events.types.tombstones import Erased

_SLICE = 10_000
_BIRTH = "the log key file"
_OTHER_KEY = "was authenticated with another key"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification.

    ``faults`` names up to four places in each partition: the first break of the chain, the first event without a
    valid HMAC, the first sealed payload that does not open, and the first difference from an anchor.
    ``authenticated`` counts events with the HMAC of a known key. ``before_key`` counts events that are older than the
    key. Both are None without a key, and forged events then stay unnoticed. ``sealed`` counts sealed payloads that
    were opened, and ``erased`` those whose key was destroyed. Both are None without a key-encryption key.
    """

    events: int
    faults: tuple[str, ...]
    authenticated: int | None = None
    before_key: int | None = None
    sealed: int | None = None
    erased: int | None = None

    @property
    def lacks_log_key(self) -> bool:
        """True when another log key authenticated the events, and nothing else is wrong."""
        return bool(self.faults) and all(_OTHER_KEY in fault for fault in self.faults)


def verify(
    connection: Connection,
    progress: Callable[[int], None] = lambda done: None,
    *,
    slice_events: int = _SLICE,
    keyring: Keyring | None = None,
    sealer: Sealer | None = None,
    anchors: Sequence[Anchor] = (),
) -> Verification:
    """Checks every partition against its chain of digests and its head, in slices of ``slice_events`` events.

    The server recomputes the chain from the stored columns. The first position whose digest does not follow from the
    digest before is a fault. With ``keyring``, every event must carry the HMAC of one of its keys, except the events
    that are older than the first key. With ``sealer``, every sealed payload that was not erased must open. With
    ``anchors``, every partition must still have their digests, which finds a history that was rewritten or cut
    together with its digests. The verification only reads, holds no snapshot while writers append, and its memory
    does not depend on the size of the log. ``progress`` gets the number of events checked so far.
    """
    witnesses = [(f"anchor {anchor.name} of {anchor.at}", anchor.heads) for anchor in anchors]
    if keyring is not None:
        witnesses.append((_BIRTH, keyring.since))
    total, authenticated, before_key, sealed, erased = 0, 0, 0, 0, 0
    faults: list[str] = []
    for partition in range(PARTITIONS):
        done = total

        def report(count: int, done: int = done) -> None:
            progress(done + count)

        checked = _Partition(connection, partition, keyring, sealer)
        checked.run(report, slice_events)
        total += checked.events
        authenticated += checked.authenticated
        before_key += checked.before_key
        sealed += checked.sealed
        erased += checked.erased
        seen = [(name, heads[partition]) for name, heads in witnesses if partition in heads]
        found = [checked.fault, checked.forged, checked.broken, difference(checked.ask, seen)]
        faults += [f"partition {partition}, position {fault}" for fault in found if fault is not None]
    return Verification(
        total,
        tuple(faults),
        *((None, None) if keyring is None else (authenticated, before_key)),
        *((None, None) if sealer is None else (sealed, erased)),
    )


class _Partition:
    """Verifies one partition in one pass.

    ``fault`` is the first break of its chain. ``forged`` is the first event without a valid HMAC. ``broken`` is the
    first sealed payload that does not open.
    """

    def __init__(
        self, connection: Connection, partition: int, keyring: Keyring | None, sealer: Sealer | None
    ) -> None:
        self._connection = connection
        self._partition = partition
        self._keyring = keyring
        self._sealer = sealer
        self._exempt = 0 if keyring is None else keyring.since.get(partition, (0, SEED))[0]
        self.events = 0
        self.authenticated = 0
        self.before_key = 0
        self.sealed = 0
        self.erased = 0
        self.fault: str | None = None
        self.forged: str | None = None
        self.broken: str | None = None

    def run(self, progress: Callable[[int], None], limit: int) -> None:
        head = self.ask("head")
        if head is None:
            self.fault = "0: the partition has no head"
            return
        self.events, self.fault = first_break(self.ask, limit, self._read, progress)
        if self.fault is None and self._keyring is not None and self.forged is None:
            row = self.ask("verify_repeated", head=head[0])
            if row is not None and row[0] is not None:
                self.forged = f"{row[0]}: is an earlier event appended again"

    def _read(self, after: int, last: int) -> None:
        """Checks the HMACs and opens the payloads of the positions above ``after`` up to ``last``."""
        if self._keyring is None and self._sealer is None:
            return
        with self._connection.cursor(row_factory=tuple_row, binary=True) as cursor:
            rows = cursor.execute(
                statement("events.store", "verify_macs"),
                {"partition": self._partition, "after": after, "last": last},
            )
            for position, *given, data, mac in rows:
                if self._keyring is not None and self.forged is None:
                    columns = (*given, stored_of(data).encode())
                    self._authenticate(self._keyring, position, content(*columns), mac)
                if self._sealer is not None and self.broken is None and data.startswith(PREFIX):
                    self._open(self._sealer, position, tuple(given), data)

    def _authenticate(self, keyring: Keyring, position: int, content: bytes, mac: bytes | None) -> None:
        if mac is not None and keyring.confirms(mac, content):
            self.authenticated += 1
        elif position <= self._exempt and (mac is None or not keyring.knows(mac)):
            self.before_key += 1
        else:
            self.forged = f"{position}: {_why(keyring, mac)}"

    def _open(self, sealer: Sealer, position: int, given: TupleRow, data: str) -> None:
        event_id, user_id, _, kind, schema_version, *_ = given
        try:
            opened = sealer.open(data, user_id, event_id, kind, schema_version)
        except (SealBrokenError, SettingsError) as error:
            self.broken = f"{position}: {error}"
            return
        if isinstance(opened, Erased):
            self.erased += 1
        else:
            self.sealed += 1

    def ask(self, name: str, **values: object) -> Any:
        query = statement("events.store", name)
        return self._connection.execute(query, {"partition": self._partition, **values}).fetchone()


def _why(keyring: Keyring, mac: bytes | None) -> str:
    if mac is None:
        return "carries no authentication: somebody without the log key appended it"
    if not keyring.knows(mac):
        return f"{_OTHER_KEY} ({mac[:8].hex()}) than those at hand"
    return "its authentication does not fit: it was forged or changed"
