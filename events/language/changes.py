"""What a text tells beside its topic: a change, what was said wrongly, and values.

The words are in ``changes.txt``. Any text is allowed, and at most its first :data:`READ` characters are read.
"""

import re
from collections.abc import Iterator, Set
from functools import cache
from importlib.resources import files

from events.language.chinese_script import from_cantonese, has_cjk, to_simplified

READ = 600
_BRIEF = 120  # characters; a Chinese character counts as three
_INTERJECTIONS = r"\W*(?:(?:oh|ah|ok|okay|hmm|ugh|haha|lol|hey|so|and|but|yeah|啊|欸|诶|哦|喔|呃|嗯)\W+){0,3}"


def tells_of_a_change(text: str) -> bool:
    """True when ``text`` says that something is another way now, is over, or was said wrongly."""
    return _search("change", text) is not None or mends(text)


def before_change(clause: str) -> str | None:
    """Returns the words before the first word of change in ``clause``, or None when the clause tells no change.

    A final 了 tells a change and not who does it, so no word counts as before it.
    """
    found = _search("change", clause)
    return None if found is None else "" if found[0] == "了" else found.string[: found.start()]


def without_change(text: str) -> str:
    """Returns ``text`` without its words of change, in simplified script and lower case."""
    head = _mandarin(text[:READ].casefold())
    for language in ("english", "chinese"):
        head = _pattern("change", language).sub(" ", head)
    return head


def over_in(text: str) -> Iterator[str]:
    """Yields the clauses of ``text`` that say what is no longer so, without the words that say it."""
    return (without_change(clause) for clause in told_clauses(text) if _OVER.search(clause))


def subject_in(clause: str) -> str | None:
    """Returns the words before the first common verb or verb of change in ``clause``; None without such a verb.

    Who said it does not count: "the dentist said that the appointment has moved". Who does something to "it" is None.
    """
    head = _mandarin(clause[:READ].casefold().replace("’", "'"))
    places = [found.start() for each in _verbs() if (found := each.search(head)) is not None]
    if not places or _IT.search(head, min(places)):
        return None
    return _LED_IN.split(head[: min(places)])[-1]


def told_clauses(text: str) -> Iterator[str]:
    """Yields the clauses of ``text``, in simplified script, without a sentence that only supposes something.

    A clause that says "not any more" or 不…了 tells a change, and denies none.
    """
    for sentence in told_sentences(text):
        for clause in filter(None, _CLAUSE.split(sentence)):
            yield _DENIED.sub(" ", clause) if _ANY_MORE.search(clause) else clause


def told_sentences(text: str) -> Iterator[str]:
    """Yields the sentences of ``text``, in simplified script, without those that only suppose something."""
    for sentence in _SENTENCE.split(_mandarin(text[:READ])):
        if sentence and not _SUPPOSED.search(sentence):
            yield sentence


def doer(before: str) -> str | None:
    """Returns the subject of a verb by the words ``before`` it: "" for the speaker, and None when they deny the verb.

    A clause without a subject is about the speaker. So is "my new job", and "my brother's new job" is about a brother.
    """
    words = before.casefold().replace("’", "'")
    if _DENIED.search(words):
        return None
    *own, rest = _ONESELF.split(words)
    if _OWN.search(rest) or (
        own and (_TOGETHER.match(rest) or (rest.isascii() and not _REPORTS.search(words)))
    ):
        return ""
    return rest.strip() if _BESIDE.sub(" ", rest).strip() else ""


def denies(text: str) -> bool:
    """True when ``text`` says that something is not so."""
    head = _mandarin(text[:READ].replace("’", "'"))
    return bool(_DENIED.search(head) or _NONE.search(head))


def values(text: str) -> frozenset[str]:
    """Returns the numbers, days and times of day that ``text`` names, as they are written."""
    head = _mandarin(text[:READ])
    languages = ("english", "chinese") if has_cjk(head) else ("english",)
    return frozenset(
        found for each in languages for found in _pattern("value", each).findall(head.casefold())
    )


_PARTICLES = str.maketrans("喇啦哋", "了了们")


def _mandarin(text: str) -> str:
    """Returns ``text`` in simplified script, with the function words of written Cantonese as those of Mandarin."""
    plain = from_cantonese(to_simplified(text)).translate(_PARTICLES)
    return plain.replace("而家", "现在").replace("依家", "现在")


_SENTENCE = re.compile(r"[.!?]+(?=\s|$)|[\n。！？…]+")
_CLAUSE = re.compile(r"[,;:，；：、—–]|\b(?:but|because|while|since|although|so)\b|但是?|因为|所以")
_SUPPOSED = re.compile(
    r"\b(?:if|unless|wish|would|could|might|maybe|perhaps|think(?:ing)? (?:of|about)|consider(?:s|ed|ing)?)\b"
    r"|如果|要是|假如|万一|希望|可能|也许|说不定",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:am|are|is|was|were|will|has|have|had|costs?|starts?|lives?|works?|runs?)\b|[是在有叫住]"
)
_LED_IN = re.compile(
    r"\b(?:said|says?|told (?:me|us)|tells (?:me|us)|heard|announced|that|now)\b|[说讲]|告诉我?|通知|宣布|既然|因为"
)
_IT = re.compile(r"\b(?:it|them)\b|它")
_DENIED = re.compile(r"\b(?:not|never|almost|nearly|hardly)\b|n't\b|没|未|不(?!再|过)|别|差点", re.I)
_NONE = re.compile(r"\b(?:no|none|neither|without)\b|无|不过敏", re.IGNORECASE)
_ANY_MORE = re.compile(r"\bany ?more\b|\bany longer\b|[不没][^了]*了", re.IGNORECASE)
_OVER = re.compile(r"\b(?:no longer|any ?more|any longer)\b|不再", re.IGNORECASE)
_ONESELF = re.compile(r"\b(?:i|we|me|us|im|ive)\b(?:'\w+)?|我们|咱们|我|咱")
_REPORTS = re.compile(
    r"\b(?:heard|hear|think|thought|know|knew|said|says?|told|saw|hope|guess|believe|glad|sorry|sure|that|who)\b"
)
_OWN = re.compile(r"\b(?:my|our)\s*$")
_TOGETHER = re.compile(r"\s*(?:and|with)\b|\s*[和跟与]")
_BESIDE = re.compile(
    r"\b(?:am|are|is|was|were|be|been|being|have|has|had|do|does|did|will|got|get|getting|going|gonna|to|just|finally|already"
    r"|also|then|and|now|still|soon|recently|actually|last|next|this|week|month|year|yesterday|today|\w+ly)\b|'(?:m|ve|re|ll|d)\b"
    r"|\b(?:a|an|the)\s*$|[上下这去今明昨前本]个?(?:周|星期|礼拜|月|年|天)[一二三四五六日天末底初]?"
    r"|已经|终于|后来|最近|现在|正在|准备|打算|决定|刚|要|会|就|也|又|才|再|还|都|的\s*$"
)
"""The words around a verb that do not say who does it."""


def differ(own: Set[str], others: Set[str]) -> bool:
    """True when each of two sets of values has one that the other lacks, both times of day, days or numbers."""
    if not own or not others or own == others:
        return False
    return not {_kind(each) for each in own - others}.isdisjoint(_kind(each) for each in others - own)


def _kind(value: str) -> str:
    if ":" in value or value.endswith(("am", "pm")) or value in ("noon", "midnight"):
        return "clock"
    if value.count("-") + value.count("/") == 2 or value.endswith(("st", "nd", "rd", "th", "day")):
        return "day"
    return "number"


def mends(text: str) -> bool:
    """True for a brief text that begins as a correction of what was said just before. A question is none."""
    asks = text.rstrip().endswith(("?", "？"))
    return brief(text) and not asks and _search("correction", text) is not None


def brief(text: str) -> bool:
    """True for a text of about one line."""
    width = len(text) if text.isascii() else sum(1 if each.isascii() else 3 for each in text[:READ])
    return width <= _BRIEF


def _search(section: str, text: str) -> re.Match[str] | None:
    head = _mandarin(text[:READ].casefold().replace("’", "'"))
    found = _pattern(section, "english").search(head)
    return _pattern(section, "chinese").search(head) if found is None and has_cjk(head) else found


def _verbs() -> tuple[re.Pattern[str], ...]:
    return _VERB, _pattern("verb", "english"), _pattern("verb", "chinese")


@cache
def _pattern(section: str, language: str) -> re.Pattern[str]:
    table = files("events.language").joinpath("changes.txt").read_text("utf-8")
    # A verb of change tells a change, too.
    sections = ("verb", section) if section == "change" else (section,)
    bodies = (table.partition(f"[{each}] {language}\n")[2].partition("\n[")[0] for each in sections)
    words = "|".join(line for body in bodies for line in body.splitlines() if line)
    if section == "correction":
        return re.compile(rf"^{_INTERJECTIONS}(?:{words})")
    return re.compile(rf"\b(?:{words})\b" if language == "english" else words)
