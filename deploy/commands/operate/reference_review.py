"""``cardlog ref review``: moves references between tiers by their use."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated

from cyclopts import Parameter

from deploy.options import Given
from events.platform.database import Connection
from events.platform.settings import Settings
from ingest.references.tiers import review


def run_review(
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
