"""``cardlog core review`` and ``cardlog ref review``: what the write service looks at once an hour, now."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter

from deploy.options import Answer, Given, Json, at_least
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from ingest.core.evolution import evolve_changed
from ingest.references.tiers import review
from projectors.core.documents import documents_of


def review_schemas(
    *,
    days: Annotated[
        float, Parameter(validator=at_least(0), help="look at documents that changed in these last days")
    ] = 2.0,
    as_json: Json = False,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> Answer:
    """Look now for topics that recur in the core documents of all users. The write service does it once an hour.

    A new candidate is recorded once. CARDLOG_SCHEMA_EVOLUTION=auto also promotes a strong one.
    """
    now = datetime.now(UTC)
    made = evolve_changed(
        connection, documents_of(cardlog), cardlog.schema_evolution, now - timedelta(days=days), now
    )
    if made:
        log.announce(connection)
    return Answer({"events": made}, [f"recorded {made} proposals and promotions"])


def review_references(
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
