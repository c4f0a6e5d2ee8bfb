"""A reading comes back for the turns and the prompt that it answers, and a broken file is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from evaluation.answers.readings import Reading, ReadingInvalidError, Readings, new_reading
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from tests.support.events.turns import recorded

ANSWER = {"called": True, "input": {"events": [{"turn": 1, "quote": "We painted the gate green"}]}}


def batch(*texts: str, user: str = "mira") -> SessionBatch:
    return SessionBatch(
        tuple(
            RecordedTurn(
                user,
                number,
                recorded(text, turn_id=f"t{number}", said_at=datetime(2026, 5, 3, tzinfo=UTC)),
            )
            for number, text in enumerate(texts, 1)
        )
    )  # fmt: skip


GATE = batch("We painted the gate green, and the dog has a green tail now.", "Poor dog!")


def reading(of: SessionBatch = GATE, *, private: bool = False, version: str = "v1") -> Reading:
    made = new_reading(
        of, "question", prompt_version=version, model="m", by="", on=date(2026, 5, 4), private=private
    )
    return replace(made, answers=[ANSWER])


@pytest.mark.parametrize("private", [True, False])
def test_a_saved_reading_comes_back(tmp_path: Path, private: bool) -> None:
    readings, saved = Readings(tmp_path), reading(private=private)
    path = readings.save(GATE, saved)
    assert readings.find(GATE, "v1") == saved
    assert ("painted" in path.read_text("utf-8")) is not private


def test_a_reading_belongs_to_its_turns_its_conversation_and_its_prompt(tmp_path: Path) -> None:
    readings = Readings(tmp_path)
    readings.save(GATE, reading())
    assert readings.find(GATE, "v2") is None
    assert readings.find(replace(GATE, turns=GATE.turns[:1]), "v1") is None
    assert readings.find(batch("We painted the gate green.", "Poor dog!", user="ines"), "v1") is None


def test_names_never_leave_the_folder(tmp_path: Path) -> None:
    strange = batch("Hello there, my friend", user="../../up")
    path = Readings(tmp_path / "readings").save(strange, reading(strange, version="../v"))
    assert path.resolve().is_relative_to(tmp_path / "readings")


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"answers": [1]}', "[" * 5_000, "null", "\x00",
        '{"conversation": "mira", "turns": ["t9"], "prompt_version": "v1", "model": "", "by": "", "recorded_on": "", '
        '"request": "", "private": false, "answers": [{}]}',
        '{"conversation": "mira", "turns": ["t1", "t2"], "prompt_version": "v1", "model": "", "by": "", '
        '"recorded_on": "", "request": "", "private": true, "answers": [{"quote": {"places": [[1, 0, 999]]}}]}',
        '{"conversation": "mira", "turns": ["t1", "t2"], "prompt_version": "v1", "model": "", "by": "", '
        '"recorded_on": "", "request": "", "private": true, "answers": [{"quote": {"places": 7}}]}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_reading_is_named(tmp_path: Path, text: str) -> None:
    readings = Readings(tmp_path)
    path = readings.save(GATE, reading())
    path.write_text(text)
    with pytest.raises(ReadingInvalidError, match=path.name):
        readings.find(GATE, "v1")
