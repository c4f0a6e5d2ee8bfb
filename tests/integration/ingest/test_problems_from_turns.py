"""Problems from turns: read by the extractor, found by the fold, withdrawn with their extraction."""

from dataclasses import replace

from events.platform.database import Connection
from events.problems.problem import Problem, fold, in_order
from events.problems.problem_log import entries
from events.store import log
from events.types.envelope import NewEvent, uuid7
from events.types.extraction import CardsWithdrawn
from events.types.problems import ProblemAttempted
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import SessionBatch
from ingest.recording.recorder import recorded_event
from projectors.generations.digest import digest_of
from projectors.problems import ProblemsProjector
from tests.support.ingest.rules import EXTRACTOR, turn
from tests.support.projectors.folding import fold_live, rebuild

SAID = (
    "I tried blackout curtains for my insomnia and it helped.",
    "I've been struggling with insomnia. Also, I keep getting migraines.",
    "I tried melatonin for my insomnia but it didn't work.",
    "My migraines are gone.",
    "我最近一直為失眠所苦。",
)


def problems(connection: Connection) -> list[Problem]:
    return in_order(fold(entries(connection, "u1")).by_id.values())


def said(connection: Connection) -> list[NewEvent]:
    """Records the turns and what the extractor reads in them, each in a session of its own."""
    appended: list[NewEvent] = []
    for number, text in enumerate(SAID):
        one = turn(text, number)
        one = replace(one, turn=replace(one.turn, session_id=f"s{number}"))
        batch = SessionBatch((one,))
        read = events_of(batch, EXTRACTOR.extract(batch), EXTRACTOR)
        log.append(connection, [recorded_event("u1", one.turn), *read])
        appended += read
    return appended


def test_turns_open_try_and_close_and_a_withdrawn_reading_goes(database: str, connection: Connection) -> None:
    read = said(connection)
    found = problems(connection)
    assert {(each.description, each.status) for each in found} == {
        ("insomnia", "active"), ("migraines", "closed"), ("失眠", "active"),
    }  # fmt: skip
    [insomnia] = [each for each in found if each.description == "insomnia"]
    assert [(each.approach, each.successful) for each in insomnia.attempts] == [
        ("blackout curtains", True),
        ("melatonin", False),
    ]
    assert set(insomnia.turn_ids) == {"t0", "t1", "t2"}
    fold_live(database, ProblemsProjector(), batch=2)
    assert problems(connection) == found
    [gone] = [
        each
        for each in read
        if isinstance(each.payload, ProblemAttempted) and each.payload.approach == "melatonin"
    ]
    row = connection.execute(
        "SELECT position FROM log.events WHERE event_id = %s", [gone.event_id]
    ).fetchone()
    assert row is not None
    withdrawn = CardsWithdrawn(event_ids=(gone.event_id,), positions=(row[0],), reason="read again")
    log.append(connection, [replace(gone, event_id=uuid7(), payload=withdrawn, causation_id=None)])
    for folded in (False, True):
        if folded:
            fold_live(database, ProblemsProjector())
        [insomnia] = [each for each in problems(connection) if each.description == "insomnia"]
        assert [each.approach for each in insomnia.attempts] == ["blackout curtains"]
    live = digest_of(connection, ProblemsProjector(), "problems")
    rebuild(database, ProblemsProjector())
    assert digest_of(connection, ProblemsProjector(), "problems") == live
