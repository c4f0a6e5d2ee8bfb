"""Tokens: the write service answers a push with a token, and a read can wait for the turns of that token.

Only the services can make a token.
"""

import base64
import binascii
import hmac
from collections.abc import Mapping
from hashlib import sha256

import orjson

from events.http.errors import ProblemError, invalid
from events.platform.database import Connection, connect, statement
from events.platform.settings import Settings
from events.types.queue_entry import QueueKey
from events.types.tenancy import TOKENS, vouch

Awaited = str | int
"""The turn or event that a token waits for: a turn id, or the position of an event."""

_MAC_BYTES = 16
_NAME_BYTES = 9


class Sealer:
    """Makes tokens, and opens tokens of the same key. A token names no user: it holds a keyed hash of each user id."""

    def __init__(self, secret: bytes) -> None:
        self._mac_key = hmac.digest(secret, b"cardlog token", sha256)
        self._name_key = hmac.digest(secret, b"cardlog user of a token", sha256)

    def seal(self, awaited: Mapping[str, Awaited]) -> str:
        """Returns an opaque token that holds the awaited turn or position of each user id."""
        document = orjson.dumps({self._name(user): each for user, each in awaited.items()})
        return base64.urlsafe_b64encode(self._mac(document) + document).decode().rstrip("=")

    def awaited(self, token: str, user_id: str) -> Awaited | None:
        """Returns the turn or position that ``token`` holds for a user; None when the token holds none.

        Raises a 422 problem for a token that no service with this key made.
        """
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            data = b""
        mac, document = data[:_MAC_BYTES], data[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(document)):
            raise invalid("wait_for", "is not a valid token; send a token of the write service unchanged")
        found: Awaited | None = orjson.loads(document).get(self._name(user_id))
        return found

    def _mac(self, document: bytes) -> bytes:
        return hmac.digest(self._mac_key, document, sha256)[:_MAC_BYTES]

    def _name(self, user_id: str) -> str:
        digest = hmac.digest(self._name_key, user_id.encode("utf-8", "surrogatepass"), sha256)
        return base64.b64encode(digest[:_NAME_BYTES]).decode()


class Keyring:
    """The token key of this process: the key in the settings, or else the key that the database keeps.

    ``sealer`` seals tokens, and ``queue_key`` proves the tenant of a turn on the queue. Both are None until
    :meth:`learn` has the key.
    """

    def __init__(self, settings: Settings) -> None:
        self.sealer: Sealer | None = None
        self.queue_key: QueueKey | None = None
        if settings.token_key:
            self.learn(settings.token_key.encode())

    def learn(self, secret: bytes) -> Sealer:
        """Keeps the key that the statement ``token_key`` returned, and returns its sealer."""
        self.sealer = Sealer(bytes(secret))
        self.queue_key = QueueKey(bytes(secret))
        return self.sealer


def read_queue_key(settings: Settings) -> QueueKey:
    """Returns the key that proves the tenant of a turn: the key in the settings, or else the key of the database."""
    if settings.token_key:
        return QueueKey(settings.token_key.encode())
    with connect(settings.database_url, application="key of tenants") as connection:
        return QueueKey(stored_key(connection))


def stored_key(connection: Connection) -> bytes:
    """Returns the key of tokens that the database keeps."""
    row = connection.execute(statement("events.http", "token_key"), {"proof": vouch(TOKENS)}).fetchone()
    assert row is not None, "the migration makes the key"
    return bytes(row[0])


def unread(error: BaseException) -> ProblemError:
    """Returns a 503 problem: the service cannot check a token because it cannot read the key."""
    return ProblemError(
        503,
        "Token unchecked",
        f"the database that keeps the key of tokens is away ({str(error).partition(chr(10))[0]}); try again, or ask "
        "without wait_for",
        field="wait_for",
    )
