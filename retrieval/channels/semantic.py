"""Semantic search: the cards whose vectors are nearest to the vector of the question."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, islice, zip_longest
from math import exp
from uuid import UUID

import numpy as np
from cachetools import LRUCache, TTLCache
from psycopg import AsyncConnection
from psycopg.errors import UndefinedTable

from events.language.chinese_script import has_cjk
from events.modes.registry import SEPARATOR
from events.platform.database import statement
from events.platform.modes import GENERAL_MODE
from projectors.embedding.embedder import (
    Embedder,
    EmbedderUnavailableError,
    Vectors,
    checked,
    reads_chinese,
)
from projectors.embedding.embedders import Embedders, Space, is_of_model
from retrieval.channels.channel import Channel, ChannelDownError, Hit, assistant_share, searched
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_PACKAGE = "retrieval.channels"
NO_SPACES: Mapping[str, Space] = {}
_LIMIT = 60
_REPEATS = 4  # the cards at most that say the same
_ENOUGH = 20  # with fewer cards than this, the search looks further
_LOOKED_UP = 96  # the nearest cards that are looked up: in a chat, half of them are an assistant's
# Above this value of cards times share, the index of all users is walked. It is walked 1 / share as far
# (docs/benchmarks.md).
_WALKED_FROM = 40_000
_LOOKED_AT = 600  # the first 600 by their signs hold .99 of the exact nearest 20 cards (docs/benchmarks.md)
_WALKED_TO = 300  # a step of the index walk costs as much as ten of a scan
_LOOKED_FURTHER = 3_000  # the most candidates within the deadline; the other channels find the rest
_THREADS = 2
_REMEMBERED, _REMEMBERED_S = 1_000, 600.0
"""The questions whose vectors are remembered, and for how long. One takes up to 4 kB."""
_BEGUN = 64
"""The questions that are embedded before their search begins."""
_FALL = 0.0905
"""The part of the way from equal to unrelated texts within which nearness falls to 1/e. The ranking was fitted with e5,
whose cosine it makes .02."""
_UNRELATED = (
    "I repaired the fence behind the barn.",
    "The train to Oslo leaves at six.",
    "My cousin studies the history of music.",
    "The update broke our login page.",
    "She is allergic to peanuts.",
    "They elected a new mayor yesterday.",
)
"""Texts about different things. Models put such texts at cosines from .05 to .8."""
_LEAST_WAY = 0.01  # a model that gives all texts one vector tells nothing
_WORTH = 0.1
"""The least part of a search that a saturated process saves."""
_SEARCHES = 8


@dataclass(frozen=True, slots=True)
class _List:
    """One list of cards: those of the embedder of one slot, of some modes or of all.

    ``earlier``: new cards of these modes have another embedder, so perhaps no card is left in this list.
    """

    slot: str
    modes: tuple[str, ...] | None = None
    earlier: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class _Query:
    """The vector of a question from one model and its seconds, or in ``missing`` the reason why there is none.

    ``fall`` is the difference of two cosines of this model at which nearness falls to 1/e.
    """

    embedder: Embedder | None
    vector: Vectors | None
    missing: str = ""
    seconds: float = 0.0
    fall: float = 1.0


class SemanticChannel(Channel):
    """Finds the cards whose vectors are nearest to the question's vector.

    It compares all vectors of a user. For a user with very many vectors it compares their signs first, or walks the
    index of all signs. With modes it searches each mode's cards with the mode's model. Without a mode it searches with
    every model, each among its own cards. Distances are compared within one list only; lists are joined by rank.

    The channel is down while no needed model is available. When some of the models are available, it answers with
    those and names the missing ones. It is also down while ``saturated`` is true, if its last searches waited for the
    model for a tenth of their time or more. A model takes up to half the processor time of a recall.
    """

    name = "semantic"

    def __init__(self, embedders: Embedders, saturated: Callable[[], bool] = lambda: False) -> None:
        self._embedders = embedders
        self._saturated = saturated
        self._share = 0.0
        self._spaces: dict[str, Space] = {}
        self._falls: dict[str, float] = {}
        self._queries: TTLCache[bytes, _Query] = TTLCache(_REMEMBERED, _REMEMBERED_S)
        self._begun: LRUCache[bytes, Future[_Query]] = LRUCache(_BEGUN)
        # A separate pool: an embedder that hangs must not block the threads of the health checks.
        self._threads = ThreadPoolExecutor(_THREADS, "embedding")

    def warm(self) -> None:
        """Loads the models of the installation now, so that the first question does not wait for them."""
        for mode in self._embedders.modes:
            self._asked(self._embedders.slot(mode), None, "warm")

    def close(self) -> None:
        """Lets the models go."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._embedders.close()

    @property
    def ready(self) -> bool:
        """True when at least one model is loaded."""
        return any(self._embedders.is_open(slot) is not None for slot in self._embedders.slots)

    def anticipate(self, question: Question, scope: Scope) -> None:
        """Starts to embed the question with the model of the installation, which most questions need."""
        space = self._spaces.get("")
        if space is None or self._spared():
            return
        asked = _digest(scope.user_id, "", space, question.text)
        if asked not in self._queries and asked not in self._begun:
            with suppress(RuntimeError):  # the channel is closed
                self._begun[asked] = self._threads.submit(self._asked, "", space, question.text)

    def _spared(self) -> bool:
        return self._share > _WORTH and self._saturated()

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        if self._spared():
            raise ChannelDownError("too many recalls wait: the model did not embed this question")
        began = time.perf_counter()
        spaces = self._spaces or await self._read_spaces(connection)
        try:
            hits, seconds, empty = await self._found(connection, question, scope, spaces)
        except ChannelDownError:
            if (now := await self._read_spaces(connection)) == spaces:
                raise
            hits, seconds, empty = await self._found(connection, question, scope, now)
        except UndefinedTable:
            self._spaces = {}
            raise
        if empty and (now := await self._read_spaces(connection)) != spaces:
            # The vectors of another embedder became live. A search with spaces of before finds nothing.
            hits, _, _ = await self._found(connection, question, scope, now)
        self._share += (seconds / (time.perf_counter() - began) - self._share) / _SEARCHES
        return hits

    async def _found(
        self, connection: AsyncConnection, question: Question, scope: Scope, spaces: Mapping[str, Space]
    ) -> tuple[list[Hit], float, bool]:
        """Returns the hits, the seconds that the slowest model took, and True when a list has no hit."""
        lists = self._lists(question, scope, spaces)
        if spaces:
            # No vector is of a model that has no space. A question needs no such model.
            lists = [
                each for each in lists if each.slot in spaces or not (each.earlier or is_of_model(each.slot))
            ]
        # Several slots may be of one embedder. Each embedder is asked once, and each of its lists is searched once.
        first: dict[Space | str, str] = {}
        own = {
            each.slot: first.setdefault(
                spaces.get(each.slot) or self._embedders.model_of(each.slot), each.slot
            )
            for each in lists
        }
        lists = list(dict.fromkeys(replace(each, slot=own[each.slot]) for each in lists))
        slots = list(dict.fromkeys(each.slot for each in lists))
        asking = [self._query(each, spaces.get(each), question.text, scope.user_id) for each in slots]
        asked = dict(zip(slots, await asyncio.gather(*asking), strict=True))
        found: dict[_List, list[Hit]] = {}
        # A re-embedding moves vectors from an earlier model to the present one at any moment. In this order every card
        # is in one of the lists.
        for each in sorted(lists, key=lambda each: not each.earlier):
            if not asked[each.slot].missing:
                found[each] = await self._near(
                    connection, replace(scope, modes=each.modes), asked[each.slot], question, spaces
                )
        hits = _by_rank([found[each] for each in lists if each in found], _LIMIT)
        missing = [
            asked[each.slot].missing
            for each in lists
            if asked[each.slot].missing
            and not (each.earlier and await self._holds_none(connection, scope, each, spaces))
        ]
        if missing:
            raise ChannelDownError("; ".join(dict.fromkeys(missing)), hits)
        slowest = max((each.seconds for each in asked.values()), default=0.0)
        return hits, slowest, not all(found.values())

    async def _holds_none(
        self, connection: AsyncConnection, scope: Scope, each: _List, spaces: Mapping[str, Space]
    ) -> bool:
        space = spaces.get(each.slot)
        if space is None:
            return False
        names = replace(scope, modes=each.modes).parameters() | {"model": space.fingerprint}
        row = await (await connection.execute(statement(_PACKAGE, "vectors_held"), names)).fetchone()
        return row is not None and not row[0]

    async def _near(
        self,
        connection: AsyncConnection,
        scope: Scope,
        asked: _Query,
        question: Question,
        spaces: Mapping[str, Space],
    ) -> list[Hit]:
        assert asked.embedder is not None
        dimension = asked.embedder.dimension
        table = f"vectors.card_vectors_{dimension}"
        values: dict[str, object] = {
            "vector": asked.vector,
            "model": asked.embedder.fingerprint,
            "spaces": " ".join(f"{slot} {space.fingerprint}" for slot, space in sorted(spaces.items()))
            or None,
            "assistant": assistant_share(question),
            "looked_up": _LOOKED_UP,
            "repeats": _REPEATS,
            "limit": _LIMIT,
        }

        async def hits(name: str, looked_at: int = _LOOKED_AT, **parts: int) -> list[Hit]:
            found = await searched(
                connection, name, scope, {**values, "looked_at": looked_at}, vectors=table, **parts
            )
            best = found[0].score if found else 0.0
            # A vector of zeros has no cosine. min() then gives 0, because its first argument is a number.
            return [hit._replace(nearness=exp(min(0.0, hit.score - best) / asked.fall)) for hit in found]

        if not scope.size.many:
            return await hits("semantic")
        if scope.size.cards * scope.size.share > _WALKED_FROM:
            found = await hits("semantic_near", _WALKED_TO, dimension=dimension)
        else:
            found = await hits("semantic_own", dimension=dimension)
        if len(found) < _ENOUGH and (named := self._named_only(scope)):
            # The mode is rare among the nearest cards, so all cards of the mode are compared.
            values["named"] = named
            return await hits("semantic_mode")
        if len(found) < _ENOUGH and scope.size.cards * scope.size.share <= _WALKED_FROM:
            # The scope excludes most of the nearest cards, so look further.
            found = await hits("semantic_own", _LOOKED_FURTHER, dimension=dimension)
        return found

    def _named_only(self, scope: Scope) -> list[str]:
        """Returns the names that cards of the scope's modes may have. Empty: some of these cards have no name."""
        if scope.modes is None or GENERAL_MODE in scope.modes:
            return []
        return sorted({name.rpartition(SEPARATOR)[2] for name in scope.known_modes.names_of(scope.modes)})

    def _lists(
        self, question: Question, scope: Scope, spaces: Mapping[str, Space] = NO_SPACES
    ) -> Sequence[_List]:
        """Returns the lists that a question is answered from: those with a model that reads its language.

        One mode, or each of several modes, has a list for every model that may have embedded its cards. Without modes
        there is a list for every model, after the lists of the session's mode.
        """
        if scope.modes is None:
            lists = [] if scope.first_mode is None else self._of_mode(scope.first_mode, scope, spaces)
            lists += self._of_slots(None, list(self._embedders.slots), scope, self._removed(spaces))
        else:
            lists = [
                each for mode in dict.fromkeys(scope.modes) for each in self._of_mode(mode, scope, spaces)
            ]
        return [each for each in lists if self._reads(each.slot, question)]

    def _of_mode(self, mode: str, scope: Scope, spaces: Mapping[str, Space]) -> list[_List]:
        own = self._embedders.slot(mode)
        if mode == GENERAL_MODE:
            return self._of_slots(mode, [""], scope, self._removed(spaces))
        # The mode got a model of its own in the settings, or lost it, after cards were made.
        before = [""] if own else [mode] if mode in spaces else []
        slots = [own] if own or not scope.known_modes.registry.modes else []
        return self._of_slots(mode, slots, scope, before)

    def _of_slots(
        self, mode: str | None, slots: Sequence[str], scope: Scope, before: Sequence[str]
    ) -> list[_List]:
        """Returns the lists of a mode, or of all: of ``slots`` and of the models that users name, the present first."""
        ever: list[str] = []
        now: set[str] = set()
        if scope.known_modes.registry.modes:
            ever = [self._embedders.slot_of_model(each) for each in sorted(scope.known_modes.models(mode))]
            now = {self._embedders.slot_of_model(each) for each in scope.known_modes.models_now(mode)}
        present = [*slots, *(each for each in ever if each in now)]
        earlier = [each for each in (*ever, *before) if each not in present]
        modes = None if mode is None else (mode,)
        lists = [_List(each, modes) for each in present] + [
            _List(each, modes, earlier=True) for each in earlier
        ]
        return list(dict.fromkeys(lists))

    def _removed(self, spaces: Mapping[str, Space]) -> list[str]:
        """Returns the modes with vectors of a model that the settings do not name any more."""
        return sorted(each for each in spaces if not is_of_model(each) and each not in self._embedders.slots)

    def _reads(self, slot: str, question: Question) -> bool:
        if not has_cjk(question.text):
            return True
        embedder = self._embedders.is_open(slot)
        return embedder is None or reads_chinese(embedder.name)

    async def _query(self, slot: str, space: Space | None, text: str, user_id: str) -> _Query:
        """Returns the vector of a question: it is remembered, or being made, or made now."""
        asked = _digest(user_id, slot, space, text)
        known = self._queries.get(asked)
        if known is not None:
            return known
        begun = self._begun.pop(asked, None) or self._threads.submit(self._asked, slot, space, text)
        found = await asyncio.wrap_future(begun)
        if space is not None and not found.missing:
            self._queries[asked] = replace(found, seconds=0.0)
        return found

    def _asked(self, slot: str, space: Space | None, text: str) -> _Query:
        try:
            embedder = (
                self._embedders.of_slot(slot) if space is None else self._embedders.of_space(slot, space)
            )
            fall = self._fall(embedder)
            began = time.perf_counter()
            [vector] = checked([embedder.embed_question(text)], 1, embedder.dimension, embedder.name)
            return _Query(embedder, vector, seconds=time.perf_counter() - began, fall=fall)
        except EmbedderUnavailableError as error:
            return _Query(None, None, str(error))

    def _fall(self, embedder: Embedder) -> float:
        """Returns the fall of a model, which is found once in a process from the same texts, so it never differs.

        The texts are asked as questions: an embedder answers a question within two seconds, and before texts of cards.
        """
        fall = self._falls.get(embedder.fingerprint)
        if fall is None:
            count = len(_UNRELATED)
            asked = [embedder.embed_question(text) for text in _UNRELATED]
            vectors = checked(asked, count, embedder.dimension, embedder.name)
            unrelated = (np.sum(vectors @ vectors.T) - count) / (count * (count - 1))
            fall = self._falls[embedder.fingerprint] = _FALL * max(_LEAST_WAY, 1 - float(unrelated))
        return fall

    async def _read_spaces(self, connection: AsyncConnection) -> dict[str, Space]:
        """Reads the embedder of each slot of the live vectors."""
        rows = await (await connection.execute(statement(_PACKAGE, "spaces"))).fetchall()
        self._spaces = {slot: Space(name, fingerprint) for slot, name, fingerprint in rows}
        return self._spaces


def _digest(user_id: str, slot: str, space: Space | None, text: str) -> bytes:
    """Returns the key of a user's question to one model. No text stays in memory, and no user gets another's vector."""
    return blake2b(repr((user_id, slot, space, text)).encode(), digest_size=16).digest()


def _by_rank(found: Iterable[Sequence[Hit]], limit: int) -> list[Hit]:
    """Joins the best hits of all lists: first the best of every list, then the second of every list, and so on.

    Scores of different lists are never compared. A card that is in two lists counts at its better rank.
    """
    best: dict[UUID, Hit] = {}
    for hit in filter(None, chain.from_iterable(zip_longest(*found))):
        best.setdefault(hit.card_id, hit)
    return list(islice(best.values(), limit))
