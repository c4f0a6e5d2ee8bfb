"""Valid payloads for tests to change."""

from datetime import UTC, datetime

from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted
from events.types.extraction import ExtractionFailed, TurnsExtracted, Usage

NOW = datetime(2026, 5, 8, 16, 44, tzinfo=UTC)


ORIGIN = CardOrigin(
    project_id="p", session_id="s", turn_ids=("t",), said_at=NOW,
    source_span=SourceSpan(turn_id="t", start=0, end=1, text="I"), provenance="user_stated",
)  # fmt: skip


STATE = StateAsserted(
    content="Lives in Lisbon", entity="user", concept_key="residence", value="Lisbon", cardinality="single_value",
    tags=("home",), origin=ORIGIN, effective_at=NOW,
)  # fmt: skip


EVENT = EventNoted(content="Moved", entity="user", tags=(), origin=ORIGIN, occurred_at=NOW)


READING = TurnsExtracted(
    extractor="x", model=None, prompt_version="1", turn_ids=("t",), turn_positions=(1,), usage=Usage(), cards=0
)  # fmt: skip


FAILED = ExtractionFailed(
    extractor="x", model=None, prompt_version="1", turn_ids=("t",), turn_positions=(1,), reason="r", attempts=1
)  # fmt: skip


KNOWLEDGE = KnowledgeLearned(content="c", title="JWT", definition="d", tags=(), origin=ORIGIN)
