"""What a question reads of a user with a long history: what it needs, and not the history."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from psycopg.sql import SQL, Identifier

from events.people.people_log import telling
from events.platform.database import Connection, statement
from events.problems.problem_log import query
from events.references.reference_log import THEN, parameters_of
from events.store import log
from events.types.cards import StateAsserted
from events.types.envelope import partition_of
from projectors.cards.connections import SUPERSEDING
from projectors.people import PeopleProjector
from projectors.problems import ProblemsProjector
from projectors.references import ReferencesProjector
from retrieval.cards.reader import filled
from retrieval.cards.slice import Slice
from tests.support.events.turns import turn
from tests.support.projectors.folding import NOW, ORIGIN, event, fold_live

MOVES = 600
"""The moves of the user. Each of them replaced the one before."""
USER = "alex"
Asked = tuple[SQL, Mapping[str, object]]


def move(number: int) -> StateAsserted:
    since = NOW + timedelta(days=100 * number)
    return StateAsserted(
        content=f"I live in City {number}", entity="user", concept_key="residence", value=f"City {number}", tags=(),
        cardinality="single_value", effective_at=since, announced=True,
        origin=replace(ORIGIN, said_at=since, turn_ids=(f"t{number}",)),
    )  # fmt: skip


def people(_: Connection) -> Asked:
    asked = next(telling(USER))
    return asked.text, asked.values


def problems(_: Connection) -> Asked:
    asked = query("problems_of", USER)
    return asked.text, asked.values


def references_of_then(_: Connection) -> Asked:
    return THEN, parameters_of([USER], datetime.now(UTC), None)


def a_page_of_an_export(_: Connection) -> Asked:
    return statement("retrieval.export", "cards_of_user"), {"user_id": USER, "after": UUID(int=0), "limit": 5}


def a_page_of_a_status() -> Asked:
    asked = Slice(user_id=USER, now=datetime(2300, 1, 1, tzinfo=UTC), statuses=("superseded",))
    values = {**asked.parameters(), "kind": "state", "before": None, "limit": 5}
    return SQL(filled("page", asked).as_string()), values


def the_last_changes_of_a_value(connection: Connection) -> Asked:
    rows = connection.execute(
        "SELECT card_id FROM cards.cards ORDER BY effective_at DESC OFFSET 5 LIMIT 1"
    ).fetchall()
    relations = Identifier("cards", "relations")
    return SQL(statement("retrieval.cards", "reachable_relations").format(relations=relations).as_string()), {
        "user_id": USER, "cards": [card for (card,) in rows], "predicates": list(SUPERSEDING),
        "chains": list(SUPERSEDING), "implied": [True], "known_at": None, "older": False, "visited": 3,
        "followed": 100, "limit": 200,
    }  # fmt: skip


def tokens_of_today(_: Connection) -> Asked:
    since = datetime.now(UTC) - timedelta(days=1)
    values = {"partition": partition_of(USER), "user_id": USER, "since": since, "types": ["TurnsExtracted"]}
    return statement("ingest.extraction", "tokens_spent"), values


def the_past_of_another_user(connection: Connection) -> Asked:
    rows = connection.execute("SELECT card_id FROM cards.cards WHERE user_id = 'bob'").fetchall()
    values = {"user_id": "bob", "known_position": 0, "cards": [card for (card,) in rows]}
    return statement("retrieval.cards", "said_since"), values


def rows_read(connection: Connection) -> int:
    """The rows that this session read so far, in the transaction that runs now."""
    [[rows]] = connection.execute(
        "SELECT sum(seq_tup_read + idx_tup_fetch)::int FROM pg_stat_xact_user_tables "
        "WHERE schemaname IN ('log', 'cards', 'sealing')"
    ).fetchall()
    return int(rows)


def read(connection: Connection, asked: Asked) -> int:
    """The rows that a statement reads."""
    text, values = asked
    with connection.transaction():
        before = rows_read(connection)
        connection.execute(text, values, prepare=True)
        return rows_read(connection) - before


def test_no_question_reads_the_history(connection: Connection) -> None:
    log.append(connection, [event(move(number), USER) for number in range(MOVES)])
    log.append(connection, [event(move(0), "bob")])
    fold_live(connection, batch=MOVES)
    for projector in (PeopleProjector(), ProblemsProjector(), ReferencesProjector()):
        fold_live(connection, projector, batch=MOVES)
    connection.execute("VACUUM ANALYZE log.events, cards.cards, cards.relations, cards.statements")
    page = read(connection, a_page_of_a_status())  # planned each time
    connection.execute("SET plan_cache_mode = force_generic_plan")  # as in a service
    asked = {
        "people": people, "problems": problems, "references of then": references_of_then,
        "a page of an export": a_page_of_an_export, "the last changes of a value": the_last_changes_of_a_value,
        "the tokens of today": tokens_of_today, "the past of another user": the_past_of_another_user,
    }  # fmt: skip
    rows = {name: read(connection, each(connection)) for name, each in asked.items()}
    rows["a page of a status"] = page
    assert {name: count for name, count in rows.items() if count > MOVES / 4} == {}


def test_a_list_of_sessions_reads_no_salts_of_other_users(connection: Connection, sealed: None) -> None:
    log.append(
        connection, [turn(user, f"Turn {number}") for number in range(MOVES) for user in (USER, "bob")]
    )
    connection.execute("VACUUM ANALYZE log.events, sealing.salts, sealing.subject_keys")
    values = {
        "user_id": USER,
        "partition": partition_of(USER),
        "projects": None,
        "turns": None,
        "below": None,
    }
    asked = statement("retrieval", "sessions"), {**values, "limit": 50}
    assert MOVES <= read(connection, asked) < 2 * MOVES
