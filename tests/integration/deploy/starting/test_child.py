"""A process of the stack keeps its last lines for the one who has to know why it ended."""

from __future__ import annotations

import pytest

from deploy.starting.child import Child
from tests.support.stack import clean_environment


def test_the_last_lines_are_kept_and_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    child = Child("poet", ["work", "poet"], clean_environment(), None)
    child.start()
    assert child.wait(60)
    assert "must be one of recorder, extractor" in child.tail
    captured = capfd.readouterr()
    assert child.tail in captured.err
    assert captured.out == ""
