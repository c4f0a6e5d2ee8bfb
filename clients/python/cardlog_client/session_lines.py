"""Lists of JSON items that only grow at their end, in the saved states of sessions.

Cardlog makes no cards of a state, so the raw items of an agent are in no recall. A list is lines of JSON. The state of
its session holds the last lines, and the ids of the pages with the lines before them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from cardlog_client.errors import RefusedError

if TYPE_CHECKING:
    from cardlog_client.client import Client
    from cardlog_client.types import Turn

_PAGE = 16 * 1024
"""The bytes of a page. A state has at most 64 KiB of JSON, in which a quotation mark counts twice."""
_TRIES = 20
_NEVER = "none"
_MOST_TEXT = 64 * 1024
"""The most bytes of the text of a turn."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The state of a list. ``write`` names the write that made it: only one write can follow, because it names it."""

    write: str = _NEVER
    pages: tuple[str, ...] = ()
    tail: str = ""
    about: Mapping[str, object] | None = None
    saved_at: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.tail and not self.pages


class SessionLines:
    """The lists of one user in one project, by their names. Methods may be called from several threads.

    A change that comes between a read and its write is kept: the write is made again on top of it. Raises
    :class:`CardlogError`. A list has at most about 15 MiB.
    """

    def __init__(self, client: Client, user_id: str, project_id: str = "default") -> None:
        self._client = client
        self._user = user_id
        self._project = project_id
        self._lock = threading.Lock()

    def items(self, name: str, last: int | None = None) -> list[object]:
        """Returns the items of a list, or the ``last`` ones, in their order."""
        head = self._head(name)
        text, before = head.tail, list(head.pages)
        while before and (last is None or text.count("\n") <= last):
            text = self._page(before.pop()) + text
        lines = text.split("\n")[1 if before else 0 : -1]
        return [_read(line) for line in lines[0 if last is None else max(0, len(lines) - last) :]]

    def changed(self, name: str) -> tuple[str, Mapping[str, object] | None] | None:
        """Returns when the list was changed last, as ISO 8601, and what it is about. None: it has no items."""
        head = self._head(name)
        return None if head.is_empty else (head.saved_at, head.about)

    def append(
        self,
        name: str,
        items: Sequence[object],
        about: Callable[[Mapping[str, object] | None], Mapping[str, object]] | None = None,
    ) -> None:
        """Adds items, all or none. ``about`` makes what the list is about from what it was about before."""
        text = "".join(map(_line, items))

        def appended(head: _Head) -> _Head:
            pages, tail = list(head.pages), head.tail + text
            while len(tail.encode()) > _PAGE:
                page = tail.encode()[:_PAGE].decode("utf-8", "ignore")
                pages.append(self._saved_page(name, page))
                tail = tail[len(page) :]
            note = about(head.about) if about else head.about
            return replace(head, pages=tuple(pages), tail=tail, about=note)

        if text:
            self._change(name, appended)

    def pop(self, name: str) -> object | None:
        """Removes the last item, and returns it. None: there is none."""
        popped: list[object] = []

        def shorter(head: _Head) -> _Head:
            popped.clear()
            pages, tail = list(head.pages), head.tail
            while pages and tail.count("\n") < 2:
                tail = self._page(pages.pop()) + tail
            if not tail:
                return head
            rest, _, line = tail[:-1].rpartition("\n")
            popped.append(_read(line))
            return replace(head, pages=tuple(pages), tail=f"{rest}\n" if rest else "")

        self._change(name, shorter)
        return popped[0] if popped else None

    def clear(self, name: str) -> None:
        """Removes all items. The log keeps them until an erasure."""
        self._change(name, lambda head: replace(head, pages=(), tail="", about=None))

    def push(self, session_id: str, texts: Sequence[tuple[str, str]]) -> None:
        """Pushes texts with their roles as turns of a session, so that recalls know them. A long text is cut."""
        turns: list[Turn] = [
            {
                "user_id": self._user,
                "project_id": self._project,
                "session_id": session_id,
                "role": "user" if role == "user" else "assistant",
                "text": text.encode("utf-8", "replace")[:_MOST_TEXT]
                .decode("utf-8", "ignore")
                .replace("\0", ""),
            }
            for role, text in texts
            if text.strip() and role in ("user", "assistant")
        ]
        if turns:
            self._client.push(turns)

    def _change(self, name: str, change: Callable[[_Head], _Head]) -> None:
        """Writes the changed state, and decides again while another write was first."""
        erased = 0
        with self._lock:
            for tries in range(_TRIES):
                head = self._head(name)
                changed = change(head)
                if changed == head:
                    return
                # A second write after the same one has the same key and another state, so the service refuses it.
                # An erasure of the first state leaves its key taken.
                key = f"after-{head.write}" + (f"-{erased}" if erased and head.write == _NEVER else "")
                state = {
                    "write": uuid4().hex,
                    "pages": list(changed.pages),
                    "tail": _kept(changed.tail),
                    "about": changed.about,
                }
                try:
                    self._save(name, state, key)
                except RefusedError as error:
                    if error.field != "Idempotency-Key" or tries == _TRIES - 1:
                        raise
                    erased += head.write == _NEVER
                else:
                    return

    def _head(self, name: str) -> _Head:
        try:
            found = self._client.checkpoint(self._user, _session(name), project_id=self._project)
        except RefusedError as error:
            if error.status != 404:
                raise
            return _Head()
        state = found["state"]
        tail = _given(state["tail"])
        return _Head(state["write"], tuple(state["pages"]), tail, state["about"], found["saved_at"])

    def _saved_page(self, name: str, text: str) -> str:
        # The erasure of a turn erases the states of its session, and those whose names go on with a tilde.
        page = f"{name}~{uuid4().hex}"
        self._save(page, {"text": _kept(text)}, None)
        return page

    def _page(self, page: str) -> str:
        found = self._client.checkpoint(self._user, _session(page), project_id=self._project)
        return _given(str(found["state"]["text"]))

    def _save(self, name: str, state: Mapping[str, object], key: str | None) -> None:
        self._client.save_checkpoint(
            self._user, _session(name), state, project_id=self._project, idempotency_key=key
        )


def texts_of(content: object) -> str:
    """Returns the text of a message: its content, or the texts among the parts of its content."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [
        part.get("text") for part in parts if isinstance(part, Mapping) and "text" in str(part.get("type"))
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _session(name: str) -> str:
    """Returns the id of the session with the states of a list. It is part of a path, so it holds no slash."""
    return name.replace("%", "%25").replace("/", "%2F")


def _line(item: object) -> str:
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        text = json.dumps(item, separators=(",", ":"))
    return f"{text}\n"


def _read(line: str) -> object:
    item: object = json.loads(line)
    return item


def _kept(text: str) -> str:
    r"""Returns lines as a state holds them: it may hold no ``\u0000``, and JSON text has no raw control character."""
    return text.replace("\\u0000", "\1")


def _given(text: str) -> str:
    return text.replace("\1", "\\u0000")
