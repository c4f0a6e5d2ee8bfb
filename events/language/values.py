"""The identity of a value. Two wordings with the same identity state the same fact."""

import re
import unicodedata

from events.language import timex
from events.language.chinese_script import has_cjk, to_simplified
from events.language.names import NameClass, canonical_name


def word_set(text: str) -> frozenset[str]:
    """Returns the set of the words in ``text``, which spaces separate."""
    return frozenset(text.split())


_SPACE = re.compile(r"\s+")
_EDGES = " \t.,;:!?…~*_\"'`“”‘’«»「」『』《》〈〉()[]{}。，、；：！？·-–—"
_ARTICLE = re.compile(
    r"^(?:(?:a|an|the|my|our|your|his|her|their|some|one of|called|named) |一[只个名位种台部辆条款支双匹](?=.))"
)
_YES = word_set("yes true y yeah yep correct 是 是的 有 对 会 可以")
_NO = word_set("no false n nope not none 否 不 不是 没有 没 无 不会")

_PLACES = frozenset(("residence", "hometown", "birthplace", "work_location", "travelled_to"))
_ORGANISATIONS = frozenset(("employer", "school", "business", "bank"))
_NAMES: dict[str, NameClass] = {
    **dict.fromkeys(_PLACES, "place"),
    **dict.fromkeys(_ORGANISATIONS | {"brand"}, "organisation"),
    "school": "school",
    "nationality": "nationality",
    **dict.fromkeys(("language", "reply_language", "learning"), "language"),
    "occupation": "occupation",
    "favourite_colour": "colour",
    "relationship_status": "status",
    "diet": "diet",
}
"""The keys whose values are names that the tables know in English and in Chinese."""
_OF_PEOPLE = frozenset(("name", "spouse", "partner"))
_PROPER_NAMES = _OF_PEOPLE | _PLACES | _ORGANISATIONS
_LATIN = re.compile(r"[a-zà-öø-ÿ]", re.IGNORECASE)
_DATES = frozenset(("birthday", "release_date", "deadline", "milestone"))
_PLACE_EDGE = re.compile(
    r"^(?:in|at|to|near|from|around|city of|downtown|central) (?=\S)|^[在到于於](?=..)| city$|(?<=..)[市县縣]$"
)
_COMPANY_EDGE = re.compile(
    r"^(?:at|for|with) |(?<![ ,])[ ,]++(?:inc|ltd|llc|corp|corporation|co|company|gmbh|plc|limited)\.?$"
    r"|(?<=..)(?:股份有限公司|有限责任公司|有限公司|集团公司|公司)$"
)
_NATIONAL_EDGE = re.compile(r"^from (?=\S)| (?:citizen|national)$|(?<=..)(?:国籍|籍|人)$")
_MOST_EDGES = 6  # words that are cut off a name, one after another
_LIST = re.compile(r"\s*(?:,\s*and\s+|,\s*|、|，|；|;|\s+and\s+|\s*&\s*|(?<=.)[和与及跟](?=.))\s*")

_AROUND_DATE = re.compile(r"^(?:in|on|by|around|before|until|early|late|mid|在|于) ?|[ ]?(?:底|初|中旬)$")


def normalise(key: str, value: str, *, several: bool) -> str:
    """Returns the identity of ``value`` under the canonical ``key``. Never raises.

    Script, case, width, articles and punctuation do not count. With ``several`` the order of a list does not count.
    A name that the tables know in English and in Chinese has the same identity in both. The identity is empty only for
    a value of nothing but punctuation.
    """
    text = folded(value).strip(_EDGES)
    if text in _YES:
        return "yes"
    if text in _NO:
        return "no"
    if key == "phone":
        return _phone(text)
    if key in _DATES:
        return _date(text)
    text = _ARTICLE.sub("", text).strip(_EDGES)
    kind = _NAMES.get(key)
    # A whole name comes first: Mexico City is not Mexico.
    if kind is not None and (known := canonical_name(kind, text)) is not None:
        return known
    if key in _PLACES:
        text = _strip(_PLACE_EDGE, text)
    elif key in _ORGANISATIONS:
        text = _strip(_COMPANY_EDGE, text)
    elif kind == "nationality":
        text = _strip(_NATIONAL_EDGE, text)
    elif several and len(parts := [p for p in _LIST.split(text) if p]) > 1:
        bare = {_ARTICLE.sub("", part).strip(_EDGES) for part in parts}
        return ", ".join(sorted({_known(kind, part) for part in bare}))
    return _known(kind, text)


def folded(text: str) -> str:
    """Returns ``text`` in NFKC, in lower case and in simplified script, with single spaces."""
    return _SPACE.sub(" ", to_simplified(unicodedata.normalize("NFKC", text)).casefold().replace("’", "'"))


def two_scripts(key: str, one: str, other: str, *, languages: bool) -> bool:
    """True when nobody can say whether two identities are one value: Latin letters stand against Chinese characters.

    ``one`` and ``other`` are different identities under the canonical ``key``. A name that the tables know has a Latin
    identity, so only unknown names are in doubt. A value that is no proper name is in doubt only when the two
    statements are in different ``languages``: in one language, people borrow words.
    """
    if key not in _PROPER_NAMES and not languages:
        return False
    return {_script(one), _script(other)} == {"latin", "han"}


def _script(identity: str) -> str | None:
    han, latin = has_cjk(identity), _LATIN.search(identity) is not None
    return "mixed" if han and latin else "han" if han else "latin" if latin else None


def _known(kind: NameClass | None, text: str) -> str:
    return text if kind is None else canonical_name(kind, text) or text


def _strip(edge: re.Pattern[str], text: str) -> str:
    for _ in range(_MOST_EDGES):
        shorter = edge.sub("", text).strip(_EDGES)
        if not shorter or shorter == text:
            break
        text = shorter
    return text


def _phone(text: str) -> str:
    digits = "".join(c for c in text if c.isdecimal())
    return ("+" if text.startswith("+") else "") + digits if digits else text


def _date(text: str) -> str:
    text = _AROUND_DATE.sub("", text).strip()
    if (month := timex.month_of(text.rstrip("."))) is not None:
        return f"{month:02d}"
    for date in timex.calendar_dates(text):
        if (date.begin, date.stop) == (0, len(text)):
            year = None if date.year is None else str(date.year)
            day = None if date.day is None else f"{date.day:02d}"
            return "-".join(part for part in (year, f"{date.month:02d}", day) if part is not None)
    return text
