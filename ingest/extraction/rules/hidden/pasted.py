"""Hides pasted text: markup, data, letters and mails, transcripts. Their words are not those of the speaker."""

from __future__ import annotations

import re

_TAGGED = re.compile(
    r"<(?P<tag>[a-z][a-z0-9]{0,15})\b[^<>\n]{0,200}>(?:[^<]|<(?!/(?P=tag)>)){0,4000}(?:</(?P=tag)>|\Z)|"
    r"</?[a-z][^<>\n]{0,200}>",
    re.IGNORECASE,
)
# An object of JSON, a line of YAML, of a log or of a configuration: a key and its value, and nothing else.
_DATA = re.compile(
    r"\{[^{}]{0,2000}[\"'][\w -]{1,40}[\"'] ?:[^{}]{0,4000}\}|\[[^\[\]]{0,4000}\](?=\s*(?:$|[,}\]]))"
    r"|^[ \t]{0,12}(?:[-*] )?[\"']?[a-z][\w.]{0,20}[_.][\w.]{1,40}[\"']? ?[:=][^\n]{0,400}$",
    re.IGNORECASE | re.MULTILINE,
)
# A letter begins with "Dear …," or with the head of a mail, and ends with its greeting or with the turn.
_LETTER = re.compile(
    r"^[ \t>]*(?:Dear (?!diary)[^\n,:]{1,60}[,:]|"
    r"(?:From|To|Subject|Cc|Sent|Date): [^\n]{1,200}\n|尊敬的[^\n]{1,30}[：:，,]|"
    r"親愛的[^\n]{1,30}[：:]|亲爱的[^\n]{1,30}[：:]|致[：:]|寄件者[：:]|发件人[：:])"
    r"(?:.|\n){0,8000}?"
    r"(?:^[ \t>]*(?:Sincerely|(?:Best|Kind|Warm) regards|Regards|Yours (?:truly|sincerely|faithfully)|Best|"
    r"Cheers|Love|此致|敬上|敬禮|敬礼)\b[^\n]*(?:\n[^\n]{1,60}$)?|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNED = re.compile(
    r"(?:.|\n){0,8000}\b(?:Sincerely|Kind regards|Best regards|Warm regards|Yours (?:truly|sincerely|faithfully)),",
    re.IGNORECASE,
)
# "Ana: I live in Ghent" line after line is a transcript.
_SPEAKER_LINE = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{1,30}\] ?)?[A-Z\u4e00-\u9fff][\w .'-]{0,24}[:：][ \t]*\S[^\n]*$", re.MULTILINE
)
_LEAST_LINES = 3


def pasted(text: str) -> list[tuple[int, int]]:
    """Returns the spans of pasted text, in no order. They may overlap."""
    spans: list[tuple[int, int]] = []
    if "<" in text and ">" in text:
        spans += [found.span() for found in _TAGGED.finditer(text)]
    if "{" in text or "[" in text or "_" in text or "=" in text:
        spans += [found.span() for found in _DATA.finditer(text)]
    letter = _LETTER.search(text)
    if letter is not None:
        spans.append(letter.span())
    elif "incerely" in text or "egards" in text or "Yours " in text:
        signed = _SIGNED.match(text)
        if signed is not None:
            spans.append((0, len(text)))
    if text.count("\n") >= _LEAST_LINES - 1 and (":" in text or "：" in text):
        lines = [found.span() for found in _SPEAKER_LINE.finditer(text)]
        if len(lines) >= _LEAST_LINES:
            spans += lines
    return spans
