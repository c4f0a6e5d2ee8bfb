"""Names of streams, keys and entities, and the ids of events."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.cards import CardOrigin, KnowledgeLearned, StateAsserted
from events.types.envelope import Event, uuid7
from events.types.turn_contract import MAX_NAME_BYTES, part_of_key, session_of, turn_key
from events.types.turns import TurnRecorded
from ingest.extraction.extraction_events import extraction_stream, stream_of
from projectors.cards.statement import statements_of
from tests.support.events.payloads import ORIGIN
from tests.support.events.turns import recorded, stored

NOW = datetime(2026, 5, 8, tzinfo=UTC)
# Mostly characters that could be a separator or an escape, so near collisions are found soon.
NAMES = st.one_of(
    st.text(st.sampled_from("a/%2F5~\x1f\x10u:|\0"), min_size=1, max_size=6).filter(str.strip),
    st.text(st.sampled_from("/%é"), min_size=200, max_size=250),
)


def turn(project: str, session: str) -> TurnRecorded:
    return recorded("x", turn_id="t", said_at=NOW, project_id=project, session_id=session)


def origin(project: str) -> CardOrigin:
    return replace(ORIGIN, project_id=project)


def state(project: str, entity: str, key: str, value: str) -> Event:
    payload = StateAsserted(
        content="c", entity=entity, concept_key=key, value=value, cardinality="multi_value", tags=(),
        origin=origin(project), effective_at=NOW,
    )  # fmt: skip
    return stored(payload)


@given(NAMES, NAMES, NAMES, NAMES)
def test_two_sessions_share_a_stream_only_if_project_and_session_are_the_same(
    project: str, session: str, other_project: str, other_session: str
) -> None:
    one, other = turn(project, session), turn(other_project, other_session)
    same = (project, session) == (other_project, other_session)
    assert (session_of(one) == session_of(other)) is same
    assert (stream_of(one) == stream_of(other)) is same
    assert extraction_stream(session_of(one)) == stream_of(one)


def test_the_case_that_was_seen() -> None:
    assert session_of(turn("a", "b/c")) != session_of(turn("a/b", "c"))
    assert session_of(turn("default", "monday 月")) == "session/default/monday 月", "names stay"


@given(NAMES, NAMES)
def test_a_part_of_a_key_is_injective_and_short(one: str, other: str) -> None:
    assert (part_of_key(one) == part_of_key(other)) is (one == other)
    assert "/" not in part_of_key(one)
    assert len(part_of_key(one).encode()) <= 600
    assert (turn_key(one) == turn_key(other)) is (one == other)


def test_the_longest_names_fit_into_one_index_together() -> None:
    longest = "/" * MAX_NAME_BYTES
    stream = stream_of(turn(longest, "é" * (MAX_NAME_BYTES // 2)))
    assert len(stream.encode()) + MAX_NAME_BYTES + 32 < 2704


@given(NAMES, NAMES, NAMES, NAMES)
def test_facts_of_different_projects_never_meet(
    project: str, other_project: str, entity: str, value: str
) -> None:
    identities = {one.identity for one in statements_of(state(project, entity, "hobby", value))}
    # The text after a project's name must not be taken for a part of that name.
    others = {
        one.identity
        for other in (other_project, f"{project}\x1f{entity}", f"{project}\x1f")
        if other != project
        for one in statements_of(state(other, entity, "hobby", value))
    }
    assert not identities & others


def test_an_entity_is_not_taken_for_a_part_of_a_projects_name() -> None:
    one = state("a", "b", "c", "hobby")
    other = state("a\x1fb", "c", "hobby", "tea")
    single = stored(replace(other.payload, cardinality="single_value"))
    assert {each.identity for each in statements_of(one)} != {each.identity for each in statements_of(single)}


@given(NAMES, NAMES, NAMES)
def test_concepts_of_different_projects_never_meet(project: str, other_project: str, title: str) -> None:
    def learned(where: str, what: str) -> set[str]:
        payload = KnowledgeLearned(content="c", title=what, definition="d", tags=(), origin=origin(where))
        return {one.identity for one in statements_of(stored(payload))}

    if project != other_project:
        assert not learned(project, title) & learned(other_project, title)
    assert not learned(project, f"x\x1f{title}") & learned(f"{project}\x1fx", title)


def test_ids_rise_and_are_version_7() -> None:
    before = time.time_ns() // 1_000_000
    ids = [uuid7() for _ in range(5_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {(each.version, each.variant) for each in ids} == {(7, "specified in RFC 4122")}
    # The first 48 bits are the time, also after many ids of one millisecond.
    assert before <= ids[0].int >> 80
    assert ids[-1].int >> 80 <= time.time_ns() // 1_000_000 + 1


def test_ids_rise_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = uuid7()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    ids = [first, *(uuid7() for _ in range(100))]
    assert ids == sorted(set(ids))


def test_threads_never_share_an_id() -> None:
    with ThreadPoolExecutor(8) as threads:
        made = [
            each for ids in threads.map(lambda _: [uuid7() for _ in range(500)], range(16)) for each in ids
        ]
    assert len(set(made)) == len(made)
