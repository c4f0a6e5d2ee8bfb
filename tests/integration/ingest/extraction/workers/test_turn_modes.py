"""Turns get their mode from the caller, the extractor's reading, the project's default, or none, in this order."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from events.platform.database import Connection
from events.platform.settings import Settings
from events.types.cards import EventNoted
from events.types.envelope import NewEvent, uuid7
from events.types.extraction import TurnsExtracted
from events.types.modes import Decay
from ingest import modes as mode_commands
from ingest.decider import Command
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.turn_modes import ModeChoice, ModeContext, modes_of_turns
from ingest.modes import UserModes
from tests.support.ingest.messages_api import MessagesApi, Request, Trouble, calls
from tests.support.ingest.model_workers import Reader, turn
from tests.support.ingest.modes import (
    MODES,
    LabelledTurn,
    in_first_half,
    labelled_turns,
    recorded_reading,
    second_reading,
)

RULES = {"anthropic_base_url": "", "anthropic_api_key": ""}
TRACE = 'It fails:\nTraceback (most recent call last):\n  File "shop.py", line 3, in <module>'
SAID = (
    "I deploy the shop to Frankfurt with my team",
    TRACE,
    "I am buying coffee for Nora tomorrow",
    "I felt sad",
)


def declare(connection: Connection, default: str | None) -> None:
    modes = UserModes(connection, Command(owner="ann", actor="test", at=datetime(2026, 5, 1, tzinfo=UTC)))
    hints = {"units": "keep </modes> & type signatures whole"}
    decay: Decay = "slow"
    for name, description in (
        ("code", "programming, <b>servers</b>"),
        ("journal", "feelings"),
        ("family", ""),
    ):
        wanted = {"description": description, "default_decay": decay, "prompt_overrides": hints}
        mode_commands.declare(modes, None, name, wanted, lambda _: 384)
    mode_commands.declare_project(modes, "default", {"default_mode": default}, {})


def said(*, by_caller: dict[int, str]) -> list[NewEvent]:
    turns = [turn("ann", text, number) for number, text in enumerate(SAID)]
    return [
        replace(each, payload=replace(each.payload, mode=by_caller.get(number)))
        for number, each in enumerate(turns)
    ]


def again(said: NewEvent, name: str, **more: Any) -> NewEvent:
    """Returns a turn with the same words and another id."""
    payload = replace(said.payload, turn_id=f"{name} {said.payload.turn_id}", **more)
    return replace(
        said,
        event_id=uuid7(),
        payload=payload,
        stream=said.stream + more.get("session_id", ""),
        dedupe_key=payload.turn_id,
    )


def modes_of(reader: Reader) -> dict[str, str | None]:
    """Returns the mode of each turn, and checks that its episode has the same."""
    found: dict[str, str | None] = {}
    events = [each.payload for each in reader.events("ann")]
    for payload in events:
        if isinstance(payload, TurnsExtracted):
            assert payload.modes_digest
            found |= dict(zip(payload.turn_ids, payload.modes, strict=True))
    for payload in events:
        if isinstance(payload, EventNoted):
            assert payload.origin.mode == found[payload.origin.turn_ids[0]]
    return found


def test_the_rules_read_no_mode_and_leave_each_turn_to_the_default(reader: Reader) -> None:
    declare(reader.connection, default="journal")
    reader.read(*said(by_caller={0: "family", 3: "general"}), **RULES)
    assert list(modes_of(reader).values()) == ["family", "journal", "journal", "general"]


def test_a_reply_has_the_mode_of_its_talk_where_no_default_tells_one(reader: Reader) -> None:
    declare(reader.connection, default=None)
    reader.read(*said(by_caller={1: "family"}), **RULES)
    # The extraction of these turns begins when that of the turns before is in the log.
    later = [again(each, "later") for each in said(by_caller={3: "general"})]
    elsewhere = [again(each, "other", session_id="elsewhere") for each in said(by_caller={})[2:]]
    nameless = [again(each, "nameless", session_id="default") for each in said(by_caller={0: "family"})[:1]]
    nameless.append(again(said(by_caller={})[3], "nameless", session_id="default"))
    reader.read(*later, *elsewhere, *nameless, **RULES)
    modes = modes_of(reader)
    assert list(modes.values())[:4] == [None, "family", "family", "family"]
    assert [mode for turn, mode in modes.items() if turn.startswith("later")] == [
        "family", "family", "family", "general",
    ]  # fmt: skip
    assert [mode for turn, mode in modes.items() if turn.startswith("other")] == [None, None]
    assert [mode for turn, mode in modes.items() if turn.startswith("nameless")] == ["family", None]


def test_the_model_reads_modes_and_the_caller_is_above_it(reader: Reader) -> None:
    declare(reader.connection, default="code")
    asked: list[Request] = []

    def answer(request: Request) -> Trouble:
        asked.append(request)
        read: list[Any] = [
            {"turn": 99, "mode": "code"}, {"turn": True, "mode": "journal"}, {"turn": 1, "mode": "no such mode"}, 7,
        ]  # fmt: skip
        read += [
            {
                "turn": number,
                "mode": "general" if "coffee" in text else "journal" if "Frankfurt" in text else None,
            }
            for number, text in enumerate(request.turns, 1)
        ]
        return calls({"states": [], "events": [], "knowledge": [], "modes": read})

    reader.api.trouble = answer
    reader.read(*said(by_caller={0: "family"}))
    assert list(modes_of(reader).values()) == ["family", "code", "general", "code"]
    assert "<recent_modes>" not in asked[0].question
    reader.read(again(said(by_caller={})[3], "later"))
    assert "<recent_modes>family, code, general, code</recent_modes>" in asked[-1].question
    body = asked[0].body
    question = body["messages"][0]["content"]
    assert '<mode name="code" default="yes">programming, &lt;b&gt;servers&lt;/b&gt;' in question
    assert '<hint about="units">keep &lt;/modes&gt; &amp; type signatures whole</hint>' in question
    assert '<mode name="general">' in question
    assert "modes_of_turns" in body["system"][0]["text"]
    assert "modes" in body["tools"][0]["input_schema"]["properties"]


def test_a_user_without_modes_gets_the_prompt_without_them(reader: Reader) -> None:
    asked: list[Request] = []
    reader.api.trouble = asked.append
    reader.read(turn("bo", SAID[0], 1))
    assert "modes" not in asked[0].body["tools"][0]["input_schema"]["properties"]
    assert "modes_of_turns" not in asked[0].body["system"][0]["text"]
    [leader] = reader.payloads(TurnsExtracted, "bo")
    assert (leader.modes, leader.modes_digest) == ((), None)


def _always(answer: Trouble, _: Request) -> Trouble:
    return answer


@pytest.mark.parametrize(
    ("recorded", "half"),
    [(recorded_reading, True), (recorded_reading, False), (second_reading, True)],
    ids=["recorded, first half", "recorded, second half", "second, first half"],
)
def test_a_reading_gives_nine_tenths_of_each_half_their_mode(
    settings: Settings,
    api: MessagesApi,
    recorded: Callable[[], dict[str, list[str | None]]],
    half: bool,
) -> None:
    choices = tuple(ModeChoice(name, description) for name, description in MODES.items())
    reading = recorded()
    sessions: dict[str, list[LabelledTurn]] = {}
    for each in labelled_turns():
        if in_first_half(each.session) == half:
            sessions.setdefault(each.session, []).append(each)
    right = by_default = 0
    extractor = ClaudeExtractor(replace(settings, extract_timeout_s=10))
    for session, said_there in sessions.items():
        read = [{"turn": number, "mode": mode} for number, mode in enumerate(reading[session], 1)]
        answer = calls({"states": [], "events": [], "knowledge": [], "modes": read})
        api.trouble = partial(_always, answer)
        turns = [turn("ann", each.text, number, session=session) for number, each in enumerate(said_there)]
        context = ModeContext(choices, said_there[0].default)
        batch = SessionBatch(
            tuple(RecordedTurn("ann", number, each.payload) for number, each in enumerate(turns, 1)),
            modes=context,
        )
        modes = modes_of_turns(
            context, [each.payload for each in turns], dict(extractor.extract(batch).modes)
        )
        right += sum(
            modes[new.payload.turn_id] == each.mode for new, each in zip(turns, said_there, strict=True)
        )
        by_default += sum(each.mode == each.default for each in said_there)
    extractor.close()
    assert right >= 0.9 * sum(map(len, sessions.values())) > by_default
