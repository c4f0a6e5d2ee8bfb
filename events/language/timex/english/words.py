"""English words of time, and the segmentation of a text into words."""

import re

from .. import numerals
from ..calendar import Frame, Tense
from ..scan import REACH, Scan
from ..tables import numbers_of, values_of, words_of

NUMBERS, ORDINALS, MAGNITUDES = numerals.NUMBERS, numerals.ORDINALS, numerals.MAGNITUDES
MONTHS: dict[str, int] = numbers_of("english.months")
WEEKDAYS: dict[str, int] = numbers_of("english.weekdays")
# Words that are more often something else than a date. Each is a date only beside other words.
SHY = frozenset({"may", "march", "mar", "sat", "sun", "mon", "wed", "fri", "sep", "dec", "thu"})
# Words after which a name or a number is a date.
LEADS = words_of("english.leads")
# Words whose number is a name: "page 2019", "size 10/12".
NUMBERED = words_of("english.numbered")
# Words before the number of a version.
VERSIONED = words_of("english.versioned")
UNITS: dict[str, str] = values_of("english.units")
SHIFTS: dict[str, int] = numbers_of("english.shifts")
PART_WORDS: dict[str, str] = values_of("english.part_words")
SEASON_WORDS = {"spring": "spring", "springtime": "spring", "summer": "summer", "summertime": "summer",
                "autumn": "autumn", "fall": "autumn", "winter": "winter", "wintertime": "winter"}  # fmt: skip

_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’][A-Za-z]+|(?<=s)['’](?=[\s,.]|$))?|[0-9]+|[^\s]")
_SENTENCE = re.compile(r"[.!?;\n](?=\s|$)|[。！？；]")
_CLAUSE = re.compile(r",| and | but | then | because | while | that (?=the |my |our )")
# Behind an article or an owner, a will is a document.
_WILL_VERB = r"(?<!\bmy )(?<!\bhis )(?<!\bher )(?<!\btheir )(?<!\byour )(?<!\ba )(?<!\bthe )will"
_AHEAD = re.compile(
    rf"\b(?:{_WILL_VERB}|shall|won't|gonna|going to|about to|plan(?:s|ning)?(?! (?:was|were))|(?:is|are) planned"
    r"|scheduled?|schedule|remind|let's"
    r"|let us|due|deadline|should|must|needs? to|wants? to|would like|hopes? to|looking forward|book(?! club)|see you"
    r"|meet|tomorrow|upcoming|starts?|begins?|leaves?|opens|expires?|intends? to|expects? to|appointment|reschedule"
    r"|set up|find time|available|next|can we|can you|could you|shall we)\b|\b\w+(?:'|’)ll\b"
    r"|\b(?:lands|arrives|departs|comes(?! from)|closes|ends|returns|flies|takes place|resumes|premieres)\b"
    r"|\b(?:i|we|they) (?:fly|go|leave|travel|drive|land|arrive|move|depart|return|open|close)\b"
    r"|\b(?:have|has|take|takes|taking) (?:[^\s.!?]+ ){0,6}off\b|\bworks? for (?:me|us|you|him|her|them)\b"
    r"|\b(?:i'm|i’m|i am|we're|we’re|we are|they're|they are|is|are|he's|she's) (?:\w+ing|off|out|away|on)\b"
    r"|\b(?:i'm|i’m|i am|we're|we’re|we are|they're|they are) (?:free|busy|back|booked|in|at)\b",
    re.IGNORECASE,
)
# A question is about the past unless one of these words asks about the future.
_WILL = re.compile(
    r"\b(?:will|won't|shall|gonna|going to|about to|plan(?:s|ned|ning)?|scheduled?|due|deadline|upcoming"
    r"|next|coming|tomorrow|until|supposed to|should|have to|need to|remind|appointments?)\b|\b\w+(?:'|’)ll\b",
    re.IGNORECASE,
)
_BEING = re.compile(
    r"\b(?:is|are|am|will be|(?:it|that|this|there|he|she)['’]s)"
    r"(?: now)?(?: (?:on|at|due|from|in|for|set for|scheduled for))?(?: the)? $",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:was|were|did|had|went|saw|came|(?<!have )(?<!has )(?<!['’]ve )got|met|said|told|made|took|left|ate|began"
    r"|started|finished|moved"
    r"|ago|already|yesterday|last|since|happened|visited|worked|called|attended|joined|ended|arrived|returned"
    r"|bought|brought|built|caught|chose|found|held|kept|lost|paid|sold|sent|spent|stole|taught|won"
    r"|drove|flew|ran|split|spoke|wrote|broke|fell|swam|sang|grew|wore|woke|drank|gave|forgot|rode|threw|drew"
    r"|haven't|hasn't|didn't|wasn't|weren't|hadn't|(?:have|has|['’]ve) been|back in|(?:i|we|he|she|they) just \w+)\b",
    re.IGNORECASE,
)


# A regular verb in the past: "I hired", "she has just updated", "Natalie suggested". What is arranged lies ahead.
_DONE = re.compile(
    r"(?:\b(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) [a-z]+"
    r"|[Ii]|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|[Yy]ou|[Ii]t|who|which|that|have|has|had|[A-Z][a-z]+)|['’](?:ve|d))"
    r"(?: (?:just|also|then|even|already|[a-z]+ly))*+"
    r" (?!(?:re)?(?:schedul|book)|plann|arrang|postpon|reserv|sign|want|need|suppos|expect|intend|agreed)"
    r"[a-z]{2,}(?<!e)ed\b"
)
# Verbs before a number of things: "moved 5/7 boxes", "has 3/4 parts".
TAKING = re.compile(rf"has|have|[a-z]{{2,}}(?<!e)ed|{_BACK.pattern}")
# What was arranged for a time lies ahead: "I booked the dentist for June 12", "got seats on May 3".
_ARRANGED = re.compile(
    r"\b(?:(?:re)?(?:booked|scheduled)|planned|arranged|reserved|postponed|moved|pushed|registered|signed up"
    r"|bought|chosen|confirmed|fixed)\b[^.!?;]* (?:for|to|until|till)(?: the)? $"
    r"|\b(?:got|have|bought)\b[^.!?;]* (?:tickets?|seats?|a table|reservations?)\b[^.!?;]* (?:for|on|at)(?: the)? $",
    re.IGNORECASE,
)
# A clause with a subject of its own has a tense of its own, or none: "they called, I have a test on 4 December", "she
# moved out, my rent doubles in May".
_SPEAKS = re.compile(
    r"\b(?:i|you|we|he|she|it|they)\b"
    r"|^ ?(?:my|our|your|his|her|their|the)"
    r" (?:(?:[a-z]+ ){1,2}[a-z]+(?:s|ed)\b|[a-z]+s (?!(?:in|on|at|by|for|of|to|from|with)\b)[a-z])",
    re.IGNORECASE,
)
# Behind the verb of the clause and an article, a past form belongs to a noun: "I go to a bar called Luna", "I meet the
# woman who sold the house".
_OBJECT = re.compile(
    r"\b(?:i|we|you|he|she|they) (?!and )(?:[a-z]+ ){1,4}?(?:an?|the|my|our|your|his|her|their|some)\b",
    re.IGNORECASE,
)
# What follows a past verb and is ahead of now: "she said she will come".
_PROMISED = re.compile(
    rf"\b(?:{_WILL_VERB}|won't|gonna|wants|needs|(?<!was )(?<!were )going to)\b|\b\w+(?:'|’)ll\b",
    re.IGNORECASE,
)


# Short forms and common misspellings that the rules know by their full form.
_FULL = values_of("english.full")

# A question in the present: "do I have a class on Tuesday?"
_PRESENT = re.compile(r"\b(?:am|are|is|do|does|can)\b", re.IGNORECASE)


class EnglishScan(Scan):
    """The words of an English text in lower case."""

    __slots__ = ()

    def __init__(self, text: str, frame: Frame, *, asked: bool) -> None:
        plain = text.isascii()
        super().__init__(text.lower() if plain else text, frame, _WORD, asked=asked)
        self.text = text
        if not plain:
            self.words = [word.lower().replace("’", "'") for word in self.words]
        if not _FULL.keys().isdisjoint(self.words):
            self.words = [_FULL.get(word, word) for word in self.words]

    def tense(self, i: int) -> Tense:
        """Returns the tense of the clause of word `i`. Words of the past take precedence.

        A clause without a subject has the tense of its sentence.
        """
        begin = self.begins[i]
        head = _SENTENCE.split(self.text[max(0, begin - REACH) : begin])[-1]
        tail = _SENTENCE.split(self.text[begin : begin + REACH], maxsplit=1)[0]
        if self.asked:
            whole = head + tail
            if _BACK.search(whole) or (not _WILL.search(whole) and not _PRESENT.search(whole)):
                return -1
            return 1 if _WILL.search(whole) else 0
        if _BEING.search(head) or _ARRANGED.search(_CLAUSE.split(head)[-1]):
            return 1
        whole = head + tail
        near = _CLAUSE.split(head)[-1]
        own = near + _CLAUSE.split(tail, maxsplit=1)[0]
        for part in (near, own) if _SPEAKS.search(own) else (near, own, head, whole):
            noun = _OBJECT.search(part, len(near)) if part is own else None
            stop = noun.end() if noun is not None else len(part)
            told = [*_BACK.finditer(part, 0, stop), *_DONE.finditer(part, 0, stop)]
            if told:
                behind = max(each.end() for each in told)
                return 1 if part is not whole and _PROMISED.search(part, behind) else -1
            if _AHEAD.search(part):
                return 1
        return 0
