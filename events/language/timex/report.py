"""Time expressions as JSON."""

from events.language.timex import Found


def as_json(found: Found) -> dict[str, object]:
    """Returns ``found`` as a JSON object with ISO 8601 instants. An open side is null."""
    return {
        "text": found.text,
        "start": None if found.start is None else found.start.isoformat(),
        "end": None if found.end is None else found.end.isoformat(),
        "grain": found.grain,
        "kind": found.kind,
        "confidence": round(found.confidence, 3),
    }
