"""Reading one's own writes: what a user said a moment ago is laid over the answer before any table shows it.

Turns nobody has read yet are read by rules, card events nobody has folded yet are taken as they are, and both go
through the very fold the tables come from, on top of what the tables know. So a new address hides the old one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from uuid import UUID, uuid5

import orjson
import psycopg
import redis.asyncio
from psycopg.errors import QueryCanceled
from psycopg_pool import ConnectionPool, PoolTimeout

from events.language.terms import term_keys
from events.platform.settings import Settings
from events.platform.streams import connect_redis_async
from events.store.log import Connection
from events.types.cards import KnowledgeLearned
from events.types.codec import describe
from events.types.envelope import Event, NewEvent, partition_of
from events.types.turn_contract import session_of
from events.types.turns import TurnRecorded
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.rules import RulesExtractor
from ingest.extraction.rules.chinese import pattern_rules as chinese
from ingest.extraction.rules.english import pattern_rules as english
from ingest.extraction.rules.scene import compiled
from projectors.cards.card import Card, StoredCard
from projectors.cards.card_rows import CONCEPT_TERM
from projectors.cards.fold import fold
from projectors.cards.projector import CardsProjector
from projectors.cards.related_rows import StoredArbitration
from projectors.generations.generations import use_schema
from projectors.registry import projectors
from retrieval.cards.alerts import Contradiction
from retrieval.query.question import Question
from retrieval.query.scope import Scope
from retrieval.recall.channel_executor import BY_CONTENT
from retrieval.recall.fusion import RRF_K
from retrieval.recall.unprojected_tail import (
    Queued,
    QueueTail,
    UnprojectedTail,
    folded_at,
    read_unprojected_tail,
)

logger = logging.getLogger(__name__)

_THREADS = 4
_SHARE_FOR_QUEUE = 0.3  # of the deadline
_SHARE_FOR_LOG = 0.3  # of it, for a connection to the primary where a replica answers
_SHARE_FOR_READING = 0.4  # of it, too; what is left is for folding
_PENDING = UUID(
    "5a1f1f0e-6c63-5d0c-9f0b-2c4b9a1f7d11"
)  # any constant: the name space of cards that are not yet
_RULES = RulesExtractor()
_FIRST_WORDS = ("I moved to Lisbon last week, and I like tea.", "我上週搬到高雄了，我喜歡喝茶。")


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayResult:
    """Cards as they will be once everything under way is folded.

    ``rows`` are those that are new or change, ``gone`` those that go; ``pending`` are the new ones. ``conflicts``
    are what was just said and will wait for a verdict, because it goes against what held for long.
    """

    cards: Mapping[UUID, StoredCard] = field(default_factory=dict)
    gone: frozenset[UUID] = frozenset()
    pending: frozenset[UUID] = frozenset()
    conflicts: tuple[Contradiction, ...] = ()
    warnings: tuple[str, ...] = ()

    def merge(self, found: Mapping[UUID, Card], scope: Scope) -> dict[UUID, Card]:
        """The found cards with what is under way laid over them, and those that may answer now and were not found.

        A card that became real since is not shown twice: where a table has a card of the same kind from the same
        turn, the pending one steps back.
        """
        cards: dict[UUID, Card] = {}
        for card_id, card in found.items():
            if card_id not in self.gone:
                changed = self.cards.get(card_id)
                if changed is None:
                    cards[card_id] = card
                elif scope.admits(changed):
                    cards[card_id] = changed
        real = {
            _made_of(card, turn)
            for card_id, card in cards.items()
            if card_id not in self.pending
            for turn in card.turn_ids
        }
        for card_id in sorted(self.cards.keys() - found.keys()):
            new = self.cards[card_id]
            repeated = card_id in self.pending and any(_made_of(new, turn) in real for turn in new.turn_ids)
            if scope.admits(new) and not repeated:
                cards[card_id] = new
        return cards

    def alerts(self, chosen: set[UUID]) -> list[Contradiction]:
        """Returns the conflicts that a chosen card is part of."""
        return [conflict for conflict in self.conflicts if chosen.intersection(conflict.card_ids)]

    def votes(self, question: Question, weights: Mapping[str, float]) -> dict[UUID, float]:
        """What the channels would have said of these cards, had they seen them, on the scale they are fused on.

        Each that goes by content is taken to put a card first as far as the card answers: with the share of the
        question's terms it holds. The time channel's vote goes to those inside the stretch asked about. A card
        that nothing speaks for has no vote.
        """
        asked = dict(question.weights) | {CONCEPT_TERM + key: 1.0 for key in question.concepts}
        whole = sum(asked.values())
        by_content = sum(weights.get(name, 0.0) for name in BY_CONTENT)
        votes = {}
        for card_id, card in self.cards.items():
            own = set(card.term_keys[: card.own_terms])
            keys = term_keys(card.user_id, asked)
            held = sum(weight for key, weight in zip(keys, asked.values(), strict=True) if key in own)
            vote = by_content * held / whole if whole else 0.0
            if _within(question, card):
                vote += weights.get("time", 0.0)
            if vote:
                votes[card_id] = vote / (RRF_K + 1)
        return votes


class Overlay:
    """Lays what is under way over an answer. Never fails a recall: what it could not do is in the warnings.

    Bounded: it reads the newest 50 turns of the one user and no more than 20,000 characters, within its deadline.
    It reads the tables as the projector does, on connections and threads of its own: should they hang, nobody else
    does.
    """

    def __init__(self, settings: Settings, tables_url: str | None = None) -> None:
        """``tables_url`` names the replica that answers, where it is not the primary."""
        self._within = settings.overlay_deadline_ms / 1000
        self._knowledge = settings.knowledge_extraction
        self._projector = next(one for one in projectors(settings) if isinstance(one, CardsProjector))
        self._pool = _pool(settings, tables_url or settings.database_url)
        self._log = self._pool if tables_url is None else _pool(settings, settings.database_url)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="overlay")
        self._redis: redis.asyncio.Redis | None = None
        self._queue: QueueTail | None = None
        if settings.redis_url:
            self._redis = connect_redis_async(settings.redis_url, socket_timeout=1, socket_connect_timeout=1)
            self._queue = QueueTail(self._redis, settings, self._within * _SHARE_FOR_QUEUE)

    def warm(self) -> None:
        """Do what the first reading would otherwise wait for: longer than the deadline, all together. Never fails."""
        self._open()
        for rule in (*english.RULES, *chinese.RULES):
            compiled(rule.source)
        said_at = datetime(2026, 1, 1, tzinfo=UTC)
        for text in _FIRST_WORDS:
            turn = TurnRecorded(
                turn_id="warm",
                text=text,
                role="user",
                said_at=said_at,
                timezone="UTC",
                session_id="s",
                project_id="p",
            )
            read = _read(SessionBatch((RecordedTurn("warm", 1, turn),)))
            fold([_pending(new, place, said_at) for place, new in enumerate(read, 1)], {})

    async def open(self) -> None:
        """Begin to connect to the queue; waits for nothing."""
        if self._queue is not None:
            self._queue.open()

    async def close(self) -> None:
        """Let go of Redis, connections and threads."""
        if self._redis is not None:
            await self._redis.aclose()
        for pool in {self._pool, self._log}:
            await asyncio.to_thread(pool.close)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def begin(self, scope: Scope, now: datetime) -> asyncio.Task[OverlayResult]:
        """Look for what is under way, and lay it in the background.

        Whoever asks the tables after this returned misses nothing: what was not under way by then is in them.
        """
        looked = asyncio.Event()
        laying = asyncio.create_task(self._lay(scope, now, looked))
        await looked.wait()
        return laying

    async def _lay(self, scope: Scope, now: datetime, looked: asyncio.Event) -> OverlayResult:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._within):
                queued = Queued() if self._queue is None else await self._queue.turns_of(scope.user_id)
                return await loop.run_in_executor(
                    self._threads, self._folded, scope, now, queued, partial(_tell, loop, looked)
                )
        except (TimeoutError, PoolTimeout, QueryCanceled):
            why = f"the overlay is late: nothing within {self._within * 1000:.0f} ms"
        except psycopg.Error as error:
            logger.warning("the overlay failed: %s", error)
            why = f"the overlay is down: {type(error).__name__}: {error}".splitlines()[0]
        except Exception as error:  # a broken overlay must never break the answer
            logger.exception("the overlay is broken")
            why = f"the overlay is down: {type(error).__name__}: {error}".splitlines()[0]
        finally:
            looked.set()
        return OverlayResult(warnings=(f"{why}; what was said a moment ago may be missing",))

    def _folded(self, scope: Scope, now: datetime, queued: Queued, tell: Callable[[], None]) -> OverlayResult:
        """Everything of one snapshot, so that what is under way and what the tables hold fit together."""
        until = time.monotonic() + self._within * _SHARE_FOR_READING
        self._open()
        with self._pool.connection(timeout=self._within) as connection:
            backlog = self._backlog(connection, scope.user_id, queued)
            tell()
            if not backlog:
                return OverlayResult(warnings=backlog.warnings)
            events, unread = _events(backlog, self._knowledge, now, scope, until)
            warnings = backlog.warnings
            if unread:
                warnings += (f"the overlay had no time to read {unread} of the turns that are under way",)
            if not events:
                return OverlayResult(warnings=warnings)
            use_schema(connection, self._projector.name)
            changes = self._projector.changes(connection, events)
        cards = {card_id: card for (_, _, card_id), card in changes.cards_put.items()}
        return OverlayResult(
            cards=cards,
            gone=frozenset(card_id for _, _, card_id in changes.cards_gone if card_id not in cards),
            pending=frozenset(cards.keys() & {event.event_id for event in events}),
            conflicts=tuple(
                _conflict(row) for row in changes.arbitrations_put.values() if row.status == "open"
            ),
            warnings=warnings,
        )

    def _open(self) -> None:
        for pool in {self._pool, self._log}:
            pool.open(wait=False)

    def _backlog(self, tables: Connection, user_id: str, queued: Queued) -> UnprojectedTail:
        """What ``tables`` do not show. A replica's own log is as late as its tables: the primary's is read, above
        where the tables stand."""
        if self._log is self._pool:
            return read_unprojected_tail(tables, user_id, queued)
        folded = folded_at(tables, user_id)
        try:
            with self._log.connection(timeout=self._within * _SHARE_FOR_LOG) as log:
                return read_unprojected_tail(log, user_id, queued, folded)
        except psycopg.Error as error:
            logger.warning("the overlay cannot read the primary's log: %s", error)
            why = "the overlay cannot ask the primary what is under way; the last moments may be missing"
            found = read_unprojected_tail(tables, user_id, queued)
            return replace(found, warnings=(*found.warnings, why))


def _pool(settings: Settings, url: str) -> ConnectionPool[Connection]:
    return ConnectionPool(
        url,
        connection_class=Connection,
        min_size=1,
        max_size=_THREADS,
        open=False,
        configure=_read_only,
        kwargs={
            "application_name": "cardlog overlay",
            # A plan made for nobody in particular reads all that whoever says very much ever said.
            "options": f"-c statement_timeout={settings.overlay_deadline_ms} -c plan_cache_mode=force_custom_plan",
        },
    )


def _read_only(connection: Connection) -> None:
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True


def _tell(loop: asyncio.AbstractEventLoop, looked: asyncio.Event) -> None:
    # The loop may have ended since: then nobody waits any more.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(looked.set)


def _events(
    backlog: UnprojectedTail, knowledge: bool, now: datetime, scope: Scope, until: float
) -> tuple[list[Event], int]:
    """The card events under way, in order: those in the log, then those the unread turns give by the rules.

    The newest turns are read first, until the clock says ``until``; gives how many were not read.
    """
    readings: list[tuple[RecordedTurn, tuple[NewEvent, ...]]] = []
    unread = 0
    for burst in reversed(list(_bursts(backlog))):
        if readings and time.monotonic() > until:
            unread += 1
        else:
            readings.append((burst.turns[0], _read(burst)))
    events = list(backlog.events)
    position = backlog.head + len(backlog.turns)
    for turn, found in reversed(readings):
        recorded_at = _recorded_at(backlog, turn, now)
        for new in found:
            if knowledge or not isinstance(new.payload, KnowledgeLearned):
                position += 1
                events.append(_pending(new, position, recorded_at))
    return [
        event for event in events if scope.known_at is None or event.recorded_at <= scope.known_at
    ], unread


def _bursts(backlog: UnprojectedTail) -> Iterator[SessionBatch]:
    """Each turn by itself, with those of its session before it: so a turn that was read stays read."""
    said = {stream: list(turns) for stream, turns in backlog.before.items()}
    for turn in backlog.turns:
        before = said.setdefault(session_of(turn.turn), [])
        yield SessionBatch((turn,), tuple(before[-CONTEXT_TURNS:]))
        before.append(turn)


def _recorded_at(backlog: UnprojectedTail, turn: RecordedTurn, now: datetime) -> datetime:
    """When a turn was recorded; what is still in the queue will be now, at the earliest."""
    event = backlog.recorded.get(turn.position)
    return now if event is None else event.recorded_at


# Reading takes a millisecond or two, and who asks again mostly has the backlog they had before.
@lru_cache(maxsize=512)
def _read(burst: SessionBatch) -> tuple[NewEvent, ...]:
    """The card events the rules find in a burst, with ids that are the same at every reading."""
    found = events_of(burst, _RULES.extract(burst), _RULES)[1:]
    places: Counter[tuple[str, ...]] = Counter()
    named = []
    for new in found:
        turns = new.payload.origin.turn_ids
        places[turns] += 1
        name = orjson.dumps((new.user_id, *turns, places[turns])).decode()
        named.append(replace(new, event_id=uuid5(_PENDING, name)))
    return tuple(named)


def _pending(new: NewEvent, position: int, recorded_at: datetime) -> Event:
    """The event as it will stand in the log, at the place it may get."""
    name, schema_version = describe(new.payload)
    return Event(
        partition=partition_of(new.user_id),
        position=position,
        event_id=new.event_id,
        user_id=new.user_id,
        stream=new.stream,
        version=0,
        type=name,
        schema_version=schema_version,
        dedupe_key=None,
        occurred_at=new.occurred_at,
        recorded_at=recorded_at,
        actor=new.actor,
        causation_id=None,
        correlation_id=None,
        payload=new.payload,
    )


def _conflict(row: StoredArbitration) -> Contradiction:
    """Returns an open arbitration as a contradiction. The old value stays current."""
    return Contradiction(
        concept_key=row.concept_key,
        entity=row.entity,
        card_ids=[row.old_card, row.new_card],
        reason=f"{row.old_value} or {row.new_value}: {row.reason}",
    )


def _made_of(card: Card, turn: str) -> tuple[str, str, bool]:
    """Two cards with equal results are one card: of the same kind and turn, and both or neither the turn itself."""
    return card.kind, turn, bool(card.episode)


def _within(question: Question, card: Card) -> bool:
    """True when a card happened or became true in the time window of the question."""
    span = question.span
    begun = card.effective_at if card.kind != "event" else card.occurred_at
    if span is None or begun is None:
        return False
    over = card.occurred_until or begun
    return (span.end is None or begun < span.end) and (
        span.start is None or begun >= span.start or over > span.start
    )
