"""Claims of Chinese sentences, in either script."""

from __future__ import annotations

import re

from events.language.claims.claim import UNITS, Claim, amount, clock
from events.language.names.tables import canonical_name
from events.language.terms import analyse, fold

_UNSURE = re.compile(
    r"[?？吗嘛他她它你您]|如果|要是|假如|可能|也许|或许|大概|大约|想|打算|应该|希望|好像|听说|说|觉得|以为|昨|今天|今早|今晚|明天|后天|"
    r"现在|目前|以前|之前|从前|上次|上周|上个|下个|下周|刚|了|有个|有一|一个|某|有人|改|换|移到|延|提前|不再|或者|还是|最多|至少|左右|通常|有时|常常"
)
_DENIED = re.compile(r"没有|不在(?=.)|没|未(?!来|婚)|不(?!错|同|久|过(?!敏)|但|管|仅|只|如|少|断|得|用|要)")
_NUMERAL = "〇零一二两三四五六七八九十百千万"
_N = rf"(?:\d+(?:,\d{{3}})*(?:\.\d+)?万?|[{_NUMERAL}]+)"
_UNIT = "|".join(sorted((unit for unit in UNITS if not unit.isascii()), key=len, reverse=True))
_NOT_OF = r"(?!的)"
_CLOCK = re.compile(
    rf"(?:上午|下午|早上|晚上|中午|凌晨|傍晚)?(?:(?P<h>\d{{1,2}})[:：](?P<m>\d{{2}})|(?P<h2>{_N})点(?!心|子|名)"
    rf"(?:(?P<half>半)|(?P<m2>{_N})分)?(?:钟|整)?){_NOT_OF}"
)
_DATE = re.compile(rf"(?P<m>{_N})月(?P<d>{_N})[日号]{_NOT_OF}")
_MONTH = re.compile(rf"(?<!个)(?P<m>{_N})月(?!\d){_NOT_OF}")
_YEAR = re.compile(rf"(?P<y>\d{{4}})年{_NOT_OF}")
_WEEKDAY = re.compile(rf"(?:星期|礼拜|周)(?P<d>[一二三四五六日天]){_NOT_OF}")
_FLOOR = re.compile(rf"(?<!第)(?P<n>{_N})楼{_NOT_OF}")
_AMOUNT = re.compile(
    rf"(?<!第)(?P<n>{_N})(?P<unit>{_UNIT}|[只个把张本间位名次页颗步辆部台条件号人套杯瓶块盒])?(?P<people>人)?{_NOT_OF}"
)
_CODE = re.compile(r"(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{2,12}")
_PLACE = re.compile(
    r"^(?P<subject>(?!我们?在).{2,12})在(?P<place>[\u4e00-\u9fff]{1,6}?(?:里|室|楼|馆|园|店|站|院|库|厅|柜|箱|包|公司)|"
    r"[\u4e00-\u9fff]{2,5})$"
)
_NAME = re.compile(r"^(?P<subject>.{2,12})(?:(?P<called>叫|名叫)|是)(?P<name>[\u4e00-\u9fff]{2,4})$")
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范"
    "金石廖贾夏韦傅方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤洪游詹庄柯翁简"
)
_PLACE_ENDS = frozenset("里室楼馆园店站院库厅柜箱包司")
_SEVERAL = re.compile(
    r"朋友|同学|同事|邻居|表[哥姐弟妹]|堂[哥姐弟妹]|[哥姐弟妹]|儿子|女儿|孩子|学生|猫|狗|宠物|室友"
)
_MINE = re.compile(r"^我(?!的|们的|家|们组)")
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_STEPS = {"十": 10, "百": 100, "千": 1000}
_LONGEST = 40


def chinese_claim(sentence: str) -> Claim | None:
    """Returns the claim of a sentence, or None when the sentence makes none that is sure."""
    text = re.split(r"[，、：:](?!\d)", fold(sentence).strip().rstrip("。.!！ "))[0]
    if len(text) > _LONGEST or _UNSURE.search(fold(sentence)):
        return None
    denials = _DENIED.findall(text)
    if len(denials) > 1:
        return None
    said = _DENIED.sub(lambda match: "在" if match[0] == "不在" else "有" if match[0] == "没有" else "", text)
    values, rest = _values(said)
    if not values:
        if (called := _NAME.match(said)) is not None and _named(called):
            values, rest = {"name": called["name"]}, called["subject"]
        elif (place := _PLACE.match(said)) is not None and _is_place(place["place"]):
            values, rest = {"place": place["place"]}, place["subject"]
    terms = frozenset(analyse(rest))
    loose = _MINE.match(text) is not None
    if loose and "过" in text and values:
        return None
    return Claim("chinese", terms, frozenset(values.items()), bool(denials), loose)


def _named(match: re.Match[str]) -> bool:
    if _SEVERAL.search(match["subject"]) or match["subject"].startswith("我们"):
        return False
    return match["called"] is not None or (match["name"][0] in _SURNAMES and len(match["name"]) < 4)


def _is_place(text: str) -> bool:
    return text[-1] in _PLACE_ENDS or canonical_name("place", text) is not None


def _values(text: str) -> tuple[dict[str, str], str]:
    """Returns the values in a sentence by their kind, and the sentence without them."""
    found: dict[str, str] = {}
    for pattern, read in (
        (_CODE, lambda m: ("code", m[0])),
        (_CLOCK, _clock),
        (_DATE, lambda m: ("date", f"{_number(m['m']):g}-{_number(m['d']):g}")),
        (_MONTH, lambda m: ("month", f"{_number(m['m']):g}")),
        (_YEAR, lambda m: ("year", m["y"])),
        (_WEEKDAY, lambda m: ("weekday", m["d"].replace("天", "日"))),
        (_FLOOR, lambda m: ("floor", f"{_number(m['n']):g}")),
        (_AMOUNT, lambda m: amount(_number(m["n"]), m["unit"])),
    ):
        for match in pattern.finditer(text):
            kind, value = read(match)
            if kind in found:
                return {}, f"{text} {kind}"
            found[kind] = value
        text = pattern.sub("", text)
    return found, text


def _clock(match: re.Match[str]) -> tuple[str, str]:
    if match["h"]:
        return clock(int(match["h"]), int(match["m"]))
    minute = 30 if match["half"] else int(_number(match["m2"])) if match["m2"] else 0
    return clock(int(_number(match["h2"])), minute)


def _number(text: str) -> float:
    """Returns the number of digits or of Chinese numerals."""
    if text[0].isdecimal():
        bare = text.rstrip("万").replace(",", "")
        return float(bare) * (10_000 if text[-1] == "万" else 1)
    total = section = digit = 0
    for character in text:
        if character == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        elif character in _STEPS:
            section, digit = section + (digit or 1) * _STEPS[character], 0
        else:
            digit = digit * 10 + _DIGITS[character] if digit else _DIGITS[character]
    return float(total + section + digit)
