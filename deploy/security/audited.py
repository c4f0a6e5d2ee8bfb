"""Records the commands with which an operator reads or changes memory."""

import getpass
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from events.access.audit import Entry, Outcome, record
from events.access.principal import Principal
from events.platform.database import connect
from events.platform.failures import in_a_line
from events.platform.settings import Settings, revealed
from events.types.envelope import uuid7

logger = logging.getLogger(__name__)

COMMAND = "command"
"""The service of an entry that a command made. Its key id is the operating system's account."""


@contextmanager
def audited(settings: Settings, operation: str, *users: str) -> Iterator[None]:
    """Records that a command reads or changes the memory of ``users`` (storage ids); none: it may touch everybody's.

    With ``CARDLOG_AUDIT=strict`` the entry is committed before the block runs, and the command fails when that is
    impossible. With ``on`` the command then only warns. The outcome is ``failed`` when the block raises.
    """
    if settings.audit == "off":
        yield
        return
    request_id = uuid7()

    def note(outcome: Outcome) -> None:
        entry = Entry(
            service=COMMAND,
            operation=operation,
            outcome=outcome,
            users=users,
            principal=Principal(key_id=f"account {_account()}", scopes=frozenset()),
            request_id=request_id,
        )
        try:
            if not settings.database_url:
                raise psycopg.OperationalError("CARDLOG_DATABASE_URL is not set")
            with connect(revealed(settings.database_url), application="audit") as connection:
                record(connection, [entry])
        except psycopg.Error as error:
            reason = in_a_line(str(error))
            if settings.audit == "strict" and outcome == "begun":
                raise RuntimeError(
                    f"the audit log cannot be written, and CARDLOG_AUDIT=strict allows no command without it: {reason}"
                ) from None
            logger.warning("this command is not in the audit log: %s", reason)

    if settings.audit == "strict":
        note("begun")
    outcome: Outcome = "allowed"  # also when the reader closes the pipe or interrupts: words were shown
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception:
        outcome = "failed"
        raise
    finally:
        note(outcome)


def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run as a number without a name
        return str(os.getuid())
