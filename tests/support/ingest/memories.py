"""A whole memory in one process: turns are recorded, extracted by rules, and folded into cards and vectors."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.turns import TurnRecorded
from ingest.erasure import subjects, tombstones
from ingest.erasure.erasure import Eraser, Terms
from ingest.erasure.subjects import Outcome
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import ExtractorWorker
from ingest.recording.recorder import recorded_event
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.forgetting import ForgettingProjection
from projectors.generations.digest import TableDigest, digest_of
from projectors.generations.projector import Projector
from projectors.rebuild.rebuild import Rebuild
from projectors.vectors.projector import VectorsProjector
from tests.support.databases import backed_up
from tests.support.projectors.folding import fold

SAID_AT = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


class Memory:
    """The memory in one database. ``settings`` name the database, and the Redis if one is used."""

    def __init__(self, database: str, connection: Connection, **settings: Any) -> None:
        self.connection = connection
        self.settings = replace(
            Settings(), **{"database_url": database, "redis_url": "", "auth": "off"} | settings
        )
        self.projectors: list[Projector] = [CardsProjector(), VectorsProjector(Embedders(HashEmbedder))]
        self._extractor = ExtractorWorker(self.settings, RulesExtractor(), lambda: False)
        self._said = 0

    def eraser(self) -> Eraser:
        return Eraser(self.settings, [ForgettingProjection(each) for each in self.projectors])

    def erase(self, kind: str, *subject: Any, **terms: Any) -> Outcome:
        """Erases a user, a person, a turn, or what is older than an instant."""
        erasing: Callable[..., Outcome] = getattr(subjects, f"erase_{kind}")
        return erasing(self.eraser(), self.connection, *subject, Terms(by="test", **terms))

    def replay(self, file: Path) -> list[Outcome]:
        """Repeats the erasures of a list of tombstones."""
        return subjects.replay(self.eraser(), self.connection, tombstones.read(file))

    @contextmanager
    def backed_up(self, server: str) -> Iterator[Self]:
        """Gives the memory of a backup of this moment. This memory goes on with another connection."""
        name, same = self.connection.info.dbname, {"tombstones_file": self.settings.tombstones_file}
        self.connection.close()
        with (
            backed_up(server, name) as backup,
            connect(self.settings.database_url, application="test") as self.connection,
            connect(backup, application="test") as old,
        ):
            restored = type(self)(backup, old, **same)
            restored.projectors = self.projectors
            yield restored

    def say(self, user: str, *texts: str, through: Connection | None = None, **more: Any) -> list[str]:
        """Records turns of ``user``, and returns their ids."""
        turns = [self.turn(text, **more) for text in texts]
        log.append(through or self.connection, [recorded_event(user, turn) for turn in turns])
        return [turn.turn_id for turn in turns]

    def turn(self, text: str, **more: Any) -> TurnRecorded:
        self._said += 1
        given: dict[str, Any] = {
            "turn_id": f"t{self._said}",
            "session_id": "s",
            "project_id": "default",
        } | more
        return TurnRecorded(
            text=text,
            role="user",
            said_at=SAID_AT + timedelta(minutes=self._said),
            timezone="UTC",
            **given,
        )

    def fold(self) -> None:
        for projector in self.projectors:
            fold(replace(self.settings, batch_events=64), projector)

    def understand(self) -> None:
        """Extracts and folds everything that was said."""
        self._extractor.prepare(self.connection)
        while self._extractor.step(self.connection):
            pass
        self.fold()

    def words(self, word: str) -> dict[str, int]:
        """Returns the number of rows that hold ``word``, by table."""
        return words_in_tables(self.connection, word)

    def rebuilt_equal(self) -> bool:
        return all(
            Rebuild(self.settings, each, workers=1, verify=True).run().equal for each in self.projectors
        )

    def settle(self, *words: str) -> None:
        """Folds what is left. No table holds the words, before and after, and the tables equal a rebuild."""
        for _ in range(2):
            for word in words:
                assert self.words(word) == {}
            self.understand()
        assert self.rebuilt_equal()

    def digests(self) -> dict[str, TableDigest]:
        return {
            name: digest
            for projector in self.projectors
            for name, digest in digest_of(self.connection, projector, projector.name).items()
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
