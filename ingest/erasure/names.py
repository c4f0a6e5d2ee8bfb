"""Names of a person, whether a text says one of them, and the words of events in which a person may be named.

The words are all texts but identifiers and closed sets of values. A field that is no known identifier is looked into,
so a name in a new field is found.
"""

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, Literal, Self, get_origin, get_type_hints

from events.core.patches import texts_in
from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import canonical_key
from events.language.names import latin
from events.people.judgement import noted_handle
from events.people.mentions import name_in, read, read_card
from events.people.person import People, Person
from events.store.log import Unreadable
from events.types import core, people
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted
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
from events.types.people import PersonAliased, PersonNoted
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

_LONGEST = 200
_SHORTEST = 2
_READ, _STEP = 4_000, 3_000
_NAMING = frozenset(("name", "nickname"))
_WHITE = re.compile(r"\s+")


class NameInvalidError(ValueError):
    """The text names nobody in particular. The message gives the remedy."""


def folded(text: str) -> str:
    """Returns ``text`` without differences of width, case, accents, Chinese script and white space."""
    return latin(to_simplified(_WHITE.sub(" ", unicodedata.normalize("NFKC", text))))


class Names:
    """All known names of one person. The names are folded, so ``MÉI`` and ``mei`` are one name.

    A ``person`` is also named where the words tell that a name of several people means this one.
    """

    def __init__(self, names: Iterable[str], person: Person | None = None) -> None:
        """Raises :class:`NameInvalidError` for a name that is too short to tell a person from other words."""
        self.person = person
        self.all = frozenset(folded(name).strip() for name in names)
        for name in self.all:
            if not _SHORTEST <= len(name) <= _LONGEST:
                raise NameInvalidError(
                    f"a name has {len(name)} characters; give a name of {_SHORTEST} to {_LONGEST} characters"
                )

    @classmethod
    def of(cls, person: Person, people: People, more: Iterable[str] = ()) -> Self:
        """Returns the names of a person that name nobody else, and ``more`` names."""
        others = [name_in(handle) for handle, each in people.of_handle.items() if each is not person]
        own = cls._usable(map(name_in, person.handles))
        return cls([*(name for name in own if not Names([name]).said_in(*others)), *more], person)

    def with_more(self, names: Iterable[str]) -> "Names":
        return Names([*self.all, *names], self.person)

    def said_in(self, *texts: str | None) -> bool:
        """True when one of ``texts`` holds one of the names as a whole word. Chinese has no spaces around words."""
        return any(
            text is not None and (self._pattern.search(folded(text)) or self._meant_in(text))
            for text in texts
        )

    def meant_by(self, payload: Payload) -> bool:
        """True when a card, or what was said of people, means the person."""
        if self.person is None:
            return False
        if isinstance(payload, PersonNoted):
            return noted_handle(payload) in self.person.handles
        if isinstance(payload, PersonAliased):
            return payload.person_id in self.person.ids
        return any(each.handle in self.person.handles for each in read_card(payload).mentions)

    def _meant_in(self, text: str) -> bool:
        return self.person is not None and any(
            each.handle in self.person.handles
            for start in range(0, len(text), _STEP)
            for each in read(text[start : start + _READ]).mentions
        )

    def known_from(self, payload: Payload) -> frozenset[str]:
        """Returns further names of the person that ``payload`` tells: a nickname, or another name of a concept."""
        found: set[str] = set()
        if isinstance(payload, StateAsserted) and canonical_key(payload.concept_key) in _NAMING:
            if folded(payload.entity).strip() in self.all:
                found.add(payload.value)
            elif folded(payload.value).strip() in self.all and payload.entity != "user":
                found.add(payload.entity)
        elif isinstance(payload, KnowledgeLearned):
            names = (payload.title, *payload.aliases)
            if any(folded(name).strip() in self.all for name in names):
                found.update(names)
        elif isinstance(payload, EventNoted):
            return frozenset()
        return self._usable(found) - self.all

    def known_to(self, people: People) -> frozenset[str]:
        """Returns further names that ``people`` give the person. A name that names somebody else too is left out."""
        told = [self._usable(map(name_in, each.handles)) for each in people.people]
        found: set[str] = set()
        for own in told:
            if own.isdisjoint(self.all):
                continue
            others = frozenset(name for each in told if each is not own for name in each)
            if own & self.all - others:
                found.update(name for name in own if not Names([name]).said_in(*others))
        return self._usable(found) - self.all

    @staticmethod
    def _usable(names: Iterable[str]) -> frozenset[str]:
        """Returns names in their folded form, without those that are too short or too long to look for."""
        fresh = {folded(name).strip() for name in names}
        return frozenset(name for name in fresh if _SHORTEST <= len(name) <= _LONGEST)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = [
            re.escape(name) if has_cjk(name) else rf"(?<!\w){re.escape(name)}(?!\w)"
            for name in sorted(self.all, key=lambda name: (-len(name), name))
        ]
        return re.compile("|".join(parts) or r"(?!)")


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
