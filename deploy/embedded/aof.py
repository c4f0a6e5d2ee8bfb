"""The append-only files of an embedded Redis that does not start on them: what can be read is kept."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

FOLDER = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"

# Nothing but bare names: root repairs here what an account without rights wrote.
_LINE = re.compile(r"file (appendonly\.aof(?:\.\d+\.(?:base|incr)\.(?:rdb|aof))?) seq (\d+) type ([bih])")
_NAME = re.compile(r"appendonly\.aof\.(\d+)\.(base|incr)\.(?:rdb|aof)")
_COMMAND = re.compile(rb"\*([1-9]\d{0,6})\r\n")
_WORD = re.compile(rb"\$(\d{1,10})\r\n")
_NOTE = re.compile(rb"#[^\r\n]*\r\n")
_SNAPSHOT = (b"REDIS", b"VALKEY")

Check = Callable[[Path], bool]
"""Whether the server's own tools can read a file that begins with a snapshot; they may shorten it to make it so."""


@dataclass(frozen=True, slots=True)
class Mended:
    """What a repair left out, and where the files are as they were."""

    lost: int
    kept_in: Path


@dataclass(frozen=True, slots=True)
class _Part:
    """One file of the sequence that makes up the data: a base, then what was written since."""

    name: str
    sequence: int
    kind: str


def lacks_manifest(folder: Path) -> bool:
    """Whether there are files that the server would not look at, because nothing lists them any more."""
    store = folder / FOLDER
    return (
        _is_folder(store) and not (store / MANIFEST).exists() and any(map(_NAME.fullmatch, os.listdir(store)))
    )


def repair(folder: Path, check: Check, refused: bytes | None = None) -> Mended | None:
    """Shorten each damaged file to what can be read of it, and list again the files there are.

    A file of commands is kept up to its last whole one before the damage, or before the first one named `refused`.
    A snapshot cannot be read in part and is left out. All files are copied beside before any is changed. None
    means that nothing was found to repair. Raises OSError.
    """
    store = folder / FOLDER
    if not _is_folder(store):
        return None
    listed, sound = _parts(store)
    before = {part: (store / part.name).lstat().st_size for part in listed}
    lengths = {part: _readable(store / part.name, refused) for part in listed}
    cut = {part for part, length in lengths.items() if length is not None and length < before[part]}
    snapshots = [part for part, length in lengths.items() if length is None]
    kept_in = _free(folder / f"{FOLDER}.damaged-{_stamp()}")
    shutil.copytree(store, kept_in, symlinks=True)
    kept_in.chmod(0o700)
    left_out = {part for part in snapshots if not check(store / part.name)}
    for part in cut:
        _shorten(store / part.name, lengths[part] or 0)
    kept = [part for part in listed if part not in left_out]
    lost = sum(before.values()) - sum((store / part.name).lstat().st_size for part in kept)
    if sound and not lost:
        shutil.rmtree(kept_in)
        return None
    _list(store, kept)
    for part in left_out:
        (store / part.name).unlink()
    return Mended(lost, kept_in)


def set_aside(folder: Path) -> Path | None:
    """Move the files out of the server's way, so that it starts empty; None when there are none. Raises OSError."""
    store = folder / FOLDER
    if not store.exists():
        return None
    return store.rename(_free(folder / f"{FOLDER}.unreadable-{_stamp()}"))


def _parts(store: Path) -> tuple[list[_Part], bool]:
    """The files in the order they are read, and whether the manifest lists them rightly."""
    try:
        lines = (store / MANIFEST).read_text("ascii").splitlines()
    except (FileNotFoundError, UnicodeDecodeError):
        lines = ["unreadable"]
    read = [_LINE.match(line) for line in lines]
    parts = [_Part(found[1], int(found[2]), found[3]) for found in read if found and found[3] != "h"]
    sound = all(read) and all(_is_file(store / part.name) for part in parts)
    if not sound:
        names = sorted(os.listdir(store))
        found_names = [found for name in names if (found := _NAME.fullmatch(name)) and _is_file(store / name)]
        parts = [_Part(found[0], int(found[1]), found[2][0]) for found in found_names]
        parts += [_Part(name, 1, "b") for name in names if name == "appendonly.aof"]
        newest = max((part.sequence for part in parts if part.kind == "b"), default=0)
        parts = [part for part in parts if part.kind == "i" or part.sequence == newest]
    return sorted(parts, key=lambda part: (part.kind, part.sequence)), sound


def _readable(path: Path, refused: bytes | None) -> int | None:
    """How many bytes of a file of commands can be read, in whole transactions; None for one with a snapshot."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if not os.fstat(descriptor).st_size:
            return 0
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as content:
            return None if content[:6].startswith(_SNAPSHOT) else _whole(content, refused)
    finally:
        os.close(descriptor)


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
    """Name and end of the command that begins here; no name when none does."""
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
