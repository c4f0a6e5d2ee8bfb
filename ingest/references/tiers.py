"""Tiers follow use: a much used reference is pinned, an untouched one drifts to the archive."""

import logging
from dataclasses import dataclass
from datetime import UTC, datetime

import psycopg

from events.http.errors import ProblemError
from events.platform.database import Connection, rows_of, statement
from events.platform.settings import Settings
from events.store import log
from events.types.references import ReferenceName, Tier
from ingest.decider import Command
from ingest.references import reference_commands
from ingest.references.reference_commands import ReferenceStream

logger = logging.getLogger(__name__)

LEAST_DAYS = 3
"""A reference is pinned only when it is used on so many different days. One busy hour pins nothing."""
_PACKAGE = "ingest.references"


@dataclass(frozen=True, slots=True)
class TierMove:
    """A reference that got another tier, with the reason."""

    owner: str
    name: ReferenceName
    tier: Tier
    reason: str


def review(connection: Connection, settings: Settings, now: datetime) -> list[TierMove]:
    """Moves references between tiers by their use, each with an event. Returns the moves.

    Returns an empty list while another process reviews, and before the tables of references exist. At most 1,000
    references move in one call.
    """
    values = {
        "today": now.astimezone(UTC).date(),
        "pin_uses": settings.reference_pin_uses,
        "pin_days": settings.reference_pin_days,
        "least_days": min(LEAST_DAYS, settings.reference_pin_days),
        "archive_days": settings.reference_archive_days,
    }
    moves = []
    try:
        with connection.transaction():
            row = connection.execute(statement(_PACKAGE, "tier_lock")).fetchone()
            if row is None or not row[0]:
                return []
            for each in rows_of(connection, statement(_PACKAGE, "tier_candidates"), values):
                name = ReferenceName(
                    kind=each["kind"], key=each["key"], project_id=each["project_id"], team_id=each["team_id"]
                )
                used = bool(settings.reference_pin_uses) and each["recent"] >= settings.reference_pin_uses
                pinned = used and each["days"] >= values["least_days"] and each["tier"] != "pinned"
                tier: Tier = "pinned" if pinned else "archive"
                reason = (
                    f"read {each['recent']} times on {each['days']} of the last {settings.reference_pin_days} days"
                    if pinned
                    else f"untouched since {each['touched_at']:%Y-%m-%d}"
                )
                command = Command(owner=each["user_id"], actor="tiers", at=now)
                try:
                    stream = ReferenceStream(connection, name, command)
                    outcome = reference_commands.change_tier(stream, tier, reason)
                except ProblemError:
                    continue  # it moved away or was archived meanwhile
                if outcome.changed:
                    moves.append(TierMove(each["user_id"], name, tier, reason))
            connection.execute(statement(_PACKAGE, "forget_old_use"), values)
    except psycopg.errors.UndefinedTable:
        return []
    if moves:
        log.announce(connection)
        logger.info("%d references have another tier", len(moves))
    return moves
