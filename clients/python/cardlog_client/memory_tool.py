"""The memory tool of Anthropic's API, kept in Cardlog. Needs the package ``anthropic`` beside the client.

A file below ``/memories`` is a reference of the kind ``memory_file``. A change is therefore a version that can be read
and brought back, and an erasure of the user removes the files. A directory exists while a file is in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from posixpath import normpath
from urllib.parse import unquote

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from cardlog_client.client import AsyncClient, Client
from cardlog_client.errors import CardlogError, RefusedError
from cardlog_client.reference_values import MOST_KEY_BYTES, ReferenceValues, Steps, run

KIND = "memory_file"
"""The kind of reference that a file is. Its value is the text of the file."""

_ROOT = "/memories"
_MOST_LINES = 999_999
_TRIES = 5
_DEPTH = 2
_MISSING = "The path {path} does not exist. Please provide a valid path."


class CardlogMemoryTool(BetaAbstractMemoryTool):
    """The files of ``user_id`` below ``/memories``, for ``client.beta.messages.tool_runner(tools=[…])``.

    Answers and refusals have the words of the SDK's own tool for a folder. A refusal is a ``ToolError``, and so is an
    error of a service, which the model then sees. ``project_id``: the files belong to this project. The first file of
    a Cardlog declares the kind, for which the API key must not be limited to users.
    """

    def __init__(self, client: Client, user_id: str, *, project_id: str | None = None) -> None:
        super().__init__()
        self._client = client
        self._files = _Files(user_id, project_id)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._run(self._files.view(command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._run(self._files.create(command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self._run(self._files.str_replace(command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self._run(self._files.insert(command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._run(self._files.delete(command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._run(self._files.rename(command))

    def clear_all_memory(self) -> str:
        return self._run(self._files.clear())

    def _run(self, steps: Steps[str]) -> str:
        try:
            return run(self._client, steps)
        except CardlogError as error:
            raise ToolError(str(error)) from error


class AsyncCardlogMemoryTool(BetaAsyncAbstractMemoryTool):
    """The asynchronous :class:`CardlogMemoryTool`."""

    def __init__(self, client: AsyncClient, user_id: str, *, project_id: str | None = None) -> None:
        super().__init__()
        self._client = client
        self._files = _Files(user_id, project_id)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._run(self._files.view(command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._run(self._files.create(command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self._run(self._files.str_replace(command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self._run(self._files.insert(command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._run(self._files.delete(command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._run(self._files.rename(command))

    async def clear_all_memory(self) -> str:
        return await self._run(self._files.clear())

    async def _run(self, steps: Steps[str]) -> str:
        try:
            call = next(steps)
            while True:
                try:
                    answer = await call(self._client)
                except CardlogError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as done:
            return str(done.value)
        except CardlogError as error:
            raise ToolError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _File:
    """The text of a file and its version, against which a change is made."""

    text: str
    version: int


_Tree = dict[str, _File]
"""The files by their paths below the root. The root itself is the empty path."""


class _Files:
    """The commands as steps: each yields the requests to send and gets their answers. Both tools drive them."""

    def __init__(self, user_id: str, project_id: str | None) -> None:
        about = "a file of the memory tool: its text"
        self._values = ReferenceValues(user_id, KIND, {"type": "string"}, "", about, project_id)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> Steps[str]:
        path = _checked(command.path)
        tree = yield from self._tree()
        if path in tree:
            return _numbered(command, tree[path].text)
        if not _is_directory(tree, path):
            raise ToolError(_MISSING.format(path=command.path))
        inside = {name: file for name, file in tree.items() if _is_below(name, path)}
        head = (
            f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:"
            f"\n{_size(inside)}\t{command.path}"
        )
        return "\n".join((head, *_listed(inside, path, command.path, _DEPTH)))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> Steps[str]:
        path = _checked(command.path)
        tree = yield from self._tree()
        if path in tree or _is_directory(tree, path):
            raise ToolError(f"File {command.path} already exists")
        _check_parents(tree, path, command.path)
        if not (yield from self._values.created(_key(path), command.file_text)):
            raise ToolError(f"File {command.path} already exists")
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> Steps[str]:
        def replaced(text: str) -> str:
            places = _places(text, command.old_str)
            if not places:
                raise ToolError(
                    f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in "
                    f"{command.path}."
                )
            if text.count(command.old_str) > 1:
                lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: "
                    f"{lines}. Please ensure it is unique"
                )
            return text.replace(command.old_str, command.new_str)

        before, after = yield from self._changed(command.path, replaced)
        changed = before.count("\n", 0, before.find(command.old_str))
        first = max(0, changed - 2)
        lines = _lines(after.split("\n")[first : changed + 3], first)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{lines}"

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> Steps[str]:
        def inserted(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            return "\n".join(lines).removesuffix("\n") + "\n"

        yield from self._changed(command.path, inserted)
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> Steps[str]:
        path = _checked(command.path)
        if not path:
            raise ToolError("Cannot delete the /memories directory itself")
        names = _within((yield from self._tree()), path)
        if not names:
            raise ToolError(f"The path {command.path} does not exist")
        yield from self._archived(names)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> Steps[str]:
        """Creates the new names before it archives the old ones, so an interrupted rename leaves copies."""
        old, new = _checked(command.old_path), _checked(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        tree = yield from self._tree()
        if new in tree or _is_directory(tree, new):
            raise ToolError(f"The destination {command.new_path} already exists")
        _check_parents(tree, new, command.new_path)
        names = _within(tree, old)
        if not names:
            raise ToolError(f"The path {command.old_path} does not exist")
        if _is_below(new, old):
            raise ToolError(f"The destination {command.new_path} is inside {command.old_path}")
        moved = {name: new + name[len(old) :] for name in names}
        for target in moved.values():
            _key(target)
        for name, target in moved.items():
            if not (yield from self._values.created(_key(target), tree[name].text)):
                raise ToolError(f"The destination {command.new_path} already exists")
        yield from self._archived(names)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear(self) -> Steps[str]:
        yield from self._archived(list((yield from self._tree())))
        return "All memory cleared"

    def _tree(self) -> Steps[_Tree]:
        listed = yield from self._values.listed()
        return {_path(each["key"]): _File(str(each["data"]), each["version"]) for each in listed}

    def _changed(self, given: str, change: Callable[[str], str]) -> Steps[tuple[str, str]]:
        """Changes the text of a file. Returns the texts before and after.

        When somebody else changes the file meanwhile, the change is made to the new text.
        """
        path = _checked(given)
        for tries in range(_TRIES):
            tree = yield from self._tree()
            file = tree.get(path)
            if file is None:
                there = _is_directory(tree, path)
                raise ToolError(f"The path {given} is not a file." if there else _MISSING.format(path=given))
            after = change(file.text)
            try:
                yield from self._values.set(_key(path), after, file.version)
            except RefusedError as error:
                if error.status != 409 or tries == _TRIES - 1:
                    raise
            else:
                return file.text, after
        raise AssertionError

    def _archived(self, paths: list[str]) -> Steps[None]:
        for path in paths:
            yield from self._values.archived(_key(path))


def _checked(given: str) -> str:
    """Returns the path below the root. Refuses a path outside, also one that is outside only after decoding."""
    if given != _ROOT and not given.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path must start with {_ROOT}, got: {given}")
    plain, decoded = given, unquote(given)
    while decoded != plain:
        plain, decoded = decoded, unquote(decoded)
    for each in (given, plain.replace("\\", "/")):
        if normpath(each) != _ROOT and not normpath(each).startswith(f"{_ROOT}/"):
            raise ToolError(f"Path {given} would escape {_ROOT} directory")
    return normpath(given)[len(_ROOT) + 1 :]


def _key(path: str) -> str:
    """Returns the key of the reference: the path, in which ``%2F`` is a slash and ``%25`` a percent sign."""
    key = path.replace("%", "%25").replace("/", "%2F")
    if len(key.encode("utf-8", "replace")) > MOST_KEY_BYTES:
        raise ToolError(f"The path {_ROOT}/{path} is too long; use {MOST_KEY_BYTES} bytes at most")
    return key


def _path(key: str) -> str:
    return key.replace("%2F", "/").replace("%25", "%")


def _is_below(path: str, directory: str) -> bool:
    return path != directory and (not directory or path.startswith(f"{directory}/"))


def _is_directory(tree: _Tree, path: str) -> bool:
    return not path or any(_is_below(name, path) for name in tree)


def _within(tree: _Tree, path: str) -> list[str]:
    """Returns the file at ``path``, or the files below it."""
    return [name for name in tree if name == path or _is_below(name, path)]


def _check_parents(tree: _Tree, path: str, given: str) -> None:
    if any(_is_below(path, name) for name in tree):
        raise ToolError(f"The path {given} is below a file.")


def _listed(tree: _Tree, directory: str, given: str, depth: int) -> list[str]:
    """Returns a line for each entry of a directory, with the entries of its directories behind them."""
    start = len(directory) + 1 if directory else 0
    found = []
    for name in sorted({path[start:].partition("/")[0] for path in tree}):
        if name.startswith("."):
            continue
        below = f"{directory}/{name}" if directory else name
        if below in tree:
            found.append(f"{_size({below: tree[below]})}\t{given}/{name}")
            continue
        inside = {path: file for path, file in tree.items() if _is_below(path, below)}
        found.append(f"{_size(inside)}\t{given}/{name}/")
        if depth > 1:
            found += _listed(inside, below, f"{given}/{name}", depth - 1)
    return found


def _size(tree: _Tree) -> str:
    """Returns the size of files for people: ``0B``, ``1.5K``."""
    size, unit = float(sum(len(file.text.encode()) for file in tree.values())), "B"
    for larger in "KMG":
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"


def _numbered(command: BetaMemoryTool20250818ViewCommand, text: str) -> str:
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
    first, last = 0, len(lines)
    if command.view_range and len(command.view_range) == 2:
        first = max(1, command.view_range[0]) - 1
        last = last if command.view_range[1] == -1 else command.view_range[1]
    return f"Here's the content of {command.path} with line numbers:\n{_lines(lines[first:last], first)}"


def _lines(lines: list[str], before: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, before + 1))


def _places(text: str, part: str) -> list[int]:
    """Returns the places of ``part``, overlapping ones too."""
    found = []
    place = text.find(part)
    while place >= 0:
        found.append(place)
        place = text.find(part, place + 1)
    return found
