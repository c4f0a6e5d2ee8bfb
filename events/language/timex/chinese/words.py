"""Chinese words of time, and the segmentation of a text into them.

The text is folded into simplified Chinese with half-width digits. The folding maps one code point to one code point, so
offsets are the same in the original.
"""

import re
from functools import lru_cache

from events.language.chinese_script import to_simplified
from events.language.segmentation import dictionary

from ..calendar import Frame, Tense
from ..holidays import CHINESE as HOLIDAYS
from ..scan import REACH, Scan, listed
from ..tables import numbers_of, rows, values_of, words_of

FOLD = {ord(written): ord(folded) for written, folded in values_of("chinese.folded").items()}
FOLD |= {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
FOLD |= {0x3000: 0x20, ord("〜"): ord("~"), ord("○"): ord("〇")}
# Numerals of contracts. Alone they are other words, so they count only in a number with its unit.
_FORMAL = str.maketrans("壹贰貳叁參肆伍陆陸柒捌玖拾佰仟", "一二二三三四五六六七八九十百千")
_FORMAL_NUMBER = re.compile(
    r"[壹贰貳叁參肆伍陆陸柒捌玖拾佰仟零〇]{2,}(?=[年月日号號])|[壹贰貳叁肆柒捌玖拾](?=[月日号號])"
)

ERAS = {name: int(year) for name, year in rows("eras")}
"""The year before the first year of each era."""
DAYS: dict[str, int] = numbers_of("chinese.days")
NIGHTS: dict[str, tuple[int, str]] = {
    first + last: (shift, part)
    for first, shift in (("今", 0), ("昨", -1), ("明", 1), ("当", 0), ("前", -2))
    for last, part in (("晚", "late"), ("夜", "night"), ("早", "morning"), ("晨", "morning"), ("午", "noon"))
    if first + last not in ("当早", "当晨", "当午", "前早", "前晨", "前午", "当夜")
}  # fmt: skip
NIGHTS |= {
    first + last: (shift, part)
    for first, shift in (("听", 1), ("琴", -1), ("寻", -1), ("今", 0))
    for last, part in (("晚", "late"), ("朝", "morning"))
}
YEARS: dict[str, int] = numbers_of("chinese.years")
PARTS: dict[str, str] = values_of("chinese.parts")
SEASONS = {first + last: name for first, name in zip("春夏秋冬", ("spring", "summer", "autumn", "winter"), strict=True)
           for last in ("天", "季", "日")} | {"暑假": "summer_break", "寒假": "winter_break"}  # fmt: skip
UNITS: dict[str, str] = values_of("chinese.units")
LENGTHS = values_of("chinese.lengths")
"""The side of now on which a length is after each word: 过去三年 is back, 未来三年 is ahead."""
# Words with a character of time that are not words of time.
OTHERS = words_of("chinese.others")
_ALONE = words_of("chinese.alone")
_NUMERAL = "零〇一二三四五六七八九十百千两廿卅"
_LEXICON = (
    {
        *DAYS, *NIGHTS, *YEARS, *PARTS, *SEASONS, *UNITS, *LENGTHS, *OTHERS, *_ALONE,
        *HOLIDAYS, *ERAS,
    }
    - listed("早 晚 零 听日 听晚 听朝 琴日 琴晚 琴朝 寻日 寻晚 寻朝 今朝 而家 依家")
)  # fmt: skip


def _grouped(words: set[str]) -> str:
    """Returns an alternation of words, the longest first. The groups by first character make most attempts fail at
    once."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=lambda word: (-len(word), word)):
        groups.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rests)})" for first, rests in groups.items())


WEEKDAYS = {name + number: place for name in ("周", "星期", "礼拜") for number, place in
            [*zip("一二三四五六日", range(7), strict=True), ("天", 6)]}  # fmt: skip
_FIRST = "".join(
    sorted({word[0] for word in _LEXICON} | set(_NUMERAL) | set("《周星礼初后前十天五早晚日琴寻听今而依"))
)
_WORD = re.compile(
    rf"[^\s0-9A-Za-z{re.escape(_FIRST)}]|《[^》]{{1,40}}》"
    rf"|(?<![{_NUMERAL}0-9几半个])(?:周|星期|礼拜)[一二三四五六日天](?!本|记|常|期|志|气|报|[{_NUMERAL}](?:次|遍|回))"
    rf"|(?<![{_NUMERAL}0-9几数多])日前|(?<![钢鋼提口风風古月])琴[日晚朝](?![语文本剧])|寻[日晚](?!常)"
    r"|听(?:日(?![语文本剧漫报军])|晚(?![会上间安餐宴报辈])|朝(?![廷代鲜]))|今朝(?!有酒)|[而依]家(?![人庭里中长乡具电])"
    r"|月(?=月[底初末])"
    rf"|(?<=个)(?:周|星期|礼拜)[一二三四五六日天](?![次遍回])"
    r"|大年(?=初[二三四五六七八九十])|初[一二三四五六七八九](?!次|级|中)|初十|后天(?!气)|前天(?!气)|(?<!差)十分(?!钟)|天下(?!午|周|个|班)|五月天"
    rf"|{_grouped(_LEXICON)}|[0-9]+|[{_NUMERAL}]+|[A-Za-z]+|[早晚]|\S"
)
# The first words of expressions, without numbers.
STARTS = words_of("chinese.starts").union(
    DAYS, NIGHTS, YEARS, PARTS, SEASONS, WEEKDAYS, HOLIDAYS, ERAS, LENGTHS
)
# A space between two Chinese words separates clauses too.
_CLAUSE = re.compile(r"[,，、;；]|(?<=[\u4e00-\u9fff])\s+(?![^\u4e00-\u9fff])")
SENTENCE = re.compile(r"[。！？!?\n；;]")
# What will be, and not the degree of something: 周五要交, 得要交, but not 累得要哭.
WILL = r"(?<![^我你您他她它们咱也还都就又总必只可日天号点分晚早午一二三四五六\s，\x01]得)要(?![求素点是])"
_AHEAD = re.compile(
    rf"将|(?<![开机社约聚宴])会(?![议员计话面场所长晤诊谈展])|{WILL}|打算|[定订约排改][在到]|[定订]于|准备|预计|预定|预订|计划[去在到做买来回]|即将|记得|提醒|约了|得去|希望|想去|想要"
    r"|帮我|迎来|预订|订了|订好|出发|到期|截止|到时|有空|有时间|下次|再去|马上|(?<![看听意遇碰再])见(?=[，。！!,~]|$)"
)
# A question is about the past unless one of these words asks about the future.
_WILL = re.compile(
    rf"将要|即将|(?<![开机社约聚宴])会(?![议员计话面场所长晤诊谈展])|{WILL}|打算|计划|预定|预计|到期|截止|下[周个次]|明[天年]"
)
_BACK = re.compile(
    r"过(?![年来去程敏期两几三一再])|曾|已|刚|昨|去年|上[周个]|前天|发生|当时|那[天时]|以来|就没|的时候"
)
# The particle tells of its own clause only: 延期了，8月5号考.
_DONE = re.compile(r"(?<![约订排])(?<!订好)(?<!报名)了")
# A time that is a clause of its own belongs to the next one: 8月5号晚上，我们吵架了.
_BARE = re.compile(rf"[0-9{_NUMERAL}年月日号周星期礼拜天早晚上中下午点分半]+")
# What was moved to a time lies ahead: 挪到6月9号了.
_MOVED = re.compile(r"[改变變换換调調移挪推延提定订约排](?:期|前|早|迟|后)?[到至成在为為于]了?$")


# A run of characters. The first word after a digit counts: 号 of 12号房.
_RUN = re.compile(r"(?<![0-9])[\u3400-\u9fff]{2,}")
_LETTERS = frozenset(word for word in {*_LEXICON, *STARTS, *values_of("chinese.shares")} if len(word) == 1)
_NEUTRAL = _LETTERS.union(_NUMERAL, "好")
_NO_TIME = "\ufffc"


@lru_cache(maxsize=8192)
def _only_contains_time(word: str) -> bool:
    """True for a word of which only some characters are of time: 中暑, 日光, 点评."""
    return len(word) > 1 and not _LETTERS.isdisjoint(word) and not _NEUTRAL.issuperset(word)


class ChineseScan(Scan):
    """The words of a folded Chinese text. `source` is the original text."""

    __slots__ = ("source",)

    def __init__(self, text: str, frame: Frame, *, asked: bool) -> None:
        folded = _FORMAL_NUMBER.sub(lambda number: number[0].translate(_FORMAL), text).translate(FOLD)
        super().__init__(folded, frame, _WORD, asked=asked)
        self.source = text
        self.words = [word.lower() for word in self.words]
        self._hide_other_words()

    def _hide_other_words(self) -> None:
        """Hides the characters of time in other words of the dictionary: 今年中暑 names no middle of a year."""
        places = {begin: i for i, begin in enumerate(self.begins)}
        for run in _RUN.finditer(self.text):
            begin = run.start()
            for word in dictionary().cut(to_simplified(run[0])):
                first, stop = places.get(begin, -1), begin + len(word)
                letters = slice(first, first + len(word))
                if _only_contains_time(word) and self.words[letters] == list(self.text[begin:stop]):
                    self.words[letters] = [word, *[_NO_TIME] * (len(word) - 1)]
                begin = stop

    def tense(self, i: int) -> Tense:
        """Returns the tense of the clause of word `i`. Particles of the past take precedence.

        A clause of nothing but a time has the tense of its sentence, and so has a weekday.
        """
        at = self.begins[i]
        before = SENTENCE.split(self.text[max(0, at - REACH) : at])[-1]
        after = SENTENCE.split(self.text[at : at + REACH], maxsplit=1)[0]
        if self.asked:
            whole = before + after
            done = _BACK.search(whole) or _DONE.search(whole)
            if done:
                return -1
            return 1 if _WILL.search(whole) else 0 if self.words[i] in WEEKDAYS else -1
        if _MOVED.search(before):
            return 1
        clauses = _CLAUSE.split(after)
        lead, bare = _CLAUSE.split(before)[-1], _BARE.fullmatch(clauses[0]) is not None
        near = lead + "，".join(clauses[: 2 if bare else 1])
        for part in (near, before + after) if (bare and not lead) or self.words[i] in WEEKDAYS else (near,):
            done = _DONE.search(part)
            if _BACK.search(part) or (done and part is near):
                return -1
            if _AHEAD.search(part) and not done:
                return 1
        return 0
