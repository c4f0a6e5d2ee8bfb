"""Tokens: how many a text has about, and how many a user may cost in a day."""

import logging
from datetime import UTC, date, datetime, time

import psycopg

from events.platform.database import Connection, statement
from events.platform.failures import in_a_line
from events.platform.isolation import is_the_datas_fault
from events.types.envelope import partition_of
from events.types.extraction import Usage

logger = logging.getLogger(__name__)


def about_tokens(text: str) -> int:
    """Returns a rough number of tokens: one for four ASCII characters, one for each other character."""
    latin = sum(map(str.isascii, text))
    return latin // 4 + len(text) - latin


class TokenBudget:
    """Counts the tokens of each user in a UTC day against a limit. A limit of 0 means no limit.

    ``types`` are the events whose ``usage`` counts.

    One process owns the partition of a user. The log's count at the first question plus this process's own spending is
    therefore complete. The caller says what its running calls may cost, so a burst exceeds the limit by one call.
    """

    def __init__(self, tokens: int, types: tuple[str, ...] = ("TurnsExtracted", "ExtractionFailed")) -> None:
        self._tokens = tokens
        self._types = types
        self._day: date | None = None
        self._spent: dict[str, int] = {}

    def exhausted(self, connection: Connection, user_id: str, coming: int = 0) -> bool:
        """Returns True when the user has no tokens left for today after ``coming`` tokens of running calls."""
        return bool(self._tokens) and self.left(connection, user_id) <= coming

    def left(self, connection: Connection, user_id: str) -> int:
        """Returns the tokens that the user has left for today under a limit above 0. Below 0, the limit is exceeded."""
        today = datetime.now(UTC).date()
        if today != self._day:
            self._day, self._spent = today, {}
        if user_id not in self._spent:
            since = datetime.combine(today, time(), UTC)
            self._spent[user_id] = self._in_the_log(connection, user_id, since)
        return self._tokens - self._spent[user_id]

    def _in_the_log(self, connection: Connection, user_id: str, since: datetime) -> int:
        """Returns the tokens that the log counts since ``since``.

        Returns the whole budget when the database cannot count the events of this user. The limit then holds, and the
        other users do not wait.
        """
        try:
            row = connection.execute(
                statement("ingest.extraction", "tokens_spent"),
                {
                    "partition": partition_of(user_id),
                    "user_id": user_id,
                    "since": since,
                    "types": [*self._types],
                },
            ).fetchone()
        except psycopg.Error as error:
            if not is_the_datas_fault(error):
                raise
            logger.warning(
                "the tokens of a user cannot be counted, so no model is asked: %s", in_a_line(str(error))
            )
            return self._tokens
        assert row is not None
        return int(row[0])

    def spend(self, user_id: str, usage: Usage) -> None:
        """Adds ``usage``, which was appended to the log."""
        if user_id in self._spent:
            self._spent[user_id] += usage.tokens

    def forget(self) -> None:
        """Clears the counts, so the next question queries the log. Other processes may have spent tokens meanwhile."""
        self._spent.clear()

    @property
    def reached(self) -> int:
        """The number of users in this process that have no tokens left."""
        return sum(1 for spent in self._spent.values() if self._tokens and spent >= self._tokens)
