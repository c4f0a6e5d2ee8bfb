"""An undone run is taken back by further events, and what it said is not added again."""

from dataclasses import replace
from uuid import UUID

import pytest

from events.http.errors import ProblemError
from events.platform.database import Connection
from events.store import log
from events.types.curation import ACTOR
from events.types.envelope import uuid7
from events.types.relations import CardsConnected
from ingest.api.curator_routes import UserRuns, undo
from ingest.curator.runner import curate, memory_of
from ingest.decider import Command
from tests.support.conversing import day
from tests.support.ingest.curating import fold, relations, tell
from tests.support.projectors.folding import count, event

TOLD = ((0, "Alex has a pet."), (30, "Alex has a dog named Rex."))


def undone(connection: Connection, run_id: UUID) -> bool:
    command = Command(owner="ada", actor="user/ada", at=day(0))
    with connection.transaction():
        return undo(UserRuns(connection, command, run_id), "wrong").changed


def test_an_undone_run_stays_undone(connection: Connection, database: str) -> None:
    tell(connection, database, *TOLD)
    run = curate(connection, "ada").events[0].event_id
    assert undone(connection, run)
    assert not undone(connection, run)
    fold(database)
    assert relations(connection) == set()
    assert curate(connection, "ada").events == ()
    # The same words under other ids: the digest of the words is the tombstone.
    tell(
        connection, database, (60, "Alex has a pet."), (90, "Nora has a cat."), (120, "Nora has a grey cat.")
    )
    curate(connection, "ada")
    fold(database)
    assert relations(connection) == {
        ("Alex has a pet", "same_as", "Alex has a pet"),
        ("Nora has a grey cat", "expands", "Nora has a cat"),
    }


def test_a_relation_that_somebody_stated_again_stays(connection: Connection, database: str) -> None:
    tell(connection, database, *TOLD)
    ran, connected = curate(connection, "ada").events
    assert isinstance(connected.payload, CardsConnected)
    by_hand = event(connected.payload, "ada")
    log.append(connection, [replace(by_hand, stream=connected.stream)])
    assert undone(connection, ran.event_id)
    fold(database)
    assert count(connection, "cards.relations WHERE predicate = 'expands'") == 1
    assert count(connection, f"cards.relations WHERE actor = '{ACTOR}'") == 0


def test_a_thread_of_an_undone_run_is_closed_and_empty(connection: Connection, database: str) -> None:
    words = "We talked about the kitchen renovation again."
    tell(connection, database, (0, words), (2, words), (9, words))
    assert undone(connection, curate(connection, "ada").events[0].event_id)
    fold(database)
    [thread] = memory_of(connection, "ada").threads
    assert (thread.status, thread.cards) == ("closed", {})
    assert curate(connection, "ada").events == ()


def test_an_unknown_run_is_refused(connection: Connection) -> None:
    with pytest.raises(ProblemError) as refused:
        undone(connection, uuid7())
    assert (refused.value.status, refused.value.document["field"]) == (404, "run_id")
