"""Recall: one question, all channels side by side, fusion, and the best cards."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

import psycopg
from psycopg.errors import QueryCanceled
from psycopg_pool import PoolTimeout

from events.insights import Insight, Insights
from events.platform.failures import in_a_line, is_away, retry_on_lost_connection
from events.resources.recall import ChannelPlace, ChannelReport, Channels
from projectors.cards.card import Card
from retrieval.cards.alerts import aging, contradictions, outdated
from retrieval.cards.card_times import as_it_stood, time_passed
from retrieval.channels.channel import Channel
from retrieval.channels.graph import GraphChannel
from retrieval.channels.semantic import SemanticChannel
from retrieval.insights import about, may_answer
from retrieval.modes import ModeReader
from retrieval.people import PeopleReader
from retrieval.query.question import Question, understand
from retrieval.query.scope import Scope, scope_of
from retrieval.recall.answer import CardAnswer, RecallAnswer, beside, short, shown_past, without_words
from retrieval.recall.ask import Ask, in_modes, local_time
from retrieval.recall.card_resolution import CardResolver, before_folding
from retrieval.recall.channel_executor import ChannelExecutor, ChannelResult
from retrieval.recall.explain import explanation, placings
from retrieval.recall.fusion import RRF_K, Evidence, add_hits, strongest
from retrieval.recall.judging import CardResolution
from retrieval.recall.named_people import FAULTS, MISSING, NamedPeople, people_asked, without_others
from retrieval.recall.overlay import Overlay
from retrieval.recall.overlay_result import OverlayResult
from retrieval.recall.overview import of_each_layer, overview
from retrieval.recall.ranking.asked import Asked
from retrieval.recall.ranking.linear import Linear
from retrieval.recall.ranking.places import Ranking, above_the_coarser, candidates_of, ranked, with_the_later
from retrieval.recall.reranker import NAME, Reranker
from retrieval.recall.user_sizes import UserSizes

logger = logging.getLogger(__name__)

TOO_SLOW = "Postgres did not answer in time; the cards cannot be read now"
_LOOKED_UP = 30  # the best-found cards that are looked up, or more when more are asked for
_EACH = 3  # cards that are looked up for each card of the answer
_T = TypeVar("_T")


class RecallUnavailableError(RuntimeError):
    """The cards themselves cannot be read now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found for a question, before the ranking: the cards that may answer, with their evidence.

    ``near`` is the number of cards that the channel of meaning found, of which the best were looked up.
    """

    question: Question
    scope: Scope
    results: Mapping[str, ChannelResult]
    near: int
    resolution: CardResolution
    overlaid: OverlayResult
    cards: Mapping[UUID, Card]
    evidence: Mapping[UUID, Evidence]
    terms: Mapping[UUID, frozenset[int]]
    warnings: tuple[str, ...]


def asked_for(found: Found, ask: Ask) -> Asked:
    """Returns what the features of the cards have in common."""
    return Asked(
        question=found.question,
        user_id=ask.user_id,
        near=found.near,
        over=found.resolution.over,
        retracted=frozenset(found.resolution.retracted),
        disputed=frozenset(
            card
            for conflict in (*found.resolution.conflicts, *found.overlaid.conflicts)
            for card in conflict.card_ids
        ),
        context_layer=ask.context_layer,
        modes=found.scope.known_modes,
        first_mode=found.scope.first_mode,
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """Answers questions from the live card tables and from the unprojected tail.

    The ``channels`` run side by side, then ``graph`` looks around their best hits. ``resolver`` decides which cards
    may answer. ``overlay`` adds what the user said a moment ago. A channel that is slow, down or broken loses only its
    own vote, and the answer says which channel and why. The same tables and the same instant give the same answer.
    The ``reranker``, if there is one, orders the best ``reranked`` places by their texts, before the promises. Without
    its answer the order stays as it is. ``insights`` reads those of a user who has any.
    """

    sizes: UserSizes
    executor: ChannelExecutor
    channels: Sequence[Channel]
    graph: GraphChannel
    resolver: CardResolver
    overlay: Overlay
    modes: ModeReader
    model: Linear
    people: PeopleReader
    insights: Callable[[str], Awaitable[Insights]]
    reranker: Reranker | None = None
    reranked: int = 30

    def warm(self) -> None:
        """Loads what the first question would otherwise wait for. Never fails."""
        for channel in self.channels:
            channel.warm()
        self.overlay.warm()
        understand("warm 暖", datetime.now(UTC))

    @property
    def by_meaning(self) -> bool:
        """True when a channel that needs the vectors of cards is ready."""
        return any(isinstance(channel, SemanticChannel) and channel.ready for channel in self.channels)

    async def open(self) -> None:
        """Starts the connections of the overlay. Waits for nothing."""
        await self.overlay.open()

    async def close(self) -> None:
        """Closes the overlay and the channels. The pool belongs to the caller."""
        await self.overlay.close()
        if self.reranker is not None:
            await self.reranker.close()
        for channel in self.channels:
            channel.close()

    def channel_health(self) -> Channels:
        """Returns the health of every channel in this process, by name."""
        return self.executor.health()

    async def find(self, ask: Ask) -> tuple[Found, dict[UUID, Evidence]]:
        """Returns the cards that may answer, before the ranking, and the evidence of every card that was found.

        Raises as :meth:`answer` does.
        """
        now, unzoned = await local_time(self.sizes, ask)
        question, scope = _understood(ask, ask.query, now)
        self.executor.anticipate(self.channels, question, scope)
        # The unprojected tail is read before the tables. A card may then be seen in both, and is never missed.
        laying, size, (named, unread) = await asyncio.gather(
            self.overlay.begin(scope, ask.now),
            self.sizes.of(ask.user_id, question),
            self._named(ask),
        )
        if named is not None and (more := named.other_names(ask.query)):
            question, scope = _understood(ask, f"{ask.query} ({', '.join(more)})", now)
        told = laying.result() if laying.done() else OverlayResult()
        scope, warned = await in_modes(self.modes, replace(scope, size=size), ask, moded=told.moded)
        results, evidence = await self._search(question, before_folding(scope))
        if question.overview:
            # The words of the question find none of the most important cards.
            most = await _with_retry(
                lambda: self.resolver.overview(before_folding(scope), of_each_layer(ask.k))
            )
            evidence = {card: Evidence(votes=1 / (RRF_K + place)) for place, card in enumerate(most, 1)}
        best = list(strongest(evidence))[
            : len(evidence) if question.overview else max(_LOOKED_UP, _EACH * ask.k)
        ]
        resolution = await _with_retry(
            lambda: self.resolver.resolve(question, scope, best, evidence, disputed=told.disputed)
        )
        overlaid = await laying
        cards = _as_named_now(overlaid.merge(resolution.cards, scope), scope)
        if named is not None:
            try:
                cards = await without_others(self.people, named, cards)
            except FAULTS:
                unread = (MISSING,)
        found = Found(
            question=question,
            scope=scope,
            results=results,
            near=sum(told.meaning_place > 0 for told in evidence.values()),
            resolution=resolution,
            overlaid=overlaid,
            cards=cards,
            evidence=overlaid.evidence(question, resolution.evidence, resolution.terms),
            terms={**resolution.terms, **overlaid.terms},
            warnings=(*unzoned, *warned, *unread),
        )
        return found, evidence

    async def answer(self, ask: Ask) -> RecallAnswer:
        """Returns the best ``ask.k`` cards.

        Raises :class:`RecallUnavailableError` when Postgres is away, and errors of psycopg when the data of this
        question are at fault.
        """
        found, evidence = await self.find(ask)
        question, scope, cards = found.question, found.scope, found.cards
        resolution, overlaid, now = found.resolution, found.overlaid, found.question.now
        ranking, reports = await self._ranked(found, ask)
        ordered = with_the_later(ranking.placed, resolution.again, ranking.beside)
        ranking = replace(ranking, placed=above_the_coarser(ordered, resolution.finer))
        placed = ranking.placed[: ask.k]
        chosen = _credited([each.card for each in placed], ranking.same, cards)
        places: dict[UUID, dict[str, ChannelPlace]] = {card.card_id: {} for card in chosen}
        for name, result in found.results.items():
            for rank, hit in enumerate(result.hits, 1):
                if hit.card_id in places:
                    told: dict[str, object] = {"rank": rank, "score": round(hit.score, 4)}
                    places[hit.card_id][name] = ChannelPlace.unchecked(told)
        wordless = without_words(chosen, ranking.beside, cards)
        episodes = await _with_retry(lambda: self.resolver.episodes(scope, wordless))
        others = {
            card.card_id: [
                *(each for each in resolution.conditions.get(card.card_id, ()) if each.card_id not in places),
                *([episodes[card.card_id]] if card.card_id in episodes else []),
                *(cards[other] for other in ranking.beside.get(card.card_id, ())),
            ]
            for card in chosen
        }
        insights, unread = await self._concluded(found, ask)
        explain = None
        if ask.explain:
            explain = explanation(question, scope, found.results, insights) | {
                "cards": placings(ranking, resolution, cards, {**evidence, **found.evidence}, ask.k),
                "withheld": await self._withheld(question, scope, evidence),
            }
        answers = []
        for card, place in zip(chosen, placed, strict=True):
            card_id, stood = card.card_id, as_it_stood(card, now)
            later = ranking.newer.get(card_id)
            newer = resolution.retracted.get(card_id) if later is None else cards.get(later)
            answers.append(
                CardAnswer(
                    card=stood,
                    score=place.score,
                    channels=places[card_id],
                    pending=card_id in overlaid.pending,
                    beside=beside(card, others[card_id]),
                    perhaps_no_longer=None if newer is None or newer.card_id == card_id else short(newer),
                    past_facts=shown_past(resolution.past, (card, *others[card_id])),
                    aging=aging(stood, now),
                    outdated=outdated(stood, now),
                    time_passed=time_passed(stood, now),
                )
            )
        conflicts = (*resolution.conflicts, *overlaid.conflicts)
        return RecallAnswer(
            current_time=now,
            cards=answers,
            # Both sides of a conflict are shown, chosen or not.
            contradictions=[
                *contradictions(chosen),
                *(each for each in conflicts if not places.keys().isdisjoint(each.card_ids)),
            ],
            channels=reports,
            warnings=(
                *(
                    f"the {name} channel {'answers in part' if report.status == 'ok' else f'is {report.status}'}: "
                    f"{report.detail or 'no detail'}"
                    for name, report in reports.items()
                    if report.status != "ok" or report.detail
                ),
                *overlaid.warnings,
                *found.warnings,
                *unread,
            ),
            explain=explain,
            terms=question.weights,
            modes=scope.modes,
            known_modes=scope.known_modes,
            insights=insights,
        )

    async def _concluded(self, found: Found, ask: Ask) -> tuple[list[Insight], tuple[str, ...]]:
        """Returns the insights that are about the question, and a warning when they cannot be read."""
        if not (found.overlaid.concluded and may_answer(ask.insights, found.scope)):
            return [], ()
        try:
            known = await retry_on_lost_connection(self.insights, ask.user_id)
        except FAULTS as error:
            return [], (f"insights are missing: {type(error).__name__}",)
        return about(known, found.question, found.scope), ()

    async def _ranked(self, found: Found, ask: Ask) -> tuple[Ranking, dict[str, ChannelReport]]:
        """Returns the places, and the reports of the channels and of the reranker."""
        reports = {name: result.report for name, result in found.results.items()}
        asked = asked_for(found, ask)
        if found.question.overview:
            return overview(found.cards, found.terms, asked), reports
        candidates = candidates_of(found.evidence, found.cards, found.terms, asked)
        ranking = ranked(candidates, asked, self.model)
        best = [each.card for each in ranking.placed[: self.reranked]]
        if self.reranker is None or len(best) < 2:
            return ranking, reports
        scores, reports[NAME] = await self.reranker.scores(ask.query, [card.content for card in best])
        if scores is None:
            return ranking, reports
        nearness = {card.card_id: score for card, score in zip(best, scores, strict=True)}
        return ranked(candidates, asked, self.model, nearness), reports

    async def _named(self, ask: Ask) -> tuple[NamedPeople | None, tuple[str, ...]]:
        """Returns the people that the question means, and a warning when they cannot be read."""
        if ask.known_at is not None:
            return None, ()  # people are those of today
        try:
            return await people_asked(self.people, ask.user_id, ask.query), ()
        except FAULTS:
            return None, (MISSING,)

    async def _search(
        self, question: Question, scope: Scope
    ) -> tuple[dict[str, ChannelResult], dict[UUID, Evidence]]:
        """Returns what every channel found, and the evidence of every card."""
        evidence: dict[UUID, Evidence] = {}
        results = await self.executor.ask(self.channels, question, scope, insist=True)
        for name, result in results.items():
            add_hits(evidence, name, result.hits)
        around = await self.executor.ask([self.graph.around(strongest(evidence))], question, scope)
        for name, result in around.items():
            add_hits(evidence, name, result.hits)
        return results | around, evidence

    async def _withheld(
        self, question: Question, scope: Scope, evidence: Mapping[UUID, Evidence]
    ) -> list[dict[str, object]]:
        """The cards that share words with the question and are outside its scope, each with the reason."""
        results = await self.executor.ask(
            [channel for channel in self.channels if channel.name == "tags"], question, scope.widened()
        )
        ids = [
            hit.card_id for result in results.values() for hit in result.hits if hit.card_id not in evidence
        ]
        cards = await _with_retry(lambda: self.resolver.cards(scope, ids))
        return [
            {"card_id": card_id, "content": cards[card_id].content, "reason": reason}
            for card_id in ids
            if card_id in cards and (reason := scope.refuses(cards[card_id], question.now.tzinfo)) is not None
        ]


def _understood(ask: Ask, query: str, now: datetime) -> tuple[Question, Scope]:
    """Returns the question and its scope, without the modes of the user."""
    question = understand(query, now)
    return question, scope_of(
        question,
        user_id=ask.user_id,
        projects=ask.projects,
        kinds=ask.kinds,
        as_of=ask.as_of,
        known_at=ask.known_at,
        layers=ask.layers,
        metadata=ask.metadata,
    )


async def _with_retry(resolution: Callable[[], Awaitable[_T]]) -> _T:
    """Repeats a read on a lost connection.

    Raises :class:`RecallUnavailableError` when Postgres is away or too slow, and other errors of psycopg as they are.
    """
    try:
        return await retry_on_lost_connection(resolution)
    except psycopg.Error as error:
        if not is_away(error):
            raise
        logger.warning("the cards cannot be read: %s", in_a_line(str(error)))
        # A pool without a free connection and a statement that takes too long do not mean that Postgres is away.
        slow = isinstance(error, PoolTimeout | QueryCanceled)
        away = "Postgres is away; the cards cannot be read now"
        raise RecallUnavailableError(TOO_SLOW if slow else away) from error


def _as_named_now(cards: dict[UUID, Card], scope: Scope) -> dict[UUID, Card]:
    """Returns the cards with the present names of their modes."""
    if not (scope.known_modes.meanings() or scope.known_modes.closed):
        return cards
    named = {
        card_id: card if card.mode is None else replace(card, mode=scope.mode_of(card))
        for card_id, card in cards.items()
    }
    if scope.modes is None:
        return named
    # A channel does not see that a project of its own mode kept a name that the user gave up elsewhere.
    return {card_id: card for card_id, card in named.items() if scope.in_modes(card)}


def _credited(chosen: Sequence[Card], same: Mapping[UUID, UUID], cards: Mapping[UUID, Card]) -> list[Card]:
    """Adds to each chosen card the turns of the cards that were left out because they say the same."""
    turns: dict[UUID, list[str]] = {}
    for left_out, kept in same.items():
        turns.setdefault(kept, []).extend(cards[left_out].turn_ids)
    return [
        replace(card, turn_ids=list(dict.fromkeys([*card.turn_ids, *more])))
        if (more := turns.get(card.card_id))
        else card
        for card in chosen
    ]
