"""Which mode a turn belongs to: what the caller said, what the extractor read, the default, the talk's, or general."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from events.modes.registry import Modes
from events.platform.modes import GENERAL_MODE
from events.types.turn_contract import DEFAULT_SESSION
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
    not mean themselves. ``recent`` are the modes of the turns before the batch, oldest first. ``talk`` is the last of
    them that something told. ``first_names`` are the first names of the modes that were renamed. The default says that
    nobody declared a mode: turns then keep what their caller said.
    """

    choices: tuple[ModeChoice, ...] = ()
    default: str | None = None
    recent: tuple[str, ...] = ()
    meanings: tuple[tuple[str, str], ...] = ()
    first_names: tuple[tuple[str, str], ...] = ()
    talk: str | None = None

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

    def told(self, turn: TurnRecorded) -> str | None:
        """Returns the mode that the caller gave a turn, by its present name."""
        return turn.mode if turn.mode is None else dict(self.meanings).get(turn.mode, turn.mode)

    def of_turn(self, turn: TurnRecorded, classified: str | None, talk: str | None = None) -> str | None:
        """Returns the mode of a turn: the caller's, else ``classified``, else the default, else ``talk``.

        None is the general mode.
        """
        if not self or turn.mode is not None:
            return self.told(turn)
        return classified if classified in self.names else self.default or talk


NO_MODES = ModeContext()


def mode_context(modes: Modes, project_id: str, recent: Sequence[str | None] = ()) -> ModeContext:
    """Returns the modes that turns of a project may belong to. ``recent`` are the modes of the turns before.

    A mode of ``recent`` that is None is the general one, because nothing told another.
    """
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
        tuple(mode or GENERAL_MODE for mode in recent[-RECENT:]),
        meanings,
        tuple((name, first) for name in sorted(found) if (first := modes.mode_id(project_id, name)) != name),
        next((mode for mode in reversed(recent) if mode is not None), None),
    )


def modes_of_turns(
    context: ModeContext,
    turns: Iterable[TurnRecorded],
    classified: Mapping[str, str],
    before: Sequence[TurnRecorded] = (),
) -> dict[str, str | None]:
    """Returns the mode of each turn of a session, by turn id. A turn goes on in the mode of the talk before it.

    ``before`` are earlier turns of the session, the newest last. Their extraction may not be in the log yet.
    """
    talk = context.talk or next((told for turn in reversed(before) if (told := context.told(turn))), None)
    found: dict[str, str | None] = {}
    for turn in turns:
        # The default session holds the turns of all apps that name none, so it is no talk.
        before_it = None if turn.session_id == DEFAULT_SESSION else talk
        found[turn.turn_id] = context.of_turn(turn, classified.get(turn.turn_id), before_it)
        talk = found[turn.turn_id] or talk
    return found


def _line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
