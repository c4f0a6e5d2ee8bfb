"""Reads the saved memories of ChatGPT as a user copies them: one memory a line, often with a date before it."""

import re

from ingest.migration.memories import Memories, on_day

_BULLET = r"^\s*(?:[-*•]\s+|\d{1,4}[.)]\s+)?"
_LINE = re.compile(
    rf"{_BULLET}(?:\[(?P<in>\d{{4}}-\d{{2}}-\d{{2}})(?:[ T][^\]]*)?\]|(?P<day>\d{{4}}-\d{{2}}-\d{{2}})(?=\s*[-–—:]))"
    r"[\s.:–—-]*(?P<dated>.*)$"
)
_UNDATED = re.compile(rf"{_BULLET}(?:\[(?:unknown|no date|undated)\][\s.:–—-]*)?(?P<text>.*)$", re.IGNORECASE)
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s|```|(?:saved memories|memories|model set context|bio)\s*:?\s*$)", re.IGNORECASE
)
_TOLD = re.compile(rf"{_BULLET}(?:the )?(?:user\b|用户|用戶|使用者)", re.IGNORECASE)


def read(text: str) -> Memories:
    """Returns the memories of a text. Raises :class:`TextInvalidError` with the line of a date that never was."""
    found = Memories("chatgpt")
    for number, line in enumerate(text.splitlines(), 1):
        where = f"line {number}"
        if _HEADING.match(line):
            continue
        dated = _LINE.match(line)
        if dated is not None:
            found.add(dated["dated"], where, on_day(dated["in"] or dated["day"], where))
        elif (undated := _UNDATED.match(line)) is not None:
            found.add(undated["text"], where)
    return found


def fits(text: str) -> bool:
    """True when most lines of ``text`` have a date before them, or tell something about "the user"."""
    lines = [line for line in text.splitlines() if line.strip() and not _HEADING.match(line)]
    dated = sum(_LINE.match(line) is not None for line in lines)
    told = sum(_TOLD.match(line) is not None for line in lines)
    return 2 * (dated + told) > len(lines) and (len(lines) > 1 or dated == 1)
