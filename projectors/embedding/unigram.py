"""Cuts text into the tokens of a unigram model, with a small part of the memory of the package ``tokenizers``.

That package keeps the 250,000 words of multilingual-e5-small in 270 MB. A dictionary of Python holds them in 45 MB. The
package still normalises the text and adds the tokens at both ends. The tokens are the same, token by token.
"""

import re
from array import array
from collections.abc import Callable
from functools import lru_cache

import orjson

from events.types.json_values import JsonObject

_UNKNOWN_PENALTY = 10.0
_REMEMBERED = 10_000


class UnigramTokenizer:
    """Tokens of a ``tokenizer.json`` with a unigram model that never splits a character. Threads may share it."""

    def __init__(self, document: JsonObject, *, longest: int) -> None:
        """``longest``: the number of tokens, with those at both ends, at which a text is cut."""
        from tokenizers import Tokenizer  # noqa: PLC0415 - only a process with a model needs it

        model = document["model"]
        self._unknown: int = model["unk_id"]
        self._ids: dict[str, int] = {token: number for number, (token, _) in enumerate(model["vocab"])}
        self._scores = array("d", (score for _, score in model["vocab"]))
        self._longest_token = max(map(len, self._ids))
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        special = {each["content"]: each["id"] for each in document["added_tokens"]}
        self._special: dict[str, int] = special
        self._around = re.compile("(" + "|".join(map(re.escape, special)) + ")") if special else None
        small = {**document, "added_tokens": [], "model": {**model, "vocab": [["", 0.0]], "unk_id": 0}}
        parts = Tokenizer.from_str(orjson.dumps({**small, "post_processor": None}).decode())
        self._normalise: Callable[[str], str] = (
            parts.normalizer.normalize_str if parts.normalizer is not None else str
        )
        self._pieces = parts.pre_tokenizer.pre_tokenize_str
        self._longest = longest
        self._first, self._last = _ends(document["post_processor"])
        self._best = lru_cache(maxsize=_REMEMBERED)(self._path)

    def encode(self, text: str) -> list[int]:
        """Returns the ids of the tokens of ``text``, with the tokens at both ends."""
        room = self._longest - len(self._first) - len(self._last)
        found: list[int] = []
        for part in self._around.split(text) if self._around is not None else (text,):
            if len(found) >= room:
                break
            if part in self._special:
                found.append(self._special[part])
            elif part:
                for piece, _ in self._pieces(self._normalise(part)):
                    found += self._best(piece)
        return [*self._first, *found[:room], *self._last]

    def _path(self, piece: str) -> tuple[int, ...]:
        """Returns the most probable tokens of a piece. Unknown characters in a row are one token."""
        size, ids, scores = len(piece), self._ids, self._scores
        best: list[tuple[float, int, int] | None] = [None] * (
            size + 1
        )  # (score, begin, id) of the last token
        best[0] = (0.0, 0, -1)
        for begin in range(size):
            here = best[begin][0]  # type: ignore[index] # each character alone is a token, also an unknown one
            single = False
            for end in range(begin + 1, min(size, begin + self._longest_token) + 1):
                number = ids.get(piece[begin:end])
                if number is not None:
                    single = single or end == begin + 1
                    score, other = here + scores[number], best[end]
                    if other is None or score > other[0]:
                        best[end] = (score, begin, number)
            if not single:
                score, other = here + self._unknown_score, best[begin + 1]
                if other is None or score > other[0]:
                    best[begin + 1] = (score, begin, self._unknown)
        found: list[int] = []
        end = size
        while end:
            _, end, number = best[end]  # type: ignore[misc]
            if not (number == self._unknown and found and found[-1] == self._unknown):
                found.append(number)
        return tuple(reversed(found))


def is_unigram(document: JsonObject) -> bool:
    """True for a document that :class:`UnigramTokenizer` reads as the package ``tokenizers`` does."""
    model, around = document["model"], document.get("post_processor") or {}
    return (
        model.get("type") == "Unigram"
        and not model.get("byte_fallback")
        and (document.get("pre_tokenizer") or {}).get("type") == "Metaspace"
        and around.get("type") == "TemplateProcessing"
        and not any(
            each[name]
            for each in document["added_tokens"]
            for name in ("single_word", "lstrip", "rstrip", "normalized")
        )
    )


def _ends(template: JsonObject) -> tuple[list[int], list[int]]:
    """Returns the ids before and after the tokens of one text."""
    before: list[int] = []
    after: list[int] = []
    side = before
    for part in template["single"]:
        if "Sequence" in part:
            side = after
        else:
            side += template["special_tokens"][part["SpecialToken"]["id"]]["ids"]
    return before, after
