"""Which mode a turn belongs to: what the caller said, what the extractor read, the project's default, or general."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from events.modes.registry import Modes
from events.platform.modes import GENERAL_MODE
from events.types.turns import TurnRecorded

RECENT = 6
"""The number of earlier turns of the session whose modes an extractor sees."""
_MOST_CHARACTERS = 6_000
"""Of all descriptions and hints in one prompt."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """A mode that a turn may belong to, as an extractor sees it. ``hints`` are pairs of a subject and a text."""

    name: str
    description: str = ""
    hints: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ModeContext:
    """The modes of the project of a session batch.

    ``choices`` are the modes in the order of their names, the general mode included. ``meanings`` are the names that do
    not mean themselves. ``recent`` are the modes of the turns before the batch, oldest first. ``first_names`` are the
    first names of the modes that were renamed. The default says that nobody declared a mode: turns then keep what their
    caller said.
    """

    choices: tuple[ModeChoice, ...] = ()
    default: str | None = None
    recent: tuple[str, ...] = ()
    meanings: tuple[tuple[str, str], ...] = ()
    first_names: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.choices)

    @property
    def names(self) -> frozenset[str]:
        """The names that a turn may be given."""
        return frozenset(choice.name for choice in self.choices)

    @property
    def text(self) -> str:
        """The modes as a prompt shows them, all escaped and bounded: descriptions and hints are data of a user."""
        lines, left = [], _MOST_CHARACTERS
        for choice in self.choices:
            mark = ' default="yes"' if choice.name == (self.default or GENERAL_MODE) else ""
            said = escape(_line(choice.description), quote=False)
            hints = "".join(
                f'<hint about="{escape(subject)}">{escape(_line(text), quote=False)}</hint>'
                for subject, text in choice.hints
            )
            body = said + hints if len(said) + len(hints) <= left else ""
            left -= len(body)
            lines.append(f'<mode name="{escape(choice.name)}"{mark}>{body}</mode>')
        return "\n".join(lines)

    @property
    def digest(self) -> str | None:
        """The version of the modes and hints that an extractor sees. None when there are none."""
        return sha256(self.text.encode()).hexdigest()[:16] if self else None

    def of_turn(self, turn: TurnRecorded, classified: str | None) -> str | None:
        """Returns the mode of a turn: the caller's, else ``classified``, else the default. None is the general mode."""
        if not self:
            return turn.mode
        if turn.mode is not None:
            return dict(self.meanings).get(turn.mode, turn.mode)
        return classified if classified in self.names else self.default


NO_MODES = ModeContext()


def mode_context(modes: Modes, project_id: str, recent: Sequence[str] = ()) -> ModeContext:
    """Returns the modes that turns of a project may belong to."""
    if not modes:
        return NO_MODES
    found = {
        mode.name: ModeChoice(mode.name, mode.description, tuple(sorted(mode.prompt_overrides.items())))
        for mode in modes.in_force(project_id)
    }
    found.setdefault(GENERAL_MODE, ModeChoice(GENERAL_MODE, "everything else"))
    former = {key.rpartition("\x1f")[2] for key in modes.meanings()}
    meanings = tuple(
        (name, meant) for name in sorted(former) if (meant := modes.meaning(project_id, name)) != name
    )
    return ModeContext(
        tuple(found[name] for name in sorted(found)),
        modes.default(project_id),
        tuple(recent[-RECENT:]),
        meanings,
        tuple((name, first) for name in sorted(found) if (first := modes.mode_id(project_id, name)) != name),
    )


def modes_of_turns(
    context: ModeContext, turns: Iterable[TurnRecorded], classified: Mapping[str, str]
) -> dict[str, str | None]:
    """Returns the mode of each turn, by turn id."""
    return {turn.turn_id: context.of_turn(turn, classified.get(turn.turn_id)) for turn in turns}


def _line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
