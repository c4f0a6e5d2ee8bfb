"""Writers and erasures of one user at the same time: nothing acknowledged is lost, and nothing erased comes back."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import LockNotAvailable

from events.http.errors import ProblemError
from events.modes.reembedding import ReembeddingPlan
from events.platform.database import Connection, connect
from events.references.declarations import kind_of
from events.references.kinds.kind import Kind
from events.references.owners import stream_of
from events.references.reference_log import current
from events.store import log
from events.types.core import CorePatched
from events.types.envelope import partition_of
from events.types.references import ReferenceName
from events.types.tombstones import SubjectErased
from ingest import modes as mode_commands
from ingest.core import patching
from ingest.core.aggregate import CoreDocument
from ingest.decider import Command
from ingest.erasure import subjects
from ingest.erasure.erasure import Eraser, Terms
from ingest.erasure.selection import events_of, is_readable
from ingest.modes import UserModes
from ingest.references import reference_commands
from ingest.references.reference_commands import ReferenceStream
from projectors.core.documents import documents_of
from projectors.core.projector import CoreProjector
from projectors.references import ReferencesProjector
from tests.support.ingest.memories import Memory
from tests.support.projectors.folding import count
from tests.support.retrieval.core_documents import add, replaced
from tests.support.waiting import eventually

TERMS = Terms(by="test")
PERSON = "Quillwortine"
LIST = ReferenceName(kind="todo_list", key="gifts")
WRITERS, EACH = 4, 6


def at_once(memory: Memory, *works: Callable[[Connection], Any]) -> list[Any]:
    """Runs each work in a thread with a connection of its own. Returns what they return."""

    def run(work: Callable[[Connection], Any]) -> Any:
        with connect(memory.settings.database_url, application="test writer") as connection:
            return work(connection)

    with ThreadPoolExecutor(len(works)) as many:
        return [each.result() for each in [many.submit(run, work) for work in works]]


def versions(connection: Connection, stream: str) -> list[int]:
    rows = connection.execute(
        "SELECT version FROM log.events WHERE user_id = 'ada' AND stream = %s ORDER BY position", (stream,)
    ).fetchall()
    return [row[0] for row in rows]


def paused(
    memory: Memory, connection: Connection, write: Callable[[Connection, Callable[[], None]], Any]
) -> Any:
    """Erases the user while ``write`` pauses between its reading and its append. Returns what ``write`` returns."""
    reached, go_on = Event(), Event()

    def pause() -> None:
        reached.set()
        assert go_on.wait(60)

    def writing(own: Connection) -> Any:
        try:
            with own.transaction():
                return write(own, pause)
        except ProblemError as problem:
            return problem

    def erasing(own: Connection) -> None:
        subjects.erase_user(memory.eraser(), own, "ada", TERMS)

    def run(work: Callable[[Connection], Any]) -> Any:
        return at_once(memory, work)[0]

    with ThreadPoolExecutor(2) as many:
        try:
            written = many.submit(run, writing)
            eventually(reached.is_set)
            erased = many.submit(run, erasing)
            waiting = "pg_locks WHERE locktype = 'advisory' AND NOT granted"
            eventually(lambda: erased.done() or count(connection, waiting))
        finally:
            go_on.set()
        erased.result()
        return written.result()


class PausedKind:
    """A kind that pauses when an op is applied, after the present value was read."""

    def __init__(self, kind: Kind, pause: Callable[[], None]) -> None:
        self._kind = kind
        self._pause = pause

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)

    def apply(self, data: Any, op: Any) -> Any:
        self._pause()
        return self._kind.apply(data, op)


def test_an_op_that_read_a_value_before_the_erasure_does_not_bring_it_back(
    memory: Memory, connection: Connection
) -> None:
    memory.projectors.append(ReferencesProjector())
    memory.fold()
    kind = kind_of(connection, "default", LIST.kind)
    reference_commands.create(todo(connection), kind, None, "session")
    added(connection, f"gift for {PERSON}")

    def write(own: Connection, pause: Callable[[], None]) -> Any:
        slow: Any = PausedKind(kind, pause)
        return reference_commands.apply(todo(own), slow, {"op": "add", "text": "milk"})

    paused(memory, connection, write)
    assert PERSON not in repr([each.payload for each in log.read(connection, partition_of("ada"))])


def test_a_change_of_modes_that_read_them_before_the_erasure_does_not_bring_them_back(memory: Memory) -> None:
    memory.fold()
    given = {"description": f"what {PERSON} does"}
    mode_commands.declare(UserModes(memory.connection, by()), None, "work", given, lambda _: 384)

    def write(own: Connection, pause: Callable[[], None]) -> Any:
        def plan(*_: Any, **__: Any) -> ReembeddingPlan:
            pause()
            return ReembeddingPlan(embedder="hash", other=1)

        return mode_commands.reembed(UserModes(own, by()), None, "work", {}, plan)

    paused(memory, memory.connection, write)
    assert PERSON not in repr([each.payload for each in log.read(memory.connection, partition_of("ada"))])


def test_a_patch_that_read_the_document_before_the_erasure_does_not_bring_it_back(memory: Memory) -> None:
    memory.projectors.append(CoreProjector())
    memory.fold()
    documents = documents_of(memory.settings)
    likes = [add("/preferences/likes/-", f"walks with {PERSON}"), add("/preferences/likes/-", "tea")]
    patching.patch(CoreDocument(memory.connection, documents, by()), likes)

    def write(own: Connection, pause: Callable[[], None]) -> Any:
        class Paused:
            """Documents that pause when a patch has read the present one."""

            def __getattr__(self, name: str) -> Any:
                return getattr(documents, name)

            def present(self, *given: Any, **more: Any) -> Any:
                found = documents.present(*given, **more)
                pause()
                return found

        slow: Any = Paused()
        last = [replaced("/preferences/likes/0", "coffee")]
        return patching.patch(CoreDocument(own, slow, by()), last)

    paused(memory, memory.connection, write)
    assert PERSON not in repr([each.payload for each in log.read(memory.connection, partition_of("ada"))])


def by() -> Command:
    return Command(owner="ada", actor="user/ada", at=datetime.now(UTC))


def todo(connection: Connection) -> ReferenceStream:
    return ReferenceStream(connection, LIST, by())


def added(connection: Connection, text: str) -> None:
    kind = kind_of(connection, "default", LIST.kind)
    while True:
        try:
            with connection.transaction():
                reference_commands.apply(todo(connection), kind, {"op": "add", "text": text})
            return
        except ProblemError as problem:
            # An erasure replaced the value meanwhile, so the app decides again.
            if problem.status != 409:
                raise


def test_additions_to_a_list_outlive_erasures_of_a_person_in_it(
    memory: Memory, connection: Connection
) -> None:
    memory.projectors.append(ReferencesProjector())
    memory.fold()
    kind = kind_of(connection, "default", LIST.kind)
    reference_commands.create(todo(connection), kind, None, "session")

    def adding(writer: int) -> Callable[[Connection], None]:
        def work(own: Connection) -> None:
            for number in range(EACH):
                added(own, f"item {writer} {number}")

        return work

    def erasing(own: Connection) -> None:
        for number in range(3):
            added(own, f"gift {number} for {PERSON}")
            subjects.erase_person(memory.eraser(), own, [PERSON], ["ada"], TERMS)

    at_once(memory, erasing, *map(adding, range(WRITERS)))
    found = current(connection, "ada", stream_of(LIST))
    assert found is not None
    texts = [item["text"] for item in found.data["items"]]
    assert sorted(texts) == sorted(
        f"item {writer} {number}" for writer in range(WRITERS) for number in range(EACH)
    )
    numbers = versions(connection, stream_of(LIST))
    assert numbers == list(range(1, len(numbers) + 1))
    readable = [each.payload for each in log.read(connection, partition_of("ada"))]
    assert PERSON not in repr(readable)


@pytest.mark.parametrize("erasures", [0, 2])
def test_patches_of_a_user_who_is_erased_meanwhile(memory: Memory, erasures: int) -> None:
    """Without an erasure these are the first patches of a new user at the same time."""
    memory.projectors.append(CoreProjector())
    memory.fold()
    documents = documents_of(memory.settings)

    def patching_of(writer: int) -> Callable[[Connection], list[tuple[str, int, int]]]:
        def work(own: Connection) -> list[tuple[str, int, int]]:
            done = []
            for number in range(EACH):
                name = f"k{writer}x{number}"
                ops = [add(f"/profile/other/{name}", "v")]
                with own.transaction():
                    patched = patching.patch(CoreDocument(own, documents, by()), ops)
                assert patched.queued is None
                done.append((name, patched.outcome.position, patched.outcome.state))
            return done

        return work

    def erasing(own: Connection) -> list[tuple[str, int, int]]:
        for _ in range(erasures):
            subjects.erase_user(memory.eraser(), own, "ada", TERMS)
        return []

    done = [each for found in at_once(memory, erasing, *map(patching_of, range(WRITERS))) for each in found]
    events = log.read(memory.connection, partition_of("ada"))
    erased_up_to = max(
        (each.position for each in events if isinstance(each.payload, SubjectErased)), default=0
    )
    kept = {name: version for name, position, version in done if position > erased_up_to}
    document = documents.present(memory.connection, "ada").state.document
    assert set(document.get("profile", {}).get("other", {})) == kept.keys()
    assert sorted(kept.values()) == list(range(1, len(kept) + 1))
    assert sum(isinstance(each.payload, CorePatched) for each in events) == len(kept)
    numbers = versions(memory.connection, "core")
    assert numbers == list(range(1, len(numbers) + 1))


class Arriving:
    """Derived tables in whose every turn a writer says something more. The writer gives up where it must wait."""

    name = "arriving"

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def hold(self, connection: Connection, storage_id: str) -> None:
        pass

    def forget(
        self, connection: Connection, storage_id: str, event_ids: Sequence[UUID] | None
    ) -> dict[str, int]:
        with connect(self._memory.settings.database_url, application="test writer") as own:
            own.execute("SET lock_timeout = '200ms'")
            with suppress(LockNotAvailable):
                self._memory.say(storage_id, f"I live in {PERSON} too.", through=own)
        return {}

    def forget_words(self, connection: Connection, events: Sequence[object]) -> int:
        return 0


@pytest.mark.parametrize("erased", ["user", "person", "turn"])
def test_what_arrives_during_an_erasure_is_seen_by_it(memory: Memory, erased: str) -> None:
    [turn] = memory.say("ada", f"I live in {PERSON}.")
    eraser = Eraser(memory.settings, [Arriving(memory)])
    if erased == "user":
        outcome = subjects.erase_user(eraser, memory.connection, "ada", TERMS)
    elif erased == "person":
        outcome = subjects.erase_person(eraser, memory.connection, [PERSON], ["ada"], TERMS)
    else:
        outcome = subjects.erase_turn(eraser, memory.connection, "ada", turn, TERMS)
    readable = [is_readable(event) for event in events_of(memory.connection, "ada")]
    # The turn of the first attempt, which was too late, names the person, and is not the erased turn.
    assert readable == [False, erased == "turn"]
    assert outcome.counts["turns"] == readable.count(False)
