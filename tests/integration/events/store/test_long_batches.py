"""A batch that takes longer than the server allows is tried again in smaller batches."""

from collections.abc import Sequence
from dataclasses import replace

import psycopg

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import Event
from ingest.extraction.extractor_port import Extraction, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from projectors.cards.projector import CardsProjector
from projectors.runner import Runner
from tests.support.events.turns import recorded, turn
from tests.support.projectors.folding import event
from tests.support.retrieval.channels import noted

USERS = 40
MOST = 3
"""Users whose turns the server lets one transaction take."""


class Server:
    """Ends the session of a worker in whose transaction more than ``MOST`` users are handled."""

    def __init__(self, connection: Connection, application: str) -> None:
        self._connection = connection
        self._application = f"cardlog {application}"
        self._users: set[tuple[object, str]] = set()
        self.ended = 0

    def allows(self, users: Sequence[str]) -> None:
        for pid, begun in self._connection.execute(
            "SELECT pid, xact_start FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()",
            (self._application,),
        ).fetchall():
            self._users |= {(begun, user) for user in users}
            if sum(each[0] == begun for each in self._users) > MOST:
                self._connection.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
                self.ended += 1


def tell(connection: Connection) -> None:
    log.append(
        connection, [turn(f"user {n}", recorded("I moved to Oslo.", turn_id="t")) for n in range(USERS)]
    )


def behind(connection: Connection, processor: str) -> int:
    row = connection.execute(
        """SELECT coalesce(sum(h.position - c.position), 1) FROM log.checkpoints c JOIN log.heads h USING (partition)
           WHERE c.processor = %s""",
        (processor,),
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_an_extractor_whose_batch_is_too_long_extracts_every_turn(
    database: str, connection: Connection
) -> None:
    server = Server(connection, "extractor")

    class Watched(RulesExtractor):
        def extract(self, batch: SessionBatch) -> Extraction:
            server.allows([each.user_id for each in batch.turns])
            return super().extract(batch)

    tell(connection)
    settings = replace(Settings(), database_url=database)
    ExtractorWorker(
        settings, Watched(), lambda: behind(connection, PROCESSOR.name) == 0 or server.ended > USERS
    ).run()
    assert behind(connection, PROCESSOR.name) == 0
    assert server.ended > 0


def test_a_projector_whose_batch_is_too_long_folds_every_event(database: str, connection: Connection) -> None:
    server = Server(connection, "cards")

    class Watched(CardsProjector):
        def project(self, connection: psycopg.Connection[object], events: Sequence[Event]) -> None:
            server.allows([each.user_id for each in events])
            super().project(connection, events)

    log.append(connection, [event(noted("We moved to Oslo"), user=f"user {n}") for n in range(USERS)])
    settings = replace(Settings(), database_url=database)
    Runner(settings, Watched(), lambda: behind(connection, "cards") == 0 or server.ended > USERS).run()
    assert behind(connection, "cards") == 0
    assert server.ended > 0
