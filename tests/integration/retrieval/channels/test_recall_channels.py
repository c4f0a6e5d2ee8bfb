"""The channels of a recall together, and how their statements are planned."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.sql import SQL

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.cards import StateAsserted
from projectors.embedding.embedder import HASH_MODEL, HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.channels.channel import Channel
from retrieval.channels.graph import GraphChannel
from retrieval.http.wiring import open_channels
from retrieval.query.question import understand
from retrieval.query.scope import Size, scope_of
from tests.bench.support.history import fill
from tests.support.projectors.folding import NOW, ORIGIN, apart, fold_live
from tests.support.projectors.plans import Counting
from tests.support.retrieval.channels import FEW, MANY, MOST, hits_of, noted, recall, searching
from tests.support.roles import roles_for
from tests.support.waiting import eventually


def test_the_same_words_in_two_turns_are_one_card_that_names_both(connection: Connection) -> None:
    said = [replace(ORIGIN, turn_ids=(turn,)) for turn in ("t1", "t2")]
    log.append(connection, [apart(replace(noted("Feed the cat"), origin=origin)) for origin in said])
    fold_live(connection)
    [card] = recall(connection, "cat")["cards"]
    assert sorted(card["turn_ids"]) == ["t1", "t2"]


def test_an_explanation_names_the_votes_and_the_fate_of_each_card(connection: Connection) -> None:
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
    fold_live(connection)
    answer = recall(connection, "where do I live?", explain=True, k=1)
    explain = answer["explain"]
    assert explain["question"]["language"] == "english"
    assert explain["question"]["intent"] == "present"
    assert explain["question"]["wants"] == []
    assert explain["question"]["concepts"] == ["residence"]
    assert explain["scope"]["projects"] == ["default"]
    assert set(explain["channels"]) == {"semantic", "tags", "fuzzy", "time", "graph"}
    first, second = explain["cards"][:2]
    assert (first["content"], first["left_out"]) == ("I live in Kaohsiung", None)
    assert first["contributions"]["fact asked for"] > 1
    assert second["left_out"] == "only the best 1 were asked for"
    for card in (first, second):
        assert sum(card["contributions"].values()) == pytest.approx(card["score"], abs=1e-3)
    assert answer["cards"][0]["score"] == pytest.approx(first["score"], abs=1e-3)
    last = recall(connection, "which places did I live in last?", explain=True)["explain"]["question"]
    assert last["wants"] == ["the latest of several times", "a list or a number of things"]
    [withheld] = explain["withheld"]
    assert withheld["content"] == "I live in Taipei"
    assert withheld["reason"].startswith("it is no longer true since 2026-05-07")
    assert "explain" not in recall(connection, "where do I live?")


@pytest.mark.parametrize("name", ["tags", "fuzzy", "time"])
def test_keys_that_meet_those_of_another_user_find_nothing_of_theirs(
    connection: Connection, name: str
) -> None:
    log.append(connection, [apart(noted("harbour 河邊散步")), apart(noted("harbour 河邊散步"), user="bob")])
    fold_live(connection)
    connection.execute(
        """UPDATE cards.cards c SET term_keys = o.term_keys, pair_keys = o.pair_keys
           FROM cards.cards o WHERE c.user_id = 'bob' AND o.user_id = 'alex'"""
    )
    own = connection.execute("SELECT card_id FROM cards.cards WHERE user_id = 'alex'").fetchall()
    each = next(each for each in open_channels(Settings()) if each.name == name)
    hits = hits_of(connection, each, "harbour 河邊散步 in 2026", "alex")
    assert [(hit.card_id,) for hit in hits] == own


class _Plans:
    """A connection that explains each statement and then executes it."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self.lines: list[str] = []

    async def execute(self, query: Any, parameters: Any = None) -> Any:
        rows = await (await self._connection.execute(SQL("EXPLAIN ") + query, parameters)).fetchall()
        self.lines += [row[0] for row in rows]
        return await self._connection.execute(query, parameters)


def test_no_channel_reads_a_whole_table_as_the_owner_or_under_row_level_security(
    database: str, connection: Connection
) -> None:
    fill(connection, 6000, users=20, texts=500)
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
    connection.execute("VACUUM ANALYZE")
    with roles_for(database, ("reader",)) as (reader,):
        for url in (database, reader):
            check_that_no_channel_reads_a_whole_table(connection, url)


def check_that_no_channel_reads_a_whole_table(connection: Connection, url: str) -> None:
    question = understand("where did we go with 我们 last month? who was in Lisbon?", NOW)
    scope = scope_of(question, user_id="user-00001", projects=("default",))
    channels: list[Channel] = open_channels(replace(Settings(), embed_model=HASH_MODEL))

    async def plans(connection: AsyncConnection, size: Size) -> dict[str, list[str]]:
        rows = await connection.execute(
            "SELECT card_id FROM cards.cards WHERE user_id = 'user-00001' LIMIT 5"
        )
        seeds = [row[0] for row in await rows.fetchall()]
        found = {}
        # A sort is quicker for so few vectors. A user with many vectors gets the index.
        await connection.execute(
            "SELECT set_config('enable_sort', %s, false)", ["off" if size is MOST else "on"]
        )
        for each in [*channels, GraphChannel(dict.fromkeys(seeds, 1.0))]:
            looking: Any = _Plans(connection)
            await each.search(looking, question, replace(scope, size=size))
            found[each.name] = looking.lines
        return found

    for size, index in ((FEW, "_pkey"), (MANY, "_own"), (MOST, "_signs")):
        for name, lines in searching(url, partial(plans, size=size)).items():
            assert lines, name
            # The table spaces has one row for each embedder, whatever the number of cards is.
            whole = [line for line in lines if "Seq Scan" in line and "Seq Scan on spaces " not in line]
            assert not whole, (name, whole)
            if name == "semantic":
                assert [line for line in lines if f"card_vectors_384{index}" in line], lines

    # A generic plan is not shown before its use, so the server's count of rows read decides.
    async def search_as_all(connection: AsyncConnection) -> None:
        for size in (FEW, MANY, MOST):
            for each in channels:
                await each.search(connection, question, replace(scope, size=size))
        await connection.execute("SELECT pg_stat_force_next_flush()")

    def scans() -> tuple[int, int, int]:
        """Scans of whole tables and of the index of events, and the events that the latter read."""
        row = connection.execute(
            """SELECT sum(seq_scan), (SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'cards_occurred'),
                      (SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'cards_occurred')
               FROM pg_stat_user_tables WHERE relname ~ '^(card|words)'"""
        ).fetchone()
        assert row is not None
        return row[0], row[1], row[2]

    before = scans()
    searching(url, search_as_all)
    # The time channel uses the index of events, also under a generic plan. Several serve a few states.
    eventually(lambda: scans()[1] > before[1])
    # Nothing was said in the window of the question. Its bounds are conditions of the index, also under a policy.
    assert (scans()[0], scans()[2]) == (before[0], before[2])


def test_a_memory_without_statistics_is_read_in_the_same_way(connection: Connection) -> None:
    texts = (
        f"harbour meeting number {number} with {'Zoe' if number % 5 else 'Max'}" for number in range(400)
    )
    log.append(connection, [apart(noted(text)) for text in texts])
    fold_live(connection)
    question = understand("the harbour meeting with Max this month", NOW)
    scope = replace(scope_of(question, user_id="alex", projects=("default",)), size=Size(400))
    [[seeds]] = connection.execute(
        "SELECT array_agg(card_id) FROM (SELECT card_id FROM cards.cards LIMIT 12)"
    )

    async def rows(pooled: AsyncConnection) -> dict[str, float]:
        read = {}
        for each in (*open_channels(Settings())[1:], GraphChannel(dict.fromkeys(seeds, 1.0))):
            looking: Any = Counting(pooled)
            await each.search(looking, question, scope)
            read[each.name] = looking.rows
        return read

    before = searching(connection, rows)
    connection.execute("VACUUM ANALYZE")
    after = searching(connection, rows)
    assert {name: count for name, count in before.items() if count > 2 * after[name]} == {}
