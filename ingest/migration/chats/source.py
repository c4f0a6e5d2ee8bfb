"""The bytes of an exported chat: a file, a member of a zip, or a stream, always as valid UTF-8."""

import codecs
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

import ijson

from ingest.migration.chats.message import LeftOut

_OTHERS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MARK = "\ufffd".encode()
_CHUNK = 64 * 1024
_DEEPER = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_DEEPEST = 100  # exports of assistants need about ten


class ExportUnreadableError(ValueError):
    """A file cannot be read as an export of a chat. The message gives the remedy."""


@contextmanager
def parts_of(file: IO[bytes], member: re.Pattern[str]) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Yields (name, opened) of ``file``: of itself, or of the members of a zip whose names match ``member``.

    Raises :class:`ExportUnreadableError` for a zip without such a member.
    """
    packed = file.seekable() and zipfile.is_zipfile(file)
    if file.seekable():
        file.seek(0)
    if not packed:
        yield iter([("", file)])
        return
    try:
        with zipfile.ZipFile(file) as opened:
            names = sorted(name for name in opened.namelist() if member.search(name))
            if not names:
                raise ExportUnreadableError(
                    "the zip holds no file of a chat; give the zip as it was exported, or the file alone"
                )
            yield ((name, opened.open(name)) for name in names)
    except zipfile.BadZipFile as error:
        raise ExportUnreadableError(f"the zip is broken ({error}); download it again") from None


class Utf8:
    """Reads ``file`` as valid UTF-8 without a byte order mark. Each invalid byte is replaced, counted and named.

    ``seen`` is told the number of bytes after every read. Raises :class:`ExportUnreadableError` for UTF-16.
    """

    def __init__(
        self, file: IO[bytes], left_out: LeftOut, name: str = "", seen: Callable[[int], None] | None = None
    ) -> None:
        self._file = file
        self._left_out = left_out
        self._name = f"{name}, " if name else ""
        self._seen = seen
        self._rest = b""
        self._line = 1
        self._offset = 0
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        """Returns about ``size`` bytes, and none at the end."""
        if size == 0:
            return b""
        found = b""
        while not found:
            fresh = self._file.read(_CHUNK if size < 0 else size)
            if not fresh and not self._rest:
                return b""
            if self._seen is not None:
                self._seen(len(fresh))
            found = self._valid(self._rest + fresh, last=not fresh)
        return found

    def lines(self) -> Iterator[str]:
        """Yields the lines without their ends."""
        rest = ""
        while chunk := self.read():
            *whole, rest = (rest + chunk.decode()).split("\n")
            yield from (line.removesuffix("\r") for line in whole)
        if rest:
            yield rest

    def _valid(self, data: bytes, *, last: bool) -> bytes:
        if not self._begun:
            self._begun = True
            if data.startswith(_OTHERS):
                raise ExportUnreadableError("the file is UTF-16 and not UTF-8; save it as UTF-8")
            data = data.removeprefix(codecs.BOM_UTF8)
        self._rest = b""
        valid: list[bytes] = []
        while True:
            try:
                data.decode()
            except UnicodeDecodeError as error:
                self._take(valid, data[: error.start])
                if error.end == len(data) and "unexpected end" in error.reason and not last:
                    self._rest = data[error.start :]
                    break
                self._left_out.add(
                    "bytes that are not UTF-8 were replaced",
                    f"{self._name}line {self._line} (byte {self._offset})",
                    broken=True,
                )
                valid.append(_MARK)
                self._offset += error.end - error.start
                data = data[error.end :]
            else:
                self._take(valid, data)
                break
        return b"".join(valid)

    def _take(self, valid: list[bytes], data: bytes) -> None:
        valid.append(data)
        self._line += data.count(b"\n")
        self._offset += len(data)


def parsed(file: Utf8) -> Iterator[tuple[str, str, object]]:
    """Yields (path, event, value) of ijson. Raises :class:`ijson.JSONError` for nesting that is too deep.

    Every path is as long as its depth, so the work of a file would grow with the square of its nesting.
    """

    def shallow() -> Iterator[tuple[str, object]]:
        depth = 0
        for event, value in ijson.basic_parse(file, use_float=True):
            depth += _DEEPER.get(event, 0)
            if depth > _DEEPEST:
                raise ijson.JSONError(f"lists and objects stand in one another more than {_DEEPEST} deep")
            yield event, value

    return iter(ijson.parse(shallow()))


def items_of(file: Utf8, prefix: str, left_out: LeftOut, name: str = "") -> Iterator[tuple[str, object]]:
    """Yields (place, item) of a JSON list, one at a time. ``prefix`` is a path of ijson.

    Broken JSON ends the list, because nobody can tell what its rest means. The end is counted and named.
    """
    number = 0
    try:
        for number, item in enumerate(ijson.items(parsed(file), prefix), 1):
            yield f"{name}#{number}", item
    except ijson.JSONError as error:
        cut_off(left_out, f"{name}#{number}", error)


def cut_off(left_out: LeftOut, place: str, error: Exception) -> None:
    """Counts the rest of a file whose JSON breaks off after ``place``. The words of the file are not in the report."""
    why = str(error).splitlines()[0][:120]
    left_out.add("the JSON is broken, and its rest was not read", f"after {place} ({why})", broken=True)
