"""Files with secret keys: the current key first, then the older keys. Only the owner may read such a file."""

import base64
import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from events.platform.settings import SettingsError
from events.types.json_values import Json

SECRET_BYTES = 32
_FORMAT = 1
_ID_BYTES = 8
_LARGEST = 1_000_000


class KeyFileError(SettingsError):
    """The key file cannot be used. The message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Key:
    """One secret of 32 bytes. The keys for single purposes are derived from the secret."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> bytes:
        """Names the key and reveals nothing of the secret: 8 bytes."""
        return self.derived(b"cardlog key id")[:_ID_BYTES]

    def derived(self, purpose: bytes) -> bytes:
        """Returns the 32 bytes of the key for ``purpose``. Keys for different purposes are independent."""
        return hmac.digest(self.secret, purpose, "sha256")


def new_key() -> Key:
    return Key(secrets.token_bytes(SECRET_BYTES))


@dataclass(frozen=True, slots=True)
class KeyFileKind:
    """A kind of key file. ``kind`` is written in the file. The other fields complete the messages of errors."""

    kind: str
    called: str
    variable: str
    command: str

    def read(self, path: Path) -> tuple[list[Key], dict[str, Json]]:
        """Returns the keys in the file ``path`` and the whole document.

        Raises :class:`KeyFileError` when the file is not a readable file of this kind.
        """
        try:
            text = path.read_bytes()[: _LARGEST + 1]
        except OSError as error:
            raise KeyFileError(
                f"the {self.called} file {path} cannot be read ({error.strerror}): set {self.variable} to a file "
                f"that this process may read, or make one with: {self.command} new FILE"
            ) from None
        try:
            document = orjson.loads(text)
            if document["kind"] != self.kind or document["format"] != _FORMAT:
                raise ValueError("kind or format")
            keys = [Key(base64.b64decode(each["secret"], validate=True)) for each in document["keys"]]
            if not keys or any(len(key.secret) != SECRET_BYTES for key in keys):
                raise ValueError("keys")
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            raise self.unfit(path) from None
        return keys, document

    def unfit(self, path: Path) -> KeyFileError:
        """Returns the error of a file with another content."""
        return KeyFileError(
            f"{path} is no {self.called} file of this build: bring it back from a backup, or make a new one with: "
            f"{self.command} new FILE"
        )

    def create(self, path: Path, keys: Sequence[Key], further: dict[str, object] | None = None) -> None:
        """Writes ``keys`` to the new file ``path``, which only its owner may read.

        Raises :class:`KeyFileError` when the file exists or cannot be written.
        """
        try:
            self._write(path, keys, further)
        except FileExistsError:
            raise KeyFileError(
                f"{path} exists already: give another name, or put a new key in front of it with: "
                f"{self.command} rotate"
            ) from None
        except OSError as error:
            raise self._unwritable(path, error) from None

    def rotate(self, path: Path) -> None:
        """Puts a new key in front of the keys in the file ``path``, at once and with the same owner.

        Raises :class:`KeyFileError` when the file cannot be read or written.
        """
        keys, document = self.read(path)
        further = {name: each for name, each in document.items() if name not in ("kind", "format", "keys")}
        fresh = path.with_name(path.name + ".new")
        try:
            fresh.unlink(missing_ok=True)
            self._write(fresh, [new_key(), *keys], further)
            status = path.stat()
            if os.geteuid() == 0:
                os.chown(fresh, status.st_uid, status.st_gid)
            fresh.replace(path)
        except OSError as error:
            raise self._unwritable(path, error) from None

    def _unwritable(self, path: Path, error: OSError) -> KeyFileError:
        return KeyFileError(f"the {self.called} file {path} cannot be written: {error.strerror}")

    def _write(self, path: Path, keys: Sequence[Key], further: dict[str, object] | None) -> None:
        document: dict[str, object] = {
            "kind": self.kind,
            "format": _FORMAT,
            "keys": [{"id": key.id.hex(), "secret": base64.b64encode(key.secret).decode()} for key in keys],
            **(further or {}),
        }
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)  # A umask may have taken the owner's right to read.
            file.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
            file.flush()
            os.fsync(descriptor)
