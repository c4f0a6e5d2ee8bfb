"""The overlay: merges what a user said a moment ago into the answer, before the tables show it.

The rules extractor reads the turns that no extractor has read. Card events that no projector has folded are taken from
the log. The projector's fold applies both to the rows of the tables. A new address therefore hides the old address.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from uuid import UUID, uuid5

import orjson
import psycopg
import redis.asyncio
from psycopg.errors import QueryCanceled
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from events.http.tokens import Keyring
from events.modes.mode_log import registry_of
from events.modes.registry import Modes
from events.platform.database import (
    PEER,
    RECONNECT_S,
    AnsweredConnection,
    Connection,
    see_tenant_of,
    statement,
)
from events.platform.failures import retry_on_lost_connection
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.platform.streams import connect_redis_async
from events.references.declarations import is_member
from events.references.reference_log import THEN, parameters_of
from events.resources.cards import Contradiction
from events.store import log
from events.types.cards import KnowledgeLearned
from events.types.envelope import Appended, Event, NewEvent, partition_of
from events.types.tenancy import DEFAULT_TENANT, TOKENS, tenant_of, user_of, vouch
from events.types.turn_contract import session_of
from events.types.turns import TurnRecorded
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.event_linking import linked
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.rules import patterns
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.turn_modes import mode_context
from projectors.cards.card import StoredCard
from projectors.cards.card_rows import card_of_reference
from projectors.cards.fold import fold
from projectors.cards.projector import CardsProjector
from projectors.cards.related_rows import StoredArbitration
from projectors.generations.generations import use_schema
from projectors.registry import projectors
from retrieval.cards.past import cards_then
from retrieval.pool import Pool
from retrieval.query.scope import Scope
from retrieval.recall.overlay_result import OverlayResult, replacements
from retrieval.recall.unprojected_tail import (
    Queued,
    QueueTail,
    UnprojectedTail,
    folded_at,
    nothing_above,
    read_unprojected_tail,
)
from retrieval.references import (
    PRESENT,
    TEAMS,
    present_in,
    present_parameters,
)

logger = logging.getLogger(__name__)

_THREADS = 4
# Shares of the deadline. The rest of the deadline is for folding.
_SHARE_FOR_QUEUE = 0.3
_SHARE_FOR_LOG = 0.3  # to get a connection to the primary, when a replica answers
_SHARE_FOR_EXTRACTION = 0.4
# The name space of the ids of pending cards. Any constant would do.
_PENDING = UUID("5a1f1f0e-6c63-5d0c-9f0b-2c4b9a1f7d11")
_RULES = RulesExtractor()
_WARM_UP_TEXTS = ("I moved to Lisbon last week, and I like tea.", "我上週搬到高雄了，我喜歡喝茶。")


class Overlay:
    """Folds the unprojected tail of a user for one recall. Never fails a recall: failures become warnings.

    The overlay reads at most the newest 50 turns and 20,000 characters of one user, within its deadline. It has its
    own connections and threads for that. When these hang, no other part of the recall hangs.
    """

    def __init__(self, settings: Settings, pool: Pool, tables_url: str | None = None) -> None:
        """``tables_url`` is the URL of the replica that answers. None means the primary: ``pool`` has its connections.

        Most users said nothing a moment ago. One quick statement on a connection of ``pool`` tells so on the primary.
        """
        self._glancing = pool if tables_url is None else None
        self._deadline_s = settings.overlay_deadline_ms / 1000
        self._knowledge = settings.knowledge_extraction
        self._everybody = modes_of(settings)
        self._projector = next(one for one in projectors(settings) if isinstance(one, CardsProjector))
        self._pool = _pool(settings, tables_url or settings.database_url)
        self._log = self._pool if tables_url is None else _pool(settings, settings.database_url)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="overlay")
        self._keyring = Keyring(settings)
        self._redis: redis.asyncio.Redis | None = None
        self._queue: QueueTail | None = None
        if settings.redis_url:
            self._redis = connect_redis_async(settings.redis_url, socket_timeout=1, socket_connect_timeout=1)
            self._queue = QueueTail(self._redis, settings, self._deadline_s * _SHARE_FOR_QUEUE)

    def warm(self) -> None:
        """Opens the pools, compiles the rules and folds once. Never fails.

        Without the warm-up, the first recall would do all this and exceed the deadline.
        """
        self._open()
        patterns.warm()
        said_at = datetime(2026, 1, 1, tzinfo=UTC)
        for text in _WARM_UP_TEXTS:
            turn = TurnRecorded(
                turn_id="warm",
                text=text,
                role="user",
                said_at=said_at,
                timezone="UTC",
                session_id="s",
                project_id="p",
            )
            found = _extract(SessionBatch((RecordedTurn("warm", 1, turn),)))
            fold([_pending(new, place, said_at) for place, new in enumerate(found, 1)], {})

    async def open(self) -> None:
        """Starts to connect to the turn queues. Returns at once."""
        if self._queue is not None:
            self._queue.open()

    async def close(self) -> None:
        """Closes the Redis client, the pools and the threads."""
        if self._redis is not None:
            await self._redis.aclose()
        for pool in {self._pool, self._log}:
            await asyncio.to_thread(pool.close)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def begin(self, scope: Scope, now: datetime) -> asyncio.Task[OverlayResult]:
        """Reads the unprojected tail, and returns the task that folds the tail.

        A caller that reads the tables after this method returned misses nothing. Whatever was not in the tail is in
        the tables.
        """
        tail_read = asyncio.Event()
        task = asyncio.create_task(self._run(scope, now, tail_read))
        await tail_read.wait()
        return task

    async def _run(self, scope: Scope, now: datetime, tail_read: asyncio.Event) -> OverlayResult:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._deadline_s):
                queued = await self._queued(scope.user_id)
                if queued == Queued() and (settled := await self._settled(scope)) is not None:
                    return settled
                return await loop.run_in_executor(
                    self._threads, self._folded, scope, now, queued, partial(_set, loop, tail_read)
                )
        except (TimeoutError, PoolTimeout, QueryCanceled):
            why = f"the overlay is late: no result within {self._deadline_s * 1000:.0f} ms"
        except psycopg.Error as error:
            logger.warning("the overlay failed: %s", error)
            why = f"the overlay is down: {type(error).__name__}: {error}".splitlines()[0]
        except Exception as error:  # a broken overlay must never break the answer
            logger.exception("the overlay is broken")
            why = f"the overlay is down: {type(error).__name__}: {error}".splitlines()[0]
        finally:
            tail_read.set()
        return OverlayResult(warnings=(f"{why}; the newest turns may be missing",))

    async def _settled(self, scope: Scope) -> OverlayResult | None:
        """Returns the result of a user whose tables show everything, and None when something is to be folded."""
        pool = self._glancing
        if pool is None:
            return None

        async def look() -> OverlayResult | None:
            async with pool.connected(scope.user_id, self._deadline_s) as connection:
                references, past = "reference" in scope.kinds, _is_past(scope)
                above = partial(nothing_above, connection, scope.user_id, references=references, past=past)
                try:
                    tail = await above()
                except psycopg.errors.UndefinedTable:  # before the first fold nobody is in a team
                    tail = None if references and past else await above(tables=False)
            if tail is None:
                return None
            return OverlayResult(concluded=tail.concluded, moded=tail.moded, disputed=tail.disputed)

        return await retry_on_lost_connection(look)

    async def _queued(self, user_id: str) -> Queued:
        if self._queue is None:
            return Queued()
        if self._keyring.queue_key is None and tenant_of(user_id) != DEFAULT_TENANT:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._learn)
        return await self._queue.turns_of(user_id, self._keyring.queue_key)

    def _learn(self) -> None:
        """Reads the key that proves the tenant of a turn in the queue."""
        self._open()
        with self._pool.connection(timeout=self._deadline_s) as connection:
            row = connection.execute(
                statement("events.http", "token_key"), {"proof": vouch(TOKENS)}
            ).fetchone()
        assert row is not None
        self._keyring.learn(row[0])

    def _folded(
        self, scope: Scope, now: datetime, queued: Queued, tail_is_read: Callable[[], None]
    ) -> OverlayResult:
        """Reads the tail and the tables in one snapshot, so that both fit together. Returns the folded cards."""
        until = time.monotonic() + self._deadline_s * _SHARE_FOR_EXTRACTION
        self._open()
        with self._pool.connection(timeout=self._deadline_s) as connection:
            see_tenant_of(connection, scope.user_id)
            tail = self._tail(connection, scope.user_id, queued)
            tail_is_read()
            beside = _references_beside(connection, scope)
            if not tail:
                return OverlayResult(cards=beside, concluded=tail.concluded, warnings=tail.warnings)
            modes = Modes(registry_of(connection, scope.user_id), self._everybody)
            events, unread = _events(tail, self._knowledge, now, scope, until, modes)
            warnings = tail.warnings
            if unread:
                warnings += (f"the overlay had no time to read {unread} of the newest turns",)
            if not events:
                return OverlayResult(cards=beside, concluded=tail.concluded, warnings=warnings)
            use_schema(connection, self._projector.name)
            changes = self._projector.changes(connection, events)
        cards = {
            card_id: card for (_, _, card_id), card in (changes.standings | changes.cards_put).items()
        } | beside
        return OverlayResult(
            cards=cards,
            replacements=replacements(changes.relations_put.values(), cards),
            gone=frozenset(card_id for _, _, card_id in changes.cards_gone if card_id not in cards),
            pending=frozenset(cards.keys() & {event.event_id for event in events}),
            conflicts=tuple(
                _conflict(row) for row in changes.arbitrations_put.values() if row.status == "open"
            ),
            concluded=tail.concluded,
            warnings=warnings,
        )

    def _open(self) -> None:
        for pool in {self._pool, self._log}:
            pool.open(wait=False)

    def _tail(self, tables: Connection, user_id: str, queued: Queued) -> UnprojectedTail:
        """Returns what ``tables`` do not show.

        The log of a replica is as late as its tables. The log of the primary is therefore read, from the checkpoint of
        the replica's tables on.
        """
        if self._log is self._pool:
            return read_unprojected_tail(tables, user_id, queued)
        folded = folded_at(tables, user_id)
        try:
            with self._log.connection(timeout=self._deadline_s * _SHARE_FOR_LOG) as log:
                see_tenant_of(log, user_id)
                return read_unprojected_tail(log, user_id, queued, folded)
        except psycopg.Error as error:
            logger.warning("the overlay cannot read the primary's log: %s", error)
            why = "the overlay cannot read the log of the primary; the newest turns may be missing"
            found = read_unprojected_tail(tables, user_id, queued)
            return replace(found, warnings=(*found.warnings, why))


def _references_beside(connection: Connection, scope: Scope) -> dict[UUID, StoredCard]:
    """Returns the cards of references that the tables of the user do not have.

    These are the references of the user's teams, and for a question about the past all references of then.
    """
    if "reference" not in scope.kinds:
        return {}
    teams = _teams_of(connection, scope.user_id)
    with connection.cursor(row_factory=dict_row) as cursor:
        if not _is_past(scope):
            rows = cursor.execute(PRESENT, present_parameters(teams)).fetchall() if teams else []
            cards = [card_of_reference(each, scope.user_id) for each in present_in(rows) if not each.archived]
        else:
            asked = parameters_of([scope.user_id, *teams], scope.until, scope.known_at)
            return {
                card.card_id: card
                for card in cards_then(cursor.execute(THEN, asked).fetchall(), scope.user_id)
            }
    return {card.card_id: card for card, _ in cards}


def _is_past(scope: Scope) -> bool:
    return scope.until is not None or scope.known_at is not None


def _teams_of(connection: Connection, user_id: str) -> list[str]:
    """Returns the storage ids of the teams that a user is in by the log.

    Somebody who left is out at once. A new member is in when the membership is folded.
    """
    teams: list[tuple[str, str]] = []
    with suppress(psycopg.errors.UndefinedTable), connection.transaction():  # before the first fold
        teams = connection.execute(TEAMS, {"member": user_id}).fetchall()
    tenant, member = tenant_of(user_id), user_of(user_id)
    return [owner for owner, team_id in teams if is_member(connection, tenant, team_id, member)]


def _pool(settings: Settings, url: str) -> ConnectionPool[Connection]:
    return ConnectionPool(
        url,
        connection_class=AnsweredConnection,
        min_size=1,
        max_size=_THREADS,
        open=False,
        reconnect_timeout=RECONNECT_S,
        # A connection that died before must not cost an answer the newest turns.
        check=ConnectionPool.check_connection,
        configure=_read_only,
        kwargs={
            "application_name": "cardlog overlay",
            **PEER,
            # A generic plan would read every row of a heavy user.
            "options": f"-c statement_timeout={settings.overlay_deadline_ms} -c plan_cache_mode=force_custom_plan",
        },
    )


def _read_only(connection: Connection) -> None:
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True


def _set(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    # The loop raises RuntimeError when it is closed. Nothing waits for the event then.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)


def _events(
    tail: UnprojectedTail, knowledge: bool, now: datetime, scope: Scope, until: float, modes: Modes
) -> tuple[list[Event], int]:
    """Returns the unprojected card events, and the number of turns that were not read.

    The events of the log come first, then the events that the rules extract from the unread turns. The newest turns
    are read first, until the monotonic clock reaches ``until``. At least one turn is read.
    """
    extracted: list[tuple[RecordedTurn, tuple[NewEvent, ...]]] = []
    unread = 0
    for batch in reversed(list(_batches(tail, modes))):
        if extracted and time.monotonic() > until:
            unread += 1
        else:
            extracted.append((batch.turns[0], _extract(batch)))
    events = list(tail.events)
    position = tail.head + len(tail.turns)
    for turn, found in reversed(extracted):
        recorded = tail.recorded.get(turn.position)  # a turn in the queue counts as recorded now
        recorded_at = now if recorded is None else recorded.recorded_at
        for new in found:
            if knowledge or not isinstance(new.payload, KnowledgeLearned):
                position += 1
                events.append(_pending(new, position, recorded_at))
    return [
        event for event in events if scope.known_at is None or event.recorded_at <= scope.known_at
    ], unread


def _batches(tail: UnprojectedTail, modes: Modes) -> Iterator[SessionBatch]:
    """Yields one batch for each turn, with the turns of its session before it and the modes of its project.

    A batch of one turn stays the same when newer turns arrive, so its result can be cached.
    """
    said = {stream: list(turns) for stream, turns in tail.before.items()}
    for turn in tail.turns:
        before = said.setdefault(session_of(turn.turn), [])
        context = mode_context(modes, turn.turn.project_id)
        yield SessionBatch((turn,), tuple(before[-CONTEXT_TURNS:]), modes=context)
        before.append(turn)


# The rules take one or two milliseconds for a turn. Most recalls of a user see the same turns as the recall before.
@lru_cache(maxsize=512)
def _extract(batch: SessionBatch) -> tuple[NewEvent, ...]:
    """Returns the card events that the rules extract from a batch. Their ids are the same for the same batch."""
    found = events_of(batch, _RULES.extract(batch), _RULES, link=False)[1:]
    places: Counter[tuple[str, ...]] = Counter()
    named = []
    for new in found:
        turns = new.payload.origin.turn_ids
        places[turns] += 1
        name = orjson.dumps((new.user_id, *turns, places[turns])).decode()
        named.append(replace(new, event_id=uuid5(_PENDING, name)))
    # The links hold the new ids.
    return tuple(linked(named, batch.known))


def _pending(new: NewEvent, position: int, recorded_at: datetime) -> Event:
    """Returns the event as it will be in the log. The position is an estimate."""
    place = Appended(partition_of(new.user_id), position, 0, recorded_at, duplicate=False)
    return log.recorded(replace(new, dedupe_key=None, causation_id=None, correlation_id=None), place)


def _conflict(row: StoredArbitration) -> Contradiction:
    """Returns an open arbitration as a contradiction. The old value stays current."""
    return Contradiction(
        concept_key=row.concept_key,
        entity=row.entity,
        card_ids=[row.old_card, row.new_card],
        reason=f"{row.old_value} or {row.new_value}: {row.reason}",
    )
