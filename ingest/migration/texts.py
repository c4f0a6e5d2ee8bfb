"""Reads the text of another memory: mem0 JSON, saved memories of ChatGPT, or notes. Each sentence is one memory."""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import orjson

from events.types.instants import YEARS, InstantInvalidError, noon_of
from events.types.json_values import Json
from events.types.turn_contract import MAX_TEXT_BYTES, text_of
from events.types.turns import Role

MAX_MEMORIES = 100_000
"""The most memories of one text."""


class TextInvalidError(ValueError):
    """A text of another memory cannot be read. ``where`` is a line or a JSON Pointer; the reason gives the remedy."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.where = where
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Memory:
    """One sentence of another memory, or a message of an old conversation. ``at`` is the instant that it gives."""

    text: str
    at: datetime | None = None
    role: Role = "user"


@dataclass(slots=True)
class Memories:
    """The sentences of a text in their order. ``remarks`` tell what was left out."""

    format: str
    memories: list[Memory] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, text: str, where: str, at: datetime | None = None) -> None:
        """Adds a sentence. Raises :class:`TextInvalidError` for one that no turn can hold."""
        text = text.strip()
        if not text:
            return
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MAX_TEXT_BYTES:
            raise TextInvalidError(
                where, f"is {size} bytes long; at most {MAX_TEXT_BYTES} are allowed, so split it"
            )
        text_of("text", text, lambda _, reason: TextInvalidError(where, f"{reason}; remove it"))
        if len(self.memories) >= MAX_MEMORIES:
            raise TextInvalidError(
                where, f"is one memory too many; at most {MAX_MEMORIES} are allowed, so split it"
            )
        self.memories.append(Memory(text, at))


def _on_day(text: str, where: str) -> datetime:
    try:
        return noon_of(text)
    except InstantInvalidError as error:
        raise TextInvalidError(where, str(error)) from None


MAX_CHARS = 100
_LATIN = r"[^\W\d_a-z][\w'’-]*(?: [^\W\d_a-z][\w'’-]*){0,3}"
_TOLD = re.compile(
    r"^(?:(?:the )?user(?:['’]s)? |my |their )?(?:full |first )?name(?:: | is )"
    rf"(?P<name>{_LATIN})\s*[.!]?$|"
    rf"^(?:(?:the )?user |they )?(?:is|are|am|i am|i'm) (?:called|named) (?P<called>{_LATIN})\s*[.!]?$",
)
_CASELESS = re.compile(r"^(?:The|User|My|Their|Full|First|Name|They|Is|Are|I)\b")
_TOLD_ZH = re.compile(
    r"^(?:[该該]?(?:用户|用戶|使用者)|我)?(?:的?(?:名字|姓名|全名)(?:叫|是|为|為|：|:)\s*|名叫|叫做|叫)"
    r"(?P<name>[\u3400-\u9fff]{2,4}|[A-Za-z][\w'’-]*)\s*[。.]?$"
)


def told_name(memories: Iterable[Memory]) -> str | None:
    """Returns the name that the memories tell of their user. None: they tell no name, or different ones."""
    found = {name for each in memories if (name := _name_in(each.text)) is not None}
    return found.pop() if len(found) == 1 else None


def _name_in(text: str) -> str | None:
    if len(text) > 2 * MAX_CHARS:
        return None
    text = _CASELESS.sub(lambda word: word[0].lower(), text.strip())
    told = _TOLD.match(text)
    if told is not None:
        return told["name"] or told["called"]
    told = _TOLD_ZH.match(text)
    return None if told is None else told["name"]


_LISTS = ("results", "memories")
_REMEDY = "JSON is read as get_all() of mem0 gives it, a list of objects with the member memory; give others as notes"


def _read_mem0(text: str) -> Memories:
    """Reads the answer of ``get_all()``: an object with ``results``, or a list. Faults are named by their pointer."""
    document = _parsed(text)
    pointer = ""
    found = Memories("mem0")
    if isinstance(document, dict):
        name = next((each for each in _LISTS if each in document), None)
        if name is None:
            raise TextInvalidError("/", f"has no member results; {_REMEDY}")
        if document.get("relations"):
            found.remarks.append(
                "the relations of the graph are left out; the memories tell the same in words"
            )
        if document.get("next"):
            found.remarks.append("this is one page of several: /next names another one")
        pointer, document = f"/{name}", document[name]
    if not isinstance(document, list):
        raise TextInvalidError(pointer or "/", f"must be a list; {_REMEDY}")
    users: dict[str, None] = {}
    empty = 0
    for number, item in enumerate(document):
        where = f"{pointer}/{number}"
        if not isinstance(item, dict):
            raise TextInvalidError(where, f"must be an object; {_REMEDY}")
        memory = item.get("memory")
        if not isinstance(memory, str):
            raise TextInvalidError(f"{where}/memory", f"must be a text; {_REMEDY}")
        if isinstance(user := item.get("user_id"), str):
            users[user] = None
        if len(users) > 1:
            raise TextInvalidError(
                f"{where}/user_id", "names another user than the memories before; migrate one user at a time"
            )
        empty += not memory.strip()
        found.add(memory, f"{where}/memory", _instant(item, where))
    if empty:
        found.remarks.append(f"memories without words are left out: {empty}")
    return found


def _parsed(text: str) -> object:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError) as error:
        line = getattr(error, "lineno", 1)
        raise TextInvalidError(f"line {line}", f"is not JSON ({error}); send the export unchanged") from None


def _instant(item: dict[str, Json], where: str) -> datetime | None:
    """Returns the last change of a memory. A time without an offset is UTC."""
    for name in ("updated_at", "created_at"):
        given = item.get(name)
        if given in (None, ""):
            continue
        try:
            instant = datetime.fromisoformat(given)
            instant = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
            if instant.year in YEARS:
                return instant.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            pass
        shown = repr(given[:40]) if isinstance(given, str) else "no text"
        raise TextInvalidError(f"{where}/{name}", f"is {shown}; use ISO 8601, such as 2024-05-03T10:00:00Z")
    return None


_ITEM = re.compile(r"^(?P<indent>\s*)(?:[-*+•]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.*)$")
_NO_NOTE = re.compile(r"^\s{0,3}#{1,6}\s|^\s*(?:=+|-{3,}|\*{3,}|_{3,})\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(\u3400-\u9fff])|(?<=[。！？])")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|etc|No|Inc|Ltd|Co|U\.S|U\.K|[A-Z])\.$"
)
_LONGEST_ABBREVIATION = 8
_MARKUP = re.compile(r"\*\*|__|`")


def _read_notes(text: str) -> Memories:
    """Reads Markdown: a list item is one memory, and so is a sentence of a paragraph. Tables and code are left out."""
    found = Memories("notes")
    left_out = 0
    lines: list[str] = []  # of the paragraph or the list item that is read
    began = 0
    item = fenced = False

    def close() -> None:
        words = _MARKUP.sub("", " ".join(lines))
        for sentence in [words] if item else sentences(words):
            found.add(sentence, f"line {began}")
        lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line) is not None
        if fence or fenced or _NO_NOTE.match(line) or _TABLE.match(line):
            close()
            item = False
            fenced = fenced != fence
            left_out += 1
        elif not line.strip():
            close()
            item = False
        elif (entry := _ITEM.match(line)) is not None:
            close()
            item, began = True, number
            lines.append(entry["text"])
        else:
            began = began if lines else number
            lines.append(line.strip())
    close()
    if left_out:
        found.remarks.append(f"{left_out} lines are left out: headings, tables and code")
    return found


def sentences(paragraph: str) -> Iterator[str]:
    """Yields the sentences of a paragraph. A dot after an abbreviation ends none."""
    begun = 0
    for end in _SENTENCE.finditer(paragraph):
        # The window keeps the cost linear where dots follow each other.
        if (
            _ABBREVIATION.search(paragraph, max(begun, end.start() - _LONGEST_ABBREVIATION), end.start())
            is None
        ):
            yield paragraph[begun : end.start()]
            begun = end.end()
    yield paragraph[begun:]


_BULLET = r"^\s*(?:[-*•]\s+|\d{1,4}[.)]\s+)?"
_LINE = re.compile(
    rf"{_BULLET}(?:\[(?P<in>\d{{4}}-\d{{2}}-\d{{2}})(?:[ T][^\]]*)?\]|(?P<day>\d{{4}}-\d{{2}}-\d{{2}})(?=\s*[-–—:]))"
    r"[\s.:–—-]*(?P<dated>.*)$"
)
_UNDATED = re.compile(rf"{_BULLET}(?:\[(?:unknown|no date|undated)\][\s.:–—-]*)?(?P<text>.*)$", re.IGNORECASE)
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s|```|(?:saved memories|memories|model set context|bio)\s*:?\s*$)", re.IGNORECASE
)
_OF_USER = re.compile(rf"{_BULLET}(?:the )?(?:user\b|用户|用戶|使用者)", re.IGNORECASE)


def _read_saved(text: str) -> Memories:
    """Reads saved memories of ChatGPT as a user copies them: one memory a line, often with a date before it."""
    found = Memories("chatgpt")
    for number, line in enumerate(text.splitlines(), 1):
        where = f"line {number}"
        if _HEADING.match(line):
            continue
        dated = _LINE.match(line)
        if dated is not None:
            found.add(dated["dated"], where, _on_day(dated["in"] or dated["day"], where))
        elif (undated := _UNDATED.match(line)) is not None:
            found.add(undated["text"], where)
    return found


def _is_saved(text: str) -> bool:
    """True when most lines of ``text`` have a date before them, or tell something about "the user"."""
    lines = [line for line in text.splitlines() if line.strip() and not _HEADING.match(line)]
    dated = sum(_LINE.match(line) is not None for line in lines)
    told = sum(_OF_USER.match(line) is not None for line in lines)
    return 2 * (dated + told) > len(lines) and (len(lines) > 1 or dated == 1)


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
        form = "mem0" if text.lstrip()[:1] in ("{", "[") else "notes"
        form = "chatgpt" if _is_saved(text) else form
    readers = {"mem0": _read_mem0, "chatgpt": _read_saved}
    found = readers.get(form, _read_notes)(text)
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
