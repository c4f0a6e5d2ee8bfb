"""Chooses the reader of a text."""

import codecs
from typing import Literal

from ingest.migration import mem0, notes, saved_memories
from ingest.migration.memories import Memories, TextInvalidError

Format = Literal["auto", "mem0", "chatgpt", "notes"]
_OTHERS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(text: str, form: Format = "auto") -> Memories:
    """Returns the memories of a text in their order. ``auto`` tells the form by the text.

    Raises :class:`TextInvalidError`, which names a line or a JSON Pointer, and for a text without any memory.
    """
    if (place := text.find("\0")) >= 0:
        line = text.count("\n", 0, place) + 1
        raise TextInvalidError(f"line {line}", "holds a NUL character; remove it, or save the text as UTF-8")
    if form == "auto":
        form = _form_of(text)
    readers = {"mem0": mem0.read, "chatgpt": saved_memories.read}
    found = readers.get(form, notes.read)(text)
    if not found.memories:
        raise TextInvalidError("", f"holds no memory in the format {form}; give at least one sentence")
    return found


def decoded(data: bytes) -> str:
    """Returns a file as text. Raises :class:`TextInvalidError` for another encoding than UTF-8."""
    if data.startswith(_OTHERS):
        raise TextInvalidError("line 1", "is not UTF-8 but UTF-16 or UTF-32; save the file as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextInvalidError(
            f"line {line}", f"is not valid UTF-8 (byte {error.start} of the file); save the file as UTF-8"
        ) from None


def _form_of(text: str) -> Format:
    if saved_memories.fits(text):
        return "chatgpt"
    return "mem0" if text.lstrip()[:1] in ("{", "[") else "notes"
