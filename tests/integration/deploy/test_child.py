"""A process of the stack keeps its last lines for the one who has to know why it ended, and ends in its own time."""

import logging
import sys
from pathlib import Path

import pytest

from deploy.child import Child, end
from tests.support.stack import clean_environment
from tests.support.waiting import eventually


def test_the_last_lines_are_kept_and_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    child = Child("poet", ["work", "poet"], clean_environment(), None)
    child.start()
    assert child.wait(240)
    assert "must be one of recorder, extractor" in child.tail
    captured = capfd.readouterr()
    assert child.tail in captured.err
    assert captured.out == ""


def test_at_the_end_a_child_that_works_is_awaited_and_one_that_does_nothing_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = tmp_path / "program"
    program.write_text(
        f"""#!{sys.executable}
import signal, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
print("runs", flush=True)
while not asked:
    time.sleep(0.01)
while sys.argv[-1] == "stuck":
    signal.pause()
while time.process_time() < 2:
    pass
print("finished", flush=True)
"""
    )
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    busy, stuck = children = [
        Child(name, ["work", name], clean_environment(), None) for name in ("busy", "stuck")
    ]
    for child in children:
        child.start()
    eventually(lambda: all("runs" in child.tail for child in children))
    with caplog.at_level(logging.WARNING):
        end(children, idle_s=5.0, most_s=250.0)
    assert busy.tail.endswith("finished")
    assert caplog.messages == ["stuck does not stop; killing it"]
    assert stuck.wait(0)
