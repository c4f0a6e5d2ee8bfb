"""An upper estimate of the tokens of a text. It needs no vocabulary of a model and never changes."""

import re

_WORDS = re.compile(r"[A-Za-z]+")
_SINGLES = re.compile(r"[!-@\[-`{-~\n\t\r]| (?![A-Za-z])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_EAST_ASIAN = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")
_LETTERS_A_TOKEN = 3
_TOKENS_A_CHARACTER = 2


def count_tokens(text: str) -> int:
    """Returns an upper bound of the tokens of ``text`` for the tokenizers of today's models and ordinary text.

    Three Latin letters count as a token; models need one for about four. A digit and a mark count as a token each, one
    space before a word as none. A Chinese, Japanese or Korean character counts as two; models need one or slightly
    more. Every other byte of UTF-8 counts as a token. Text made to defeat tokenizers (long random letters) can take
    more. The count is additive: the counts of the lines, with their line ends, add up to the count of the text.
    """
    words = sum(-(-len(word) // _LETTERS_A_TOKEN) for word in _WORDS.findall(text))
    total = words + len(_SINGLES.findall(text))
    if text.isascii():
        return total
    east_asian = _EAST_ASIAN.findall(text)
    other = len(text.encode("utf-8", "surrogatepass")) - 3 * len(east_asian) - sum(map(str.isascii, text))
    return total + _TOKENS_A_CHARACTER * len(east_asian) + other
