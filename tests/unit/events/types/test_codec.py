"""Payloads survive the log. A payload that this build cannot read is refused by name."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted
from events.types.codec import PayloadError, UnknownEventTypeError, decode, describe, encode, known_types
from events.types.turns import TurnRecorded
from tests.support.events.turns import recorded

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
INSTANT = st.datetimes(
    min_value=datetime(1900, 1, 2),
    max_value=datetime(2199, 1, 1),
    timezones=st.just(UTC),
)
ORIGIN = st.builds(
    CardOrigin,
    project_id=TEXT,
    session_id=TEXT,
    turn_ids=st.lists(TEXT, max_size=3).map(tuple),
    said_at=INSTANT,
    source_span=st.none()
    | st.builds(SourceSpan, turn_id=TEXT, start=st.integers(0, 9), end=st.integers(0, 9), text=TEXT),
    provenance=st.sampled_from(["user_stated", "assistant_stated", "agent_inferred"]),
    speaker=st.none() | TEXT,
)
_ORIGIN = CardOrigin(
    project_id="p", session_id="s", turn_ids=(), said_at=datetime(2026, 1, 1, tzinfo=UTC), source_span=None,
    provenance="user_stated",
)  # fmt: skip
PAYLOAD = st.one_of(
    st.builds(
        TurnRecorded, turn_id=TEXT, text=TEXT, role=st.sampled_from(["user", "assistant", "system"]), said_at=INSTANT,
        timezone=TEXT, session_id=TEXT, project_id=TEXT,
    ),
    st.builds(
        StateAsserted, content=TEXT, entity=TEXT, concept_key=TEXT, value=TEXT,
        cardinality=st.sampled_from(["single_value", "multi_value"]), tags=st.lists(TEXT).map(tuple), origin=ORIGIN,
        effective_at=INSTANT, effective_until=st.none() | INSTANT,
    ),
    st.builds(EventNoted, content=TEXT, entity=TEXT, tags=st.just(()), origin=ORIGIN, occurred_at=INSTANT),
    st.builds(KnowledgeLearned, content=TEXT, title=TEXT, definition=TEXT, tags=st.just(()), origin=ORIGIN),
)  # fmt: skip


@given(PAYLOAD)
def test_a_payload_comes_back_equal(payload: object) -> None:
    name, version = describe(payload)
    assert decode(name, version, encode(payload)) == payload
    assert encode(decode(name, version, encode(payload))) == encode(payload)


def test_every_type_is_found_by_its_name() -> None:
    assert {
        "TurnRecorded",
        "TurnsExtracted",
        "StateAsserted",
        "EventNoted",
        "KnowledgeLearned",
        "CardsConnected",
    } <= set(known_types())


def test_an_unknown_type_or_version_is_refused() -> None:
    with pytest.raises(UnknownEventTypeError, match="NoSuchThing"):
        decode("NoSuchThing", 1, b"{}")
    with pytest.raises(UnknownEventTypeError, match="newer"):
        decode("TurnRecorded", 99, b"{}")


def test_a_misfitting_payload_names_the_field() -> None:
    with pytest.raises(PayloadError, match=r"TurnRecorded\.turn_id is missing"):
        decode("TurnRecorded", 1, b"{}")
    good = encode(recorded("x", turn_id="t", said_at=datetime(2026, 1, 1, tzinfo=UTC), project_id="p"))
    with pytest.raises(PayloadError, match="does not know: extra"):
        decode("TurnRecorded", 1, good[:-1] + b',"extra":1}')
    with pytest.raises(PayloadError, match="EventNoted is a sealed payload whose text was changed"):
        decode("EventNoted", 1, b'{"v":1,"sealed":"AAAA"}')
    noted = encode(
        EventNoted(content="x", entity="user", tags=(), origin=_ORIGIN, occurred_at=_ORIGIN.said_at)
    )
    with pytest.raises(PayloadError, match=r"EventNoted\.origin has .* does not know: extra"):
        decode("EventNoted", 1, noted.replace(b'"origin":{', b'"origin":{"extra":1,'))
    with pytest.raises(PayloadError, match=r"TurnRecorded\.said_at"):
        decode("TurnRecorded", 1, good.replace(b"2026-01-01T00:00:00+00:00", b"never"))


_FIRST_USES = """
import os, sys, threading
from events.types import codec

names = list(codec.known_types().items())
sys.setswitchinterval(1e-6)


def use(barrier):
    barrier.wait()
    for name, version in names:
        try:
            codec.decode(name, version, {})
        except codec.PayloadError:
            pass


for _ in range(20):
    child = os.fork()
    if child == 0:
        barrier = threading.Barrier(6)
        threads = [threading.Thread(target=use, args=[barrier]) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("a thread ended the process")
"""


def test_threads_may_decode_the_first_events_of_a_process_at_the_same_time() -> None:
    done = subprocess.run([sys.executable, "-c", _FIRST_USES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
