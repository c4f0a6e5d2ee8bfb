"""Reads what mem0 gives: the answer of ``get_all()``, as an object with ``results`` or as a list of memories."""

from datetime import UTC, datetime

import orjson

from events.types.instants import YEARS
from events.types.json_values import Json
from ingest.migration.memories import Memories, TextInvalidError

_LISTS = ("results", "memories")
_REMEDY = "JSON is read as get_all() of mem0 gives it, a list of objects with the member memory; give others as notes"


def read(text: str) -> Memories:
    """Returns the memories of a JSON text. Raises :class:`TextInvalidError` with the pointer of what is wrong."""
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
