"""Claims of English sentences."""

from __future__ import annotations

import re

from events.language.claims.claim import UNITS, Claim, amount, clock
from events.language.claims.experience import english_experience
from events.language.terms import analyse, stem
from events.language.values import word_set

_UNSURE = re.compile(
    r"\?|\b(?:if|when|while|unless|maybe|perhaps|might|(?-i:may)|would|"
    r"could|should|want|wants|wanted|hope|plan|planning|"
    r"think|thought|guess|wish|someone|somebody|some|one of|either|or|was|"
    r"were|had|did|didn't|ago|yesterday|today|"
    r"tonight|tomorrow|this|last|next|once|said|says|told|heard|that|he|she|"
    r"it|they|his|her|hers|their|its|him|them|"
    r"you|your|used to|now|currently|anymore|longer|instead|moved|changed|"
    r"switched|postponed|another|other|there|"
    r"about|around|almost|usually|sometimes|often|up to|at least|too)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:don't|doesn't|do not|does not|isn't|aren't|is not|are not|am not|"
    r"can't|cannot|can not|haven't|hasn't|"
    r"have not|has not|won't|never|not|no)\b",
    re.IGNORECASE,
)
_OF_A_THING = re.compile(
    r"^(?P<subject>(?:my|our|the) (?:[\w'’-]+ ){1,6}?)(?P<verb>is|are|isn't|"
    r"aren't|costs?|weighs?|starts?|begins?|"
    r"ends?|leaves?|departs?|arrives?|opens?|closes?|takes?|lasts?|has|have|needs?|expires?|runs?|seats?|"
    r"will be|doesn't \w+)\b(?P<rest>.*)$",
    re.IGNORECASE,
)
_OF_ONESELF = re.compile(
    r"^(?:i|we)(?:'m|'ve| am| are| have| own| can(?!')| do|)\b(?P<rest>.*)$", re.IGNORECASE
)
_POSSESSES = re.compile(r"^(?:i|we) (?:have|own|earn|weigh|am|speak|pay)\b|^i'm\b", re.IGNORECASE)
_PASSING = re.compile(
    r"\b(?:weather|temperature|forecast|humidity|mood|score|balance|battery|"
    r"traffic|queue|stock|task|todo|homework|"
    r"assignment|meeting|call|appointment|exam|email|message|notification|"
    r"bug|ticket|order|errand|issue|question|idea|"
    r"headache|cold|fever|day|deadline)s?\b|\b(?:left|remaining|unread|open|pending|due|more)\b",
    re.IGNORECASE,
)
"""Things that change from day to day. Oneself has another number of them tomorrow."""
_WEATHER = re.compile(
    r"\b(?:weather|temperature|forecast|humidity|mood|score|balance|battery|traffic|queue|stock|fever)\b",
    re.IGNORECASE,
)
_WHEREABOUTS = re.compile(
    r"^(?:i|we)(?:'m| am| are| aren't|'re)(?: not)? (?:in|at|on|with|by|near|inside|outside)\b", re.IGNORECASE
)
_LASTING = re.compile(
    r"^(?:i|we)(?:'ve\b| have (?:never )?(?:been|\w+ed)\b| haven't| own|"
    r" don't own)|\bhave (?:an? |any |the |\w+ )*?(?:car|"
    r"bike|licen[cs]e|dog|cat|pet|child|children|kids?|brothers?|sisters?|"
    r"siblings?|sons?|daughters?|garden|balcony|house|"
    r"flat|apartment|television|tv|degree|diabetes|asthma|allergy|allergies|"
    r"tattoos?|passport|insurance|piano|twin)\b|\b(?:eat|drink|like|love|enjoy|hate|smoke|speak|"
    r"play|wear|believe|swim|drive|cook|dance|ski|sing|cycle|knit|type|"
    r"allergic|intolerant|vegetarian|vegan|diabetic|married|"
    r"left-handed|colour-blind|color-blind|religious)\b",
    re.IGNORECASE,
)
"""What is true of oneself for long. Only such a yes and no contradict "
"each other: "I'm ready" ends with the hour."""
_LASTING_OF_A_THING = re.compile(
    r"\b(?:has|have|insured|warranty|included|refundable|furnished|"
    r"certified|registered|licensed|mandatory|required|"
    r"allowed|waterproof|vegetarian|vegan|gluten-free|electric|deductible|contagious|rented|owned)\b",
    re.IGNORECASE,
)
_MOVES = frozenset(
    map(
        stem,
        word_set(
            "cat dog pet kid child boy girl man woman mum mom dad mother father "
            "parent brother sister son daughter uncle "
            "aunt cousin friend boss colleague team neighbour neighbor car bike "
            "bicycle van truck bus boat train laptop phone"
        ),
    )
)
_SEVERAL = frozenset(
    map(
        stem,
        word_set(
            "friend cousin sister brother colleague coworker classmate neighbour "
            "neighbor aunt uncle son daughter child kid "
            "cat dog pet student nephew niece roommate"
        ),
    )
)
_COUNTS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july",
    "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "(?:" + "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS) + r")\.?"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = "|".join(sorted((unit for unit in UNITS if unit.isascii() and unit.isalpha()), key=len, reverse=True))
_CLOCK = re.compile(
    r"\b(?:at )?(?:(?P<h>\d{1,2}):(?P<m>\d{2})|(?P<h2>\d{1,2})(?= ?(?:[ap]\.?m\b|o'clock)))"
    r"(?: ?[ap]\.?m\b\.?| o'clock)?|\bat (?P<h3>\d{1,2})\b(?!%|[.,]\d)|\b(?:at )?(?P<noon>noon|midnight)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    rf"\b(?:on |in )?(?:the )?(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<n>{_MONTH})|(?P<n2>{_MONTH}) "
    r"(?:the )?(?P<d2>\d{1,2})(?:st|nd|rd|th)?)(?!\d)",
    re.IGNORECASE,
)
_IN_MONTH = re.compile(rf"\bin (?P<n>{_MONTH})(?!\w)", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:on )?(?P<d>{_DAYS})\b", re.IGNORECASE)
_FLOOR = re.compile(rf"\b(?P<o>{'|'.join(_ORDINALS)}|\d+(?:st|nd|rd|th)) floor\b", re.IGNORECASE)
_AMOUNT = re.compile(
    rf"(?P<sign>[$€£¥])? ?\b(?P<n>{_NUMBER}|{'|'.join(_COUNTS)})\b(?: ?(?P<square>square )?(?P<unit>(?:{_UNIT})\b|%))?"
    r"(?P<old> old\b)?",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{2,12}\b")
_NAME = re.compile(
    r"^(?:(?:in|at|called|named) )?(?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,3})$"
)
_PLACE = re.compile(r"^(?:in|at|on|under|behind|inside) the (?P<place>[a-z]+(?: [a-z]+){0,2})$")
_SIGNS = {"$": "dollar", "€": "euro", "¥": "yen", "£": "pounds"}
_LONGEST = 16


def english_claim(sentence: str) -> Claim | None:
    """Returns the claim of a sentence, or None when the sentence makes none that is sure."""
    if (done := english_experience(sentence)) is not None:
        return done
    text = re.split(r",(?!\d)", sentence.replace("’", "'").strip().rstrip(".!"))[0]
    if len(text.split()) > _LONGEST or _UNSURE.search(sentence.replace("’", "'")):
        return None
    denials = _DENIED.findall(text)
    if len(denials) > 1:
        return None
    if (thing := _OF_A_THING.match(text)) is not None:
        return _of_a_thing(thing, denied=bool(denials))
    if (oneself := _OF_ONESELF.match(text)) is not None:
        rest = _DENIED.sub(" ", oneself["rest"])
        values, rest = _values(rest)
        if _WHEREABOUTS.match(text) or _PASSING.search(rest) or (values and not _POSSESSES.match(text)):
            return None
        if not values and _LASTING.search(text) is None:
            return None
        topic = frozenset(analyse(rest))
        if any(kind in {"length", "duration"} for kind in values):
            return None
        return Claim(
            "english", topic | {"i"} if topic else topic, frozenset(values.items()), bool(denials), True
        )
    return None


def _of_a_thing(thing: re.Match[str], *, denied: bool) -> Claim | None:
    subject = set(analyse(thing["subject"]))
    if not subject or _WEATHER.search(thing[0]):
        return None
    verb = thing["verb"].casefold()
    rest = _DENIED.sub(" ", thing["rest"]).strip()
    values, remaining = _values(rest)
    if not values:
        if (name := _NAME.match(rest)) is not None and verb == "is" and not subject & _SEVERAL:
            values, remaining = {"name": name["name"].casefold()}, ""
        elif (place := _PLACE.match(rest)) is not None and not subject & _MOVES:
            values, remaining = {"place": place["place"]}, ""
    if not values and _LASTING_OF_A_THING.search(f"{verb} {rest}") is None:
        return None
    # The way to a place is not the way from it.
    subject |= {word for word in ("to", "from") if f" {word} " in thing["subject"]}
    topic = subject | set(analyse(remaining)) | set(analyse(_DENIED.sub(" ", verb)))
    return Claim("english", frozenset(topic), frozenset(values.items()), denied)


def _values(text: str) -> tuple[dict[str, str], str]:
    """Returns the values in a predicate by their kind, and the predicate without them."""
    found: dict[str, str] = {}
    for pattern, read in (
        (_DATE, _date),
        (_FLOOR, lambda m: ("floor", str(_ORDINALS.get(m["o"].casefold(), m["o"])))),
        (_CLOCK, _clock),
        (_IN_MONTH, lambda m: ("month", m["n"][:3].casefold())),
        (_WEEKDAY, lambda m: ("weekday", m["d"].casefold())),
        (_CODE, lambda m: ("code", m[0].casefold())),
        (_AMOUNT, _amount),
    ):
        for match in pattern.finditer(text):
            kind, value = read(match)
            if kind in found:
                return {}, f"{text} {kind}"
            found[kind] = value
        text = pattern.sub(" ", text)
    return found, text.strip()


def _date(match: re.Match[str]) -> tuple[str, str]:
    return "date", f"{(match['n'] or match['n2'])[:3].casefold()} {match['d'] or match['d2']}"


def _clock(match: re.Match[str]) -> tuple[str, str]:
    if match["noon"]:
        return "clock", match["noon"].casefold().replace("noon", "0:00")
    return clock(int(match["h"] or match["h2"] or match["h3"]), int(match["m"] or 0))


def _amount(match: re.Match[str]) -> tuple[str, str]:
    said = match["n"].casefold()
    number = float(_COUNTS[said]) if said in _COUNTS else float(said.replace(",", ""))
    unit = _SIGNS.get(match["sign"] or "", (match["unit"] or "").casefold() or None)
    if match["square"]:
        unit = "sqm"
    if match["old"]:
        unit = None
    return amount(number, unit)
