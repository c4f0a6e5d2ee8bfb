"""The registry of a user's modes: what a name means, what declarations, new names and deletions make of it, and bounds.

All functions are pure. They raise :class:`ModeRefusedError` for what cannot be.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from events.platform.modes import GENERAL_MODE
from events.types.modes import FormerName, Mode, ModeRegistry, Project
from events.types.turn_contract import text_of

SEPARATOR = "\x1f"
"""Stands between a project and a name in :meth:`Modes.meanings`. No name holds it."""
NOTHING = ModeRegistry()
_Key = tuple[str | None, str]  # project, name

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
    text_of(field, text, ModeRefusedError)
    if len(text) > most:
        raise ModeRefusedError(field, f"is longer than {most} characters; use fewer")
    return text


class Modes:
    """The modes of one user: the declared ones and ``everybody``'s, which the installation gives (name: model)."""

    def __init__(self, registry: ModeRegistry = NOTHING, everybody: Mapping[str, str] | None = None) -> None:
        self.registry = registry
        self._everybody = {
            name: Mode(name=name, embedder=model or None, embedders=(model,))
            for name, model in (everybody or {}).items()
        }
        self._declared: dict[_Key, Mode] = {(mode.project_id, mode.name): mode for mode in registry.modes}
        self._former: dict[_Key, str] = {
            (each.project_id, each.old): each.name for each in registry.former_names
        }
        self._defaults = {each.project_id: each.default_mode for each in registry.projects}

    def __bool__(self) -> bool:
        """True when somebody declared anything."""
        return bool(self._everybody or self._declared or self._defaults)

    def meaning(self, project_id: str, name: str | None) -> str:
        """Returns the mode that ``name`` means in a project, after new names and deletions. None is the general mode.

        A name that nobody declared means itself.
        """
        if name is None:
            return GENERAL_MODE
        gone = False
        for scope in (project_id, None):
            here = self._former.get((scope, name), name)
            mode = self._declared.get((scope, here))
            if mode is not None and not mode.deleted:
                # The project may have a mode of that name, or have had one: the project's meaning of a name holds.
                return here if here == name else self.meaning(project_id, here)
            gone = gone or mode is not None
        return GENERAL_MODE if gone and name not in self._everybody else name

    @property
    def closed(self) -> bool:
        """True when the installation declares modes. A name that nobody declared is then no mode."""
        return bool(self._everybody)

    @property
    def names(self) -> list[str]:
        """Every name that is or was declared, in any project, in order."""
        former = (old for _, old in self._former)
        return sorted({GENERAL_MODE, *self._everybody, *former, *(name for _, name in self._declared)})

    def belonging(self, project_id: str, name: str | None) -> str:
        """Returns the mode to which a card with the mode ``name`` belongs.

        It is the meaning of the name. A name that nobody declared belongs to the general mode when the installation
        declares modes: such a mode left the settings.
        """
        meant = self.meaning(project_id, name)
        return GENERAL_MODE if self.closed and meant not in self.names else meant

    def mode(self, project_id: str, name: str | None) -> Mode | None:
        """Returns the declaration that counts for ``name`` in a project: the project's, the user's, or everybody's."""
        meant = self.meaning(project_id, name)
        for scope in (project_id, None):
            mode = self._declared.get((scope, meant))
            if mode is not None and not mode.deleted:
                return mode
        return self._everybody.get(meant)

    def in_force(self, project_id: str | None) -> list[Mode]:
        """Returns the modes that a project may use, in the order of their names. None: those of every project."""
        found = dict(self._everybody)
        for scope in (None, project_id):
            found |= {
                mode.name: mode
                for (of, _), mode in self._declared.items()
                if of == scope and not mode.deleted
            }
        return [found[name] for name in sorted(found)]

    def default(self, project_id: str) -> str | None:
        """Returns the default mode of a project: its own, else the user's. None: it has none."""
        for name in (self._defaults.get(project_id), self.registry.default_mode):
            if name is not None:
                meant = self.meaning(project_id, name)
                return None if meant == GENERAL_MODE else meant
        return None

    def models(self, name: str | None) -> frozenset[str]:
        """Returns every model that may have embedded cards of the mode, in any project. "" is the default model.

        None: every model of every mode.
        """
        found = {""}
        for (scope, each), mode in self._declared.items():
            if name in (None, each, self.meaning(scope or "", each)):
                found.update(mode.embedders)
        for each, mode in self._everybody.items():
            if name in (None, each):
                found.update(mode.embedders)
        if name in self._everybody and not any(each == name for _, each in self._declared):
            found.discard("")
            found.add(self._everybody[name].embedders[0])
        return frozenset(found)

    def models_now(self, name: str | None) -> frozenset[str]:
        """Returns the models that embed new cards of the mode, in any project. "" is the default model.

        None: those of every mode.
        """
        found = {
            mode.embedder or ""
            for (_, each), mode in self._declared.items()
            if not mode.deleted and name in (None, each)
        }
        found |= {mode.embedder or "" for each, mode in self._everybody.items() if name in (None, each)}
        return frozenset(found if found and name is not None else found | {""})

    def mode_id(self, project_id: str, name: str | None) -> str:
        """Returns the first name of the mode that ``name`` is or was a name of. A new name never changes it.

        A deleted mode keeps it, and so do the facts that were said in the mode.
        """
        if name is None:
            return GENERAL_MODE
        for scope in (project_id, None):
            here = self._former.get((scope, name), name)
            if (mode := self._declared.get((scope, here))) is not None:
                return _mode_id(mode)
        return name

    def model(self, project_id: str, name: str | None) -> str:
        """Returns the model that embeds a new card with the mode ``name``. "" is the default model."""
        mode = self.mode(project_id, name)
        return "" if mode is None else mode.embedder or ""

    def meanings(self) -> dict[str, str]:
        """Returns the names that do not mean themselves, with what they mean.

        A key is a name, or a project, :data:`SEPARATOR` and a name. The key with the project comes first.
        """
        names = {old for _, old in self._former} | {mode.name for mode in self.registry.modes if mode.deleted}
        scopes = {scope for scope, _ in (*self._former, *self._declared) if scope is not None}
        found = {}
        for name in sorted(names):
            for_all = self.meaning("", name)
            if for_all != name:
                found[name] = for_all
            for scope in sorted(scopes):
                if (here := self.meaning(scope, name)) != for_all:
                    found[scope + SEPARATOR + name] = here
        return found

    def names_of(self, modes: Collection[str]) -> list[str]:
        """Returns the names that cards of ``modes`` may have: names, or the keys with a project of :meth:`meanings`."""
        return sorted({*modes, *(name for name, meant in self.meanings().items() if meant in modes)})


UNDECLARED = Modes()
"""Nobody declared a mode."""


def declared(registry: ModeRegistry, mode: Mode, *, is_default: bool | None) -> ModeRegistry:
    """Returns the registry with ``mode``, in the place of an earlier declaration of it.

    ``is_default`` True makes it the default of its scope, False takes that away, None leaves it.
    """
    key = (mode.project_id, mode.name)
    if (now := _former(registry).get(key)) is not None:
        raise ModeRefusedError(
            "name",
            f"{mode.name} is a former name of {now}; use another name, or rename {now} back",
            taken=True,
        )
    before = _of(registry, key)
    kept = [each for each in registry.modes if each is not before]
    if before is not None:
        mode = replace(
            mode, embedders=tuple(dict.fromkeys((*mode.embedders, *before.embedders))), mode_id=before.mode_id
        )
    modes = (*kept, mode)
    _check_room(modes, registry.former_names)
    return _with_default(replace(registry, modes=modes), key, is_default)


def renamed(registry: ModeRegistry, key: _Key, new_name: str) -> ModeRegistry:
    """Returns the registry in which the mode ``key`` is called ``new_name``. Its cards stay its cards."""
    project_id, name = key
    before = _of(registry, key)
    if before is None or before.deleted:
        raise ModeRefusedError("name", "", missing=True)
    if new_name == name:
        return registry
    former = _former(registry)
    if _of(registry, (project_id, new_name)) is not None or former.get((project_id, new_name), name) != name:
        raise ModeRefusedError(
            "new_name", f"{new_name} is the name of another mode, or was; use another name", taken=True
        )
    named = replace(before, name=new_name, mode_id=_mode_id(before))
    modes = tuple(named if each is before else each for each in registry.modes)
    former = {old: new_name if (old[0], now) == key else now for old, now in former.items()}
    former.pop((project_id, new_name), None)
    former[key] = new_name
    names = tuple(
        FormerName(old=old, name=now, project_id=of) for (of, old), now in sorted(former.items(), key=_order)
    )
    _check_room(modes, names)
    projects = tuple(
        replace(each, default_mode=new_name)
        if each.default_mode == name and project_id in (None, each.project_id)
        else each
        for each in registry.projects
    )
    default = new_name if project_id is None and registry.default_mode == name else registry.default_mode
    return replace(registry, modes=modes, projects=projects, former_names=names, default_mode=default)


def deleted(registry: ModeRegistry, key: _Key) -> ModeRegistry:
    """Returns the registry without the mode ``key``. Its name means the general mode from then on."""
    before = _of(registry, key)
    if before is None or before.deleted:
        raise ModeRefusedError("name", "", missing=True)
    gone = replace(before, deleted=True)
    modes = tuple(gone if each is before else each for each in registry.modes)
    after = _with_default(replace(registry, modes=modes), key, False)
    left = Modes(after)
    projects = tuple(
        replace(each, default_mode=None)
        if each.default_mode == key[1] and left.meaning(each.project_id, each.default_mode) == GENERAL_MODE
        else each
        for each in after.projects
    )
    return replace(after, projects=projects)


def with_project(registry: ModeRegistry, project: Project) -> ModeRegistry:
    """Returns the registry with ``project``, in the place of an earlier declaration of it."""
    kept = [each for each in registry.projects if each.project_id != project.project_id]
    if len(kept) >= MAX_PROJECTS:
        raise ModeRefusedError(
            "project_id", f"the user has {len(kept)} projects with settings, the most there may be"
        )
    return replace(registry, projects=(*kept, project))


def project_of(registry: ModeRegistry, project_id: str) -> Project:
    """Returns the settings of a project. A project that nobody declared has none."""
    return next(
        (each for each in registry.projects if each.project_id == project_id), Project(project_id=project_id)
    )


def _with_default(registry: ModeRegistry, key: _Key, is_default: bool | None) -> ModeRegistry:
    if is_default is None:
        return registry
    project_id, name = key
    if project_id is None:
        if is_default:
            return replace(registry, default_mode=name)
        return replace(registry, default_mode=None) if registry.default_mode == name else registry
    project = project_of(registry, project_id)
    if is_default or project.default_mode == name:
        return with_project(registry, replace(project, default_mode=name if is_default else None))
    return registry


def _of(registry: ModeRegistry, key: _Key) -> Mode | None:
    return next((each for each in registry.modes if (each.project_id, each.name) == key), None)


def _mode_id(mode: Mode) -> str:
    """Returns the first name of a mode."""
    return mode.mode_id or mode.name


def _former(registry: ModeRegistry) -> dict[_Key, str]:
    return {(each.project_id, each.old): each.name for each in registry.former_names}


def _order(pair: tuple[_Key, str]) -> tuple[str, str]:
    (project_id, old), _ = pair
    return project_id or "", old


def _check_room(modes: Sequence[Mode], former: Sequence[FormerName]) -> None:
    live = sum(not mode.deleted for mode in modes)
    if live > MAX_MODES:
        raise ModeRefusedError(
            "name", f"the user has {MAX_MODES} modes, the most there may be; delete one of them"
        )
    if len(modes) + len(former) > MAX_NAMES:
        raise ModeRefusedError(
            "name",
            f"the user's modes have had {MAX_NAMES} names, the most there may be; use a name that there was",
        )
