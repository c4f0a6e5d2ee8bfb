"""How many tokens a text takes at most: an estimate that needs no model's vocabulary and never changes."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Za-z]+")
_SINGLES = re.compile(r"[!-@\[-`{-~\n\t\r]| (?![A-Za-z])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_EAST_ASIAN = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")
_LETTERS_A_TOKEN = 3
_TOKENS_A_CHARACTER = 2


def count_tokens(text: str) -> int:
    """An upper bound, for text as people write it, of what the tokenizers of today's models make of ``text``.

    Three Latin letters a token, where a model needs about four; a token for each digit and mark, none for the one
    space before a word; two for a Chinese, Japanese or Korean character, where a model needs one or a little more;
    for anything else a token a byte of UTF-8. Text made to defeat tokenizers (long random letters) can take
    more. Adds up: lines counted one by one, with their line ends, give the count of the whole.
    """
    words = sum(-(-len(word) // _LETTERS_A_TOKEN) for word in _WORDS.findall(text))
    total = words + len(_SINGLES.findall(text))
    if text.isascii():
        return total
    east_asian = _EAST_ASIAN.findall(text)
    other = len(text.encode("utf-8", "surrogatepass")) - 3 * len(east_asian) - sum(map(str.isascii, text))
    return total + _TOKENS_A_CHARACTER * len(east_asian) + other
