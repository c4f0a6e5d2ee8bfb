"""The turns that an extractor remembers of a session: none is read again, and none outlives its erasure."""

from typing import Any

import pytest

from events.platform.database import Connection, rows_of
from ingest.extraction import conversation
from ingest.extraction.extractor_port import Extraction, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import ExtractorWorker
from tests.support.ingest.memories import Memory


class Listening(RulesExtractor):
    """Notes the turns before each batch."""

    def __init__(self) -> None:
        self.before: list[list[str]] = []

    def extract(self, batch: SessionBatch) -> Extraction:
        self.before.append([each.turn.text for each in batch.preceding])
        return super().extract(batch)


def test_an_extractor_remembers_the_turns_of_a_session_until_one_is_erased(
    memory: Memory, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counted(*asked: Any) -> list[dict[str, Any]]:
        rows = rows_of(*asked)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(conversation, "rows_of", counted)
    extractor = Listening()
    worker = ExtractorWorker(memory.settings, extractor, lambda: False)
    worker.prepare(connection)

    def said(text: str) -> list[str]:
        [turn_id] = memory.say("ada", text)
        while worker.step(connection):
            pass
        memory.fold()
        return [turn_id]

    [gone] = said("one")
    said("two")
    said("three")
    assert extractor.before == [[], ["one"], ["one", "two"]]
    assert sum(read) == 0
    memory.erase("turn", "ada", gone)
    said("four")
    said("five")
    assert extractor.before[-2:] == [["two", "three"], ["two", "three", "four"]]


def test_turns_that_another_extractor_read_are_read(memory: Memory, connection: Connection) -> None:
    extractor = Listening()
    workers = [ExtractorWorker(memory.settings, extractor, lambda: False) for _ in range(2)]
    for worker in workers:
        worker.prepare(connection)
    for number, worker in enumerate([*workers, workers[0]]):
        memory.say("ada", str(number))
        while worker.step(connection):
            pass
    assert extractor.before == [[], ["0"], ["0", "1"]]
