"""Verifies that the log holds exactly the appended events: no hole, no change, nothing out of order, nothing forged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import psycopg
from psycopg.rows import TupleRow, tuple_row

from events.platform.database import Connection, statement
from events.platform.settings import SettingsError
from events.sealing.sealer import PREFIX, SealBrokenError, Sealer
from events.store.anchors import Anchor
from events.store.authentication import Heads, Keyring, content
from events.store.log import stored_of
from events.types.envelope import PARTITIONS
from events.types.tombstones import Erased

SEED = sha256(b"").digest()  # The digest before the first event of a partition.
_SLICE = 10_000
_BIRTH = "the log key file"


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
        found = [checked.fault, checked.forged, checked.broken, _difference(connection, partition, witnesses)]
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
        self.events, self.fault = self._chain(progress, limit)

    def _chain(self, progress: Callable[[int], None], limit: int) -> tuple[int, str | None]:
        """Returns the number of events checked and the first fault, or None."""
        row = self._one("head", {})
        if row is None:
            return 0, "0: the partition has no head"
        head, head_digest = row
        position, digest = 0, SEED
        while position < head:
            where = {"after": position, "head": head, "limit": limit, "digest": digest}
            try:
                found = self._one("verify_slice", where)
                assert found is not None
                count, hole, broken, last_digest = found
                self._read(position, position + count)
            except psycopg.InternalError as error:
                # The damage is below the rows, in checksums or lengths. The server does not name the row.
                return position, f"{position + 1} or after: cannot be read: {error.diag.message_primary}"
            first_bad = min((each for each in (hole, broken) if each is not None), default=None)
            if first_bad is not None:
                what = "is missing" if first_bad == hole else "was changed, or stands in another's place"
                return first_bad - 1, f"{first_bad}: {what}"
            position += count
            if count < min(limit, head - position + count):
                return position, f"{position + 1}: is missing, the head says {head}"
            digest = last_digest
            progress(position)
        if digest != head_digest:
            return position, f"{position}: its digest is not the head's"
        row = self._one("behind_head", {})
        assert row is not None
        head, last = row
        if last is not None and last > head:
            return position, f"{head + 1}: stands behind the head"
        if self._keyring is not None and self.forged is None:
            row = self._one("verify_repeated", {"head": head})
            if row is not None and row[0] is not None:
                self.forged = f"{row[0]}: is an earlier event appended again"
        return position, None

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

    def _one(self, name: str, parameters: dict[str, object]) -> TupleRow | None:
        return self._connection.execute(
            statement("events.store", name), {"partition": self._partition, **parameters}
        ).fetchone()


def _why(keyring: Keyring, mac: bytes | None) -> str:
    if mac is None:
        return "carries no authentication: somebody without the log key appended it"
    if not keyring.knows(mac):
        return f"was authenticated with another key ({mac[:8].hex()}) than those at hand"
    return "its authentication does not fit: it was forged or changed"


def _difference(connection: Connection, partition: int, witnesses: Sequence[tuple[str, Heads]]) -> str | None:
    """Returns the first place where the partition differs from a witness, or None.

    A witness is a name with heads. The digest of a head covers every event up to the head. The change is therefore
    behind the last head that still fits.
    """
    sound = 0
    known = sorted((heads[partition], name) for name, heads in witnesses if partition in heads)
    row = connection.execute(statement("events.store", "head"), {"partition": partition}).fetchone()
    head = 0 if row is None else row[0]
    for (position, digest), name in known:
        if not position:
            continue
        place = f"{position}" if sound + 1 == position else f"{sound + 1} to {position}"
        if position > head:
            return f"{max(head, sound) + 1}: is missing, {name} saw the log reach {position}"
        row = connection.execute(
            statement("events.store", "digest_at"), {"partition": partition, "position": position}
        ).fetchone()
        if row is None:
            return f"{position}: is missing, {name} saw it"
        if bytes(row[0]) != digest:
            return f"{place}: was rewritten with its digests, {name} saw another history"
        sound = position
    return None
