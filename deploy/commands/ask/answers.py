"""What the verbs about a user's memory share: all pages of a list, and the print of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_PAGE = 500


def every(
    ask: Callable[..., Mapping[str, Any]], user: str, name: str, *, most: int | None = None, **filters: Any
) -> list[Any]:
    """Returns the items ``name`` of all pages that ``ask`` gives about a user, at most ``most``."""
    found: list[Any] = []
    cursor = None
    while most is None or len(found) < most:
        limit = None if most is None else min(most - len(found), _PAGE)
        page = ask(user, cursor=cursor, limit=limit, **filters)
        found += page[name]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    return found


def show(document: Any, lines: Iterable[str], *, as_json: bool) -> int:
    """Prints an answer, as JSON or as lines. Returns the exit status 0."""
    for line in [json.dumps(document, ensure_ascii=False)] if as_json else lines:
        print(line)
    return 0
