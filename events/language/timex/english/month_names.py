"""English names of months that are also verbs or the names of persons: "may", "march", "April called"."""

from events.language.timex.tables import words_of

from ..scan import Scan, listed
from .words import LEADS, MONTHS, SHY

MODALS = listed("i you we he she it they not be have also well or require result contain include")


_POINTING = listed("this that next last it which what")
_AFTER_MONTH = words_of("english.after_month")
_FIRST_NAMES = frozenset({"april", "may", "june", "august"})
_BEFORE_NAME = words_of("english.before_name")
# What persons do and months do not.
_ACTS = words_of("english.acts")
_KIN = _BEFORE_NAME | listed(
    "boss colleague brother son father neighbour neighbor manager teacher doctor roommate"
)


def stands_alone(scan: Scan, i: int) -> bool:
    """True when the name of a month alone is the month. "may" and "march" need a word before them or a capital."""
    word, last, after = scan.words[i], scan.before(i), scan.words[i + 1]
    if word in _FIRST_NAMES and _is_name(scan, i):
        return False
    if (word in _FIRST_NAMES or word == "jan") and _acts(scan, i):
        return False
    if last == "-" and scan.before(i - 1) in ("mid", "early", "late"):
        return True
    ranged = after in ("to", "-", "–", "through", "until", "till") and scan.words[i + 2] in MONTHS
    if word not in SHY or ranged:
        return True
    if word in ("may", "march") and after in MODALS:
        return False
    verb = word == "may" and last in _POINTING and after.isalpha() and after not in _AFTER_MONTH
    if verb and (scan.original(i)[0].islower() or scan.before(i - 1) in ("", ".", "!", "?", '"')):
        return False  # "this may hurt"
    if last in LEADS:
        return last not in ("and", "or") or scan.original(i)[0].isupper()
    if last == "the":
        return scan.before(i - 1) in ("in", "of", "since", "by") and word != "march"
    if word in ("mar", "sep", "dec"):
        return scan.original(i)[0].isupper() and last in LEADS
    return scan.original(i)[0].isupper() and i > 0 and last not in ".!?\n\"'" and after in ",.;!?)-"


def _is_name(scan: Scan, i: int) -> bool:
    """True when the month is the first name of a person: "June Carter", "my friend April"."""
    last, after = scan.before(i), scan.words[i + 1]
    if last in _BEFORE_NAME or (last == "." and scan.before(i - 1) in ("dr", "mr", "mrs", "ms")):
        return True
    if (
        last in LEADS
        or last in ("the", "'s", "to", "'")
        or scan.original(i)[0].islower()
        or not after.isalpha()
    ):
        return False
    return scan.original(i + 1)[0].isupper() and after not in _AFTER_MONTH and after not in MONTHS


def _acts(scan: Scan, i: int) -> bool:
    """True when the name of a month does what a person does: "April said so", "Jan and I", "June is my boss"."""
    words, last = scan.words, scan.before(i)
    if scan.original(i)[0].islower() or last == "the" or (last in LEADS and last not in ("and", "or")):
        return False
    if words[i + 1] in ("is", "was"):
        return words[i + 2] in ("my", "his", "her", "our", "their") and words[i + 3] in _KIN
    return words[i + 1] in _ACTS or (words[i + 1] == "and" and words[i + 2] in ("i", "me"))
