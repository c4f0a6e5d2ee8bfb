"""Chinese words of time, and the segmentation of a text into them.

The text is folded into simplified Chinese with half-width digits. The folding maps one code point to one code point, so
offsets are the same in the original.
"""

from __future__ import annotations

import re

from events.language.timex.tables import numbers_of, values_of, words_of

from ..calendar import Frame, Tense
from ..holidays import CHINESE as HOLIDAYS
from ..scan import REACH, Scan, listed
from ..tables import rows

_TRADITIONAL = (
    "週號點時鐘鍾後個這來過兩禮開節國慶聖誕勞動農曆歷舊陰陽臘閏現剛馬將會準備預計畫劃約記紀當該從間內還為於與晝淩黃"
    "聽尋沒長連復萬雙婦兒師親樹軍黨燈歲幾數頭條報語氣機誌裡裏終學員話場議發晚無點遲隨歡紅慣樣親啟順見訂線樓門選車館電級齡輕處詞類陣驚蟄穀滿種"
)
_SIMPLIFIED = (
    "周号点时钟钟后个这来过两礼开节国庆圣诞劳动农历历旧阴阳腊闰现刚马将会准备预计画划约记纪当该从间内还为于与昼凌黄"
    "听寻没长连复万双妇儿师亲树军党灯岁几数头条报语气机志里里终学员话场议发晚无点迟随欢红惯样亲启顺见订线楼门选车馆电级龄轻处词类阵惊蛰谷满种"
)
FOLD = str.maketrans(_TRADITIONAL, _SIMPLIFIED) | {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
FOLD |= {0x3000: 0x20, ord("。"): ord("。"), ord("〜"): ord("~"), ord("～"): ord("~"), ord("○"): ord("〇")}

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
BACK_LENGTHS = frozenset({"过去", "最近", "近", "这", "前", "前面", "过往", "近来", "上", "之前"})
AHEAD_LENGTHS = listed("未来 今后 接下来 往后 后 之后 下 将来 此后 以后 后面 随后")
# Words with a character of time that are not words of time.
OTHERS = words_of("chinese.others")
_ALONE = words_of("chinese.alone")
_NUMERAL = "零〇一二三四五六七八九十百千两廿卅"
_LEXICON = (
    {
        *DAYS, *NIGHTS, *YEARS, *PARTS, *SEASONS, *UNITS, *BACK_LENGTHS, *AHEAD_LENGTHS, *OTHERS, *_ALONE,
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
    rf"|(?<=个)(?:周|星期|礼拜)[一二三四五六日天](?![次遍回])"
    r"|大年(?=初[二三四五六七八九十])|初[一二三四五六七八九](?!次|级|中)|初十|后天(?!气)|前天(?!气)|(?<!差)十分(?!钟)|天下(?!午|周|个|班)|五月天"
    rf"|{_grouped(_LEXICON)}|[0-9]+|[{_NUMERAL}]+|[A-Za-z]+|[早晚]|\S"
)
# The first words of expressions, without numbers.
STARTS = frozenset(
    {*DAYS, *NIGHTS, *YEARS, *PARTS, *SEASONS, *WEEKDAYS, *HOLIDAYS, *ERAS, *BACK_LENGTHS, *AHEAD_LENGTHS}
    | listed(
        "农历 阴历 旧历 夏历 大年 正月 腊月 冬月 闰 公元 西元 上 下 这 本 当 该 同 从 自 由 "
        "自从 到 至 截止 截止到 截止至 截至 直到 = 周末 还剩 还有 剩下 再过 过 月 年 第 一刻 三刻 "
        "首 q h 上半年 下半年 前半年 后半年 上半月 下半月 上半 下半 上旬 中旬 下旬 前些天 前一阵子 前一段时间 不久前 "
        "近年 近日 前些日子 "
        "日前 前阵子 前段时间 这阵子 今 而家 依家 这段时间 近期 近来 现在 目前 此刻 当前 眼下 刚才 刚刚 "
        "方才 马上 立刻 如今 再 零点 半 几 数 每 每逢 每隔 隔 逢 天天 夜夜 周周 月月 年年 大约 大概 约 差 大 明 昨 前昨"
    )
)
_CLAUSE = re.compile(r"[,，、;；]")
_SENTENCE = re.compile(r"[。！？!?\n；;]")
_AHEAD = re.compile(
    r"将|(?<![开机社约聚宴])会(?![议员计话面场所长晤诊谈展])|要(?![求素点是])|打算|[定订约排改][在到]|[定订]于|准备|预计|预定|预订|计划[去在到做买来回]|即将|记得|提醒|约了|得去|希望|想去|想要"
    r"|帮我|迎来|预订|订了|订好|出发|到期|截止|到时|有空|有时间|下次|再去|马上|(?<![看听意遇碰再])见(?=[，。！!,~]|$)"
)
# A question is about the past unless one of these words asks about the future.
_WILL = re.compile(
    r"将要|即将|(?<![开机社约聚宴])会(?![议员计话面场所长晤诊谈展])|要(?![求素点是])|打算|计划|预定|预计|到期|截止|下[周个次]|明[天年]"
)
_BACK = re.compile(
    r"了|过(?![年来去程敏期两几三一再])|曾|已|刚|昨|去年|上[周个]|前天|发生|当时|那[天时]|以来|就没|的时候|回来"
)


class ChineseScan(Scan):
    """The words of a folded Chinese text. `source` is the original text."""

    __slots__ = ("source",)

    def __init__(self, text: str, frame: Frame, *, asked: bool) -> None:
        super().__init__(text.translate(FOLD), frame, _WORD, asked=asked)
        self.source = text
        self.words = [word.lower() for word in self.words]

    def tense(self, i: int) -> Tense:
        """Returns the tense of the clause of word `i`, else of its sentence. Particles of the past take precedence."""
        at = self.begins[i]
        before = _SENTENCE.split(self.text[max(0, at - REACH) : at])[-1]
        after = _SENTENCE.split(self.text[at : at + REACH], maxsplit=1)[0]
        if self.asked:
            whole = before + after
            return 1 if _WILL.search(whole) and not _BACK.search(whole) else -1
        near = _CLAUSE.split(before)[-1] + _CLAUSE.split(after, maxsplit=1)[0]
        for part in (near, before + after):
            ahead, back = _AHEAD.search(part), _BACK.search(part)
            if ahead and not back:
                return 1
            if back:
                return -1
        return 0
