"""How far a long command is: one updating line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

_TERMINAL_EVERY_S = 0.1
_PLAIN_EVERY_S = 5.0


class Progress:
    """Tells ``stream`` (standard error, so that output can be piped) how much of ``unit`` is done.

    Cheap to call as often as there is news. Leaving the context ends the updating line.
    """

    def __init__(self, unit: str, stream: TextIO | None = None) -> None:
        self._unit = unit
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._began = self._told = time.monotonic()
        self._width = 0

    def __call__(self, done: int, total: int | None = None) -> None:
        now = time.monotonic()
        if now - self._told < (_TERMINAL_EVERY_S if self._terminal else _PLAIN_EVERY_S):
            return
        self._told = now
        rate = done / (now - self._began)
        line = f"{done} {self._unit}, {rate:.0f}/s"
        if total:
            left = (total - done) / rate if rate else 0.0
            line += f", {100 * done / total:.0f} % of {total}, {left:.0f} s left"
        if self._terminal:
            self._stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
