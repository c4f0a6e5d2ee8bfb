"""The claims of a text, sentence by sentence."""

import re
from functools import lru_cache

from events.language.chinese_script import has_cjk
from retrieval.cards.claims.chinese import chinese_claim
from retrieval.cards.claims.claim import Claim
from retrieval.cards.claims.english import english_claim

_READ = 600
_MOST = 8
# A pattern without regard to case takes the other letters for i, s and k. They are no keys of the tables.
_PLAIN = str.maketrans("\u0131\u0130\u017f\u212a", "iIsK")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；;\n])")


@lru_cache(maxsize=4096)
def claims(text: str) -> tuple[Claim, ...]:
    """Returns the claims that ``text`` makes. Only the first 600 characters and eight sentences count; never raises."""
    found = []
    for sentence in _SENTENCE.split(text[:_READ].translate(_PLAIN))[:_MOST]:
        claim = chinese_claim(sentence) if has_cjk(sentence) else english_claim(sentence)
        if claim is not None and claim.topic:
            found.append(claim)
    return tuple(found)
