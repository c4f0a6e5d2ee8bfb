"""Runs verbs of the command in the test's process."""

import json
from typing import Any

import pytest

from tests.support.stack import typed_here


class Verb:
    """One verb, with the words that are the same each time: ``Verb(capsys, "core", "--user", "ada")``."""

    def __init__(self, capsys: pytest.CaptureFixture[str], verb: str, *always: str) -> None:
        self._capsys = capsys
        self._verb = verb
        self._always = always

    def __call__(self, *words: str) -> tuple[int, str]:
        """Returns the exit status, and what was printed on stdout and then on stderr."""
        done = typed_here(self._capsys, self._verb, *words, *self._always)
        return done.returncode, done.stdout + done.stderr

    def told(self, *words: str) -> Any:
        """Returns the JSON that the verb printed. The exit status was 0."""
        status, text = self(*words, "--json")
        assert status == 0, text
        return json.loads(text)
