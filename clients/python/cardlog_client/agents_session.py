"""The session of the OpenAI Agents SDK, kept in Cardlog. Needs ``openai-agents``: ``pip install 'cardlog[agents]'``."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, Any, cast

from agents.memory import SessionABC, SessionSettings

from cardlog_client.client import Client
from cardlog_client.session_lines import SessionLines, texts_of

if TYPE_CHECKING:
    from agents.items import TResponseInputItem


class CardlogSession(SessionABC):
    """The conversation ``session_id`` of ``user_id``, for ``Runner.run(agent, …, session=…)``.

    Items come back exactly, from the saved state of the session; no recall finds them. With ``remember`` the texts of
    messages are pushed as turns, too, so that recalls know what was said. A popped or cleared item stays in the log
    until an erasure, and so does its turn. ``session_settings.limit`` is the number of items that a run gets. Several
    processes may use one session. Raises :class:`CardlogError`. A session has at most about 15 MiB of items.
    """

    def __init__(
        self,
        client: Client,
        user_id: str,
        session_id: str,
        *,
        project_id: str = "default",
        remember: bool = True,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._remember = remember
        self._lines = SessionLines(client, user_id, project_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the items, or the latest ``limit`` ones, in their order."""
        settings = self.session_settings
        if limit is None and settings is not None:
            limit = settings.limit
        last = None if limit is None else max(limit, 0)
        return cast("list[TResponseInputItem]", await to_thread(self._lines.items, self.session_id, last))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items at the end, all or none."""
        await to_thread(self._lines.append, self.session_id, items)
        if self._remember:
            given = cast("list[dict[str, Any]]", items)
            texts = [(str(each.get("role")), texts_of(each.get("content"))) for each in given]
            await to_thread(self._lines.push, self.session_id, texts)

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the latest item, and returns it. None: there is none."""
        return cast("TResponseInputItem | None", await to_thread(self._lines.pop, self.session_id))

    async def clear_session(self) -> None:
        """Removes all items."""
        await to_thread(self._lines.clear, self.session_id)
