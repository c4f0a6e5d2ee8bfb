"""Tokens: what a write gave out, so that a read can wait for it. Only the services can make one."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from hashlib import sha256

import orjson

from events.http.problem import ProblemError, invalid
from events.platform.settings import Settings

Awaited = str | int
"""A turn by its id, or the position of an event."""

_MAC_BYTES = 16
_NAME_BYTES = 9


class Sealer:
    """Makes tokens and opens those that the same key made. They name no user: each stands there as a keyed hash."""

    def __init__(self, secret: bytes) -> None:
        self._mac_key = hmac.digest(secret, b"cardlog token", sha256)
        self._name_key = hmac.digest(secret, b"cardlog user of a token", sha256)

    def seal(self, awaited: Mapping[str, Awaited]) -> str:
        """An opaque token that stands for what each user awaits."""
        document = orjson.dumps({self._name(user): what for user, what in awaited.items()})
        return base64.urlsafe_b64encode(self._mac(document) + document).decode().rstrip("=")

    def awaited(self, token: str, user_id: str) -> Awaited | None:
        """What ``token`` stands for of a user; None when it holds nothing of theirs.

        Raises a 422 problem for a token that nobody with this key gave out.
        """
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            data = b""
        mac, document = data[:_MAC_BYTES], data[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(document)):
            raise invalid("wait_for", "is no token; give one that the write service answered with, unchanged")
        found: Awaited | None = orjson.loads(document).get(self._name(user_id))
        return found

    def _mac(self, document: bytes) -> bytes:
        return hmac.digest(self._mac_key, document, sha256)[:_MAC_BYTES]

    def _name(self, user_id: str) -> str:
        digest = hmac.digest(self._name_key, user_id.encode("utf-8", "surrogatepass"), sha256)
        return base64.b64encode(digest[:_NAME_BYTES]).decode()


class Keyring:
    """The key of this process: the one that is set, or the one that the database keeps, once somebody read it."""

    def __init__(self, settings: Settings) -> None:
        self._sealer = Sealer(settings.token_key.encode()) if settings.token_key else None

    @property
    def sealer(self) -> Sealer | None:
        """None until the database was read."""
        return self._sealer

    def learn(self, secret: bytes) -> Sealer:
        """Keep what the statement ``token_key`` gave."""
        self._sealer = Sealer(bytes(secret))
        return self._sealer


def unread(error: BaseException) -> ProblemError:
    """503: a token cannot be checked while the key is out of reach."""
    return ProblemError(
        503,
        "Token unchecked",
        f"the database that keeps the key of tokens is away ({str(error).partition(chr(10))[0]}); try again, or ask "
        "without wait_for",
        field="wait_for",
    )
