"""What a verb of ``cardlog`` answers. The command prints it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """The answer of a verb: ``document`` is printed with --json, and ``lines`` without it.

    ``status`` is the exit status. ``by_line``: ``document`` is an iterable, and each of its items is printed as a line.
    """

    document: Any
    lines: Iterable[str]
    status: int = 0
    by_line: bool = False

    def show(self, *, as_json: bool) -> int:
        """Prints the answer. Returns the exit status."""
        documents = self.document if self.by_line else [self.document]
        dumped = (json.dumps(each, ensure_ascii=False, default=str) for each in documents)
        for line in dumped if as_json else self.lines:
            print(line)
        return self.status
