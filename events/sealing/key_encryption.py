"""Key-encryption keys. They wrap the data keys of subjects, and the database never sees them."""

import base64
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from events.platform.key_file import SECRET_BYTES, Key, KeyFileKind, new_key
from events.platform.settings import SettingsError

KEY_FILE = KeyFileKind(
    "cardlog key-encryption key", "key-encryption key", "CARDLOG_KEK_FILE", "cardlog log kek"
)
_ID_BYTES = 8
_NONCE_BYTES = 12
_TAG_BYTES = 16


class KeyUnavailableError(SettingsError):
    """A key-encryption key is missing or cannot be used. The message gives the remedy.

    The data are not at fault: a reader with the key reads them.
    """


class WrappedKeyError(ValueError):
    """The wrapped key was changed, or belongs to another subject."""


class KeyEncryption(Protocol):
    """Wraps data keys. A key management service behind this protocol keeps its key to itself."""

    def wrap(self, key: bytes, context: str) -> bytes:
        """Returns ``key`` encrypted, bound to ``context``. Two calls return different bytes."""

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        """Returns the key in ``wrapped``.

        Raises :class:`WrappedKeyError` when ``wrapped`` was changed or made for another context, and
        :class:`KeyUnavailableError` when the key-encryption key is not at hand.
        """

    def is_current(self, wrapped: bytes) -> bool:
        """True when the current key-encryption key wrapped the key. A rotation wraps the others again."""


class LocalKeyEncryption:
    """Wraps data keys with AES-256-GCM under keys in the memory of this process. The first key is the current one.

    ``again`` reads the keys again when one is unknown, because :func:`rotate` may have added it.
    """

    def __init__(self, keys: Sequence[Key], again: Callable[[], Sequence[Key]] | None = None) -> None:
        self._again = again
        self._use(keys)

    def _use(self, keys: Sequence[Key]) -> None:
        self._ciphers = {key.id: AESGCM(key.derived(b"cardlog key encryption")) for key in keys}
        self._current = keys[0].id

    def wrap(self, key: bytes, context: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return self._current + nonce + self._ciphers[self._current].encrypt(nonce, key, context.encode())

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        start = _ID_BYTES + _NONCE_BYTES
        name, nonce, sealed = wrapped[:_ID_BYTES], wrapped[_ID_BYTES:start], wrapped[start:]
        if len(sealed) <= _TAG_BYTES:
            raise WrappedKeyError("the wrapped key was cut")
        if name not in self._ciphers and self._again is not None:
            self._use(self._again())
        cipher = self._ciphers.get(name)
        if cipher is None:
            raise KeyUnavailableError(
                f"a data key was wrapped by the key-encryption key {name.hex()}, which is not at hand: add that key to "
                "CARDLOG_KEK_FILE"
            )
        try:
            return cipher.decrypt(nonce, sealed, context.encode())
        except (InvalidTag, ValueError):
            raise WrappedKeyError("the wrapped key was changed, or belongs to another subject") from None

    def is_current(self, wrapped: bytes) -> bool:
        return wrapped[:_ID_BYTES] == self._current


def from_file(path: Path) -> LocalKeyEncryption:
    """Returns the keys in the file ``path``. Raises ``KeyFileError``."""

    def keys() -> Sequence[Key]:
        return KEY_FILE.read(path)[0]

    return LocalKeyEncryption(keys(), keys)


def from_text(text: str) -> LocalKeyEncryption:
    """Returns the keys in ``text``: base64 of 32 bytes each, separated by spaces, the current key first.

    Raises :class:`KeyUnavailableError` for any other text.
    """
    try:
        keys = [Key(base64.b64decode(word, validate=True)) for word in text.split()]
    except ValueError:
        keys = []
    if not keys or any(len(key.secret) != SECRET_BYTES for key in keys):
        raise KeyUnavailableError(
            "CARDLOG_KEK is no list of keys: give 32 random bytes in base64 for each key, for instance from "
            "`openssl rand -base64 32`, the current key first"
        )
    return LocalKeyEncryption(keys)


def create(path: Path) -> LocalKeyEncryption:
    """Writes a new key to the new file ``path``, which only its owner may read. Raises ``KeyFileError``."""
    KEY_FILE.create(path, [new_key()])
    return from_file(path)


def rotate(path: Path) -> LocalKeyEncryption:
    """Puts a new key in front of the keys in ``path``. The older keys still unwrap what they wrapped."""
    KEY_FILE.rotate(path)
    return from_file(path)
