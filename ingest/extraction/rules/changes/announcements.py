"""Finds announced changes that the pattern of the new value does not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from events.types.cards import StateAsserted
from ingest.extraction.extractor_port import CardEvent
from ingest.extraction.rules.sentences import Sentence

_NEW_JOB = re.compile(
    r"\b(?:changed|switched|new) (?:jobs?|employers?|careers?)\b|"
    r"换(?:了)?(?:工作|公司|跑道)|跳槽|转职|转行|新工作|新公司",
    re.IGNORECASE,
)
_NEWS = {
    "employer": _NEW_JOB,
    "occupation": _NEW_JOB,
    "residence": re.compile(r"\bmoved (?:house|home|flats?|apartments?)\b|搬(?:了)?家", re.IGNORECASE),
}


def made(key: str, sentence: Sentence) -> bool:
    """Returns True when other words of the sentence announce a change of the fact ``key``."""
    pattern = _NEWS.get(key)
    return pattern is not None and pattern.search(sentence.plain) is not None


def beside_an_end(cards: list[CardEvent]) -> Iterator[CardEvent]:
    """Yields the cards. A value next to the end of another value of the same fact becomes an announced change.

    Example: "I'm not a nurse anymore, I work as a baker".
    """
    states = [one for one in cards if isinstance(one, StateAsserted)]
    ended = {(one.entity, one.concept_key) for one in states if one.statement == "ended"}
    for one in cards:
        if (
            isinstance(one, StateAsserted)
            and one.statement == "asserted"
            and not one.announced
            and (one.entity, one.concept_key) in ended
        ):
            yield replace(one, announced=True)
        else:
            yield one
