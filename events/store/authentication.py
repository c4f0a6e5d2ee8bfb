"""Proves who appended an event, with a key that the processes hold and the database does not.

A role that may append can append anything, and the chain of digests then covers it. An event of a holder of the key
carries an HMAC over its content. ``cardlog log verify`` names the first event without a valid HMAC.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import orjson

from events.platform.key_file import Key, KeyFileError, KeyFileKind, new_key
from events.types import tenancy

_FILE = KeyFileKind("cardlog log key", "log key", "CARDLOG_LOG_KEY_FILE", "cardlog log key")
_ID_BYTES = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Heads = Mapping[int, tuple[int, bytes]]
"""The head of every partition: its last position and the digest there."""


class Keyring:
    """The current key and the older keys. ``keys`` has the current key first.

    ``since`` holds the heads of the log from the moment of the first key. Events up to these heads need no HMAC, and
    the heads must still have these digests.
    """

    def __init__(self, keys: Sequence[Key], since: Heads) -> None:
        self.keys = tuple(keys)
        self.since = dict(since)
        self._events = {key.id: key.derived(b"cardlog events") for key in keys}
        self._current = self.keys[0].id
        self.key_of_tenants = self.keys[-1].derived(b"cardlog tenants")
        """The key for :func:`events.types.tenancy.vouch`. It comes from the oldest key: a rotation shuts nobody out."""

    @property
    def current(self) -> Key:
        """The key for new events and anchors."""
        return self.keys[0]

    def mac(self, content: bytes) -> bytes:
        """Returns the id of the current key (8 bytes) and its HMAC-SHA-256 over ``content`` (32 bytes)."""
        return self._current + hmac.digest(self._events[self._current], content, "sha256")

    def knows(self, mac: bytes) -> bool:
        """True when ``mac`` names one of these keys. The HMAC itself is not checked."""
        return mac[:_ID_BYTES] in self._events

    def confirms(self, mac: bytes, content: bytes) -> bool:
        """True when ``mac`` is the HMAC of one of these keys over exactly ``content``."""
        key = self._events.get(mac[:_ID_BYTES])
        return key is not None and hmac.compare_digest(mac[_ID_BYTES:], hmac.digest(key, content, "sha256"))


def content(
    event_id: UUID,
    user_id: str,
    stream: str,
    kind: str,
    schema_version: int,
    dedupe_key: str | None,
    occurred_at: datetime,
    actor: str,
    causation_id: UUID | None,
    correlation_id: UUID | None,
    data: bytes,
) -> bytes:
    """Returns the bytes that an HMAC covers: every column that the appender decides, then the payload as stored.

    The server decides position, version and time of recording. Anchors cover those columns.
    """
    at = (occurred_at - _EPOCH) // _MICROSECOND
    names = [
        event_id, user_id, stream, kind, schema_version, dedupe_key, at, actor, causation_id, correlation_id,
    ]  # fmt: skip
    return orjson.dumps(names) + data


class _InUse:
    keyring: Callable[[], Keyring | None] = staticmethod(lambda: None)


def use(keyring: Keyring | None) -> None:
    """Authenticates the later appends of this process with ``keyring``. None turns authentication off."""
    _InUse.keyring = staticmethod(lambda: keyring)


def use_file(name: str) -> None:
    """Authenticates the later appends of this process with the keys in the file ``name``.

    The first append reads the file. An empty name turns authentication off.
    """
    _InUse.keyring = staticmethod(cache(lambda: load(Path(name)) if name else None))


def in_use() -> Keyring | None:
    """Returns the keyring of this process. Raises ``KeyFileError`` when its file cannot be read."""
    return _InUse.keyring()


def _key_of_tenants() -> bytes | None:
    """Returns the key that proves claims to PostgreSQL. Without a readable log key nothing is claimed with a proof."""
    try:
        keyring = in_use()
    except KeyFileError:
        return None
    return None if keyring is None else keyring.key_of_tenants


tenancy.prove_with(_key_of_tenants)


def load(path: Path) -> Keyring:
    """Returns the keys in the file ``path``. Raises ``KeyFileError`` when the file is not a readable key file."""
    keys, document = _FILE.read(path)
    try:
        since = {int(each[0]): (int(each[1]), bytes.fromhex(each[2])) for each in document["since"]}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise _FILE.unfit(path) from None
    return Keyring(keys, since)


def create(path: Path, since: Heads) -> Keyring:
    """Writes a new key to the new file ``path``, which only its owner may read.

    Raises ``KeyFileError`` when the file exists or cannot be written.
    """
    listed = [[partition, position, digest.hex()] for partition, (position, digest) in sorted(since.items())]
    _FILE.create(path, [new_key()], {"since": listed})
    return load(path)


def rotate(path: Path) -> Keyring:
    """Puts a new key in front of the keys in ``path``. The older keys still confirm their events.

    Raises ``KeyFileError`` when the file cannot be read or written.
    """
    _FILE.rotate(path)
    return load(path)


def fingerprint(key: bytes) -> str:
    """Returns a short name of a public key: 16 hexadecimal digits."""
    return sha256(key).hexdigest()[:16]
