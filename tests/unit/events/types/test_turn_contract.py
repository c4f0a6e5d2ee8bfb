"""The contract of turns, and the days and instants in it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from events.types.codec import decode, encode
from events.types.instants import InstantInvalidError, day_or_instant_of
from events.types.turn_contract import (
    MAX_TEXT_BYTES,
    TurnInvalidError,
    entry_time,
    local_said_at,
    parse_turn,
    pushed_at,
    text_of,
)
from tests.support.tables import examples, examples_and

AT = datetime(2026, 5, 8, 8, 44, tzinfo=UTC)


def parse(**fields: str):  # type: ignore[no-untyped-def]
    return parse_turn({"user_id": "u1", "text": "hello", **fields}, entry_time=AT, entry_id="1-0")


def test_the_least_turn_gets_every_default() -> None:
    user, turn = parse()
    assert user == "u1"
    assert (turn.turn_id, turn.role, turn.session_id, turn.project_id) == (
        "1-0",
        "user",
        "default",
        "default",
    )
    assert (turn.said_at, turn.timezone, turn.speaker, turn.mode) == (AT, "UTC", None, None)


def test_every_field_is_taken_as_given() -> None:
    _, turn = parse(
        role="assistant", speaker="Ann", session_id="s", project_id="p", agent_id="a", document_id="d",
        context_layer="work", mode="code", said_at="2026-05-08T16:44:10+08:00", timezone="Asia/Taipei", turn_id="t",
    )  # fmt: skip
    assert (turn.role, turn.speaker, turn.session_id, turn.project_id) == ("assistant", "Ann", "s", "p")
    assert (turn.agent_id, turn.document_id, turn.context_layer, turn.mode) == ("a", "d", "work", "code")
    assert (turn.said_at.isoformat(), turn.timezone, turn.turn_id) == (
        "2026-05-08T16:44:10+08:00", "Asia/Taipei", "t",
    )  # fmt: skip


@examples_and(
    ({"timezone": "a" * 5000}, "timezone", "IANA"),
    ({"text": "x" * (MAX_TEXT_BYTES + 1)}, "text", "65537 bytes"),
    ({"text": "家" * 21846}, "text", "65538 bytes"),
    ({"session_id": "s" * 513}, "session_id", "longer than 512"),
)
def test_a_broken_field_is_named_with_the_remedy(fields: dict[str, str], field: str, reason: str) -> None:
    with pytest.raises(TurnInvalidError) as caught:
        parse(**fields)
    assert caught.value.field == field
    assert reason in caught.value.reason


@pytest.mark.parametrize("missing", ["user_id", "text"])
def test_required_fields_are_required(missing: str) -> None:
    fields = {"user_id": "u", "text": "t"}
    del fields[missing]
    with pytest.raises(TurnInvalidError, match=f"{missing}: is required"):
        parse_turn(fields, entry_time=AT, entry_id="1-0")


@pytest.mark.parametrize(
    ("value", "reason"), [(b"\xff\xfe", "UTF-8"), ("\ud800", "lone surrogate"), ("a\0b", "NUL")]
)
def test_text_that_is_no_text_is_refused(value: bytes | str, reason: str) -> None:
    with pytest.raises(TurnInvalidError, match=reason):
        text_of("text", value)


def test_the_longest_text_is_taken() -> None:
    assert len(parse(text="x" * MAX_TEXT_BYTES)[1].text) == MAX_TEXT_BYTES


def test_words_are_read_on_the_speakers_own_clock() -> None:
    named = parse(said_at="2026-05-08T16:30:00Z", timezone="Asia/Taipei")[1]
    assert local_said_at(named).isoformat() == "2026-05-09T00:30:00+08:00"
    offset = parse(said_at="2026-05-09T00:30:00+08:00")[1]
    assert local_said_at(offset).day == 9
    utc = parse(said_at="2026-05-09T00:30:00+08:00", timezone="UTC")[1]
    assert (local_said_at(utc).day, utc.said_at) == (8, offset.said_at)


@examples
def test_the_edges_of_what_may_be_said_are_kept_to_the_second(said_at: str) -> None:
    turn = parse(said_at=said_at)[1]
    assert turn.said_at == datetime.fromisoformat(said_at)
    assert decode("TurnRecorded", 1, encode(turn)) == turn


def test_an_instant_is_kept_exactly_where_the_zone_once_counted_seconds() -> None:
    liberia = "Africa/Monrovia"  # 44 minutes and 30 seconds behind, until 1972
    at = datetime(1971, 1, 1, 12, tzinfo=UTC)
    turn = parse_turn({"user_id": "u", "text": "x", "timezone": liberia}, entry_time=at, entry_id="1-0")[1]
    assert turn.said_at == at
    assert decode("TurnRecorded", 1, encode(turn)).said_at == at
    # The date must hold for every value in the log and every way to compute it.
    shanghai = replace(turn, said_at=datetime(1890, 1, 1, tzinfo=ZoneInfo("Asia/Shanghai")))
    assert decode("TurnRecorded", 1, encode(shanghai)).said_at == shanghai.said_at
    assert b'"1889-12-31T15:54:17+00:00"' in encode(shanghai), "no other reader takes an offset with seconds"


def test_an_id_more_than_a_day_ahead_is_no_date() -> None:
    now = datetime(2026, 5, 8, tzinfo=UTC)
    ms = int(now.timestamp() * 1000)
    assert pushed_at(f"{ms - 1}-0", now) == now - timedelta(milliseconds=1)
    assert pushed_at(f"{ms + 86_400_000}-0", now) == now + timedelta(days=1)
    for far in (ms + 86_400_001, 9_999_999_999_999, 253_402_300_800_000, 2**64 - 1):
        assert pushed_at(f"{far}-5", now) == now


def test_an_entry_id_gives_the_time_of_the_push() -> None:
    assert entry_time("1778229850000-3") == datetime(2026, 5, 8, 8, 44, 10, tzinfo=UTC)


NOW = datetime(2023, 11, 20, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2023-11-19", datetime(2023, 11, 19, 12, tzinfo=UTC)),
        (" 2023-11-20 ", NOW),
        ("2023-11-21", datetime(2023, 11, 21, 12, tzinfo=UTC)),
        ("2023-11-20T08:00:00Z", datetime(2023, 11, 20, 8, tzinfo=UTC)),
    ],
)
def test_a_day_is_its_noon_or_now(text: str, instant: datetime) -> None:
    assert day_or_instant_of(text, NOW) == instant


def test_a_day_that_began_in_the_east_is_now() -> None:
    evening = NOW.replace(hour=10)
    assert day_or_instant_of("2023-11-21", evening) == evening


@pytest.mark.parametrize(
    "text", ["yesterday", "2023-02-30", "1899-12-31", "2018", "2023-11", "20231120", "2023-11-20T08:00"]
)
def test_what_is_no_day_and_no_instant_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InstantInvalidError, match="such as 2023-11-20"):
        day_or_instant_of(text, NOW)
