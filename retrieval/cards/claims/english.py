"""Claims of English sentences."""

import re
from collections.abc import Iterator

from events.language import timex
from events.language.terms import analyse, stem
from events.language.values import word_set
from retrieval.cards.claims.claim import UNITS, Claim, Told, amount, clocks, dates, matches, read_values
from retrieval.cards.claims.experience import english_experience

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
    r" don't own)|\bhave (?:\w+ )*?(?:car|"
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
_UNIT = "|".join(sorted((unit for unit in UNITS if unit.isascii() and unit.isalpha()), key=len, reverse=True))
_OF = re.compile(rf" ?(?P<square>square )?(?P<unit>(?:{_UNIT})\b|%)(?P<old> old\b)?", re.IGNORECASE)
_IN_MONTH = re.compile(r"\bin (?P<v>[a-z]{3,9})\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:on )?(?P<v>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE)
_CODE = re.compile(r"\b(?P<v>(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{2,12})\b")
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
    return read_values(text, _READERS, " ")


def _months(text: str) -> Iterator[Told]:
    for found in _IN_MONTH.finditer(text):
        if (month := timex.month_of(found["v"].casefold())) is not None:
            yield *found.span(), "month", str(month)


def _floors(text: str) -> Iterator[Told]:
    for number in timex.numbers(text):
        if number.ordinal and (found := _NTH_FLOOR.match(text, number.stop)):
            yield number.begin, found.end(), "floor", f"{number.value:g}"


def _amounts(text: str) -> Iterator[Told]:
    for number in timex.numbers(text):
        if number.ordinal or text[number.begin : number.stop].casefold() in _NO_AMOUNT:
            continue
        of = _OF.match(text, number.stop)
        unit = _SIGNS.get(number.currency[-1:]) or (of["unit"].casefold() if of else None)
        unit = "sqm" if of and of["square"] else None if of and of["old"] else unit
        yield number.begin, of.end() if of else number.stop, *amount(number.value, unit)


_NTH_FLOOR = re.compile(r"(?:st|nd|rd|th)? floor\b", re.IGNORECASE)
_NO_AMOUNT = word_set("once twice thrice single couple pair both double triple nil")
_READERS = (dates, _floors, clocks, _months, matches(_WEEKDAY, "weekday"), matches(_CODE, "code"), _amounts)
