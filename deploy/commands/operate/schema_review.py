"""``cardlog core review``: proposes or promotes the topics that recur in core documents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter

from deploy.answer import Answer
from deploy.options import Given, Json, at_least
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from ingest.core.evolution import evolve_changed
from projectors.core.documents import documents_of


def run_review(
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
