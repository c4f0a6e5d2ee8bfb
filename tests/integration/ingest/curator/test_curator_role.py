"""The curator's role can read and add, and nothing else."""

from collections.abc import Callable
from dataclasses import replace

import psycopg
import pytest

from events.platform.database import Connection, connect
from events.store import log
from events.types.curation import ACTOR
from events.types.envelope import uuid7
from events.types.relations import CardsConnected, ConnectionWithdrawn
from ingest.curator.worker import Curator
from tests.support.ingest.curating import fold, relations, tell
from tests.support.projectors.folding import event, settings_of
from tests.support.roles import roles_for

LINK = {"from_card": uuid7(), "to_card": uuid7(), "predicate": "expands", "reason": "because"}
CONNECTED = replace(event(CardsConnected(**LINK), "ada"), actor=ACTOR)  # type: ignore[arg-type]
WITHDRAWN = replace(event(ConnectionWithdrawn(**LINK), "ada"), actor=ACTOR)  # type: ignore[arg-type]

REFUSED: dict[str, Callable[[Connection], object]] = {
    "append any event": lambda role: log.append(role, [CONNECTED]),
    "withdraw": lambda role: log.append(role, [WITHDRAWN], only_adds=True),
    "hide a withdrawal": lambda role: log.append(role, [CONNECTED, WITHDRAWN], only_adds=True),
    "write as another": lambda role: log.append(role, [replace(CONNECTED, actor="api")], only_adds=True),
    "update": lambda role: role.execute("UPDATE log.events SET user_id = 'eve'"),
    "delete": lambda role: role.execute("DELETE FROM log.events"),
    "truncate": lambda role: role.execute("TRUNCATE log.events"),
    "change a card": lambda role: role.execute("UPDATE cards.cards SET content = ''"),
    "delete a relation": lambda role: role.execute("DELETE FROM cards.relations"),
    "erase": lambda role: role.execute("SELECT sealing.destroy_subject('ada')"),
    "forget an erasure": lambda role: role.execute("DELETE FROM erasure.tombstones"),
}


def test_the_role_curates_and_can_do_nothing_else(connection: Connection, database: str) -> None:
    tell(connection, database, (0, "Alex has a pet."), (30, "Alex has a dog named Rex."))
    with roles_for(database, ("agent",)) as (url,), connect(url, application="curator") as role:
        for attempt in REFUSED.values():
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                attempt(role)
        curator = Curator(settings_of(url, curator_idle_s=0), lambda: False)
        curator.prepare(role)
        assert curator.handle(role).done == 1
    fold(database)
    assert relations(connection) == {("Alex has a dog named Rex", "expands", "Alex has a pet")}


def test_sealed_events_are_checked_too(connection: Connection, database: str, sealed: None) -> None:
    with roles_for(database, ("agent",)) as (url,), connect(url, application="curator") as role:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            log.append(role, [WITHDRAWN], only_adds=True)
        [place] = log.append(role, [CONNECTED], only_adds=True)
    assert not place.duplicate
