"""``cardlog ref review``: moves references between tiers by their use."""

from __future__ import annotations

from datetime import UTC, datetime

from deploy.answer import Answer
from deploy.options import Given, Json
from events.platform.database import Connection
from events.platform.settings import Settings
from ingest.references.tiers import review


def run_review(
    *,
    as_json: Json = False,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> Answer:
    """Move references between tiers by their use now. The write service does it once an hour.

    Much used references are pinned, and untouched ones go to the archive. CARDLOG_REFERENCE_PIN_USES,
    CARDLOG_REFERENCE_PIN_DAYS and CARDLOG_REFERENCE_ARCHIVE_DAYS are the limits.
    """
    moves = review(connection, cardlog, datetime.now(UTC))
    documents = (
        {
            "user_id": move.owner,
            "kind": move.name.kind,
            "key": move.name.key,
            "tier": move.tier,
            "reason": move.reason,
        }
        for move in moves
    )
    lines = [f"{move.name.kind}/{move.name.key}: {move.tier}, {move.reason}" for move in moves]
    return Answer(documents, lines or ["every reference has the tier that its use asks for"], by_line=True)
