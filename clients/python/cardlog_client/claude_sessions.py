"""The session store of the Claude Agent SDK, kept in Cardlog.

Needs the package ``claude-agent-sdk``: ``pip install 'cardlog[agents]'``.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from claude_agent_sdk import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    fold_session_summary,
)

from cardlog_client.client import Client
from cardlog_client.session_lines import SessionLines, texts_of

_LOOKED_BACK = 100


class CardlogSessionStore(SessionStore):
    """The transcripts of ``user_id``, for ``ClaudeAgentOptions(session_store=…)``.

    Entries come back exactly, from the saved states of sessions; no recall finds them. With ``remember`` the texts of
    the user and of the assistant are pushed as turns, too, so that recalls know what was said. An entry whose ``uuid``
    is among the last ones of its transcript is not added again. A deleted transcript stays in the log until an erasure.
    Raises :class:`CardlogError`. A transcript has at most about 15 MiB.
    """

    def __init__(
        self, client: Client, user_id: str, *, project_id: str = "default", remember: bool = True
    ) -> None:
        self._remember = remember
        self._lines = SessionLines(client, user_id, project_id)
        self._listed: set[str] = set()

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Adds entries at the end, all or none."""
        await to_thread(self._append, key, entries)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Returns the entries in their order. None: there are none."""
        return cast("list[SessionStoreEntry]", await to_thread(self._lines.items, _name(key))) or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Returns the sessions with entries, and when they were changed last."""
        found = await to_thread(self._sessions, project_key)
        return [{"session_id": session, "mtime": mtime} for session, mtime, _ in found]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Returns the summaries of the sessions with entries."""
        found = await to_thread(self._sessions, project_key)
        return [
            {"session_id": session, "mtime": mtime, "data": dict(about or {})}
            for session, mtime, about in found
        ]

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Returns the subpaths with entries of a session."""
        return await to_thread(self._subpaths, key)

    async def delete(self, key: SessionKey) -> None:
        """Empties a transcript. Without a subpath, those below the session, too."""
        if not key.get("subpath"):
            for subpath in await self.list_subkeys(key):
                await to_thread(self._lines.clear, _name({**key, "subpath": subpath}))
        await to_thread(self._lines.clear, _name(key))

    def _append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        name = _name(key)
        recent = cast("list[SessionStoreEntry]", self._lines.items(name, len(entries) + _LOOKED_BACK))
        known = {entry.get("uuid") for entry in recent} - {None}
        new = [entry for entry in entries if entry.get("uuid") not in known]
        if not new:
            return
        if name not in self._listed and not recent:
            # The name comes first: a transcript without a name in the index would be lost.
            self._lines.append(_index(key["project_key"]), [[key["session_id"], key.get("subpath") or ""]])
        self._listed.add(name)

        def summary(before: Mapping[str, object] | None) -> Mapping[str, object]:
            data = cast("dict[str, Any]", before)
            previous: SessionSummaryEntry = {"session_id": key["session_id"], "mtime": 0, "data": data}
            return fold_session_summary(None if before is None else previous, key, new)["data"]

        self._lines.append(name, new, None if key.get("subpath") else summary)
        if self._remember and not key.get("subpath"):
            self._lines.push(_name(key), _said(new))

    def _names(self, project_key: str) -> list[list[str]]:
        listed = cast("list[list[str]]", self._lines.items(_index(project_key)))
        return [list(each) for each in dict.fromkeys(map(tuple, listed))]

    def _sessions(self, project_key: str) -> list[tuple[str, int, Mapping[str, object] | None]]:
        found = []
        for session, subpath in self._names(project_key):
            changed = None
            if not subpath:
                changed = self._lines.changed(_name({"project_key": project_key, "session_id": session}))
            if changed is not None:
                found.append(
                    (session, round(datetime.fromisoformat(changed[0]).timestamp() * 1000), changed[1])
                )
        return found

    def _subpaths(self, key: SessionListSubkeysKey) -> list[str]:
        return [
            subpath
            for session, subpath in self._names(key["project_key"])
            if session == key["session_id"]
            and subpath
            and self._lines.changed(
                _name({"project_key": key["project_key"], "session_id": session, "subpath": subpath})
            )
        ]


def _name(key: SessionKey) -> str:
    """Returns the name of a transcript. The tilde separates the parts, so the erasure of a turn finds all of them."""
    parts = (key["project_key"], key["session_id"], key.get("subpath") or "")
    return "~".join(part.replace("%", "%25").replace("~", "%7E") for part in parts if part)


def _index(project_key: str) -> str:
    return f"{_name({'project_key': project_key, 'session_id': ''})}~~"


def _said(entries: Sequence[SessionStoreEntry]) -> list[tuple[str, str]]:
    """Returns the texts of messages with their roles."""
    said = []
    for entry in cast("Sequence[Mapping[str, Any]]", entries):
        message = entry.get("message")
        if entry["type"] in ("user", "assistant") and isinstance(message, Mapping):
            said.append((entry["type"], texts_of(message.get("content"))))
    return said
