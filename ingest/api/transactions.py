"""The transactions of commands over HTTP, the senders of the commands, and the tokens of the answers."""

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any, TypeVar

import psycopg
from fastapi import Depends, Header, Request
from psycopg_pool import ConnectionPool
from pydantic import Field

from events.access.principal import Principal
from events.http.access import Writer, owner_of
from events.http.body import Body
from events.http.database import problem_of
from events.http.errors import ProblemError
from events.http.fields import Name
from events.http.tokens import Awaited, Keyring, Sealer, stored_key
from events.platform.database import Connection, see_tenant_of
from events.resources.cards import Accepted
from events.resources.resource import Resource
from events.store import log
from events.store.log import AppendConflictError
from events.types.core import Author
from ingest.decider import Command, Outcome

IdempotencyKey = Annotated[
    str | None,
    Header(
        max_length=200,
        pattern=r"\S",
        description="a command with a key that was seen before returns the first answer",
    ),
]


class ByAgent(Body):
    """Who sends a command."""

    agent_id: Annotated[Name | None, Field(description="the agent that acts for the user")] = None


class FromTurns(ByAgent):
    """Who sends a command, and which turns tell it."""

    turn_ids: list[Name] = Field([], max_length=100, description="the turns that tell it")


class OfUser(Body):
    """Whose memory a command changes."""

    user_id: Name = Field(description="whose memory this is")


class ByAgentOfUser(ByAgent, OfUser):
    """Who sends a command, and whose memory it changes."""


@dataclass(frozen=True, slots=True)
class Sender:
    """The caller of a command, the idempotency key of the command, and the digest of its request."""

    caller: Principal
    idempotency_key: str | None = None
    request: str | None = None

    def command(
        self,
        user_id: str,
        thing: str = "user",
        field: str | None = None,
        *,
        actor: str | None = None,
        **more: Any,
    ) -> Command:
        """Returns the command that is sent now about a user's memory. ``more`` are further fields of it.

        Without an ``actor`` the user acts. Raises the 404 problem of a missing ``thing`` for another's user.
        """
        return Command(
            owner=owner_of(self.caller, user_id, thing=thing, field=field or f"{thing}_id"),
            actor=actor or f"user/{user_id}",
            at=datetime.now(UTC),
            idempotency_key=self.idempotency_key,
            request=self.request,
            reach=self.caller.reach,
            **more,
        )

    def command_of(
        self, body: ByAgent, user_id: str, *thing: str, actor: str | None = None, by: Author = "user"
    ) -> Command:
        """Returns the command that ``body`` is, as :meth:`command` does. The agent acts that ``body`` names."""
        if body.agent_id:
            actor = f"agent/{body.agent_id}"
        turn_ids = tuple(body.turn_ids) if isinstance(body, FromTurns) else ()
        return self.command(user_id, *thing, actor=actor, agent_id=body.agent_id, turn_ids=turn_ids, by=by)

    def author_of(self, body: ByAgent) -> Author:
        """Returns whose words ``body`` has: the user's only by a key that acts as the user, and by no agent."""
        return "user" if body.agent_id is None and self.caller.may("user") else "agent"


async def _sender(request: Request, caller: Writer, idempotency_key: IdempotencyKey = None) -> Sender:
    sent = f"{request.method} {request.url.path}?{request.url.query} ".encode() + await request.body()
    return Sender(caller, idempotency_key, sha256(sent).hexdigest())


Sent = Annotated[Sender, Depends(_sender)]


logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_Shape = TypeVar("_Shape", bound=Resource)


@contextmanager
def commanding(connection: Connection, user_id: str, types: Collection[str] = ()) -> Iterator[None]:
    """The transaction of a command. It sees the tenant of the user, and wakes the followers of the log when it ended.

    ``types`` are the event types that the command may append; an empty collection means all types. ``connection`` must
    be in autocommit mode. After the commit nothing raises: the command is done, and followers also look by themselves.
    """
    with connection.transaction():
        see_tenant_of(connection, user_id)
        yield
    try:
        log.announce(connection, types=types)
    except psycopg.Error as error:
        logger.warning("the announcement of a command was lost: %s", log.reason_of(error))


class Transactions:
    """Runs the commands of requests, each in a transaction of its own. They get a 503 problem while Postgres is away.

    The connections of ``pool`` must be in autocommit mode.
    """

    def __init__(self, pool: ConnectionPool[Connection], keyring: Keyring) -> None:
        self._pool = pool
        self.keyring = keyring

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Yields a connection outside a transaction."""
        try:
            with self._pool.connection(timeout=2.0) as connection:
                yield connection
        except AppendConflictError as error:
            raise ProblemError(503, "Too many writers", f"{error}; try again") from error
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error

    def run(self, owner: str, work: Callable[[Connection], _T], types: Collection[str] = ()) -> _T:
        """Returns the result of ``work`` on the memory of ``owner``. The tokens of its answer can then be made."""
        with self.connection() as connection:
            self.sealer(connection)
            with commanding(connection, owner, types):
                return work(connection)

    def written(
        self, shape: type[_Shape], command: Command, work: Callable[[Connection], Outcome[_T]], **more: object
    ) -> _Shape:
        """Returns the state after ``command``, with its token and with the fields ``more`` of its shape."""
        outcome = self.run(command.owner, work)
        return shape.made_from(outcome.state, token=self.token(command.owner, outcome.position), **more)

    def accepted(self, command: Command, work: Callable[[Connection], Outcome[Any]]) -> Accepted:
        """Returns the answer to ``command``: its event, or the event by which it holds already."""
        outcome = self.run(command.owner, work)
        event = outcome.event or outcome.state
        assert event is not None, "the command appended its event, or an earlier one did"
        token = self.token(command.owner, event.position)
        return Accepted.made_from(event, duplicate=not outcome.changed, token=token)

    def sealer(self, connection: Connection) -> Sealer:
        """Returns the sealer of tokens. The first call reads the key of tokens."""
        if self.keyring.sealer is not None:
            return self.keyring.sealer
        return self.keyring.learn(stored_key(connection))

    def token(self, owner: str, awaited: Awaited) -> str:
        """Returns the token of an answer: a read that waits for it sees what the command did."""
        sealer = self.keyring.sealer
        assert sealer is not None, "run() reads the key of tokens"
        return sealer.seal({owner: awaited})
