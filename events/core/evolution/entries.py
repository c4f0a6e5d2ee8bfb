"""The entries of the log of a document about the changes of its schema."""

from datetime import datetime

from events.core.schema import EVOLUTION, META
from events.core.state import EvolutionKind
from events.types.core import SchemaPromoted, SchemaProposed, SchemaReverted

LOG_END = f"/{META}/{EVOLUTION}/-"


def logged(
    payload: SchemaProposed | SchemaPromoted | SchemaReverted, at: datetime
) -> tuple[EvolutionKind, dict[str, object]]:
    """Returns the kind of a change of the schema, and its entry in the log of the document."""
    entry: dict[str, object] = {
        "timestamp": at.isoformat(),
        "newCategory": payload.name,
        "reason": payload.rationale,
    }
    if isinstance(payload, SchemaProposed):
        entry |= {
            "change": "proposed", "candidate": payload.candidate, "instances": list(payload.instances),
            "occurrences": payload.occurrences, "score": payload.score,
        }  # fmt: skip
        return "proposal", entry
    if isinstance(payload, SchemaPromoted):
        entry |= {
            "change": "promoted", "candidate": payload.candidate, "schema": payload.schema, "moved": payload.moved,
        }  # fmt: skip
        return "promotion", entry
    return "reversion", entry | {"change": "reverted"}
