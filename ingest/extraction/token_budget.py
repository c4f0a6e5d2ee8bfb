"""What a user may cost in a day."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, time

import psycopg

from events.platform.failures import in_a_line
from events.platform.isolation import is_the_datas_fault
from events.platform.sql import statement
from events.store.checkpoints import Connection
from events.types.envelope import partition_of
from events.types.extraction import Usage

logger = logging.getLogger(__name__)


class TokenBudget:
    """Tokens a user, a UTC day, as the log has counted them; 0 is no limit.

    A user's turns are read by whoever owns their partition, so what this process spent on top of what it found in
    the log is all there is. What is under way is counted when it is done: the limit is passed by
    what runs at once, at most.
    """

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._day: date | None = None
        self._spent: dict[str, int] = {}

    def exhausted(self, connection: Connection, user_id: str, now: datetime | None = None) -> bool:
        """Whether the user has nothing left for today."""
        if not self._tokens:
            return False
        today = (now or datetime.now(UTC)).astimezone(UTC).date()
        if today != self._day:
            self._day, self._spent = today, {}
        if user_id not in self._spent:
            since = datetime.combine(today, time(), UTC)
            self._spent[user_id] = self._in_the_log(connection, user_id, since)
        return self._spent[user_id] >= self._tokens

    def _in_the_log(self, connection: Connection, user_id: str, since: datetime) -> int:
        """What the log has counted; everything there is where these very events cannot be counted, so that a limit is
        kept and nobody else waits."""
        try:
            row = connection.execute(
                statement("ingest.extraction", "tokens_spent"),
                {"partition": partition_of(user_id), "user_id": user_id, "since": since},
            ).fetchone()
        except psycopg.Error as error:
            if not is_the_datas_fault(error):
                raise
            logger.warning(
                "what a user has spent cannot be counted, the rules read: %s", in_a_line(str(error))
            )
            return self._tokens
        assert row is not None
        return int(row[0])

    def spend(self, user_id: str, usage: Usage) -> None:
        """``usage`` was appended to the log."""
        if user_id in self._spent:
            self._spent[user_id] += usage.tokens

    def forget(self) -> None:
        """Others may have read these users' turns in between: the log must be asked again."""
        self._spent.clear()

    @property
    def reached(self) -> int:
        """How many users known here have nothing left."""
        return sum(1 for spent in self._spent.values() if self._tokens and spent >= self._tokens)
