"""Hides the words in a text that its speaker only shows: code, quoted lines, and longer quotations.

The length of a text stays the same, so an offset in the result is one in the text.
"""

import re

# Replaces each character of hidden words. No pattern matches it.
HIDDEN = "\x02"

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,200}`", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]{0,4}>[^\n]*", re.MULTILINE)
_QUOTATION = re.compile(
    r'"[^"\n]{1,2000}+"|“[^”\n]{1,2000}+”|「[^」\n]{1,2000}+」|『[^』\n]{1,2000}+』|【[^】\n]{1,2000}+】'
    r"|(?<=[\s:：])'(?:[^'\n]|(?<=\w)'(?=\w)){1,2000}+'(?!\w)"
)
_MARKS = "\"“「『【'"
_NOT_NEWLINE = re.compile(r"[^\n]")


def without_code(text: str) -> str:
    """Returns ``text`` with code hidden."""
    return _CODE.sub(_hide, text) if "`" in text else text


def without_quotations(text: str) -> str:
    """Returns ``text`` with quoted lines and longer quotations hidden. A short quotation is a name."""
    if ">" in text:
        text = _QUOTED_LINE.sub(_hide, text)
    return _QUOTATION.sub(_hide_long, text) if any(mark in text for mark in _MARKS) else text


def _hide(found: re.Match[str]) -> str:
    return _NOT_NEWLINE.sub(HIDDEN, found[0])


def _hide_long(found: re.Match[str]) -> str:
    quotation = found[0]
    is_name = quotation.count(" ") <= 4 if quotation.isascii() else len(quotation) <= 10
    if is_name and not re.search(r"[.!?。！？,，]|\b[Ii]('|\b)|我", quotation):
        return quotation
    return _hide(found)
