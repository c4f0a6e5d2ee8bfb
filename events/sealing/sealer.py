"""Seals payloads and opens them: AES-256-GCM under a key of each event, derived from the key of its subject.

The key of an event is keyed BLAKE2b of the salt of the event under the subject's key. It seals one payload only, so a
fixed nonce is safe. The associated data bind the payload to its subject (tenant and user), event id, type, schema
version, field, and to the fields that stay visible.
"""

import os
import threading
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from uuid import UUID

from cachetools import LRUCache
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from events.platform.settings import Settings, revealed
from events.sealing.key_encryption import (
    KeyEncryption,
    KeyUnavailableError,
    WrappedKeyError,
    from_file,
    from_text,
)
from events.types.codec import SEALED
from events.types.tombstones import Erased

PREFIX = f'{{"{SEALED}":"'
"""The beginning of every sealed payload. No event type has a field of this name."""
SALT_BYTES = 16
_KEY_BYTES = 32
_NONCE = bytes(12)
_VERSION = '","v":1'
_SUBJECTS = 16_384  # Unwrapped keys in memory, about 6 MB.


class SealBrokenError(ValueError):
    """A sealed payload, its salt, its key or a column that it is bound to was changed. The message says which."""


class KnownKeys:
    """The wrapped keys that a writer last saw for its subjects. The database checks each of them again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrapped: LRUCache[str, bytes] = LRUCache(_SUBJECTS)

    def of(self, users: Iterable[str]) -> dict[str, bytes]:
        with self._lock:
            return {user: wrapped for user in users if (wrapped := self._wrapped.get(user)) is not None}

    def learn(self, wrapped: Mapping[str, bytes]) -> None:
        with self._lock:
            self._wrapped.update(wrapped)

    def forget(self, users: Iterable[str]) -> None:
        with self._lock:
            for user in users:
                self._wrapped.pop(user, None)


class Sealer:
    """Seals and opens payloads with the data keys that ``encryption`` unwraps. Safe for any number of threads."""

    def __init__(self, encryption: KeyEncryption) -> None:
        self.encryption = encryption
        # The wrapped key is part of the cache's key. A reader brings it along from the database, so a destroyed key is
        # not used again although it is in the cache.
        self._unwrapped = lru_cache(_SUBJECTS)(self._unwrap)
        self.known = KnownKeys()

    def _unwrap(self, user_id: str, wrapped: bytes) -> bytes:
        return self.encryption.unwrap(wrapped, f"subject {user_id}")

    def new_key(self, user_id: str) -> bytes:
        """Returns a new data key for a subject, wrapped."""
        return self.encryption.wrap(os.urandom(_KEY_BYTES), f"subject {user_id}")

    def rewrapped(self, user_id: str, wrapped: bytes) -> bytes:
        """Returns the same data key, wrapped by the current key-encryption key."""
        return self.encryption.wrap(self._unwrap(user_id, wrapped), f"subject {user_id}")

    def seal(
        self,
        wrapped: bytes,
        salt: bytes,
        user_id: str,
        event_id: UUID,
        kind: str,
        schema_version: int,
        plain: bytes,
        visible: bytes = b"{}",
    ) -> bytes:
        """Returns the sealed form of the payload ``plain``, a JSON object with the fields of ``visible`` added.

        ``wrapped`` is the key of the subject ``user_id``.
        """
        rest = _VERSION + ("," + visible[1:].decode() if len(visible) > 2 else "}")
        cipher = AESGCM(_event_key(self._unwrapped(user_id, wrapped), salt))
        sealed = cipher.encrypt(_NONCE, plain, _bound(user_id, event_id, kind, schema_version, rest))
        return PREFIX.encode() + b2a_base64(sealed, newline=False) + rest.encode()

    def open(self, text: str, user_id: str, event_id: UUID, kind: str, schema_version: int) -> bytes | Erased:
        """Returns the payload in ``text``, which ``sealing.readable`` returned, or :class:`Erased`.

        Raises :class:`SealBrokenError`, and :class:`KeyUnavailableError` without the key-encryption key.
        """
        try:
            stored, salt, wrapped = text.split("\n")
        except ValueError:
            raise SealBrokenError("the sealed payload came without its salt and key") from None
        if not wrapped:
            return Erased("the key of the subject was destroyed")
        if not salt:
            return Erased("the key of the event was destroyed")
        sealed, _, rest = stored[len(PREFIX) :].partition('"')
        try:
            key = self._unwrapped(user_id, bytes.fromhex(wrapped))
        except WrappedKeyError as error:
            raise SealBrokenError(f"the key of its subject does not fit: {error}") from None
        try:
            given = a2b_base64(sealed)
            if b2a_base64(given, newline=False).decode() != sealed:
                raise ValueError("base64")
            cipher = AESGCM(_event_key(key, bytes.fromhex(salt)))
            return cipher.decrypt(_NONCE, given, _bound(user_id, event_id, kind, schema_version, '"' + rest))
        except (InvalidTag, ValueError):
            raise SealBrokenError(
                "the sealed payload does not fit its subject, event id, type, schema version, salt or visible fields: "
                "one of them was changed, or the payload belongs to another event"
            ) from None


def _event_key(subject_key: bytes, salt: bytes) -> bytes:
    """Returns the key of an event: keyed BLAKE2b (RFC 7693), which takes a tenth of the time of an HMAC-SHA-256."""
    return blake2b(salt, key=subject_key, digest_size=_KEY_BYTES).digest()


def _bound(user_id: str, event_id: UUID, kind: str, schema_version: int, rest: str) -> bytes:
    """Returns the associated data. The storage id of the user names the tenant too. No part holds a NUL."""
    return event_id.bytes + f"{user_id}\0{kind}\0{schema_version}\0data\0{rest}".encode()


def new_salts(count: int) -> list[bytes]:
    """Returns ``count`` random salts, one for each event."""
    drawn = os.urandom(SALT_BYTES * count)
    return [drawn[start : start + SALT_BYTES] for start in range(0, len(drawn), SALT_BYTES)]


class _InUse:
    sealer: Callable[[], Sealer | None] = staticmethod(lambda: None)


def use(sealer: Sealer | None) -> None:
    """Seals the later appends of this process with ``sealer``. None turns sealing off."""
    _InUse.sealer = staticmethod(lambda: sealer)


def use_settings(settings: Settings) -> None:
    """Seals the later appends of this process with the key-encryption key of ``settings``, if they name one.

    The first use reads the file. Raises :class:`KeyUnavailableError` for an unusable ``CARDLOG_KEK``.
    """
    use(Sealer(from_text(revealed(settings.kek))) if settings.kek else None)
    if not settings.kek and settings.kek_file:
        _InUse.sealer = staticmethod(cache(lambda: Sealer(from_file(Path(settings.kek_file)))))


def in_use() -> Sealer | None:
    """Returns the sealer of this process. Raises ``KeyFileError`` when its file cannot be read."""
    return _InUse.sealer()


def opened(text: str, user_id: str, event_id: UUID, kind: str, schema_version: int) -> bytes | Erased:
    """Returns the sealed payload ``text`` opened with the sealer of this process: see :meth:`Sealer.open`."""
    sealer = in_use()
    if sealer is None:
        raise KeyUnavailableError(
            "the log holds sealed payloads: set CARDLOG_KEK_FILE to the file with the key-encryption key"
        )
    return sealer.open(text, user_id, event_id, kind, schema_version)
