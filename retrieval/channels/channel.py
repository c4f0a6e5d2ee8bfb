"""The protocol of a channel, its hits, and the statements that channels share."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Identifier, Literal

from events.platform.database import statement
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_ASSISTANT_SHARE = 0.5
CONDITIONS = (
    "projects",
    "modes",
    "has",
    "layers",
    "valid_until",
    "valid_from",
    "until",
    "known_at",
    "spaces",
)
"""The parameters that limit the cards of a recall when they are given."""


def assistant_share(question: Question) -> float:
    """Returns the part of its score (0 to 1) that a card keeps which rests on an assistant's words.

    Long answers of an assistant hold the words of nearly every question. The user's own words therefore come first,
    unless the question asks for what the assistant said.
    """
    return 1.0 if question.of_assistant else _ASSISTANT_SHARE


class Hit(NamedTuple):
    """A card that one channel found.

    ``score`` is in the channel's own unit and only orders the hits of that channel. A card that was not found for
    itself was said just before the card ``beside``, or just after it. The ``nearness`` of a card that was found by its
    meaning falls from 1 with the cosine, and means the same for every model.
    """

    card_id: UUID
    score: float
    beside: UUID | None = None
    nearness: float = 0.0


class ChannelDownError(RuntimeError):
    """The channel cannot answer, or answers only with ``hits``. The message names the cause and the remedy."""

    def __init__(self, message: str, hits: Sequence[Hit] = ()) -> None:
        super().__init__(message)
        self.hits = hits


async def searched(
    connection: AsyncConnection, name: str, scope: Scope, values: Mapping[str, object], **parts: str | int
) -> list[Hit]:
    """Returns the hits of a channel's statement. See :func:`found_rows`."""
    return [Hit(*row) for row in await found_rows(connection, name, scope, values, **parts)]


async def found_rows(
    connection: AsyncConnection, name: str, scope: Scope, values: Mapping[str, object], **parts: str | int
) -> list[TupleRow]:
    """Returns the rows of a statement of this package. ``values`` are its parameters beside those of the scope."""
    asked = {**scope.parameters(), **values}
    cursor = await connection.execute(search_statement(name, conditions_of(asked), **parts), asked)
    return await cursor.fetchall()


def conditions_of(parameters: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the conditions of a recall's filter that these parameters ask for."""
    given = tuple(name for name in CONDITIONS if parameters.get(name) is not None)
    return given if parameters["known_at"] is not None else (*given, "now")


@cache
def search_statement(name: str, conditions: tuple[str, ...], **parts: str | int) -> SQL:
    """Returns a channel's statement with its shared parts filled in. ``parts`` are table names (str) and numbers (int).

    The statement ``visible`` with these ``conditions`` is the filter of a recall. It is the same for a lookup by user
    and for a lookup by keys that hold the user. The other parts are read by the channels of words.
    """
    package = "retrieval.channels"
    of_scope = SQL("").join(SQL(" ") + statement(package, f"visible_{each}") for each in conditions)
    of_user = statement(package, "of_user")
    visible = {
        owner: statement(package, "visible").format(
            owner_filter=statement(package, owner).format(of_user=of_user), conditions=of_scope
        )
        for owner in ("owner_filter", "owner_filter_by_key")
    }
    made = statement(package, name).format(
        visible=visible["owner_filter"],
        visible_by_key=visible["owner_filter_by_key"],
        of_user=of_user,
        selective_terms=statement(package, "selective_terms").format(of_user=of_user),
        up_to_common=statement(package, "up_to_common").format(of_user=of_user),
        **{part: statement(package, part) for part in ("total", "use", "bm25", "nearness", "said")},
        **{
            name: Identifier(*part.split(".")) if isinstance(part, str) else Literal(part)
            for name, part in parts.items()
        },
    )
    return SQL(made.as_string())  # psycopg would put the parts together for every question


class Channel:
    """One way to find cards. Its defaults are those of a channel with nothing to load."""

    name: str

    def warm(self) -> None:
        """Loads everything that the first search would wait for. Raises nothing."""

    def anticipate(self, question: Question, scope: Scope) -> None:
        """Starts what a search for this question will wait for. Waits for nothing."""

    def silent(self, question: Question) -> bool:
        """True when the question has nothing for this channel, which is known without a search."""
        return False

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        """Returns the hits, best first, and an empty list when the question has nothing to search for.

        Raises :class:`ChannelDownError` and any error of the database. The recall then continues without the channel.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Lets everything go that :meth:`warm` or a search loaded. Waits for nothing."""
