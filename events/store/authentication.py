"""Proves who appended an event, with a key that the processes hold and the database does not.

A role that may append can append anything, and the chain of digests then covers it. An event of a holder of the key
carries an HMAC over its content. ``cardlog log verify`` names the first event without a valid HMAC.
"""

from __future__ import annotations

import base64
import hmac
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from events.platform.settings import SettingsError

_KIND = "cardlog log key"
_FORMAT = 1
_ID_BYTES = 8
_SECRET_BYTES = 32
_LARGEST = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class KeyFileError(SettingsError):
    """The key file cannot be used. The message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Key:
    """One secret of 32 bytes. The keys for events and for anchors are derived from the secret."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> bytes:
        """Names the key and reveals nothing of the secret: 8 bytes."""
        return self.derived(b"cardlog key id")[:_ID_BYTES]

    def derived(self, purpose: bytes) -> bytes:
        """Returns the 32 bytes of the key for ``purpose``. Keys for different purposes are independent."""
        return hmac.digest(self.secret, purpose, "sha256")


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
    keyring: Keyring | None = None
    file: Path | None = None


def use(keyring: Keyring | None) -> None:
    """Authenticates the later appends of this process with ``keyring``. None turns authentication off."""
    _InUse.keyring, _InUse.file = keyring, None


def use_file(name: str) -> None:
    """Authenticates the later appends of this process with the keys in the file ``name``.

    The first append reads the file. An empty name turns authentication off.
    """
    _InUse.keyring, _InUse.file = None, Path(name) if name else None


def in_use() -> Keyring | None:
    """Returns the keyring of this process. Raises :class:`KeyFileError` when its file cannot be read."""
    if _InUse.file is not None:
        use(load(_InUse.file))
    return _InUse.keyring


def load(path: Path) -> Keyring:
    """Returns the keys in the file ``path``. Raises :class:`KeyFileError` when the file is not a readable key file."""
    try:
        text = path.read_bytes()[: _LARGEST + 1]
    except OSError as error:
        raise KeyFileError(
            f"the log key file {path} cannot be read ({error.strerror}): set CARDLOG_LOG_KEY_FILE to a file "
            "that this process may read, or make one with: cardlog log key new FILE"
        ) from None
    try:
        document = orjson.loads(text)
        if document["kind"] != _KIND or document["format"] != _FORMAT:
            raise ValueError("kind or format")
        keys = [Key(base64.b64decode(each["secret"], validate=True)) for each in document["keys"]]
        since = {int(each[0]): (int(each[1]), bytes.fromhex(each[2])) for each in document["since"]}
        if not keys or any(len(key.secret) != _SECRET_BYTES for key in keys):
            raise ValueError("keys")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise KeyFileError(
            f"{path} is no log key file of this build: bring it back from a backup, or make a new one with: "
            "cardlog log key new FILE"
        ) from None
    return Keyring(keys, since)


def create(path: Path, since: Heads) -> Keyring:
    """Writes a new key to the new file ``path``, which only its owner may read.

    Raises :class:`KeyFileError` when the file exists or cannot be written.
    """
    keyring = Keyring([Key(secrets.token_bytes(_SECRET_BYTES))], since)
    try:
        _write(path, keyring)
    except FileExistsError:
        raise KeyFileError(
            f"{path} exists already: give another name, or put a new key in front of it with: cardlog log key rotate"
        ) from None
    except OSError as error:
        raise KeyFileError(f"the log key file {path} cannot be written: {error.strerror}") from None
    return keyring


def rotate(path: Path) -> Keyring:
    """Puts a new key in front of the keys in ``path``. The older keys still confirm their events.

    Raises :class:`KeyFileError` when the file cannot be read or written.
    """
    old = load(path)
    keyring = Keyring([Key(secrets.token_bytes(_SECRET_BYTES)), *old.keys], old.since)
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.unlink(missing_ok=True)
        _write(fresh, keyring)
        status = path.stat()
        if os.geteuid() == 0:
            os.chown(fresh, status.st_uid, status.st_gid)
        fresh.replace(path)
    except OSError as error:
        raise KeyFileError(f"the log key file {path} cannot be written: {error.strerror}") from None
    return keyring


def _write(path: Path, keyring: Keyring) -> None:
    document: dict[str, Any] = {
        "kind": _KIND,
        "format": _FORMAT,
        "keys": [
            {"id": key.id.hex(), "secret": base64.b64encode(key.secret).decode()} for key in keyring.keys
        ],
        "since": [
            [partition, position, digest.hex()]
            for partition, (position, digest) in sorted(keyring.since.items())
        ],
    }
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o600)  # A umask may have taken the owner's right to read.
        file.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        file.flush()
        os.fsync(descriptor)


def fingerprint(key: bytes) -> str:
    """Returns a short name of a public key: 16 hexadecimal digits."""
    return sha256(key).hexdigest()[:16]
