"""Reads plain notes: Markdown lists and paragraphs. A list item is one memory, and so is a sentence of a paragraph."""

import re
from collections.abc import Iterator

from ingest.migration.memories import Memories

_ITEM = re.compile(r"^(?P<indent>\s*)(?:[-*+•]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.*)$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s|^\s*(?:=+|-{3,}|\*{3,}|_{3,})\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(\u3400-\u9fff])|(?<=[。！？])")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|etc|No|Inc|Ltd|Co|U\.S|U\.K|[A-Z])\.$"
)
_LONGEST = 8
_MARKUP = re.compile(r"\*\*|__|`")


def read(text: str) -> Memories:
    """Returns the memories of notes. Headings, tables and code are left out."""
    found = Memories("notes")
    left_out = 0
    lines: list[str] = []  # of the paragraph or the list item that is read
    began = 0
    item = fenced = False

    def close() -> None:
        words = _MARKUP.sub("", " ".join(lines))
        for sentence in [words] if item else sentences(words):
            found.add(sentence, f"line {began}")
        lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line) is not None
        if fence or fenced or _HEADING.match(line) or _TABLE.match(line):
            close()
            item = False
            fenced = fenced != fence
            left_out += 1
        elif not line.strip():
            close()
            item = False
        elif (entry := _ITEM.match(line)) is not None:
            close()
            item, began = True, number
            lines.append(entry["text"])
        else:
            began = began if lines else number
            lines.append(line.strip())
    close()
    if left_out:
        found.remarks.append(f"{left_out} lines are left out: headings, tables and code")
    return found


def sentences(paragraph: str) -> Iterator[str]:
    """Yields the sentences of a paragraph. A dot after an abbreviation ends none."""
    begun = 0
    for end in _SENTENCE.finditer(paragraph):
        # The window keeps the cost linear where dots follow each other.
        if _ABBREVIATION.search(paragraph, max(begun, end.start() - _LONGEST), end.start()) is None:
            yield paragraph[begun : end.start()]
            begun = end.end()
    yield paragraph[begun:]
