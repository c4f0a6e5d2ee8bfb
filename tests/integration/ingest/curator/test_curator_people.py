"""The curator proposes that two people are one. Nothing merges them but a command."""

from contextlib import closing
from dataclasses import replace

from events.curator import fold as runs_in
from events.curator import runs_of
from events.people.people_log import told_of
from events.people.person import Proposal
from events.platform.database import Connection
from events.types.people import PersonMergeProposed
from ingest.api.curator_routes import UserRuns, undo
from ingest.curator.asking import create_asker
from ingest.curator.runner import curate
from ingest.decider import Command
from tests.support.conversing import day
from tests.support.ingest.curating import fold, tell
from tests.support.ingest.messages_api import MessagesApi, calls

LIKE = ("Sam told me that the museum is closed.", "Samuel told me that the harbour is open.")


def waiting(connection: Connection) -> list[Proposal]:
    return told_of(connection, "ada").people().proposals


def merges(connection: Connection) -> list[PersonMergeProposed]:
    rows = connection.execute(
        "SELECT data ->> 'reason', (data ->> 'confidence')::float FROM log.events"
        " WHERE type = 'PersonMergeProposed' ORDER BY position"
    )
    return rows.fetchall()


def test_a_merge_is_proposed_once_and_an_undone_run_takes_it_back(
    connection: Connection, database: str
) -> None:
    tell(connection, database, *enumerate(LIKE))
    ran, proposed = curate(connection, "ada").events
    assert isinstance(proposed.payload, PersonMergeProposed)
    assert (proposed.payload.confidence, proposed.payload.reason) == (0.6, "one name begins like the other")
    fold(database)
    assert curate(connection, "ada").events == ()
    command = Command(owner="ada", actor="user/ada", at=day(0))
    with connection.transaction():
        assert undo(UserRuns(connection, command, ran.event_id), "wrong").changed
    fold(database)
    # The evidence of the words stays, and nobody says again what was undone.
    assert [each.evidence for each in waiting(connection)] == [("one name begins like the other",)]
    assert curate(connection, "ada").events == ()


def test_a_hostile_model_merges_nobody_and_its_rest_is_counted(connection: Connection, database: str) -> None:
    tell(connection, database, *enumerate(LIKE))
    answer = [
        {"a": "p2", "b": "p1", "predicate": "same_as", "reason": "a relation of cards"},
        *(
            {"a": f"p{one}", "b": f"p{one + 1}", "predicate": "same_person", "reason": "They are one."}
            for one in range(1_000)
        ),
    ]
    with MessagesApi() as api:
        api.trouble = lambda _: calls({"relations": answer})
        made = create_asker(replace(api.settings, curator_tokens_per_user_day=20_000))
        assert made is not None
        with closing(made) as asking:
            curate(connection, "ada", asker=asking)
        [asked] = api.requests
        assert 'names="Sam" ties=""' in asked.question
    fold(database)
    assert len(told_of(connection, "ada").people().people) == 2
    [proposal] = waiting(connection)
    assert (proposal.score, proposal.evidence) == (0.8, ("They are one.", "one name begins like the other"))
    [run] = runs_in(runs_of(connection, "ada")).values()
    assert run.ran.refused > 0
    assert len(merges(connection)) == 2
