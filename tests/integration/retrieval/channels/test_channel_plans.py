"""No channel reads a whole table."""

from dataclasses import replace
from functools import partial
from typing import Any

from psycopg import AsyncConnection
from psycopg.sql import SQL

from events.platform.database import Connection
from events.platform.settings import Settings
from projectors.embedding.embedder import HASH_MODEL, HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.channels.channel import Channel
from retrieval.channels.graph import GraphChannel
from retrieval.http.wiring import open_channels
from retrieval.query.question import understand
from retrieval.query.scope import Size, scope_of
from tests.bench.support.history import fill
from tests.support.projectors.folding import NOW, fold_live
from tests.support.retrieval.channels import FEW, MANY, MOST, searching
from tests.support.roles import roles_for
from tests.support.waiting import eventually


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
