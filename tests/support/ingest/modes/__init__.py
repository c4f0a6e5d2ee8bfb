"""Two hundred turns in two languages, each with the mode that its writer meant, in sessions with a default mode."""

from dataclasses import dataclass
from importlib.resources import files

MODES = {
    "code": "programming, debugging, servers, databases and deployments",
    "family": "relatives and what is done with them",
    "general": "errands, appointments, travel and everything else",
    "journal": "the inner life: feelings, moods, reflections",
    "research": "studies, papers, methods and statistics",
}


@dataclass(frozen=True)
class LabelledTurn:
    """A turn, the mode that its writer meant, its session, and the default mode of the session's project."""

    text: str
    mode: str
    session: str
    default: str


def labelled_turns() -> list[LabelledTurn]:
    """Returns the turns in the order in which they were said."""
    found = []
    session = default = ""
    for line in files(__name__).joinpath("turns.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            _, session, default = line.split()
        else:
            mode, _, text = line.partition("\t")
            found.append(LabelledTurn(text.replace("\\n", "\n"), mode, session, default))
    return found


def recorded_reading() -> dict[str, list[str | None]]:
    """Returns the modes that Claude read in the turns of each session, by session; None where it was unclear.

    The labels were not shown. The turns and the reading have one author, so the reading shows the way of an answer
    more than the skill of a model.
    """
    return _reading("reading.txt")


def second_reading() -> dict[str, list[str | None]]:
    """Returns what Claude read in the first half: the sessions with an odd number.

    The author of the turns had no part in it. The sessions stood in another order, without names and labels. The
    reader had seen the file of the first reading before, so the two are not fully independent.
    """
    return _reading("second_reading.txt")


def in_first_half(session: str) -> bool:
    """True for a session with an odd number. The others are the second half."""
    return int(session.partition("-")[2]) % 2 == 1


def _reading(name: str) -> dict[str, list[str | None]]:
    by_letter = {name[0]: name for name in MODES}
    lines = files(__name__).joinpath(name).read_text("utf-8").splitlines()[1:]
    return {
        session: [by_letter.get(letter) for letter in letters] for session, letters in map(str.split, lines)
    }
