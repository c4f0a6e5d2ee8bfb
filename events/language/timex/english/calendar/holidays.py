"""English names of holidays."""

from __future__ import annotations

from events.language.timex.calendar import Span, add_days, day
from events.language.timex.cycles import Reading, each, yearly
from events.language.timex.holidays import RULES
from events.language.timex.scan import Scan, packrat

_NAMES: dict[str, str] = {
    "new_year": "new year|new years|new years day|new year day|newyears",
    "new_year_eve": "new years eve|new year eve|nye",
    "martin_luther_king": "martin luther king day|martin luther king jr day|mlk day|mlk",
    "groundhog": "groundhog day|ground hog day",
    "valentine": "valentines day|valentine day|valentines|st valentines day|saint valentines day",
    "presidents": "presidents day|washingtons birthday",
    "women": "womens day|international womens day",
    "saint_patrick": "st patricks day|saint patricks day|st patrick day|st paddys day",
    "april_fools": "april fools|april fools day|april fool day",
    "earth": "earth day",
    "workers": "workers day|international workers day|may day|labour day",
    "may_the_fourth": "star wars day",
    "cinco_de_mayo": "cinco de mayo",
    "mothers": "mothers day|mother day",
    "memorial": "memorial day",
    "children": "childrens day|international childrens day",
    "juneteenth": "juneteenth",
    "fathers": "fathers day|father day",
    "canada": "canada day",
    "independence": "independence day|us independence day|fourth of july|4th of july|july fourth",
    "bastille": "bastille day",
    "labor": "labor day",
    "columbus": "columbus day|indigenous peoples day",
    "halloween": "halloween|all hallows eve|halloween night|halloween day",
    "all_saints": "all saints day|all hallows day",
    "all_souls": "all souls day",
    "guy_fawkes": "guy fawkes day|guy fawkes night|bonfire night",
    "veterans": "veterans day|armistice day|remembrance day",
    "singles": "singles day",
    "thanksgiving": "thanksgiving|thanksgiving day",
    "black_friday": "black friday",
    "cyber_monday": "cyber monday",
    "christmas_eve": "christmas eve|xmas eve",
    "christmas": "christmas|christmas day|xmas|xmas day",
    "boxing": "boxing day|st stephens day|saint stephens day",
    "mardi_gras": "mardi gras|fat tuesday|shrove tuesday",
    "ash_wednesday": "ash wednesday",
    "palm_sunday": "palm sunday",
    "good_friday": "good friday",
    "easter": "easter|easter sunday|easter day",
    "easter_monday": "easter monday",
    "spring_festival": "chinese new year|lunar new year|spring festival|chinese new years|lunar new years",
    "spring_festival_eve": "chinese new years eve|chinese new year eve|lunar new years eve|lunar new year eve",
    "lantern": "lantern festival",
    "tomb_sweeping": "tomb sweeping day|qingming|qingming festival|ching ming",
    "dragon_boat": "dragon boat festival|duanwu|duanwu festival",
    "qixi": "qixi|qixi festival|chinese valentines day",
    "ghost": "ghost festival|hungry ghost festival",
    "mid_autumn": "mid autumn festival|midautumn festival|moon festival|mooncake festival|mid autumn",
    "double_ninth": "double ninth festival|double ninth|chongyang festival",
    "winter_solstice": "winter solstice|dongzhi",
    "laba": "laba festival",
    "teachers": "teachers day",
    "ramadan": "ramadan",
    "eid_al_fitr": "eid al fitr|eid ul fitr",
    "eid_al_adha": "eid al adha|eid ul adha",
    "islamic_new_year": "islamic new year",
    "epiphany": "epiphany|three kings day",
    "inauguration": "inauguration day",
    "australia": "australia day",
    "white_day": "white day",
    "pi": "pi day",
    "arbor_china": "tree planting day",
    "saint_george": "st georges day|saint georges day|st george day",
    "anzac": "anzac day",
    "arbor": "arbor day",
    "saint_john": "st jean baptiste day|saint jean baptiste day",
    "maundy_thursday": "maundy thursday|holy thursday",
    "easter_saturday": "easter saturday|holy saturday",
    "ascension": "ascension day|ascension thursday",
    "pentecost": "pentecost|pentecost sunday|whit sunday|whitsun",
    "whit_monday": "whit monday|pentecost monday",
    "trinity_sunday": "trinity sunday",
    "corpus_christi": "corpus christi day|feast of corpus christi",
    "spring_equinox": "spring equinox|vernal equinox",
    "summer_solstice": "summer solstice",
    "autumn_equinox": "autumn equinox|autumnal equinox|fall equinox",
}
_BY_FIRST: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _key, _names in _NAMES.items():
    for _name in _names.split("|"):
        _words = tuple(_name.split())
        _BY_FIRST.setdefault(_words[0], []).append((_words, _key))
for _entries in _BY_FIRST.values():
    _entries.sort(key=lambda entry: -len(entry[0]))
FIRST_WORDS = frozenset(_BY_FIRST) | {
    written for word in _BY_FIRST if word.endswith("s") for written in (f"{word[:-1]}'s", f"{word}'")
}
"""The spellings of a holiday's first word: "mothers", "mother's", "mothers'"."""


def bare(word: str) -> str:
    """Returns a word without apostrophes."""
    return word.replace("'", "") if "'" in word else word


@packrat
def holiday(scan: Scan, i: int) -> tuple[Reading, int] | None:
    """Parses the longest holiday name at word `i`, or "eve of" a holiday. Hyphens may stand between its words."""
    if scan.words[i] == "eve" and scan.words[i + 1] == "of":
        named = holiday(scan, scan.skip(i + 2, "the"))
        reading = each(named[0], _day_before) if named else None
        return (reading, named[1]) if named and reading is not None else None
    for name, key in _BY_FIRST.get(bare(scan.words[i]), ()):
        j = i
        for word in name:
            j = scan.skip(j, "-") if j > i else j
            j = scan.skip(j, ".") if j > i and scan.words[j - 1] == "st" else j
            if bare(scan.words[j]) != word:
                break
            j += 1
        else:
            rule = RULES[key]
            sure = 0.8 if key in ("new_year", "qixi", "workers") else 0.9
            return yearly(rule, "month" if key == "ramadan" else "day", sure), j
    return None


def _day_before(span: Span) -> Span | None:
    return day(add_days(span.start, -1)) if span.start else None
