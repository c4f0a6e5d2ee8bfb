"""A whole memory in one process: turns are recorded, extracted by rules, and folded into cards and vectors."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.turns import TurnRecorded
from ingest.erasure.erasure import Eraser
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import ExtractorWorker
from ingest.recording.recorder import recorded_event
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.forgetting import ForgettingProjection
from projectors.generations.digest import TableDigest, digest_of
from projectors.generations.projector import Projector
from projectors.vectors.projector import VectorsProjector
from tests.support.projectors.folding import fold

SAID_AT = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


class Memory:
    """The memory in one database. ``settings`` name the database, and the Redis if one is used."""

    def __init__(self, database: str, *, redis_url: str = "") -> None:
        self.settings = replace(Settings(), database_url=database, redis_url=redis_url, auth="off")
        self.projectors: list[Projector] = [CardsProjector(), VectorsProjector(Embedders(HashEmbedder))]
        self._extractor = ExtractorWorker(self.settings, RulesExtractor(), lambda: False)
        self._said = 0

    def eraser(self) -> Eraser:
        return Eraser(self.settings, [ForgettingProjection(each) for each in self.projectors])

    def say(self, connection: Connection, user: str, *texts: str, **more: str) -> list[str]:
        """Records turns of ``user``, and returns their ids."""
        turns = [self.turn(text, **more) for text in texts]
        log.append(connection, [recorded_event(user, turn) for turn in turns])
        return [turn.turn_id for turn in turns]

    def turn(self, text: str, **more: str) -> TurnRecorded:
        self._said += 1
        given: dict[str, str] = {
            "turn_id": f"t{self._said}",
            "session_id": "s",
            "project_id": "default",
        } | more
        return TurnRecorded(
            text=text,
            role="user",
            said_at=SAID_AT + timedelta(minutes=self._said),
            timezone="UTC",
            **given,  # type: ignore[arg-type]
        )

    def extract(self, connection: Connection) -> None:
        self._extractor.prepare(connection)
        while self._extractor.step(connection):
            pass

    def fold(self) -> None:
        for projector in self.projectors:
            fold(replace(self.settings, batch_events=64), projector)

    def understand(self, connection: Connection) -> None:
        """Extracts and folds everything that was said."""
        self.extract(connection)
        self.fold()

    def digests(self, connection: Connection) -> dict[str, TableDigest]:
        return {
            name: digest
            for projector in self.projectors
            for name, digest in digest_of(connection, projector, projector.name).items()
        }


def words_in_tables(connection: Connection, word: str) -> dict[str, int]:
    """Returns the number of rows that hold ``word``, by table, over every table of the database.

    Letters in the middle of base64 are no word: a sealed payload holds any four letters by chance.
    """
    found: dict[str, int] = {}
    tables: Sequence[tuple[str, str]] = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
    ).fetchall()
    for schema, table in tables:
        row = connection.execute(
            f'SELECT count(*) FROM "{schema}"."{table}" t WHERE lower(t::text) ~ %s'.encode(),
            (rf"(^|[^a-z0-9+/]|\\[nrt]){re.escape(word.lower())}",),
        ).fetchone()
        if row is not None and row[0]:
            found[f"{schema}.{table}"] = row[0]
    return found
