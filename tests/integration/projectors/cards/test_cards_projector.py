"""Exactly once: the tables are the fold of the log under two runners, a crash and a broken log."""

import random
import threading
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import psycopg
import pytest

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.store.checkpoints import CheckpointMovedError, Claim, LogHoleError, read_claimed
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Event, partition_of
from events.types.extraction import CardsWithdrawn
from projectors.cards.projector import CardsProjector
from projectors.generations.digest import TableDigest, digest_of
from projectors.generations.generations import ensure_live, use_schema
from projectors.runner import Runner
from tests.bench.support.history import fill
from tests.support.projectors import folding
from tests.support.projectors.folding import count, fold_live, noted, rebuild, tamper
from tests.support.projectors.histories import cut, history, shuffled
from tests.support.projectors.statements import event


def runner(database: str, projector: CardsProjector | None = None) -> Runner:
    settings = replace(Settings(), database_url=database, batch_events=16)
    return Runner(settings, projector or CardsProjector(), lambda: False)


def digest(connection: Connection) -> dict[str, TableDigest]:
    return digest_of(connection, CardsProjector(), "cards")


def test_a_stale_checkpoint_is_refused_and_nothing_of_the_batch_stays(connection: Connection) -> None:
    projector = CardsProjector()
    log.append(connection, [noted(f"note {n}") for n in range(3)])
    generation = ensure_live(connection, projector)
    fold_live(connection)
    before = digest(connection)
    partition = partition_of("alex")
    log.append(connection, [noted("note 3")])
    stale = Claim(partition, 2, 4)
    connection.execute("DELETE FROM cards.cards WHERE content = 'note 2'")  # or its key would refuse it first
    with pytest.raises(CheckpointMovedError), connection.transaction():  # noqa: PT012
        [page] = read_claimed(connection, [stale], limit=10)
        use_schema(connection, "cards")
        projector.project(connection, page.events)
        assert count(connection, "cards") == 4
        generation.processor.advance(connection, [(stale, page.last)])
    assert count(connection, "cards.cards") == 2
    assert generation.processor.positions(connection)[partition] == 3
    assert before["cards"].rows == 3


def test_a_missing_position_stops_the_fold_before_it(database: str, connection: Connection) -> None:
    log.append(connection, [noted(f"note {n}") for n in range(5)])
    partition = partition_of("alex")
    generation = ensure_live(connection, CardsProjector())
    tamper(connection, f"DELETE FROM log.events WHERE partition = {partition} AND position = 3")
    with pytest.raises(LogHoleError, match=f"partition {partition} has no position 3"):
        runner(database).step(connection)
    assert count(connection) == 0
    assert generation.processor.positions(connection)[partition] == 0


def test_a_log_that_ends_before_its_head_stops_the_fold(database: str, connection: Connection) -> None:
    log.append(connection, [noted("note")])
    ensure_live(connection, CardsProjector())
    connection.execute("UPDATE log.heads SET position = 2 WHERE partition = %s", [partition_of("alex")])
    assert runner(database).step(connection) == 1
    with pytest.raises(LogHoleError, match="holds nothing after 1"):
        runner(database).step(connection)
    assert count(connection) == 1


def test_several_runners_at_once_fold_what_one_folds(database: str, connection: Connection) -> None:
    events = fill(connection, 1000, users=15, texts=200)
    ensure_live(connection, CardsProjector())
    passed: list[int] = []
    errors: list[Exception] = []

    def fold() -> None:
        own = runner(database)
        try:
            with connect(database, application="runner") as alone:
                # A step of 0 may mean that the other runners hold the remaining partitions.
                while sum(passed) < events:
                    passed.append(own.step(alone))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=fold) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sum(passed) == events
    assert count(connection, "cards.cards WHERE kind = 'event'") == count(
        connection, "log.events WHERE type = 'EventNoted'"
    )
    assert rebuild(database, verify=True).equal


class Interrupted(CardsProjector):
    """Folds a batch, and then loses its connection before the commit."""

    def __init__(self, killer: Connection) -> None:
        super().__init__()
        self._killer: Connection | None = killer

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        super().project(connection, events)
        if self._killer is not None:
            self._killer.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.info.backend_pid])
            self._killer = None


def test_a_crash_between_fold_and_commit_repeats_nothing(database: str, connection: Connection) -> None:
    fill(connection, 600, users=5, texts=100)
    ensure_live(connection, CardsProjector())
    own = runner(database, Interrupted(connection))
    with (
        connect(database, application="runner") as first,
        pytest.raises(psycopg.OperationalError),
    ):
        own.step(first)
    assert count(connection) == 0
    with connect(database, application="runner") as second:
        while own.step(second):
            pass
    assert count(connection, "cards.cards WHERE kind = 'event'") == count(
        connection, "log.events WHERE type = 'EventNoted'"
    )
    assert rebuild(database, verify=True).equal


def put(connection: Connection, events: Sequence[Event], user: str) -> list[tuple[UUID, int]]:
    """Append events made for tests as those of ``user``; gives where they went."""
    appended = log.append(
        connection,
        [
            folding.event(one.payload, user, event_id=one.event_id, occurred_at=one.occurred_at)
            for one in events
        ],
    )
    return [(one.event_id, place.position) for one, place in zip(events, appended, strict=True)]


def test_every_kind_of_event_live_and_rebuilt_gives_the_same_rows(connection: Connection) -> None:
    choose = random.Random(0)
    told = {f"user {seed}": iter(cut(shuffled(history(seed, 40), choose), choose)) for seed in range(6)}
    while batches := {user: batch for user, rest in told.items() if (batch := next(rest, None))}:
        for user, batch in batches.items():
            places = put(connection, batch, user)
            if choose.random() < 0.2:
                taken_back = [place for place, one in zip(places, batch, strict=True) if is_card(one)][:2]
                withdrawal = CardsWithdrawn(
                    event_ids=tuple(event_id for event_id, _ in taken_back),
                    positions=tuple(position for _, position in taken_back),
                    reason="read again",
                )
                put(connection, [event(withdrawal, 200)], user)
        fold_live(connection, batch=choose.randint(1, 5))
    live = digest(connection)
    assert live.keys() == {
        "cards", "statements", "remarks", "relations", "arbitrations", "card_update_log", "tag_aliases", "card_counts",
        "words",
    }  # fmt: skip
    outcome = rebuild(connection, verify=True)
    assert outcome.unequal == ()
    assert outcome.tables == live
    kinds = connection.execute(
        "SELECT count(*) FILTER (WHERE contested), count(*) FILTER (WHERE retracted), count(*) FILTER (WHERE ended),"
        " count(*) FILTER (WHERE last_verified >= '2026-04-10'),"
        " count(*) FILTER (WHERE event_status = 'cancelled' AND stated_status <> 'cancelled'),"
        " count(*) FILTER (WHERE kind = 'event' AND retracted),"
        " count(*) FILTER (WHERE kind = 'event' AND superseded_at IS NOT NULL) FROM cards.cards"
    ).fetchone()
    assert kinds is not None
    assert min(kinds) > 0, "the histories must hold every kind of card"
    # A fold that forgot to count would equal itself, so the cards are counted another way.
    assert connection.execute(
        "SELECT count(*) FROM (SELECT user_id, count(*) AS cards, sum(own_terms) AS terms FROM cards.cards GROUP BY 1"
        " EXCEPT SELECT * FROM cards.card_counts) AS wrong"
    ).fetchone() == (0,)


def test_an_event_far_behind_another_replaces_it_in_a_rebuild_too(connection: Connection) -> None:
    plans = [noted(f"plan {n}", user, status="planned") for n in range(3) for user in ("alex", "bea")]
    log.append(connection, [plans[0], *(noted(f"note {n}") for n in range(1200)), *plans[1:]])
    newer = [
        noted(f"off {n}", plan.user_id, status="cancelled", replaces_event=plan.event_id)
        for n, plan in enumerate(plans)
    ]
    log.append(connection, [*newer[:-1], noted("note"), newer[-1]])
    fold_live(connection)
    assert count(connection, "cards.cards WHERE kind = 'event' AND superseded_at IS NOT NULL") == len(plans)
    assert count(connection, "cards.relations") == len(plans)
    assert rebuild(connection, verify=True).unequal == ()


def is_card(one: Event) -> bool:
    return isinstance(one.payload, StateAsserted | EventNoted | KnowledgeLearned)
