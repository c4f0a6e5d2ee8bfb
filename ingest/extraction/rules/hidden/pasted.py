"""Hides pasted text: markup, data, letters and mails, transcripts. Their words are not those of the speaker."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice

_TAG = re.compile(
    r"<(?P<opens>[a-z][a-z0-9]{0,15})\b[^<>\n]{0,200}>|</(?P<closes>[a-z][a-z0-9]{0,15})>|</?[a-z][^<>\n]{0,200}>",
    re.IGNORECASE,
)
_LONGEST_ELEMENT = 4000
# An object of JSON, a line of YAML, of a log or of a configuration: a key and its value, and nothing else.
_DATA = re.compile(
    r"\{[^{}]{0,2000}[\"'][\w -]{1,40}[\"'] ?:[^{}]{0,4000}\}|\[[^\[\]]{0,4000}\](?=\s*(?:$|[,}\]]))"
    r"|^[ \t]{0,12}(?:[-*] )?[\"']?[a-z][\w.]{0,20}[_.][\w.]{1,40}[\"']? ?[:=][^\n]{0,400}$",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST_LETTER = 8000
# A letter begins with "Dear …," or with the head of a mail, and ends with its greeting or with the turn.
_LETTER = re.compile(
    r"^[ \t>\"“]*(?:Dear (?!diary)[^\n,:]{1,60}[,:]|To whom it may concern\b|"
    r"(?:From|To|Subject|Cc|Sent|Date): [^\n]{1,200}\n|尊敬的[^\n]{1,30}[：:，,]|"
    r"親愛的[^\n]{1,30}[：:]|亲爱的[^\n]{1,30}[：:]|[親亲][愛爱]的[^\n，,]{1,8}[，,]|致[：:]|寄件者[：:]|发件人[：:])",
    re.IGNORECASE | re.MULTILINE,
)
_GREETING = re.compile(
    r"^[ \t>]*(?:Sincerely|(?:Best|Kind|Warm) regards|Regards|Yours (?:truly|sincerely|faithfully)|Best|"
    r"Cheers|Love|此致|敬上|敬禮|敬礼)\b[^\n]*(?:\n[^\n]{1,60}$)?",
    re.IGNORECASE | re.MULTILINE,
)
_NOTE = re.compile(
    r"\s*(?:Hi|Hello|Hey) [A-Z]\w+,(?:.|\n){40,4000}"
    r"\b(?:Best|Cheers|Thanks|Regards|Kind regards|Love|Yours),?\s+[A-Z]\w+\W*\Z"
)
_SIGNED = re.compile(
    r"\b(?:(?:Sincerely|Kind regards|Best regards|Warm regards|Yours (?:truly|sincerely|faithfully)),|"
    r"I(?:'m| am) (?:excited|writing|thrilled|pleased|eager) to (?:apply|express)\b)",
    re.IGNORECASE,
)
# "Note: I moved" tells of the speaker. "Customer: I moved" and "Text:" do not.
_HEAD = re.compile(
    r"^[ \t]*(?!(?i:me|myself|about me|note|nb|ps|p\.s\.|update|edit|correction|typo|fyi|btw|context|background|info|"
    r"information|details|profile|situation|reminder|remember|news|today|yesterday|also|actually|so|ok|okay|hi|"
    r"hello|hey|facts?|my [\w ]+)[:：])"
    r"[A-Z][a-zA-Z]{0,14}(?: [A-Za-z\d]{1,12})?[:：] (?=[^\n]*\b(?:I|[Mm]y|[Ww]e)\b)[^\n]+$",
    re.MULTILINE,
)
_HEADED = re.compile(
    r"(?:^|\n)[ \t]*(?:text|passage|essay|article|excerpt|story|transcript|resume|résumé|cv|bio|paragraph|input|"
    r"original|sample|example|example \d|source|script|lyrics|\[verse[^\]\n]*\]|\[chorus\])"
    r"[ \t]*+[:：]?[ \t]*+\n(?:.|\n)+",
    re.IGNORECASE,
)
# A transcript has times, and a curriculum vitae has bullets and years, at the edges of its lines.
_STAMPED = re.compile(
    r"^[> \t]*(?:[A-Z][\w.' -]{1,40} )?\[?\(?\d{1,2}:\d\d(?::\d\d)?\)?\]?(?:[ \t]|$)", re.MULTILINE
)
_CAREER = re.compile(
    r"^[ \t]*[•●⚫▪◦■][ \t]*[A-Z]|(?:19|20)\d\d ?[-–—] ?(?:(?:19|20)\d\d\b|[Pp]resent|[Cc]urrent|[Nn]ow\b)|"
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (?:19|20)\d\d ?[-–—] ",
    re.MULTILINE,
)
# "…\n\nSummarise the text above": the task follows its text.
_TASK_ABOVE = re.compile(
    r"\n[^\S\n]*+(?:(?:please|can you|could you|now)[, ]+)*(?:summari[sz]e|rewrite|rephrase|translate|proofread|edit|"
    r"improve|paraphrase|analy[sz]e|correct|shorten|simplify|polish|convert)\b[^\n]{0,40}\b(?:this|above|it|text|passage|article|"
    r"paragraphs?|essay|story|following)\b[^\n]{0,80}\s*\Z",
    re.IGNORECASE,
)
# "Ana: I live in Ghent" line after line is a transcript.
_SPEAKER_LINE = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{1,30}\] ?)?[A-Z\u4e00-\u9fff][\w .'-]{0,24}[:：][ \t]*\S[^\n]*$", re.MULTILINE
)
_LEAST_LINES = 3


# The patterns run only on a text with one of these. Substring searches are many times as fast as the patterns.
_LETTER_WORDS = (
    "dear ", "to whom", "from: ", "to: ", "subject: ", "cc: ", "sent: ", "date: ",
    "尊敬的", "愛的", "爱的", "致：", "致:", "寄件者", "发件人",
)  # fmt: skip
_SIGNED_WORDS = ("sincerely,", "regards,", "faithfully,", "truly,", "to apply", "to express")


def contains(lowered: str, words: tuple[str, ...]) -> bool:
    """Returns True when one of the words, in lower case, is in the text."""
    # A plain loop takes half the time of any() with a generator.
    for word in words:  # noqa: SIM110
        if word in lowered:
            return True
    return False


def pasted(text: str) -> list[tuple[int, int]]:
    """Returns the spans of pasted text, in no order. They may overlap."""
    spans: list[tuple[int, int]] = []
    if "<" in text and ">" in text:
        spans += _elements(text)
    if "{" in text or "[" in text or "_" in text or "=" in text:
        spans += [found.span() for found in _DATA.finditer(text)]
    lowered = text.lower()
    letter = _letter(text) if contains(lowered, _LETTER_WORDS) else None
    if letter is None and text[:1] == "H" and (note := _NOTE.match(text)) is not None:
        letter = note.span()
    if letter is not None:
        spans.append(letter)
    elif contains(lowered, _SIGNED_WORDS) and _SIGNED.search(text, 0, 8000) is not None:
        spans.append((0, len(text)))
    if ": " in text:
        spans += [found.span() for found in _HEAD.finditer(text)]
    if "\n" in text:
        if (headed := _HEADED.search(text)) is not None:
            spans.append(headed.span())
        if (task := _TASK_ABOVE.search(text)) is not None:
            spans.append((0, task.start()))
        if _many(_STAMPED, text) or _many(_CAREER, text):
            spans.append((0, len(text)))
    if text.count("\n") >= _LEAST_LINES - 1 and (":" in text or "：" in text):
        lines = [found.span() for found in _SPEAKER_LINE.finditer(text)]
        if len(lines) >= _LEAST_LINES:
            spans += lines
    return spans


def _elements(text: str) -> list[tuple[int, int]]:
    """Returns the spans of the elements of markup, and of each tag that belongs to none."""
    spans: list[tuple[int, int]] = []
    tags = [*_TAG.finditer(text)]
    closings: dict[str, list[re.Match[str]]] = {}
    for tag in reversed(tags):
        if tag["closes"]:
            closings.setdefault(tag["closes"].lower(), []).append(tag)
    reached = 0
    for tag in tags:
        if tag.start() < reached:
            continue
        reached = tag.end()
        if tag["opens"]:
            later = closings.get(tag["opens"].lower(), [])
            while later and later[-1].start() < tag.end():
                later.pop()
            if later and later[-1].start() - tag.end() <= _LONGEST_ELEMENT:
                reached = later[-1].end()
            elif not later and len(text) - tag.end() <= _LONGEST_ELEMENT:
                reached = len(text)
        spans.append((tag.start(), reached))
    return spans


def _letter(text: str) -> tuple[int, int] | None:
    """Returns the span of the first letter, or None."""
    greetings = [found.span() for found in _GREETING.finditer(text)]
    for opening in _LETTER.finditer(text):
        at = bisect_left(greetings, (opening.end(), 0))
        begin, end = greetings[at] if at < len(greetings) else (len(text), len(text))
        if begin - opening.end() <= _LONGEST_LETTER:
            return opening.start(), end
    return None


def _many(pattern: re.Pattern[str], text: str) -> bool:
    return len(list(islice(pattern.finditer(text), _LEAST_LINES))) >= _LEAST_LINES
