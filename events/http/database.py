"""Turns errors of the database into problem documents."""

from __future__ import annotations

import logging

import psycopg

from events.http.errors import ProblemError
from events.platform.failures import in_a_line, is_away
from events.platform.isolation import is_the_datas_fault

logger = logging.getLogger(__name__)


def is_gone(error: BaseException) -> bool:
    """True when the server is away or did not answer in time. Another server may answer the same question now."""
    return isinstance(error, TimeoutError) or is_away(error)


def problem_of(error: BaseException, title: str) -> ProblemError:
    """Returns the problem document for an error of the database.

    503 with ``title``: the server is away or has no tables yet, so the same request may succeed later. 422: the data
    of the request are at fault (SQLSTATE 22xxx, 54xxx), so the client should not send them again. 500: anything else.
    """
    message = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    reason = in_a_line(message or str(error)) or type(error).__name__
    if is_gone(error) or isinstance(error, psycopg.errors.UndefinedTable):
        return ProblemError(503, title, reason)
    if isinstance(error, psycopg.Error) and is_the_datas_fault(error):
        logger.warning("the database refuses the data of one request (%s): %s", error.sqlstate, reason)
        return ProblemError(
            422,
            "Refused by the database",
            f"the database refuses these data: {reason}; send other data, or less",
        )
    logger.error("a statement of one request failed: %s", reason, exc_info=error)
    return ProblemError(500, "Internal error", "something went wrong here; the service's log says what")
