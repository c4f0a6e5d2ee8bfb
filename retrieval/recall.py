"""Recall: one question, every channel at once, one vote, the few cards that matter."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from events.sql import statement
from retrieval.channels.channel import Channel, ChannelDownError, Hit
from retrieval.fusion import adjusted, fuse, spread
from retrieval.question import Question, understand
from retrieval.reading import Reading, before_folding
from retrieval.scope import KINDS, Scope, scope_of

logger = logging.getLogger(__name__)

AGING_AFTER = timedelta(days=180)
OUTDATED_AFTER = timedelta(days=90)
_CARDS_WITHIN_S = 2.0
_CANDIDATES = 4  # cards looked at for each one answered

Status = Literal["ok", "late", "quarantined", "down"]


class RecallUnavailableError(RuntimeError):
    """The cards themselves cannot be read now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One recall. ``now`` is aware; ``projects`` None asks in all of them."""

    user_id: str
    query: str
    now: datetime
    projects: tuple[str, ...] | None = ("default",)
    k: int = 5
    as_of: datetime | None = None
    known_at: datetime | None = None
    kinds: tuple[str, ...] = KINDS
    context_layer: str | None = None
    layers: tuple[str, ...] | None = None


@dataclass(slots=True)
class Report:
    """How one channel did."""

    status: Status
    ms: float
    hits: int
    detail: str | None = None

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"status": self.status, "ms": round(self.ms, 2), "hits": self.hits}
        if self.detail:
            document["detail"] = self.detail
        return document


class Recall:
    """Answers questions from the live card tables.

    A channel that is slow, down or broken costs its own vote and nothing else; the answer says which and
    why. Deterministic: the same tables and the same instant give the same answer.
    """

    def __init__(
        self,
        pool: AsyncConnectionPool[Any],
        channels: Sequence[Channel],
        deadlines_ms: Mapping[str, int],
        reading: Reading,
    ) -> None:
        self._pool = pool
        self._reading = reading
        self._channels = channels
        self._deadlines = deadlines_ms

    def warm(self) -> None:
        """Load what the first question would otherwise wait for. Never fails."""
        for channel in self._channels:
            channel.warm()
        understand("warm 暖", datetime.now(UTC))

    async def answer(self, ask: Ask) -> dict[str, Any]:
        """The contract's answer. Raises :class:`RecallUnavailableError` when Postgres is away."""
        now = ask.as_of or ask.now
        question = understand(ask.query, now)
        scope = scope_of(
            question,
            user_id=ask.user_id,
            projects=ask.projects,
            kinds=ask.kinds,
            as_of=ask.as_of,
            known_at=ask.known_at,
            layers=ask.layers,
        )
        searched = before_folding(scope)
        results = await asyncio.gather(
            *(self._search(channel, question, searched) for channel in self._channels)
        )
        votes = {channel.name: hits for channel, (hits, _) in zip(self._channels, results, strict=True)}
        reports = {channel.name: report for channel, (_, report) in zip(self._channels, results, strict=True)}
        scores = fuse(votes, {channel.name: channel.weight(question) for channel in self._channels})
        best = sorted(scores, key=lambda card: (-scores[card], card))[: max(40, _CANDIDATES * ask.k)]
        read = await self._reading.read(question, scope, await self._cards(ask.user_id, best), scores)
        cards, scores = read.cards, read.scores
        ranked = sorted(
            (
                (adjusted(scores[card_id], card, question, context_layer=ask.context_layer), card_id)
                for card_id, card in cards.items()
            ),
            key=lambda pair: (-pair[0], pair[1]),
        )
        places = {
            name: {hit.card_id: (rank, hit.score) for rank, hit in enumerate(hits, 1)}
            for name, hits in votes.items()
        }
        spread_out = spread(
            _distinct(ranked, cards), {card_id: card["turn_ids"] for card_id, card in cards.items()}
        )
        chosen = [_card(cards[card_id], score, places, now) for score, card_id in spread_out[: ask.k]]
        return {
            "current_time": now.isoformat(),
            "cards": chosen,
            "contradictions": _contradictions(chosen) + read.alerts(chosen),
            "channels": {name: report.document() for name, report in reports.items()},
            "warnings": [
                f"the {name} channel is {report.status}: {report.detail or 'no detail'}"
                for name, report in reports.items()
                if report.status != "ok"
            ],
        }

    async def _search(self, channel: Channel, question: Question, scope: Scope) -> tuple[list[Hit], Report]:
        deadline = self._deadlines.get(channel.name, 150) / 1000
        began = time.perf_counter()
        try:
            async with asyncio.timeout(deadline), self._pool.connection(timeout=deadline) as connection:
                hits = await channel.search(connection, question, scope)
        except TimeoutError:
            return [], Report("late", _ms(began), 0, f"no answer within {deadline * 1000:.0f} ms")
        except PoolTimeout:
            return [], Report("late", _ms(began), 0, "no database connection was free in time")
        except ChannelDownError as error:
            return [], Report("down", _ms(began), 0, str(error))
        except psycopg.Error as error:
            logger.warning("channel %s failed: %s", channel.name, error)
            return [], Report("down", _ms(began), 0, f"{type(error).__name__}: {error}".splitlines()[0])
        except Exception as error:  # a broken channel must never break the answer
            logger.exception("channel %s is broken", channel.name)
            return [], Report("down", _ms(began), 0, f"{type(error).__name__}: {error}")
        return hits, Report("ok", _ms(began), len(hits))

    async def _cards(self, user_id: str, ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
        until = time.monotonic() + _CARDS_WITHIN_S
        while True:
            connection = None
            try:
                async with self._pool.connection(timeout=max(0.0, until - time.monotonic())) as connection:
                    cursor = connection.cursor(row_factory=dict_row)
                    await cursor.execute(
                        statement("retrieval", "cards"), {"user_id": user_id, "cards": list(ids)}
                    )
                    return {row["card_id"]: row for row in await cursor.fetchall()}
            except psycopg.OperationalError as error:
                # A connection that was dropped, or died in the pool, says nothing of the server: try another.
                if connection is None or not connection.closed or time.monotonic() > until:
                    raise RecallUnavailableError("Postgres is away; the cards cannot be read now") from error


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _distinct(
    ranked: list[tuple[float, UUID]], cards: Mapping[UUID, dict[str, Any]]
) -> list[tuple[float, UUID]]:
    """Cards that say the very same words once, the best placed one."""
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for score, card_id in ranked:
        card = cards[card_id]
        words = (card["kind"], card["speaker"], card["content"], card["effective_at"])
        if words not in seen:
            seen.add(words)
            kept.append((score, card_id))
    return kept


def _card(
    card: Mapping[str, Any],
    score: float,
    places: Mapping[str, Mapping[UUID, tuple[int, float]]],
    now: datetime,
) -> dict[str, Any]:
    names = (
        "card_id", "kind", "content", "entity", "concept_key", "value", "cardinality", "tags", "occurred_at",
        "occurred_until", "effective_at", "superseded_at", "last_verified", "created_at", "project_id", "session_id",
        "agent_id", "document_id", "context_layer", "speaker", "turn_ids", "source_span", "provenance", "confidence",
        "mentions",
    )  # fmt: skip
    document = {name: card[name] for name in names}
    if card["kind"] == "knowledge":
        document.update({name: card[name] for name in ("title", "aliases", "definition")})
    if card["kind"] == "event":
        document.update({name: card[name] for name in ("episode", "importance")})
    unverified = now - card["last_verified"]
    document.update(
        score=round(score, 6),
        channels={
            name: {"rank": place[0], "score": round(place[1], 4)}
            for name, hits in places.items()
            if (place := hits.get(card["card_id"])) is not None
        },
        pending=False,
        aging=card["cardinality"] == "single_value"
        and card["superseded_at"] is None
        and unverified > AGING_AFTER,
        outdated=card["kind"] == "knowledge" and unverified > OUTDATED_AFTER,
    )
    return document


def _contradictions(cards: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Current single values of one concept that say different things."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for card in cards:
        if card["cardinality"] == "single_value" and card["superseded_at"] is None:
            groups.setdefault((card["concept_key"], card["entity"]), []).append(card)
    return [
        {
            "concept_key": key,
            "entity": entity,
            "card_ids": [card["card_id"] for card in group],
            "reason": "different values stand side by side: "
            + ", ".join(str(card["value"]) for card in group),
        }
        for (key, entity), group in groups.items()
        if len({card["value"] for card in group}) > 1
    ]
