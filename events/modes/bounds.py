"""The bounds of modes and projects: names and lengths, and the error of a refused one."""

import re
from collections.abc import Mapping

from events.platform.modes import GENERAL_MODE
from events.types.turn_contract import TurnInvalidError, text_of

MAX_MODES = 32
"""The most modes of a user at once, of all the user's projects together."""
MAX_NAMES = 200
"""The most names that the modes of a user ever had."""
MAX_PROJECTS = 200
MAX_NAME = 64
MAX_PROJECT = 512
MAX_DESCRIPTION = 500
MAX_HINTS = 8
MAX_HINT = 300
DIMENSIONS = (384, 768, 1024)
RESERVED = frozenset(("*", "all"))
"""Names that mean several modes."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SUBJECT = re.compile(r"[a-z][a-z0-9_]{0,39}")


class ModeRefusedError(ValueError):
    """A command about modes cannot be done. ``field`` is at fault; ``reason`` gives the cause and the remedy.

    ``missing``: there is no such mode. ``taken``: the name is in use.
    """

    def __init__(self, field: str, reason: str, *, missing: bool = False, taken: bool = False) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
        self.missing = missing
        self.taken = taken


def checked_name(field: str, name: str) -> str:
    """Returns ``name`` when it can name a mode. Names of any script may."""
    _check_text(field, name, MAX_NAME)
    if not name.strip() or name != name.strip():
        raise ModeRefusedError(field, "must not be empty or begin or end with a space")
    if "/" in name or name in (".", "..") or _CONTROL.search(name):
        raise ModeRefusedError(field, "must hold no / and no control character, and not be dots alone")
    if name.casefold() in RESERVED:
        raise ModeRefusedError(field, f"{name} means several modes; use another name")
    return name


def checked_project(project_id: str | None) -> str | None:
    """Returns the name of a project, or None, when modes can belong to it."""
    if project_id is not None:
        _check_text("project_id", project_id, MAX_PROJECT)
        if not project_id.strip() or _CONTROL.search(project_id):
            raise ModeRefusedError("project_id", "must not be empty or hold a control character")
    return project_id


def not_general(field: str, name: str) -> str:
    """Returns ``name``. Raises for the general mode, which always exists and keeps its name."""
    if name == GENERAL_MODE:
        raise ModeRefusedError(field, f"{GENERAL_MODE} always exists and keeps its name; name another mode")
    return name


def checked_description(text: str) -> str:
    """Returns ``text`` when it can describe a mode or a project."""
    return _check_text("description", text, MAX_DESCRIPTION)


def checked_hints(given: Mapping[str, object]) -> dict[str, str]:
    """Returns the hints of ``prompt_overrides``: subjects with one text each."""
    if len(given) > MAX_HINTS:
        raise ModeRefusedError("prompt_overrides", f"has {len(given)} hints; use at most {MAX_HINTS}")
    hints = {}
    for subject, text in given.items():
        if not _SUBJECT.fullmatch(subject):
            raise ModeRefusedError(
                "prompt_overrides", "has a subject that is not 1 to 40 lower-case letters, digits and _"
            )
        field = f"prompt_overrides/{subject}"
        if not isinstance(text, str):
            raise ModeRefusedError(field, "must be a text")
        if _check_text(field, text, MAX_HINT).strip():
            hints[subject] = text.strip()
    return hints


def checked_dimension(model: str, dimension: int) -> int:
    """Returns ``dimension`` when vectors of that length can be kept."""
    if dimension not in DIMENSIONS:
        raise ModeRefusedError(
            "embedder", f"{model} has {dimension} dimensions; use a model with 384, 768 or 1024"
        )
    return dimension


def _check_text(field: str, text: str, most: int) -> str:
    try:
        text_of(field, text)
    except TurnInvalidError as error:
        raise ModeRefusedError(error.field, error.reason) from None
    if len(text) > most:
        raise ModeRefusedError(field, f"is longer than {most} characters; use fewer")
    return text
