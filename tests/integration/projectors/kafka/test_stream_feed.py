"""A reader of the feed gets each event once and in order, for everything that the stream may deliver."""

import itertools
import threading
from collections.abc import Iterator
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.platform.database import Connection, connect
from events.store import log
from events.store.checkpoints import Processor, read_claimed
from events.types.envelope import Event, partition_of
from projectors.kafka.feed import StreamFeed
from tests.support.databases import copied
from tests.support.projectors.folding import noted

USERS = ("alex", "bo", "cleo")
EVENTS = 30
_names = itertools.count()


class Stream:
    """A log of a few users' events, the relay's messages for it, and a reader of its own."""

    def __init__(self, connection: Connection, messages: list[tuple[int, int]]) -> None:
        self.connection = connection
        self.messages = messages
        self.processor = Processor(f"reader {next(_names)}")
        self.processor.open(connection)
        self.feed: StreamFeed[int] = StreamFeed(look_every_s=1000)
        self.back: list[int] = []
        self.feed.attach(self.back.extend)
        self.read: list[Event] = []

    def offer(self, index: int, receipt: int = 0) -> None:
        self.feed.offer(*self.messages[index], receipt)

    def step(self, limit: int = 4) -> int:
        """Reads one batch from the feed as a runner does."""
        with self.connection.transaction():
            sought = self.feed.sought(self.connection, self.processor)
            claims = self.processor.claim(self.connection, partitions=sought)
            if not claims:
                return 0
            batches = read_claimed(self.connection, claims, limit=limit)
            self.processor.advance(self.connection, [(page.claim, page.last) for page in batches])
        self.read += [event for page in batches for event in page.events]
        return sum(len(page.events) for page in batches)

    def drain(self) -> None:
        while self.step():
            pass

    def everything(self) -> list[Event]:
        partitions = sorted({partition for partition, _ in self.messages})
        return [event for partition in partitions for event in log.read(self.connection, partition)]

    def in_order(self) -> list[Event]:
        return sorted(self.read, key=lambda event: event.partition)


@pytest.fixture(scope="module")
def written(postgres_url: str, template: str) -> Iterator[str]:
    """A database with a log in it, for tests that only read it."""
    with copied(postgres_url, template) as url:
        with connect(url, application="test") as connection:
            for number in range(EVENTS):
                log.append(connection, [noted(f"note {number}", USERS[number % 3])])
        yield url


@pytest.fixture
def stream(written: str) -> Iterator[Stream]:
    with connect(written, application="test") as connection:
        yield Stream(connection, messages_of(connection))


def messages_of(connection: Connection) -> list[tuple[int, int]]:
    return connection.execute(
        "SELECT partition, position FROM log.events ORDER BY recorded_at, position"
    ).fetchall()


def test_messages_in_any_order_are_news_and_are_given_back(stream: Stream) -> None:
    for index in reversed(range(EVENTS)):
        stream.offer(index, index)
    stream.drain()
    assert stream.in_order() == stream.everything()
    stream.step()
    assert sorted(stream.back) == list(range(EVENTS))


def test_nothing_is_given_back_before_it_is_passed(stream: Stream) -> None:
    for index in range(EVENTS):
        stream.offer(index, index)
    assert not stream.back
    assert stream.step(limit=2) == 2 * len({partition_of(user) for user in USERS})
    assert not stream.back, "a transaction may still come to nothing"
    stream.step(limit=2)
    given_back = {stream.messages[index] for index in stream.back}
    assert given_back == {(event.partition, event.position) for event in stream.read if event.position <= 2}


def test_a_gap_is_filled_from_the_log(stream: Stream) -> None:
    stream.offer(EVENTS - 1)
    partition, position = stream.messages[EVENTS - 1]
    stream.drain()
    assert [event.position for event in stream.read] == list(range(1, position + 1))
    assert {event.partition for event in stream.read} == {partition}


def test_what_never_comes_is_read_from_the_log_in_the_end(stream: Stream) -> None:
    stream.drain()
    assert not stream.read
    feed = stream.feed = StreamFeed(look_every_s=0)
    feed.assigned([stream.messages[0][0]])
    assert stream.step() == 0, "the first look only learns what there is"
    stream.drain()
    own = [event for event in stream.everything() if event.partition == stream.messages[0][0]]
    assert stream.read == own, "partitions of others are left to them"
    feed.assigned([])
    stream.drain()
    assert stream.in_order() == stream.everything(), "who has no partitions looks after all"


def test_messages_of_another_log_are_dropped(stream: Stream, database: str) -> None:
    with connect(database, application="test") as other:
        for number in range(2 * EVENTS):
            log.append(other, [noted(f"other {number}", USERS[number % 3])])
        strange = messages_of(other)
    for index, message in enumerate(strange):
        stream.feed.offer(*message, 1000 + index)
    stream.drain()
    assert stream.in_order() == stream.everything()
    for index in range(EVENTS):
        stream.offer(index, index)
    stream.step()
    assert len(stream.back) == 3 * EVENTS


def test_buffered_messages_of_a_revoked_partition_are_dropped(stream: Stream) -> None:
    partitions = {partition for partition, _ in stream.messages}
    stream.feed.assigned(partitions)
    for index in range(EVENTS):
        stream.offer(index)
    stream.feed.revoked(partitions)
    stream.drain()
    assert not stream.read
    assert not stream.back


def test_an_offer_waits_while_the_buffer_is_full_and_wakes_the_reader(stream: Stream) -> None:
    feed: StreamFeed[int] = StreamFeed(look_every_s=1000, capacity=2)
    feed.offer(*stream.messages[0], 0)
    assert feed.full is False
    woken = threading.Thread(target=feed.wait, args=(60,))
    feed.wait(0)  # what was offered before was news, too
    woken.start()
    feed.offer(*stream.messages[1], 0)
    woken.join(60)
    assert (woken.is_alive(), feed.full) == (False, True)
    feed.detach()
    assert not feed.full


Delivery: TypeAlias = int | str

deliveries: st.SearchStrategy[list[Delivery]] = st.lists(
    st.one_of(
        st.integers(0, EVENTS - 1),  # a message, in any order and number
        st.integers(-200, -1),  # a message beyond the end of the log, of another log
        st.just("step"),
        st.just("revoked"),
    ),
    max_size=120,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(deliveries)
def test_the_log_is_read_once_and_in_order_for_any_messages(written: str, plan: list[Delivery]) -> None:
    with connect(written, application="test") as connection:
        stream = Stream(connection, messages_of(connection))
        for number, each in enumerate(plan):
            if each == "step":
                stream.step()
            elif each == "revoked":
                stream.feed.revoked(range(64))
            elif isinstance(each, int) and each >= 0:
                stream.offer(each, number)
            elif isinstance(each, int):
                stream.feed.offer(stream.messages[each % EVENTS][0], EVENTS - each, number)
        stream.drain()
        offered = {stream.messages[each][0] for each in plan if isinstance(each, int) and each >= 0}
        stream.feed = StreamFeed(look_every_s=0)
        stream.drain()
        stream.drain()
        assert stream.in_order() == stream.everything()
        assert offered <= {event.partition for event in stream.read}
