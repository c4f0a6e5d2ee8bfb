"""One way to decide a command: a repeat gets the first answer, and a moved stream is decided again."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.http.errors import ProblemError
from events.platform.database import Connection, connect
from events.references.reference_log import lock
from events.store import log
from events.store.asking import latest_events
from events.store.log import AppendConflictError
from events.types.commands import CommandAnswered
from events.types.envelope import Event, Payload
from events.types.naming import TagAliased
from ingest.decider import Aggregate, Command, Decision, Outcome, decide
from tests.support.projectors.folding import count

AT = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)
STREAM = "tag"


class Tag(Aggregate[Event | None, str]):
    """A tag with one value. An append fits only the version that was read."""

    def __init__(self, connection: Connection, owner: str, key: str | None = None, request: str = "") -> None:
        command = Command(owner=owner, actor="test", at=AT, idempotency_key=key, request=request)
        super().__init__(connection, STREAM, command)

    def load(self) -> Event | None:
        last = latest_events(self.connection, self.owner, self.stream, 1)
        return last[0] if last else None

    def answer(self, state: Event | None, event: Event | None) -> str:
        return value_of(event or state)

    def first_answer(self, event: Event) -> str:
        answered = isinstance(event.payload, CommandAnswered)
        last = latest_events(self.connection, self.owner, self.stream, 99)
        return value_of(
            next(each for each in last if each.version == event.payload.version) if answered else event
        )

    def key(self) -> str | None:
        return self.command.idempotency_key

    def expected_version(self, state: Event | None) -> int | None:
        return 0 if state is None else state.version


class Patient(Tag):
    attempts = 50


class Watching(Patient):
    """A tag that an event of another stream changes, too."""

    def expected_version(self, state: Event | None) -> int | None:
        return None

    def moved(self, state: Event | None, position: int) -> bool:
        return position > (0 if state is None else state.position) + 1


class Held(Tag):
    """A tag that one command at a time changes."""

    def hold(self) -> None:
        lock(self.connection, self.owner, self.stream)


def value_of(event: Event | None) -> str:
    return "" if event is None else event.payload.tag


def setting(value: str) -> TagAliased:
    return TagAliased(alias="tag", tag=value)


def send(tag: Tag, value: str) -> Outcome[str]:
    """Sets the tag, unless it has the value. A repeat asks for the same value."""

    def rule(state: Event | None) -> Payload | None:
        return None if value_of(state) == value else setting(value)

    with tag.connection.transaction():
        return decide(tag, rule, lambda first: first == setting(value))


def grow(tag: Tag) -> Outcome[str]:
    """Makes the tag one letter longer than it is."""
    with tag.connection.transaction():
        return decide(tag, lambda state: setting(value_of(state) + "x"))


SENT = st.lists(st.tuples(st.sampled_from((None, "k1", "k2", "k3")), st.sampled_from("ab")), max_size=12)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(SENT)
def test_a_key_has_one_answer_whatever_came_between(
    connection: Connection, sent: list[tuple[str | None, str]]
) -> None:
    owner, held, firsts, appended = f"{uuid4()}", "", dict[str, str](), 0
    for key, value in sent:
        if key in firsts and firsts[key] != value:
            with pytest.raises(ProblemError) as refused:
                send(Tag(connection, owner, key, value), value)
            assert (refused.value.status, refused.value.document["field"]) == (422, "Idempotency-Key")
            continue
        outcome = send(Tag(connection, owner, key, value), value)
        changes = key not in firsts and held != value
        assert (outcome.state, outcome.repeated, outcome.changed) == (value, key in firsts, changes)
        if changes:
            held, appended = value, appended + 1
        if key is not None:
            firsts[key] = value
    owner += "' AND stream = 'tag"
    assert count(connection, f"log.events WHERE user_id = '{owner}'") == appended


def test_a_repeat_while_the_first_is_not_committed_gets_its_answer(
    connection: Connection, database: str
) -> None:
    met = Barrier(2)

    def once(_: int) -> Outcome[str]:
        def rule(_: Event | None) -> Payload:
            met.wait()
            return setting("a")

        class Loose(Tag):
            def expected_version(self, state: Event | None) -> None:
                return None

        with connect(database, application="test writer") as own, own.transaction():
            return decide(Loose(own, "ada", "k"), rule)

    with ThreadPoolExecutor(2) as many:
        done = list(many.map(once, range(2)))
    assert sorted(each.repeated for each in done) == [False, True]
    assert len({each.event.event_id for each in done if each.event}) == 1
    assert count(connection, "log.events") == 1


@pytest.mark.parametrize("kind", [Patient, Watching, Held])
def test_commands_at_once_are_each_decided_on_the_one_before(
    connection: Connection, database: str, kind: type[Tag]
) -> None:
    def growing(_: int) -> None:
        with connect(database, application="test writer") as own:
            for _ in range(5):
                grow(kind(own, "ada"))

    with ThreadPoolExecutor(4) as many:
        list(many.map(growing, range(4)))
    values = [value_of(event) for event in reversed(latest_events(connection, "ada", STREAM, 100))]
    assert values == ["x" * length for length in range(1, 21)]


def test_an_event_between_reading_and_appending_makes_a_command_decide_again(connection: Connection) -> None:
    seen: list[str] = []

    def rule(state: Event | None) -> Payload:
        if not seen:
            log.append(connection, [tag.command.event("elsewhere", setting("other"))])
        seen.append(value_of(state))
        return setting("mine")

    class Once(Watching):
        def moved(self, state: Event | None, position: int) -> bool:
            return len(seen) == 1 and super().moved(state, position)

    tag = Once(connection, "ada")
    with connection.transaction():
        assert decide(tag, rule).state == "mine"
    assert len(seen) == 2
    assert count(connection, "log.events") == 2


def test_a_stream_that_moved_refuses_a_command_without_another_attempt(connection: Connection) -> None:
    def rule(state: Event | None) -> Payload:
        log.append(connection, [tag.command.event(STREAM, setting("first"))])
        return setting("late")

    tag = Tag(connection, "ada")
    with pytest.raises(AppendConflictError), connection.transaction():
        decide(tag, rule)
    assert count(connection, "log.events") == 0


def test_the_events_of_a_decision_are_appended_together(connection: Connection) -> None:
    def rule(state: Event | None) -> Decision:
        before, after = (
            tag.command.event(name, setting(name), expected_version=version)
            for name, version in (("before", 0), ("after", expected))
        )
        return Decision(payload=setting("mine"), before=[before], after=[after])

    tag = Tag(connection, "ada")
    expected = 7
    with pytest.raises(AppendConflictError), connection.transaction():
        decide(tag, rule)
    assert count(connection, "log.events") == 0
    expected = 0
    with connection.transaction():
        outcome = decide(tag, rule)
    assert outcome.event is not None
    found = log.read(connection, outcome.event.partition)
    assert [event.stream for event in found] == ["before", STREAM, "after"]
    assert (outcome.event, outcome.position) == (found[1], found[2].position)
