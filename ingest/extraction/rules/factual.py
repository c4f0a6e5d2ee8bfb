"""Tells where a turn may state facts about its speaker, and whether its speaker speaks of themselves at all."""

from __future__ import annotations

import re
from functools import cached_property

from events.language.forget_requests import requests_to_forget
from ingest.extraction.prompt_injection import untrusted_spans
from ingest.extraction.rules.fiction import factual_length

# Kana, Hangul, Cyrillic, Arabic, Hebrew, Devanagari, Thai: four letters in a row.
_FOREIGN = re.compile(
    "(?:[\u3040-\u30ff\u3131-\u318e\uac00-\ud7af\u0400-\u06ff\u0900-\u097f\u0e00-\u0e7f] ?){4}"
)
_FIRST_PERSON = re.compile(r"\b(?:[Ii]|[Mm]y|[Ww]e|[Oo]ur|us|mine)\b(?!\.\w)|[我咱]|本人")
# Characters. Of 20 states from the middle of longer turns, in real chats with an assistant, 3 were right.
_TYPED, _OPENING, _CLOSING = 1000, 500, 200
_BRIEF = 300
_NEXT_SENTENCE = re.compile(r"[.!?]\s+\S|[。！？\n]\s*\S")


class FactualText:
    """The text of a turn. Each search runs at the first question, because few turns have a draft."""

    def __init__(self, text: str) -> None:
        self._text = text

    def holds(self, begin: int, stop: int) -> bool:
        """Returns False for words after an announced fiction, and for a sentence that gives orders to the reader.

        A request to forget is such an order.
        """
        return begin < self._length and not any(start < stop and begin < end for start, end in self._orders)

    def typed(self, at: int) -> bool:
        """Returns False for words that the speaker has likely pasted.

        These are the middle of a long turn, and the English words beside a request in a language the rules cannot read.
        """
        size = len(self._text)
        return (size <= _TYPED or at < _OPENING or at > size - _CLOSING) and not self._foreign

    @cached_property
    def personal(self) -> bool:
        """True when a short turn has a word of the first person, or is a single sentence.

        Without them, several sentences about others are an exercise, a story or a document.
        """
        if len(self._text) > _BRIEF:
            return False
        return _FIRST_PERSON.search(self._text) is not None or not _NEXT_SENTENCE.search(self._text.strip())

    @cached_property
    def _foreign(self) -> bool:
        """True when the turn has words in a script that the rules cannot read."""
        return not self._text.isascii() and _FOREIGN.search(self._text) is not None

    @cached_property
    def _length(self) -> int:
        return factual_length(self._text)

    @cached_property
    def _orders(self) -> tuple[tuple[int, int], ...]:
        asked = [(request.begin, request.end) for request in requests_to_forget(self._text)]
        return (*untrusted_spans(self._text), *asked)
