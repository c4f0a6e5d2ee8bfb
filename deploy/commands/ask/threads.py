"""``cardlog threads``: lists the threads of a user, opens them, adds cards, renames and closes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import REASON, Verbs, argument, option

if TYPE_CHECKING:
    from cardlog_client import types

app = App(name="threads", help="topics of a user that go on over sessions, and their cards")
verbs = Verbs(app)

Status = Literal["open", "closed", "all"]
_ID = argument("thread", UUID, "the thread's id, as listed")


def _lines(thread: types.Thread) -> Iterator[str]:
    changed = f"{thread['cards']:>4} cards  changed {thread['updated_at'][:10]}"
    yield f"{thread['thread_id']}  {thread['status']:<6} {changed}  {thread['title']}"


def _cards(found: types.ThreadCards) -> Iterator[str]:
    yield from _lines(found["thread"])
    for each in found["cards"]:
        said = each["said_at"][:10] if each["said_at"] else "-"
        yield f"    {said:<10}  {each['kind'] or 'gone':<9}  {each['content'] or each['card_id']}"


verbs.pages(
    "list", "list the threads of a user, open ones first", Client.threads,
    verbs.options, option("status", Status, "default: open", "open"),
    most=500, items="threads", lines=_lines,
    none=lambda status: f"{{user}} has no {'' if status == 'all' else f'{status} '}threads",
)  # fmt: skip
verbs.call("show", "show a thread with its cards", Client.thread, _ID, lines=_cards)
verbs.call(
    "open", "open a thread", Client.open_thread,
    argument("title", str, "the topic, in a few words"),
    option("project_id", str, "the project of the thread", "default", name="--project"),
    REASON, lines=_lines,
)  # fmt: skip
verbs.call(
    "add", "add cards to a thread", Client.thread_cards, _ID,
    argument("card_ids", list[str], "the ids of the cards, as recall shows them"),
    option("reason", str, "why they belong to it", "added by hand"),
    lines=_lines,
)  # fmt: skip
verbs.call(
    "rename", "give a thread another title", Client.rename_thread, _ID,
    argument("title", str, "the new title"), lines=_lines,
)  # fmt: skip
verbs.call("close", "close a thread", Client.close_thread, _ID, REASON, lines=_lines)
verbs.call("reopen", "open a closed thread again", Client.reopen_thread, _ID, REASON, lines=_lines)
