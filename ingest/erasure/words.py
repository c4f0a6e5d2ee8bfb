"""The fields of events in which a person may be named, and the fields that hold identifiers only.

A field of neither table is looked into, so a name in a new field is found. A test fails until the field has its place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_origin, get_type_hints

from events.core.patches import texts_in
from events.store.log import Unreadable
from events.types import core, people, problems
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted, Utterance
from events.types.codec import Payload
from events.types.curation import CuratorRan, CuratorUndone
from events.types.extraction import CardsWithdrawn, ExtractionFailed, TurnsExtracted
from events.types.insights import InsightDerived, InsightRetracted
from events.types.migrations import MemoryMigrated
from events.types.modes import (
    CardReclassified,
    FormerName,
    Mode,
    ModeDeleted,
    ModeReembedded,
    ModeRegistry,
    ModeRenamed,
    Project,
)
from events.types.naming import KnowledgeMerged, TagAliased
from events.types.references import (
    ReferenceArchived,
    ReferenceChanged,
    ReferenceCreated,
    ReferenceKindDeclared,
    ReferenceMoved,
    ReferenceName,
    ReferenceProposalAccepted,
    ReferenceProposalRefused,
    ReferenceProposed,
    ReferenceTierChanged,
    TeamMemberAdded,
    TeamMemberRemoved,
)
from events.types.relations import CardsConnected, ConnectionWithdrawn
from events.types.sessions import SessionCheckpointed
from events.types.threads import CardsThreaded, CardsUnthreaded, ThreadClosed, ThreadOpened, ThreadRenamed
from events.types.tombstones import Erased, SubjectErased
from events.types.turns import TurnRecorded
from events.types.verdicts import CardVerified, ConflictRuled
from events.types.webhooks import WebhookAdded

WORDS: Mapping[type, tuple[str, ...]] = {
    TurnRecorded: ("text", "speaker", "contact", "metadata"),
    CardOrigin: ("speaker", "metadata"),
    SourceSpan: ("text",),
    Utterance: ("text", "speaker"),
    StateAsserted: (
        "content", "entity", "concept_key", "value", "tags", "replaces", "occurred_at_hint", "value_hint",
    ),
    EventNoted: (
        "content", "entity", "concept_key", "value", "tags", "replaces", "occurred_at_hint", "topics", "participants",
    ),
    KnowledgeLearned: ("content", "title", "definition", "tags", "aliases", "related_titles"),
    ExtractionFailed: ("reason",),
    CardsWithdrawn: ("reason",),
    CardsConnected: ("reason",),
    ConnectionWithdrawn: ("reason",),
    CardVerified: ("by", "identity", "note"),
    ConflictRuled: ("by", "reason"),
    TagAliased: ("alias", "tag"),
    KnowledgeMerged: ("from_title", "into_title", "reason"),
    SessionCheckpointed: ("state",),
    MemoryMigrated: ("source",),
    InsightDerived: ("content", "theme", "reason"),
    InsightRetracted: ("reason",),
    ThreadOpened: ("title", "reason"),
    CardsThreaded: ("reason",),
    CardsUnthreaded: ("reason",),
    ThreadRenamed: ("title",),
    ThreadClosed: ("reason",),
    CuratorUndone: ("reason",),
    problems.ProblemOpened: ("description",),
    problems.ProblemAttempted: ("approach", "problem", "outcome"),
    problems.ProblemClosed: ("problem", "resolution"),
    problems.ProblemReopened: ("reason",),
    problems.ProblemPrioritized: ("reason",),
    people.PersonNoted: ("name", "kinship"),
    people.PersonAliased: ("alias",),
    people.PersonsMerged: ("reason", "evidence"),
    people.PersonMergeProposed: ("reason", "evidence"),
    people.PersonsSplit: ("reason",),
    people.PersonsDistinct: ("reason",),
    core.CorePatched: ("patch", "source", "rationale"),
    core.CoreRolledBack: ("rationale",),
    core.CoreCherryPicked: ("rationale",),
    core.PatchQueued: ("patch", "reason", "path", "expected", "actual", "source", "rationale"),
    core.PatchApproved: ("patch", "by", "reason"),
    core.PatchRefused: ("by", "reason"),
    core.SchemaProposed: ("candidate", "name", "instances", "rationale"),
    core.SchemaPromoted: ("candidate", "name", "schema", "moved", "rationale"),
    core.SchemaReverted: ("name", "rationale"),
    Mode: ("description", "prompt_overrides"),
    Project: ("description",),
    CardReclassified: ("by", "reason"),
    ReferenceName: ("key",),
    ReferenceCreated: ("data", "rendering"),
    ReferenceChanged: ("op", "data", "rendering", "quote"),
    ReferenceArchived: ("reason",),
    ReferenceTierChanged: ("reason",),
    ReferenceProposed: ("op", "quote"),
    ReferenceProposalAccepted: ("by",),
    ReferenceProposalRefused: ("by", "reason"),
    ReferenceKindDeclared: ("description", "schema", "initial"),
}  # fmt: skip
"""The fields with words. The last part of the page about erasure names what an identifier must not hold."""

IDENTIFIERS: Mapping[type, tuple[str, ...]] = {
    TurnRecorded: (
        "turn_id", "timezone", "session_id", "project_id", "agent_id", "document_id", "mode",
    ),
    CardOrigin: (
        "project_id", "session_id", "turn_ids", "agent_id", "document_id", "mode", "mode_id", "time_zone",
    ),
    SourceSpan: ("turn_id",),
    StateAsserted: ("time_grain", "value_grain"),
    EventNoted: ("time_grain",),
    TurnsExtracted: ("extractor", "model", "prompt_version", "turn_ids", "modes", "modes_digest"),
    ExtractionFailed: ("extractor", "model", "prompt_version", "turn_ids"),
    KnowledgeMerged: ("project_id", "mode_id"),
    SessionCheckpointed: ("session_id", "project_id"),
    MemoryMigrated: ("migration_id",),
    InsightDerived: ("project_id", "mode"),
    InsightRetracted: ("digest",),
    people.PersonMergeProposed: ("digest",),
    ThreadOpened: ("project_id", "mode"),
    CuratorRan: ("keys", "digests", "model", "asked", "prompt_version"),
    CuratorUndone: ("digests",),
    core.CorePatched: ("turn_ids",),
    core.PatchQueued: ("turn_ids",),
    core.PatchApproved: ("turn_ids",),
    core.SchemaProposed: ("turn_ids",),
    core.SchemaPromoted: ("turn_ids",),
    core.SchemaReverted: ("turn_ids",),
    Mode: ("name", "project_id", "embedder", "embedders", "mode_id"),
    Project: ("project_id", "default_mode"),
    FormerName: ("old", "name", "project_id"),
    ModeRegistry: ("default_mode",),
    ModeRenamed: ("name", "new_name", "project_id"),
    ModeDeleted: ("name", "project_id"),
    ModeReembedded: ("name", "project_id"),
    CardReclassified: ("mode", "mode_id"),
    ReferenceName: ("kind", "project_id", "team_id"),
    ReferenceCreated: ("moved_from",),
    ReferenceChanged: ("turn_ids",),
    ReferenceMoved: ("to_stream",),
    ReferenceProposed: ("turn_ids",),
    ReferenceKindDeclared: ("kind",),
    TeamMemberAdded: ("team_id", "member", "by"),
    TeamMemberRemoved: ("team_id", "member", "by"),
    SubjectErased: ("subject", "by"),
    WebhookAdded: ("url", "secret", "types"),
}  # fmt: skip
"""The fields with identifiers and names of the installation. A name in them is not looked for."""


def words_of(payload: Payload) -> Iterator[str]:
    """Yields the texts of a payload in which a person may be named. An erased or unreadable payload has none."""
    if isinstance(payload, Erased | Unreadable):
        return
    for name in _searched(payload.__class__):
        yield from _texts(getattr(payload, name))


@cache
def _searched(cls: Any) -> tuple[str, ...]:
    """Returns the fields of a dataclass that are looked into: all but identifiers and closed sets of values."""
    hints = get_type_hints(cls)
    identifiers = IDENTIFIERS.get(cls, ())
    return tuple(
        each.name
        for each in dataclasses.fields(cls)
        if each.name not in identifiers and get_origin(hints[each.name]) is not Literal
    )


def _texts(value: object) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from words_of(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    else:
        yield from texts_in(value)
