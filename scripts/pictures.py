"""Draws the pictures of ``docs/architecture.md`` as SVG. ``make docs`` runs this.

A picture is a set of boxes on a grid and arrows between them. The SVG holds its own colours and asks for no web font.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from scripts.docs_site import ROOT

FOLDER = ROOT / "docs" / "pictures"

_COLUMN, _ROW, _MARGIN, _GAP, _LINE = 176, 96, 16, 40, 17
Kind = Literal["program", "store", "outside", "step"]
_BOLD = ' font-weight="bold"'
_FILLS: Mapping[Kind, str] = {
    "program": "#dbe9ff",
    "store": "#fff0c9",
    "outside": "#e8e8e8",
    "step": "#dff3e0",
}


@dataclass(frozen=True, slots=True)
class Box:
    """One box. ``column`` and ``row`` count from 0; ``lines`` is its text, the first line bold."""

    column: float
    row: float
    kind: Kind
    lines: Sequence[str]
    columns: float = 1

    @property
    def width(self) -> float:
        return _COLUMN * self.columns - _GAP

    @property
    def height(self) -> float:
        return _ROW - _GAP + 4

    @property
    def left(self) -> float:
        return _MARGIN + self.column * _COLUMN

    @property
    def top(self) -> float:
        return _MARGIN + self.row * _ROW

    def svg(self) -> str:
        middle = self.left + self.width / 2
        first = self.top + self.height / 2 - (len(self.lines) - 1) * _LINE / 2 + 4
        texts = "".join(
            f'<text x="{middle:g}" y="{first + number * _LINE:g}"'
            f"{_BOLD if number == 0 else ''}>{escape(line)}</text>"
            for number, line in enumerate(self.lines)
        )
        return (
            f'<rect x="{self.left:g}" y="{self.top:g}" width="{self.width:g}" height="{self.height:g}" rx="8" '
            f'fill="{_FILLS[self.kind]}" stroke="#5a5a5a"/>{texts}'
        )


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes by name, and arrows ``(from, to)`` between their nearest sides."""

    title: str
    boxes: Mapping[str, Box]
    arrows: Sequence[tuple[str, str]]

    def svg(self) -> str:
        """Returns the picture. The same picture gives the same bytes."""
        width = max(box.left + box.width for box in self.boxes.values()) + _MARGIN
        height = max(box.top + box.height for box in self.boxes.values()) + _MARGIN
        arrows = [_arrow(self.boxes[start], self.boxes[end]) for start, end in self.arrows]
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
                'role="img" font-family="sans-serif" font-size="12" text-anchor="middle">',
                f"<title>{escape(self.title)}</title>",
                '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
                'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#5a5a5a"/></marker></defs>',
                '<rect width="100%" height="100%" fill="#ffffff"/>',
                *arrows,
                *(box.svg() for box in self.boxes.values()),
                "</svg>\n",
            )
        )


def _arrow(start: Box, end: Box) -> str:
    if start.row == end.row:
        right = end.left > start.left
        x1 = start.left + start.width if right else start.left
        x2 = end.left if right else end.left + end.width
        y1 = y2 = start.top + start.height / 2
    else:
        down = end.top > start.top
        y1 = start.top + start.height if down else start.top
        y2 = end.top if down else end.top + end.height
        left = max(start.left, end.left)
        right_end = min(start.left + start.width, end.left + end.width)
        if right_end > left:  # one box is above the other
            x1 = x2 = (left + right_end) / 2
        else:
            right = end.left > start.left
            x1 = start.left + start.width if right else start.left
            x2 = end.left + end.width * (0.25 if right else 0.75)
            y1 = start.top + start.height / 2
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#5a5a5a" stroke-width="1.5" '
        'marker-end="url(#head)"/>'
    )


PICTURES: Mapping[str, Picture] = {
    "rooms": Picture(
        "The five packages. An arrow says: imports.",
        {
            "deploy": Box(
                0, 0, "program", ("deploy", "the command, its verbs, embedded servers, the stack"), 3
            ),
            "retrieval": Box(1, 1, "program", ("retrieval", "query, channels, recall, context, HTTP"), 2),
            "ingest": Box(0, 2, "program", ("ingest", "recording", "extraction, API")),
            "projectors": Box(
                1, 2, "program", ("projectors", "cards, vectors, references, rebuild, Kafka"), 2
            ),
            "events": Box(0, 3, "program", ("events", "types, language, platform, store, HTTP, health"), 3),
        },
        (
            ("deploy", "retrieval"),
            ("deploy", "ingest"),
            ("retrieval", "projectors"),
            ("retrieval", "ingest"),
            ("ingest", "events"),
            ("projectors", "events"),
        ),
    ),
    "turn": Picture(
        "The way of a turn",
        {
            "app": Box(0, 0, "outside", ("app", "XADD or HTTP")),
            "stream": Box(1, 0, "store", ("Redis stream", "turns")),
            "recorder": Box(2, 0, "program", ("recorder", "checks the contract")),
            "dead": Box(2, 1, "store", ("Redis stream", "turns:dead")),
            "log": Box(3, 0, "store", ("log.events", "the only truth")),
            "extractor": Box(3, 1, "program", ("extractor", "Claude or rules")),
            "cards": Box(4, 0, "program", ("cards projector", "folds")),
            "vectors": Box(4, 1, "program", ("vectors projector", "embeds")),
            "tables": Box(5, 0, "store", ("cards.*", "card tables")),
            "vtables": Box(5, 1, "store", ("vectors.*", "card vectors")),
        },
        (
            ("app", "stream"),
            ("stream", "recorder"),
            ("recorder", "log"),
            ("recorder", "dead"),
            ("log", "extractor"),
            ("extractor", "log"),
            ("log", "cards"),
            ("log", "vectors"),
            ("cards", "tables"),
            ("vectors", "vtables"),
        ),
    ),
    "question": Picture(
        "The way of a question",
        {
            "ask": Box(0, 0, "outside", ("assistant", "/v1/recall or", "/v1/context")),
            "query": Box(1, 0, "step", ("query", "words, times,", "concepts")),
            "channels": Box(2, 0, "step", ("channels", "semantic, tags,", "fuzzy, time")),
            "graph": Box(3, 0, "step", ("graph", "one hop from", "the best hits")),
            "fusion": Box(4, 0, "step", ("fusion", "reciprocal", "ranks")),
            "resolution": Box(4, 1, "step", ("card resolution", "chains, duplicates,", "conflicts")),
            "overlay": Box(3, 1, "step", ("overlay", "the unprojected", "tail")),
            "ranking": Box(2, 1, "step", ("ranking", "decay, boosts,", "spread")),
            "context": Box(1, 1, "step", ("context", "prompt blocks in", "a token budget")),
            "answer": Box(0, 1, "outside", ("assistant", "cards or a prompt")),
        },
        (
            ("ask", "query"),
            ("query", "channels"),
            ("channels", "graph"),
            ("graph", "fusion"),
            ("fusion", "resolution"),
            ("resolution", "overlay"),
            ("overlay", "ranking"),
            ("ranking", "context"),
            ("context", "answer"),
        ),
    ),
    "rebuild": Picture(
        "The way of a rebuild",
        {
            "log": Box(0, 0, "store", ("log.events",)),
            "live": Box(1, 0, "store", ("generation 1", "live")),
            "fold": Box(1, 1, "step", ("bulk load", "folds partitions", "in processes")),
            "index": Box(2, 1, "step", ("indexing",)),
            "catch": Box(3, 1, "step", ("catching up",)),
            "compare": Box(4, 1, "step", ("comparing", "with --verify")),
            "swap": Box(5, 1, "step", ("swap", "one transaction")),
            "readers": Box(2, 0, "outside", ("readers", "never wait")),
            "new": Box(5, 0, "store", ("generation 2", "live")),
        },
        (
            ("log", "live"),
            ("log", "fold"),
            ("live", "readers"),
            ("fold", "index"),
            ("index", "catch"),
            ("catch", "compare"),
            ("compare", "swap"),
            ("swap", "new"),
        ),
    ),
}


def main(folder: Path = FOLDER) -> int:
    folder.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        (folder / f"{name}.svg").write_text(picture.svg(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
