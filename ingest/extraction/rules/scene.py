"""What a rule sees of the sentence it reads, and what a rule is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from ingest.extraction.rules.drafts import Draft, KnownState
from ingest.extraction.rules.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Scene:
    """One sentence under the rules' eyes. ``masked`` is its plain text with times masked; ``owner`` is who says
    "I"; ``earlier()`` gives the states already read of this conversation, newest last (asking for them may
    mean reading earlier turns, so ask late)."""

    sentence: Sentence
    masked: str
    owner: str
    traditional: bool
    earlier: Callable[[], list[KnownState]]

    def said(self, found: re.Match[str], group: str) -> str:
        """The words of a group as spoken, tidied at the edges; empty where the pattern has no such group or
        it did not take part."""
        begin, stop = found.span(group) if group in found.re.groupindex else (-1, -1)
        return (
            self.sentence.raw[begin:stop].strip(' \t,.;:!?，。；：！？、~～"“”「」『』《》()（）')
            if begin >= 0
            else ""
        )


Make = Callable[[re.Match[str], Scene], Iterable[Draft]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern tried in sentences that have one of ``words``; ``free`` rules do their own reading of hedges,
    ``dated`` ones have nothing to find where no time is said."""

    words: tuple[str, ...]
    source: str
    make: Make
    free: bool = False
    dated: bool = False


@lru_cache(maxsize=1024)
def compiled(source: str) -> re.Pattern[str]:
    """A rule's pattern, compiled at its first use: most processes never meet most words."""
    return re.compile(source)
