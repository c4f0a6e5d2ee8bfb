"""English names of holidays."""

from __future__ import annotations

from events.language.timex.calendar import day_before
from events.language.timex.cycles import Reading, each, yearly
from events.language.timex.holidays import ENGLISH, RULES
from events.language.timex.scan import Phrases, Scan, given, packrat

_HOLIDAYS = Phrases(ENGLISH)
FIRST_WORDS = _HOLIDAYS.firsts


@packrat
def holiday(scan: Scan, i: int) -> tuple[Reading, int] | None:
    """Parses the longest holiday name at word `i`, or "eve of" a holiday. Hyphens may stand between its words."""
    if scan.words[i] == "eve" and scan.words[i + 1] == "of":
        named = holiday(scan, scan.skip(i + 2, "the"))
        return given(each(named[0], day_before), named[1]) if named else None
    found = _HOLIDAYS.at(scan, i)
    if found is None:
        return None
    sure = 0.8 if found[0] in ("new_year", "qixi", "workers") else 0.9
    return yearly(RULES[found[0]], "month" if found[0] == "ramadan" else "day", sure), found[1]
