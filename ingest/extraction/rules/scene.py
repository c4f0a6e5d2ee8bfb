"""The scene, which is the input of a rule, and the rule itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from ingest.extraction.rules.drafts import Draft, KnownState, Told
from ingest.extraction.rules.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Scene:
    """One sentence with its context.

    ``masked`` is the plain text with masked times. ``owner`` is the entity that says "I". ``told()`` returns what the
    speaker told in the conversation so far. The first call may extract earlier turns, so call it late.
    """

    sentence: Sentence
    masked: str
    owner: str
    traditional: bool
    told: Callable[[], Told]

    def earlier(self) -> list[KnownState]:
        """Returns the earlier states of the conversation, the newest last. Call it late, like ``told``."""
        return self.told().states

    def said(self, found: re.Match[str], group: str) -> str:
        """Returns the words of a group as spoken, without punctuation at the edges.

        The result is empty when the pattern has no such group or the group did not match.
        """
        begin, stop = found.span(group) if group in found.re.groupindex else (-1, -1)
        return (
            self.sentence.raw[begin:stop].strip(' \t,.;:!?，。；：！？、~～"“”「」『』《》()（）')
            if begin >= 0
            else ""
        )


Make = Callable[[re.Match[str], Scene], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern for sentences that contain one of ``words``.

    A ``free`` rule handles hedges itself. A ``dated`` rule needs a time in the sentence.
    """

    words: tuple[str, ...]
    source: str
    make: Make
    free: bool = False
    dated: bool = False


@lru_cache(maxsize=1024)
def compiled(source: str) -> re.Pattern[str]:
    """Returns the compiled pattern of a rule. It is compiled at the first use, because most rules are never used."""
    return re.compile(source)
