"""``cardlog ref review`` and ``cardlog core review``: what the write service reviews once an hour, now."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter

from deploy.options import Given, at_least
from events.platform.counting import counted
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from ingest.core.evolution import evolve_changed
from ingest.references.tiers import review
from projectors.core.documents import documents_of


def run_tiers(
    *,
    json_lines: Annotated[bool, Parameter(name="--json", help="print JSON")] = False,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> int:
    """Move references between tiers by their use now. The write service does it once an hour.

    Much used references are pinned, and untouched ones go to the archive. CARDLOG_REFERENCE_PIN_USES,
    CARDLOG_REFERENCE_PIN_DAYS and CARDLOG_REFERENCE_ARCHIVE_DAYS are the limits.
    """
    moves = review(connection, cardlog, datetime.now(UTC))
    for move in moves:
        line = {
            "user_id": move.owner,
            "kind": move.name.kind,
            "key": move.name.key,
            "tier": move.tier,
            "reason": move.reason,
        }
        print(
            json.dumps(line, ensure_ascii=False)
            if json_lines
            else f"{move.name.kind}/{move.name.key}: {move.tier}, {move.reason}"
        )
    if not moves and not json_lines:
        print("every reference has the tier that its use asks for")
    return 0


def run_schemas(
    *,
    days: Annotated[
        float, Parameter(validator=at_least(0), help="documents that changed in so many days (default: 365)")
    ] = 365.0,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> int:
    """Propose the topics that recur in core documents as categories now. The write service does it once an hour.

    With CARDLOG_SCHEMA_EVOLUTION=auto, strong topics become categories.
    """
    now = datetime.now(UTC)
    since = now - min(timedelta(days=days), timedelta(days=36_500))
    made = evolve_changed(connection, documents_of(cardlog), cardlog.schema_evolution, since, now)
    if made:
        log.announce(connection)
    print(f"{counted(made, 'change')} of schemas" if made else "no topic is new")
    return 0
