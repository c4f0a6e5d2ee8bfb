"""The size of a user is known. A recall of a very large user costs other users nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from events.language.terms import term_keys
from events.platform.database import Connection
from events.store import log
from ingest.extraction.workers.rules_worker import PROCESSOR
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from retrieval.pool import Pool
from retrieval.query import scope
from retrieval.query.question import understand
from retrieval.query.scope import Size, scope_of
from retrieval.recall.overlay import Overlay
from retrieval.recall.user_sizes import UserSizes
from tests.bench.support.history import fill
from tests.support.projectors.folding import NOW, event, fold_live, settings_of
from tests.support.retrieval.channels import noted, pooled
from tests.support.waiting import PATIENT, eventually


@pytest.fixture
def many(database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database in which alex has very many cards."""
    log.append(connection, [event(noted(f"meeting number {n}")) for n in range(12)])
    log.append(connection, [event(noted("zebra meeting 會議"), user="bob")])
    fold_live(database)
    connection.execute("ANALYZE")
    monkeypatch.setattr(scope, "MANY", 10)
    monkeypatch.setattr(scope, "COMMON", 10)
    return database


def test_frequent_terms_are_known_of_users_with_very_many_cards(many: str) -> None:
    question = understand("a zebra in a meeting, 會議", NOW)

    async def look(pool: Pool) -> list[Size]:
        looked = UserSizes(pool)
        return [await looked.of(user, question) for user in ("alex", "bob", "nobody")]

    alex, bob, nobody = pooled(many, look)
    assert alex == Size(12, share=12 / 13, common=tuple(term_keys("alex", ["meet"])))
    assert (bob, nobody) == (Size(1, share=1 / 13), Size(0))


def test_what_is_known_of_a_user_is_not_looked_up_again(many: str) -> None:
    async def look(pool: Pool) -> list[Size]:
        looked = UserSizes(pool)
        question = understand("which meeting?", NOW)
        first = await looked.of("alex", question)
        # Nothing answers any more, and the recall needs no answer.
        await pool.close()
        return [first, await looked.of("alex", question), await looked.of("ben", question)]

    first, again, unknown = pooled(many, look)
    assert first == again
    assert first.common
    # An unknown user is taken for a large one.
    assert unknown == Size()
    assert unknown.many


_LISTS = {
    "text": st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
    "integer": st.lists(st.integers(-(2**31), 2**31 - 1)),
    "uuid": st.lists(st.uuids()),
    "float8": st.lists(st.floats(allow_nan=False, allow_infinity=False)),
    "boolean": st.lists(st.booleans()),
}


@given(given=st.fixed_dictionaries({name: st.lists(lists, max_size=9) for name, lists in _LISTS.items()}))
@example(given={"text": [["", "null", "NULL", '"', "\\", "{a,b}", "\t\n\x01", "\\n", "問題", None], []]})
@settings(max_examples=10)
def test_a_list_arrives_as_it_was(postgres_url: str, given: dict[str, list[list[Any]]]) -> None:
    async def arrive(pool: Pool) -> None:
        async with pool.connected("alex", 30.0) as connection:
            for kind, lists in given.items():
                for each in lists:
                    row = await (await connection.execute(f"SELECT %s::{kind}[]", [each])).fetchone()
                    assert row == (each,)

    pooled(postgres_url, arrive)


def test_a_statement_has_one_plan_for_all_users_unless_it_asks_for_its_own(database: str) -> None:
    async def modes(pool: Pool) -> list[str]:
        found = []
        for planned in (False, True, True, False):
            async with pool.connected("alex", 5.0, planned=planned) as connection:
                row = await (await connection.execute("SHOW plan_cache_mode")).fetchone()
                assert row is not None
                found.append(row[0])
        return found

    one, everybody = "force_custom_plan", "force_generic_plan"
    assert pooled(database, modes) == [one, everybody, everybody, one]


def test_the_unprojected_tail_is_read_without_the_rest_of_the_log(connection: Connection) -> None:
    fill(connection, 6000, users=50, texts=300, heavy=0.8)
    # As on a server that serves thousands and uses generic plans.
    connection.execute("ALTER TABLE log.events ALTER user_id SET (n_distinct = 5000)")
    connection.execute("ANALYZE log.events")
    connection.execute(f"ALTER DATABASE {connection.info.dbname} SET plan_cache_mode = force_generic_plan")
    ensure_live(connection, CardsProjector())
    PROCESSOR.open(connection)
    # As if all had been read and folded.
    connection.execute(
        "UPDATE log.checkpoints c SET position = h.position FROM log.heads h WHERE h.partition = c.partition"
    )
    row = connection.execute(
        "SELECT user_id FROM log.events GROUP BY user_id ORDER BY count(*) DESC"
    ).fetchone()
    assert row is not None
    asked = scope_of(understand("where?", NOW), user_id=row[0], projects=None)

    def read() -> int:
        found = connection.execute(
            "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = 'log' AND relname = 'events'"
        ).fetchone()
        assert found is not None
        return int(found[0])

    settings = settings_of(connection, **PATIENT)

    async def look(pool: Pool) -> None:
        overlay = Overlay(settings, pool)
        try:
            for _ in range(15):
                laid = await (await overlay.begin(asked, datetime.now(UTC)))
                assert (laid.cards, laid.warnings) == ({}, ())
        finally:
            await overlay.close()

    # Other sessions report their counters when they end.
    connection.execute("SELECT pg_stat_force_next_flush()")
    before = read()
    pooled(connection, look, pool_size=settings.pool_size)
    ended = "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    eventually(lambda: connection.execute(ended).fetchone() == (True,))
    assert read() - before < 1000
