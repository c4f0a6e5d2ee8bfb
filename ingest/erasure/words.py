"""The words of events, in which a person may be named: all texts but identifiers and closed sets of values.

A field that is no known identifier is looked into, so a name in a new field is found.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_origin, get_type_hints

from events.core.patches import texts_in
from events.store.log import Unreadable
from events.types import core, people
from events.types.cards import CardOrigin, EventNoted, SourceSpan, StateAsserted
from events.types.commands import CommandAnswered
from events.types.curation import CuratorRan, CuratorUndone
from events.types.envelope import Payload
from events.types.extraction import ExtractionFailed, TurnsExtracted
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
from events.types.naming import KnowledgeMerged
from events.types.references import (
    ReferenceChanged,
    ReferenceCreated,
    ReferenceKindDeclared,
    ReferenceMoved,
    ReferenceName,
    ReferenceProposed,
    TeamMemberAdded,
    TeamMemberRemoved,
)
from events.types.sessions import SessionCheckpointed
from events.types.threads import ThreadOpened
from events.types.tombstones import Erased, SubjectErased
from events.types.turns import TurnRecorded
from events.types.webhooks import WebhookAdded

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
    CommandAnswered: ("request",),
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
"""The fields with identifiers and names of the installation. A name in them is not looked for.

The last part of the page about erasure names what an identifier must not hold.
"""


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
