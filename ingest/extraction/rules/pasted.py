"""Hides pasted text: markup, data, letters and mails, transcripts. Their words are not those of the speaker."""

import re
from bisect import bisect_left
from itertools import islice

from ingest.extraction.rules.words import pattern

_TAG = pattern("pasted_TAG")
_LONGEST_ELEMENT = 4000
# An object of JSON, a line of YAML, of a log or of a configuration: a key and its value, and nothing else.
_DATA = pattern("pasted_DATA")
_LONGEST_LETTER = 8000
# A letter begins with "Dear …," or with the head of a mail, and ends with its greeting or with the turn.
_LETTER = re.compile(
    r"^[ \t>\"“]*(?:Dear (?!diary)[^\n,:]{1,60}[,:]|To whom it may concern\b|"
    r"(?:From|To|Subject|Cc|Sent|Date): [^\n]{1,200}\n|尊敬的[^\n]{1,30}[：:，,]|"
    r"親愛的[^\n]{1,30}[：:]|亲爱的[^\n]{1,30}[：:]|[親亲][愛爱]的[^\n，,]{1,8}[，,]|致[：:]|寄件者[：:]|发件人[：:])",
    re.IGNORECASE | re.MULTILINE,
)
_GREETING = pattern("pasted_GREETING")
_NOTE = pattern("pasted_NOTE")
_SIGNED = pattern("pasted_SIGNED")
# "Note: I moved" tells of the speaker. "Customer: I moved", "Text: …" and "Rewrite this: …" do not.
_HEAD = pattern("pasted_HEAD")
# "Rewrite this:" at the end of a line: what follows is the text to rewrite.
_HEAD_LINE = re.compile(r"^(?P<head>[^\n:：]{4,200})[:：][ \t]*\n", re.MULTILINE)
OWN_HEAD = re.compile(
    r"\W*(?:(?:I|[Ww]e)(?:'ve)? (?:changed|switched|moved|quit|left|got|have)|[Nn]o longer)\b[^:\n]{0,40}|"
    r"\W*(?:(?:big|some|quick|good|bad|great|fun|a|my|small|sad|other) )*(?:about me|me|sorry|correction|typo|"
    r"note|nb|update|"
    r"fyi|btw|context|background|info|details|profile|situation|hello|hi|hey|edit|ps|so|ok|okay|also|news|facts?|"
    r"reminder|(?:please )?(?:remember|note|save|keep|store)(?: (?:this|that|it))?(?: (?:to|in) (?:your )?memory)?|"
    r"today|yesterday|actually|guess what|allerg\w+|birthday|here's the thing|to be clear)"
    r"(?: (?:to self|is|are|time|for you|from me|about me))*\W*|"
    r"\W*(?:更新|备注|備註|补充|補充|记录|記錄|记一下|記一下|记住|記住|记得|記得|另外|对了|對了|背景|情况|情況|说明|說明|提醒|更正|日记|日記|今天|好消息|坏消息)\W*",
    re.IGNORECASE,
)
_HEADED = pattern("pasted_HEADED")
# A transcript has times, and a curriculum vitae has bullets and years, at the edges of its lines.
_STAMPED = pattern("pasted_STAMPED")
_CAREER = pattern("pasted_CAREER")
# "…\n\nSummarise the text above": the task follows its text.
_TASK_ABOVE = pattern("pasted_TASK_ABOVE")
# "Ana: I live in Ghent" line after line is a transcript.
_SPEAKER_LINE = pattern("pasted_SPEAKER_LINE")
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
    if ":" in text or "：" in text:
        line = next((one for one in _HEAD_LINE.finditer(text) if not OWN_HEAD.fullmatch(one["head"])), None)
        if line is not None:
            spans.append((line.end(), len(text)))
        spans += [
            (found.end("head"), found.end())
            for found in _HEAD.finditer(text)
            if not OWN_HEAD.fullmatch(found["head"])
        ]
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
    greetings = [found.span() for found in _GREETING.finditer(text)]
    for opening in _LETTER.finditer(text):
        at = bisect_left(greetings, (opening.end(), 0))
        begin, end = greetings[at] if at < len(greetings) else (len(text), len(text))
        if begin - opening.end() <= _LONGEST_LETTER:
            return opening.start(), end
    return None


def _many(pattern: re.Pattern[str], text: str) -> bool:
    return len(list(islice(pattern.finditer(text), _LEAST_LINES))) >= _LEAST_LINES
