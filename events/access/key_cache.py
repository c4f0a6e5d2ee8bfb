"""The API keys that a service has seen, and the watcher that forgets a key when it changes."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
from datetime import UTC, datetime

import psycopg
from cachetools import LRUCache
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from events.access.keys import ApiKey, digest_of, key_id_of, key_of
from events.access.principal import Principal
from events.access.web_sessions import digest_of_link, is_session_of, key_id_of_session, new_session
from events.platform.database import PEER, RECONNECT_S, Row, address_of, statement
from events.platform.failures import bounded, in_a_line, retry_on_lost_connection

logger = logging.getLogger(__name__)

POLL_S = 1.0
"""The longest time that a change of a key stays unseen when its notification is lost."""
_FOUND, _ABSENT = 20_000, 2_000
_MOST_LOOKUPS = 64
_LOOKUP_S = 5.0
_NOTHING = bytes(32)


class KeysUnavailableError(RuntimeError):
    """A credential cannot be checked now: its key is not in the cache, and the keeper of the keys is away."""


class KeyCache:
    """Finds the principal of an API key. A key is read from PostgreSQL once, and again after it changed.

    A watcher listens for changes and also asks every :data:`POLL_S` seconds. While PostgreSQL is away, the keys in the
    cache stay valid until they expire, and other keys cannot be checked. Use it as an asynchronous context manager.
    """

    def __init__(self, database_url: str, service: str) -> None:
        self._url = database_url
        self._name = f"cardlog {service}, keys"
        self._pool: AsyncConnectionPool[AsyncConnection] = AsyncConnectionPool(
            database_url,
            min_size=0,
            max_size=2,
            open=False,
            reconnect_timeout=RECONNECT_S,
            kwargs={"autocommit": True, "application_name": self._name, **PEER},
        )
        self._found: LRUCache[str, ApiKey] = LRUCache(_FOUND)
        # Ids that no key has are kept apart, so that guesses do not push keys out of the cache.
        self._absent: LRUCache[str, None] = LRUCache(_ABSENT)
        self._secret = b""
        self._lookups: dict[str, asyncio.Task[ApiKey | None]] = {}
        self._watching = False
        self._seen: int | None = None
        self._changes = 0
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> KeyCache:
        await self._pool.open(wait=False)
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher
        await self._pool.close()

    @property
    def known(self) -> frozenset[str]:
        """The ids in the cache, of keys that exist and of keys that do not."""
        return frozenset((*self._found, *self._absent))

    async def principal(self, text: str) -> Principal | None:
        """Returns the principal of the key ``text``; None when the key is unknown, wrong, expired or revoked.

        Every refusal takes the same way and so the same time. Raises :class:`KeysUnavailableError`.
        """
        key = await self._with_text(text)
        return None if key is None else key.principal

    async def session(self, text: str) -> Principal | None:
        """Returns the principal of a browser's session; None when it or its key is not valid any more.

        Raises :class:`KeysUnavailableError`.
        """
        now = datetime.now(UTC)
        key_id = key_id_of_session(text, now)
        key = None if key_id is None else await self._with_id(key_id)
        if key is None or not is_session_of(self._secret, key, text) or key.status(now) != "valid":
            return None
        return key.principal

    async def sign_in(self, text: str) -> tuple[Principal, str] | None:
        """Returns a new session with its principal, for the text of a key, a link or a session; else None.

        A link is used up. Raises :class:`KeysUnavailableError`.
        """
        if (digest := digest_of_link(text)) is not None:
            row = await self._asked("use_link", digest=digest)
            key = await self._with_id(str(row["key_id"])) if row is not None and row["key_id"] else None
        elif (principal := await self.session(text)) is not None:
            key = await self._with_id(str(principal.key_id))
        else:
            key = await self._with_text(text)
        now = datetime.now(UTC)
        if key is None or key.status(now) != "valid":
            return None
        return key.principal, new_session(self._secret, key, now)

    async def _with_text(self, text: str) -> ApiKey | None:
        key_id = key_id_of(text)
        if key_id is None:
            return None
        key = await self._with_id(key_id)
        right = hmac.compare_digest(digest_of(self._secret, text), _NOTHING if key is None else key.digest)
        if key is None or not right or key.status(datetime.now(UTC)) != "valid":
            return None
        return key

    async def _with_id(self, key_id: str) -> ApiKey | None:
        key = self._found.get(key_id)
        if key is None and key_id not in self._absent:
            key = await self._look_up(key_id)
        return key

    async def _look_up(self, key_id: str) -> ApiKey | None:
        """Returns the key. Requests with one key share a lookup: the first ones after a start come at the same time."""
        lookup = self._lookups.get(key_id)
        if lookup is None:
            # A flood of unknown keys must not fill the pool's queue.
            if len(self._lookups) >= _MOST_LOOKUPS:
                raise KeysUnavailableError(f"{len(self._lookups)} other unknown keys are being looked up")
            lookup = self._lookups[key_id] = asyncio.create_task(self._read(key_id))
            lookup.add_done_callback(lambda _: self._lookups.pop(key_id))
        return await asyncio.shield(lookup)

    async def _read(self, key_id: str) -> ApiKey | None:
        changes = self._changes
        row = await self._asked("find_key", key_id=key_id)
        assert row is not None, "the migration makes the secret"
        self._secret, key = bytes(row["secret"]), key_of(row)
        # A key that changed during the lookup is not kept, because the lookup may have read the old row.
        if self._watching and changes == self._changes:
            if key is None:
                self._absent[key_id] = None
            else:
                self._found[key_id] = key
        return key

    async def _asked(self, name: str, **values: object) -> Row | None:
        """Returns the row of a named statement. Raises :class:`KeysUnavailableError`."""

        async def row() -> Row | None:
            async with self._pool.connection(timeout=_LOOKUP_S) as connection:
                cursor = connection.cursor(row_factory=dict_row)
                await cursor.execute(statement("events.access", name), values)
                return await cursor.fetchone()

        try:
            return await bounded(_LOOKUP_S, retry_on_lost_connection(row))
        except (psycopg.Error, TimeoutError) as error:
            raise KeysUnavailableError("the database that keeps the API keys is away") from error

    async def _watch(self) -> None:
        """Forgets changed keys until it is cancelled. It connects again after an error."""
        away = False
        while True:
            try:
                connection = await AsyncConnection.connect(
                    self._url,
                    autocommit=True,
                    application_name=self._name,
                    **PEER,
                )
                async with connection:
                    await connection.execute(statement("events.access", "listen_keys"))
                    while True:
                        await self._forget_changed(connection)
                        if away:
                            logger.info("API keys are watched again")
                        away = False
                        async for _ in connection.notifies(timeout=POLL_S, stop_after=1):
                            pass
            except (psycopg.Error, OSError) as error:
                if not away:
                    reason = in_a_line(str(error)) or type(error).__name__
                    logger.warning(
                        "changes of API keys are not seen: postgres at %s: %s", address_of(self._url), reason
                    )
                away = True
                await asyncio.sleep(POLL_S)

    async def _forget_changed(self, connection: AsyncConnection) -> None:
        row = await (
            await connection.execute(statement("events.access", "changed_keys"), {"seen": self._seen or 0})
        ).fetchone()
        assert row is not None, "the migration makes the row"
        number, changed = row
        if self._seen is None or number < self._seen:  # the first look, or a restored database
            self._found.clear()
            self._absent.clear()
        elif number == self._seen:
            return
        else:
            for key_id in changed:
                self._found.pop(key_id, None)
                self._absent.pop(key_id, None)
        self._seen = number
        self._changes += 1
        self._watching = True
