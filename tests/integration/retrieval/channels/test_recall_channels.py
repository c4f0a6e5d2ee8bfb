"""Channels find related cards and read no table whole. The vector index finds as much as a full scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pytest
from psycopg import AsyncConnection
from psycopg.sql import SQL

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.cards import KnowledgeLearned, StateAsserted
from events.types.relations import CardsConnected
from projectors.embedding.embedder import HASH_MODEL, HashEmbedder, Vectors
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.channels import channel, semantic
from retrieval.channels.channel import Channel, Hit
from retrieval.channels.graph import GraphChannel
from retrieval.channels.tags import TagsChannel
from retrieval.http.wiring import open_channels
from retrieval.pool.connections import ReadConnection
from retrieval.query.question import understand
from retrieval.query.scope import Size, scope_of
from tests.bench.support.history import fill
from tests.support.projectors.folding import NOW, ORIGIN, apart, event, fold_live
from tests.support.retrieval.channels import noted, recall, searching
from tests.support.waiting import eventually

FEW, MANY, MOST = Size(100), Size(20_000, share=0.1), Size(100_000, share=0.9)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Did I go to Japan?", "暑假要去日本看煙火"),
        ("我什麼時候在京都？", "We slept in a temple in Kyoto"),
        ("Who is a nurse?", "隔壁鄰居是護理師"),
    ],
)
def test_a_name_finds_the_cards_that_say_it_in_the_other_language(
    database: str, connection: Connection, question: str, found: str
) -> None:
    cards = (
        "暑假要去日本看煙火",
        "We slept in a temple in Kyoto",
        "隔壁鄰居是護理師",
        "We painted the shed",
        "昨天修水管",
    )
    log.append(connection, [event(noted(content)) for content in cards])
    fold_live(database)
    first = recall(database, question)["cards"][0]
    assert first["content"] == found
    assert "tags" in first["channels"]


def test_a_card_that_shares_no_word_is_found_through_what_it_is_related_to(
    database: str, connection: Connection
) -> None:
    jwt, oauth, other = (
        apart(
            KnowledgeLearned(
                content=f"{title}: {words}", title=title, definition=words, tags=(), origin=ORIGIN
            )
        )
        for title, words in (
            ("JWT", "a signed token"),
            ("OAuth", "lets apps act for people"),
            ("Ramen", "a soup"),
        )
    )
    log.append(connection, [jwt, oauth, other])
    log.append(
        connection,
        [
            event(
                CardsConnected(
                    from_card=jwt.event_id, to_card=oauth.event_id, predicate="related_to", reason="said so"
                )
            )
        ],
    )
    fold_live(database)
    answer = recall(database, "what is JWT?")
    assert [card["title"] for card in answer["cards"]] == ["JWT", "OAuth"]
    assert set(answer["cards"][1]["channels"]) == {"graph"}


def test_what_was_said_next_to_a_hit_is_found_and_comes_after_it(
    database: str, connection: Connection
) -> None:
    log.append(
        connection, [apart(noted(text)) for text in ("We met Zoe", "It was about the harbour", "Nice day")]
    )
    fold_live(database)
    answer = recall(database, "harbour")
    assert answer["cards"][0]["content"] == "It was about the harbour"
    assert {card["content"] for card in answer["cards"][1:]} == {"We met Zoe", "Nice day"}


def test_the_graph_never_leaves_the_walls(database: str, connection: Connection) -> None:
    far = replace(ORIGIN, project_id="elsewhere")
    here, there = apart(noted("We planned the harbour")), apart(noted("Secret budget"))
    there = replace(there, payload=replace(there.payload, origin=far))
    foreign = apart(noted("Of somebody else"), "zoe")
    log.append(connection, [here, there, foreign])
    links = [
        event(
            CardsConnected(
                from_card=here.event_id, to_card=to.event_id, predicate="related_to", reason="said so"
            )
        )
        for to in (there, foreign)
    ]
    log.append(connection, links)
    fold_live(database)
    contents = [card["content"] for card in recall(database, "harbour")["cards"]]
    assert contents == ["We planned the harbour"]


def test_the_same_words_in_two_turns_are_one_card_that_names_both(
    database: str, connection: Connection
) -> None:
    said = [replace(ORIGIN, turn_ids=(turn,)) for turn in ("t1", "t2")]
    log.append(connection, [apart(replace(noted("Feed the cat"), origin=origin)) for origin in said])
    fold_live(database)
    [card] = recall(database, "cat")["cards"]
    assert sorted(card["turn_ids"]) == ["t1", "t2"]


def test_an_explanation_names_the_votes_and_the_fate_of_each_card(
    database: str, connection: Connection
) -> None:
    homes = [("Taipei", NOW - timedelta(days=90)), ("Kaohsiung", NOW - timedelta(days=1))]
    log.append(
        connection,
        [
            apart(
                StateAsserted(
                    content=f"I live in {city}", entity="user", concept_key="residence", value=city,
                    cardinality="single_value", tags=(), origin=ORIGIN, effective_at=at, announced=True,
                )
            )
            for city, at in homes
        ]
        + [apart(noted("We live and learn"))],
    )  # fmt: skip
    fold_live(database)
    answer = recall(database, "where do I live?", explain=True, k=1)
    explain = answer["explain"]
    assert explain["question"]["language"] == "english"
    assert explain["question"]["intent"] == "present"
    assert explain["question"]["concepts"] == ["residence"]
    assert explain["scope"]["projects"] == ["default"]
    assert set(explain["channels"]) == {"semantic", "tags", "fuzzy", "time", "graph"}
    first, second = explain["cards"][:2]
    assert (first["content"], first["left_out"]) == ("I live in Kaohsiung", None)
    assert first["factors"]["fact asked for"] == 3
    assert second["left_out"] == "only the best 1 were asked for"
    for card in (first, second):
        # Votes can be added up again from the candidates, and the score from the factors.
        votes = [
            each["vote"]
            for channel_ in explain["channels"].values()
            for each in channel_["candidates"]
            if each["card_id"] == card["card_id"]
        ]
        assert sum(votes) == pytest.approx(card["votes"], abs=1e-5)
        score = card["votes"]
        for factor in card["factors"].values():
            score *= factor
        assert score == pytest.approx(card["score"], abs=1e-5)
    assert answer["cards"][0]["score"] == first["score"]
    [withheld] = explain["withheld"]
    assert withheld["content"] == "I live in Taipei"
    assert withheld["reason"].startswith("it is no longer true since 2026-05-07")
    assert "explain" not in recall(database, "where do I live?")


class _Plans:
    """A connection that explains each statement and then executes it."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection
        self.lines: list[str] = []

    async def execute(self, query: Any, parameters: Any) -> Any:
        rows = await (await self._connection.execute(SQL("EXPLAIN ") + query, parameters)).fetchall()
        self.lines += [row[0] for row in rows]
        return await self._connection.execute(query, parameters)


def test_no_channel_reads_a_whole_table(database: str, connection: Connection) -> None:
    fill(connection, 6000, users=20, texts=500)
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
    connection.execute("VACUUM ANALYZE")
    question = understand("where did we go with 我们 last month? who was in Lisbon?", NOW)
    scope = scope_of(question, user_id="user-00001", projects=("default",))
    channels: list[Channel] = open_channels(replace(Settings(), embed_model=HASH_MODEL))

    async def plans(connection: ReadConnection, size: Size) -> dict[str, list[str]]:
        rows = await connection.execute(
            "SELECT card_id FROM cards.cards WHERE user_id = 'user-00001' LIMIT 5"
        )
        seeds = [row[0] for row in await rows.fetchall()]
        found = {}
        # A sort is quicker for so few vectors. A user with many vectors gets the index.
        await connection.execute(
            "SELECT set_config('enable_sort', %s, false)", ["off" if size is MOST else "on"]
        )
        for each in [*channels, GraphChannel(seeds)]:
            looking: Any = _Plans(connection)
            await each.search(looking, question, replace(scope, size=size))
            found[each.name] = looking.lines
        return found

    for size, index in ((FEW, "_pkey"), (MANY, "_own"), (MOST, "_signs")):
        for name, lines in searching(database, partial(plans, size=size)).items():
            assert lines, name
            assert not [line for line in lines if "Seq Scan" in line], (name, lines)
            if name == "semantic":
                assert [line for line in lines if f"card_vectors_384{index}" in line], lines

    # A generic plan is not shown before its use, so the server's count of rows read decides.
    async def search_as_all(connection: ReadConnection) -> None:
        await connection.plan(for_one=False)
        for each in channels:
            await each.search(connection, question, replace(scope, size=FEW))
        await connection.execute("SELECT pg_stat_force_next_flush()")

    def scans() -> tuple[int, int]:
        row = connection.execute(
            """SELECT sum(seq_scan), sum(idx_scan) FROM pg_stat_user_tables
               WHERE relname ~ '^(card|state|event|knowledge|words)'"""
        ).fetchone()
        assert row is not None
        return row[0], row[1]

    before = scans()
    searching(database, search_as_all)
    eventually(lambda: scans()[1] > before[1])
    assert scans()[0] == before[0]


def _hits(database: str, each: Channel, text: str, user: str, *, size: Size = FEW) -> Sequence[Hit]:
    question = understand(text, NOW)
    scope = replace(scope_of(question, user_id=user, projects=None), size=size)

    async def hits(connection: ReadConnection) -> Sequence[Hit]:
        await connection.execute(
            "SELECT set_config('enable_sort', %s, false)", ["off" if size is MOST else "on"]
        )
        return await each.search(connection, question, scope)

    found: Sequence[Hit] = searching(database, hits)
    return found


_AXES, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((384, 384)))


class Turned(HashEmbedder):
    """Hashed words, rotated so that every number holds a little of each word, as a model's vectors do."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        turned: Vectors = np.asarray(super().embed(texts)) @ _AXES
        return turned

    def embed_question(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector


@pytest.mark.parametrize("size", [MANY, MOST], ids=["signs of one user", "signs of all"])
def test_signs_find_what_comparing_all_numbers_finds(
    database: str, connection: Connection, size: Size
) -> None:
    fill(connection, 3000, users=3, texts=300)
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(Turned)))
    each = semantic.SemanticChannel(Embedders(Turned))
    shares = []
    for text in ("we went to the market", "I moved to Osaka", "我们一起去了"):
        exact = {hit.card_id: hit.score for hit in _hits(database, each, text, "user-00001")}
        near = {hit.card_id: hit.score for hit in _hits(database, each, text, "user-00001", size=size)}
        assert len(near) == 20
        assert all(near[card] == pytest.approx(exact[card]) for card in near.keys() & exact.keys())
        shares.append(len(near.keys() & exact.keys()) / len(exact))
    assert sum(shares) / len(shares) >= 0.8, shares


def test_what_may_answer_is_found_behind_very_much_that_may_not(
    database: str, connection: Connection, monkeypatch: Any
) -> None:
    monkeypatch.setattr(semantic, "_LOOKED_AT", 10)
    here = replace(ORIGIN, project_id="here")
    log.append(
        connection,
        [
            *[apart(noted(f"We planned the harbour {n}")) for n in range(40)],
            *[apart(replace(noted(f"A plan {n}"), origin=here)) for n in range(5)],
        ],
    )
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
    question = understand("who planned the harbour?", NOW)
    scope = replace(scope_of(question, user_id="alex", projects=("here",)), size=MANY)
    each = semantic.SemanticChannel(Embedders(HashEmbedder))
    found = searching(database, lambda connection: each.search(connection, question, scope))
    assert len(found) == 5


@pytest.mark.parametrize("name", ["tags", "fuzzy", "time"])
def test_keys_that_meet_those_of_another_user_find_nothing_of_theirs(
    database: str, connection: Connection, name: str
) -> None:
    log.append(connection, [apart(noted("harbour 河邊散步")), apart(noted("harbour 河邊散步"), user="bob")])
    fold_live(database)
    connection.execute(
        """UPDATE cards.cards c SET term_keys = o.term_keys, pair_keys = o.pair_keys
           FROM cards.cards o WHERE c.user_id = 'bob' AND o.user_id = 'alex'"""
    )
    own = connection.execute("SELECT card_id FROM cards.cards WHERE user_id = 'alex'").fetchall()
    each = next(each for each in open_channels(Settings()) if each.name == name)
    hits = _hits(database, each, "harbour 河邊散步 in 2026", "alex")
    assert [(hit.card_id,) for hit in hits] == own


def test_a_word_that_is_everywhere_orders_what_rarer_words_find(
    database: str, connection: Connection, monkeypatch: Any
) -> None:
    log.append(connection, [apart(noted(f"meeting number {n}")) for n in range(12)])
    log.append(connection, [apart(noted("zebra meeting")), apart(noted("zebra")), apart(noted("harbour"))])
    fold_live(database)

    def found(text: str) -> list[str]:
        ids = [hit.card_id for hit in _hits(database, TagsChannel(), text, "alex")]
        contents = dict(connection.execute("SELECT card_id, content FROM cards.cards").fetchall())
        return [contents[card_id] for card_id in ids]

    assert len(found("zebra meeting")) == 14
    monkeypatch.setattr("retrieval.channels.tags.COMMON", 10)
    assert found("zebra meeting") == ["zebra meeting", "zebra"]
    assert len(found("meeting")) == 13  # with nothing rarer to go by, it finds
    later = replace(noted("a meeting at last"), occurred_at=NOW + timedelta(hours=1))
    log.append(connection, [apart(later)])
    fold_live(database)
    monkeypatch.setattr("retrieval.channels.tags._RANKED", 1)
    assert found("meeting") == ["a meeting at last"]
    assert found("zebra meeting") == ["zebra meeting", "zebra"]
    assert channel.COMMON > 10


def test_common_words_meet_in_the_cards_that_answer(
    database: str, connection: Connection, monkeypatch: Any
) -> None:
    texts = [f"coffee number {n}" for n in range(12)] + [f"harbour number {n}" for n in range(12)]
    log.append(connection, [apart(noted(text)) for text in [*texts, "coffee at the harbour"]])
    fold_live(database)

    def found(text: str) -> list[str]:
        ids = [hit.card_id for hit in _hits(database, TagsChannel(), text, "alex")]
        contents = dict(connection.execute("SELECT card_id, content FROM cards.cards").fetchall())
        return [contents[card_id] for card_id in ids]

    assert len(found("harbour coffee")) == 20
    monkeypatch.setattr("retrieval.channels.tags.COMMON", 10)
    assert found("harbour coffee") == ["coffee at the harbour"]
    # Where two words never meet in a card, each finds cards by itself.
    monkeypatch.setattr("retrieval.channels.tags.COMMON", 11)
    connection.execute("DELETE FROM cards.cards WHERE content = 'coffee at the harbour'")
    assert len(found("harbour coffee")) == 20


def test_a_misspelt_word_finds_the_words_at_one_edit(database: str, connection: Connection) -> None:
    log.append(
        connection,
        [
            apart(noted("We adopted kittens")),
            apart(noted("They planed the boards")),
            apart(noted("A harbour")),
        ],
    )
    fold_live(database)
    contents = dict(connection.execute("SELECT card_id, content FROM cards.cards").fetchall())

    def found(text: str) -> list[str]:
        return [contents[hit.card_id] for hit in _hits(database, TagsChannel(), text, "alex")]

    for misspelt in ("adpoted", "adoptted", "adoptes", "adopetd", "kitens"):
        assert found(f"who was {misspelt}?") == ["We adopted kittens"], misspelt
    assert found("planet") == ["They planed the boards"]  # no card says planet
    log.append(connection, [apart(noted("A planet"))])
    fold_live(database)
    contents.update(connection.execute("SELECT card_id, content FROM cards.cards").fetchall())
    assert found("planet") == ["A planet"]  # a word the user knows means itself
    assert found("what was the slipper like?") == []


def test_no_question_makes_the_look_up_of_misspelt_words_long(database: str, connection: Connection) -> None:
    log.append(connection, [apart(noted("We adopted kittens"))])
    fold_live(database)
    unknown = " ".join(f"zebra{letter}" for letter in "abcdefgh")
    assert _hits(database, TagsChannel(), f"adpoted {unknown}", "alex")
    assert _hits(database, TagsChannel(), f"{unknown} adpoted", "alex") == []
