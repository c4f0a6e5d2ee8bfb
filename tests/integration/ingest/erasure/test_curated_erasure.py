"""An erased turn leaves no digest of its words and no title in the runs of the curator. The rest of a run stays."""

from events.curator import asked_entry, runs_of, tombstones
from events.curator import fold as runs_in
from events.platform.database import Connection
from events.store import log
from events.types.curation import ACTOR, STREAM, CuratorRan
from events.types.threads import ThreadOpened
from ingest.api.curator_routes import UserRuns, undo
from ingest.curator.runner import curate, memory_of
from ingest.decider import Command
from tests.support.conversing import day
from tests.support.ingest.curating import fold, tell
from tests.support.ingest.memories import Memory
from tests.support.projectors.folding import event

TOLD = (
    (0, "Alex has a pet."),
    (30, "Alex has a dog named Zyxwort."),
    (60, "Nora has a car."),
    (90, "Nora doesn't have a car."),
)
WORDS = "We talked about the zyxwort renovation again."


def erase(memory: Memory, connection: Connection, turn_id: str) -> None:
    memory.fold()
    assert memory.erase("turn", "ada", turn_id).counts["turns"] == 1
    fold(memory.settings.database_url)


def test_a_run_keeps_no_digest_of_erased_words_and_those_of_the_others(
    memory: Memory, connection: Connection
) -> None:
    tell(connection, *TOLD)
    proposals = curate(connection, "ada", dry_run=True).proposals
    told = memory_of(connection, "ada")
    erased, kept = (
        next(each for each in proposals if name in told.by_id[each.evidence[0]].content)
        for name in ("Zyxwort", "Nora")
    )
    run = curate(connection, "ada").events[0].event_id
    entries = tuple(asked_entry(each.evidence[0], each.evidence[1], each.digest) for each in (erased, kept))
    asked = CuratorRan(position=1, asked=(*entries, "no pair of cards"), model="m")
    log.append(connection, [event(asked, "ada", stream=STREAM, occurred_at=day(9), actor=ACTOR)])
    with connection.transaction():
        undo(UserRuns(connection, Command(owner="ada", actor="user/ada", at=day(0)), run), "wrong")
    fold(connection)
    erase(memory, connection, "30-1-Alex has a dog named Zyxwort.")
    left = runs_of(connection, "ada")
    assert erased.digest not in str([each.payload for each in left])
    assert tombstones(left) == {kept.digest}
    runs = runs_in(left)
    assert runs[run].undone_reason == "wrong"
    assert [each.ran.digests for each in runs.values() if each.ran.digests] == [(kept.digest,)]
    assert [each.ran.asked for each in runs.values() if each.ran.asked] == [entries[1:]]
    assert curate(connection, "ada").events == ()


def test_a_thread_of_erased_cards_leaves_no_title_and_no_digest(
    memory: Memory, connection: Connection
) -> None:
    tell(connection, (0, WORDS), (2, WORDS), (9, WORDS))
    proposals = curate(connection, "ada", dry_run=True).proposals
    [proposal] = [each for each in proposals if isinstance(each.payload, ThreadOpened)]
    digest = proposal.digest
    curate(connection, "ada")
    fold(connection)
    erase(memory, connection, f"0-0-{WORDS}")
    [thread] = memory_of(connection, "ada").threads
    assert thread.title == "zyxwort renovation"  # the other turns still say it
    erase(memory, connection, f"2-1-{WORDS}")
    erase(memory, connection, f"9-2-{WORDS}")
    assert memory_of(connection, "ada").threads == ()
    assert digest not in str([each.payload for each in runs_of(connection, "ada")])
    keys = connection.execute(
        "SELECT dedupe_key FROM log.events WHERE dedupe_key LIKE 'curator/%'"
    ).fetchall()
    assert keys
    assert not any(digest in key for (key,) in keys)
