"""Repairs the append-only files of an embedded Redis that does not start. Everything readable is kept."""

import mmap
import os
import re
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

FOLDER = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"

# Only bare file names match, because root repairs files here that an unprivileged account wrote.
_LINE = re.compile(r"file (appendonly\.aof\.\d+\.(?:base|incr)\.(?:rdb|aof)) seq (\d+) type ([bih])")
_NAME = re.compile(r"appendonly\.aof\.(\d+)\.(base|incr)\.(?:rdb|aof)")
_COMMAND = re.compile(rb"\*([1-9]\d{0,6})\r\n")
_WORD = re.compile(rb"\$(\d{1,10})\r\n")
_NOTE = re.compile(rb"#[^\r\n]*\r\n")
_SNAPSHOT = (b"REDIS", b"VALKEY")


@dataclass(frozen=True, slots=True)
class _Part:
    """One file of the data: a base file, or an increment that was written after it."""

    name: str
    sequence: int
    kind: str


def hides_data(folder: Path) -> bool:
    """True when the manifest does not list data that were written after the listed ones. The server would ignore them.

    A base file that a rewrite made is no such data until the manifest lists it.
    """
    store = folder / FOLDER
    if not _is_folder(store):
        return False
    listed, _ = _listed(store)
    last = max((part.sequence for part in listed if part.kind == "i"), default=0)
    return any(
        (part.kind == "i" or not listed) and part.sequence > last and (store / part.name).lstat().st_size
        for part in _found(store)
    )


def repair(folder: Path, refused: bytes | None = None) -> tuple[int, Path] | None:
    """Cuts each damaged file to its readable part, and writes the manifest again.

    A file of commands is kept up to its last whole command before the damage, or before the first command named
    `refused`. All files are copied before the first change. Returns the number of lost bytes and the folder of the
    copies, or None when there was nothing to repair. Raises OSError.
    """
    store = folder / FOLDER
    if not _is_folder(store):
        return None
    parts, sound = _listed(store)
    if not sound or hides_data(folder):
        parts, sound = _all_found(store), False
    sizes = {part: (store / part.name).lstat().st_size for part in parts}
    lengths = {part: _readable(store / part.name, refused) for part in parts}
    lost = sum(sizes.values()) - sum(lengths.values())
    if sound and not lost:
        return None
    kept_in = _free(folder / f"{FOLDER}.damaged-{_stamp()}")
    shutil.copytree(store, kept_in, symlinks=True)
    kept_in.chmod(0o700)
    for part in parts:
        if lengths[part] < sizes[part]:
            _shorten(store / part.name, lengths[part])
    _list(store, parts)
    return lost, kept_in


def set_aside(folder: Path) -> Path | None:
    """Moves all files to another folder, so that the server starts empty. Returns that folder, or None without files.

    Raises OSError.
    """
    store = folder / FOLDER
    if not store.exists():
        return None
    return store.rename(_free(folder / f"{FOLDER}.unreadable-{_stamp()}"))


def _listed(store: Path) -> tuple[list[_Part], bool]:
    """Returns (the files that the manifest lists, in reading order, true when the manifest lists them correctly)."""
    try:
        lines = (store / MANIFEST).read_text("ascii").splitlines()
    except (FileNotFoundError, UnicodeDecodeError):
        lines = ["unreadable"]
    read = [_LINE.match(line) for line in lines]
    parts = [_Part(found[1], int(found[2]), found[3]) for found in read if found and found[3] != "h"]
    sound = bool(parts) and all(read) and all(_is_file(store / part.name) for part in parts)
    return _in_order(parts), sound


def _all_found(store: Path) -> list[_Part]:
    """Returns the newest base file and all increments in the folder, in reading order."""
    parts = _found(store)
    newest = max((part.sequence for part in parts if part.kind == "b"), default=0)
    return _in_order(part for part in parts if part.kind == "i" or part.sequence == newest)


def _found(store: Path) -> list[_Part]:
    names = [name for name in os.listdir(store) if _is_file(store / name)]
    return [_Part(name, int(found[1]), found[2][0]) for name in names if (found := _NAME.fullmatch(name))]


def _in_order(parts: Iterable[_Part]) -> list[_Part]:
    return sorted(parts, key=lambda part: (part.kind, part.sequence))


def _readable(path: Path, refused: bytes | None) -> int:
    """Returns the readable bytes of a file of commands, in whole transactions. A snapshot counts as readable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if not os.fstat(descriptor).st_size:
            return 0
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as content:
            return len(content) if content[:6].startswith(_SNAPSHOT) else _whole(content, refused)
    finally:
        os.close(descriptor)


# valkey-check-aof --fix leaves commands that the server refuses, and then the server would have to start empty:
# break_a_commands_name and break_a_commands_length in tests/integration/deploy/embedded/test_embedded_redis.py.
def _whole(content: mmap.mmap, refused: bytes | None) -> int:
    good = position = 0
    transaction = False
    while position < len(content):
        if note := _NOTE.match(content, position):
            position = note.end()
        else:
            name, position = _command(content, position)
            if not name or name.lower() == (refused or b"").lower():
                return good
            transaction = name.upper() == b"MULTI" or (transaction and name.upper() != b"EXEC")
        if not transaction:
            good = position
    return good


def _command(content: mmap.mmap, position: int) -> tuple[bytes, int]:
    """Returns the name and the end of the command at ``position``. The name is empty when no command begins there."""
    name = b""
    if not (head := _COMMAND.match(content, position)):
        return b"", position
    position = head.end()
    for number in range(int(head[1])):
        word = _WORD.match(content, position)
        if not word:
            return b"", position
        end = word.end() + int(word[1])
        if content[end : end + 2] != b"\r\n":
            return b"", position
        if number == 0:
            name = content[word.end() : end]
        position = end + 2
    return name, position


def _shorten(path: Path, length: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        os.ftruncate(descriptor, length)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _list(store: Path, parts: list[_Part]) -> None:
    new = store / f"{MANIFEST}.new"
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.writelines(f"file {part.name} seq {part.sequence} type {part.kind}\n" for part in parts)
        file.flush()
        os.fsync(file.fileno())
    new.rename(store / MANIFEST)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def _free(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free
