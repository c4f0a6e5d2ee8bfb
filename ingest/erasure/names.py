"""Names of a person, and whether a text says one of them."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property
from typing import Self

from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import canonical_key
from events.language.names import latin
from events.people.judgement import noted_handle
from events.people.mentions import name_in, read, read_card
from events.people.person import People, Person
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Payload
from events.types.people import PersonAliased, PersonNoted

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
