"""The commands of threads over HTTP."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from events.http.answering import routes_of
from events.http.fields import Name, Uuid, storable
from events.platform.database import Connection
from events.resources.threads import WrittenThread
from events.threads import Thread
from ingest.api import thread_commands
from ingest.api.thread_commands import UserThreads
from ingest.api.transactions import ByAgent, OfUser, Sender, Sent, Transactions
from ingest.decider import Outcome

Title = Annotated[str, *storable(200)]
Reason = Annotated[str, *storable(1000)]


class _Sent(ByAgent, OfUser):
    """Who sends a command."""


class ThreadIn(_Sent):
    """A new thread."""

    title: Title = Field(description="the topic, in a few words")
    project_id: Name = "default"
    mode: Annotated[Name | None, Field(description="the mode, such as journal")] = None
    reason: Annotated[Reason | None, Field(description="why, for whoever asks later")] = None


class ThreadCardsIn(_Sent):
    """Cards that belong to a thread."""

    card_ids: Annotated[list[Uuid], Field(min_length=1, max_length=500)]
    reason: Reason = Field(description="why they belong to it")
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class ThreadRenameIn(_Sent):
    """Another title."""

    title: Title


class ThreadReasonIn(_Sent):
    """Why a thread is closed, or opened again."""

    reason: Reason | None = None


def thread_router(transactions: Transactions) -> APIRouter:
    """Returns the routes of threads."""
    router = routes_of("threads")

    @router.post("/v1/threads", status_code=201, summary="Open a thread")
    def open_thread(body: ThreadIn, sender: Sent) -> WrittenThread:
        owner, command = sender.owner(body.user_id), sender.command_of(body, f"user/{body.user_id}")

        def run(connection: Connection) -> Outcome[Thread]:
            threads = UserThreads(connection, owner, command)
            return thread_commands.open_thread(threads, body.title, body.project_id, body.mode, body.reason)

        return transactions.written(WrittenThread, owner, run)

    @router.post("/v1/threads/{thread_id}/cards", summary="Add cards to a thread")
    def thread_cards(thread_id: Uuid, body: ThreadCardsIn, sender: Sent) -> WrittenThread:
        def run(threads: UserThreads) -> Outcome[Thread]:
            return thread_commands.add_cards(threads, body.card_ids, body.reason, body.confidence)

        return changed(sender, thread_id, body, run)

    @router.post("/v1/threads/{thread_id}/rename", summary="Give a thread another title")
    def rename_thread(thread_id: Uuid, body: ThreadRenameIn, sender: Sent) -> WrittenThread:
        return changed(sender, thread_id, body, lambda t: thread_commands.rename(t, body.title))

    @router.post("/v1/threads/{thread_id}/close", summary="Close a thread")
    def close_thread(thread_id: Uuid, body: ThreadReasonIn, sender: Sent) -> WrittenThread:
        return changed(sender, thread_id, body, lambda t: thread_commands.close(t, body.reason))

    @router.post("/v1/threads/{thread_id}/reopen", summary="Open a closed thread again")
    def reopen_thread(thread_id: Uuid, body: ThreadReasonIn, sender: Sent) -> WrittenThread:
        return changed(sender, thread_id, body, lambda t: thread_commands.reopen(t, body.reason))

    def changed(
        sender: Sender, thread_id: UUID, body: _Sent, run: Callable[[UserThreads], Outcome[Thread]]
    ) -> WrittenThread:
        owner = sender.owner(body.user_id, "thread", "thread_id")
        command = sender.command_of(body, f"user/{body.user_id}")
        return transactions.written(
            WrittenThread, owner, lambda c: run(UserThreads(c, owner, command, thread_id))
        )

    return router
