"""The commands of threads, and their routes. A thread only grows, so an agent may send each of the commands.

Every command is decided under a lock of the user's threads (:mod:`ingest.decider`). A command that changes nothing
appends no more than its key.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from events.http.answering import routes_of
from events.http.errors import conflict, invalid, missing
from events.http.fields import Name, Uuid, storable
from events.platform.database import Connection
from events.resources import threads as resources
from events.resources.resource import plain
from events.resources.threads import WrittenThread
from events.threads import Thread, threads_of
from events.types.envelope import Event, Payload
from events.types.threads import STREAM, CardsThreaded, ThreadClosed, ThreadOpened, ThreadRenamed
from ingest.api.commands import kinds_of, reached
from ingest.api.transactions import ByAgentOfUser, Sender, Sent, Transactions
from ingest.decider import Outcome, UserStream, decide

MAX_THREADS = 500
"""The most threads of one user."""
MAX_CARDS = 10_000
"""The most cards of one thread."""
Threads = dict[UUID, Thread]


class UserThreads(UserStream[Threads, Thread]):
    """The threads of a user."""

    name = STREAM
    keyed = "thread"

    def load(self) -> Threads:
        return threads_of(self.connection, self.owner)

    def present(self, state: Threads, event: Event | None = None) -> Thread:
        thread_id = self.about or (event and event.event_id)
        thread = state.get(thread_id) if thread_id else None
        if thread is None or not self.command.reach.admits(thread.project_id, thread.mode):
            raise missing("thread", "thread_id")
        return thread


def open_thread(
    threads: UserThreads, title: str, project_id: str, mode: str | None, reason: str | None
) -> Outcome[Thread]:
    """Opens a thread. Raises 404 for a project or mode out of reach, and 409 with the open thread of this title."""
    if not threads.command.reach.admits(project_id, mode):
        raise missing("project", "project_id")
    opened = ThreadOpened(title=title, project_id=project_id, mode=mode, reason=reason)

    def rule(known: Threads) -> Payload:
        _refuse_taken(known, title, project_id, mode)
        if len(known) >= MAX_THREADS:
            raise invalid("title", f"there are {MAX_THREADS} threads, which is the most a user can have")
        return opened

    return decide(threads, rule, lambda first: first == opened)


def add_cards(
    threads: UserThreads, card_ids: Sequence[UUID], reason: str, confidence: float
) -> Outcome[Thread]:
    """Adds cards to a thread. Cards that it has already are left out.

    Raises 404 for a card that the user has not within reach, and 422 for a full thread.
    """
    given = CardsThreaded(
        thread_id=threads.id, card_ids=tuple(dict.fromkeys(card_ids)), reason=reason, confidence=confidence
    )

    def rule(known: Threads) -> Payload | None:
        thread = threads.present(known)
        kinds = kinds_of(threads.connection, threads.owner, *given.card_ids)
        for card in given.card_ids:
            if card not in kinds or not reached(threads.connection, threads.command, card):
                raise missing("card", "card_ids")
        fresh = tuple(card for card in given.card_ids if card not in thread.cards)
        if len(thread.cards) + len(fresh) > MAX_CARDS:
            raise invalid("card_ids", f"make more than {MAX_CARDS:,} cards; open another thread")
        return replace(given, card_ids=fresh) if fresh else None

    def is_repeat(first: Payload) -> bool:
        return isinstance(first, CardsThreaded) and (
            first.thread_id == given.thread_id and set(first.card_ids) <= set(given.card_ids)
        )

    return decide(threads, rule, is_repeat)


def rename(threads: UserThreads, title: str) -> Outcome[Thread]:
    """Gives a thread another title. Raises 409 with the open thread that has it."""
    wanted = ThreadRenamed(thread_id=threads.id, title=title)

    def rule(known: Threads) -> Payload | None:
        thread = threads.present(known)
        if thread.title == title:
            return None
        _refuse_taken(known, title, thread.project_id, thread.mode)
        return wanted

    return decide(threads, rule, lambda first: first == wanted)


def close(threads: UserThreads, reason: str | None) -> Outcome[Thread]:
    """Closes a thread. A closed one stays as it is."""
    wanted = ThreadClosed(thread_id=threads.id, reason=reason)

    def rule(known: Threads) -> Payload | None:
        return None if threads.present(known).status == "closed" else wanted

    return decide(threads, rule, lambda first: _is_of(first, ThreadClosed, threads))


def reopen(threads: UserThreads, reason: str | None) -> Outcome[Thread]:
    """Opens a closed thread again. An open one stays as it is."""

    def rule(known: Threads) -> Payload | None:
        thread = threads.present(known)
        if thread.status == "open":
            return None
        same = {name: getattr(thread, name) for name in ("title", "project_id", "mode", "thread_id")}
        return ThreadOpened(**same, reason=reason)

    return decide(threads, rule, lambda first: _is_of(first, ThreadOpened, threads))


def _is_of(first: Payload, kind: type[ThreadClosed | ThreadOpened], threads: UserThreads) -> bool:
    return isinstance(first, kind) and first.thread_id == threads.about


def _refuse_taken(known: Threads, title: str, project_id: str, mode: str | None) -> None:
    for each in known.values():
        same = (each.project_id, each.mode) == (project_id, mode)
        if same and each.status == "open" and each.title.casefold() == title.casefold():
            raise conflict(
                "Exists",
                "title",
                "an open thread has this title; add cards to it, or choose another title",
                current=plain(resources.Thread.made_from(each)),
            )


Title = Annotated[str, *storable(200)]
Reason = Annotated[str, *storable(1000)]


class ThreadIn(ByAgentOfUser):
    """A new thread."""

    title: Title = Field(description="the topic, in a few words")
    project_id: Name = "default"
    mode: Annotated[Name | None, Field(description="the mode, such as journal")] = None
    reason: Annotated[Reason | None, Field(description="why, for whoever asks later")] = None


class ThreadCardsIn(ByAgentOfUser):
    """Cards that belong to a thread."""

    card_ids: Annotated[list[Uuid], Field(min_length=1, max_length=500)]
    reason: Reason = Field(description="why they belong to it")
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class ThreadRenameIn(ByAgentOfUser):
    """Another title."""

    title: Title


class ThreadReasonIn(ByAgentOfUser):
    """Why a thread is closed, or opened again."""

    reason: Reason | None = None


def thread_router(transactions: Transactions) -> APIRouter:
    router = routes_of("threads")

    @router.post("/v1/threads", status_code=201, summary="Open a thread", operation_id="open_thread")
    def create_thread(body: ThreadIn, sender: Sent) -> WrittenThread:
        command = sender.command_of(body, body.user_id)

        def run(connection: Connection) -> Outcome[Thread]:
            threads = UserThreads(connection, command)
            return open_thread(threads, body.title, body.project_id, body.mode, body.reason)

        return transactions.written(WrittenThread, command, run)

    @router.post("/v1/threads/{thread_id}/cards", summary="Add cards to a thread")
    def thread_cards(thread_id: Uuid, body: ThreadCardsIn, sender: Sent) -> WrittenThread:
        def run(threads: UserThreads) -> Outcome[Thread]:
            return add_cards(threads, body.card_ids, body.reason, body.confidence)

        return changed(sender, thread_id, body, run)

    @router.post("/v1/threads/{thread_id}/rename", summary="Give a thread another title")
    def rename_thread(thread_id: Uuid, body: ThreadRenameIn, sender: Sent) -> WrittenThread:
        return changed(sender, thread_id, body, lambda t: rename(t, body.title))

    @router.post("/v1/threads/{thread_id}/close", summary="Close a thread")
    def close_thread(thread_id: Uuid, body: ThreadReasonIn, sender: Sent) -> WrittenThread:
        return changed(sender, thread_id, body, lambda t: close(t, body.reason))

    @router.post("/v1/threads/{thread_id}/reopen", summary="Open a closed thread again")
    def reopen_thread(thread_id: Uuid, body: ThreadReasonIn, sender: Sent) -> WrittenThread:
        return changed(sender, thread_id, body, lambda t: reopen(t, body.reason))

    def changed(
        sender: Sender, thread_id: UUID, body: ByAgentOfUser, run: Callable[[UserThreads], Outcome[Thread]]
    ) -> WrittenThread:
        command = sender.command_of(body, body.user_id, "thread")
        return transactions.written(WrittenThread, command, lambda c: run(UserThreads(c, command, thread_id)))

    return router
