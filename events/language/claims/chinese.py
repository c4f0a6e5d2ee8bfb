"""Claims of Chinese sentences, in either script."""

from __future__ import annotations

import re

from events.language.claims.claim import UNITS, Claim, amount, clock
from events.language.claims.experience import chinese_experience
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
_PASSING = re.compile(
    r"任务|待办|作业|会议|电话|约会|考试|邮件|信件|消息|讯息|通知|问题|订单|工单|点子|剩|未读|还要|感冒|头痛|头疼|发烧|空|闲"
)
"""Things that change from day to day. Oneself has another number of them tomorrow."""
_WEATHER = re.compile(r"天气|气温|温度|体温|湿度|心情|比分|余额|电量|路况|排队|库存|度$")
_WHEREABOUTS = re.compile(r"^我们?(?:人)?不?在(?!意|乎)")
_LASTING = re.compile(
    r"^我们?(?:(?:没)?有(?:.*)(?:车|驾照|执照|狗|猫|宠物|孩子|小孩|[兄哥弟姐妹儿女]|花园|院子|阳台|房子|电视|学位|糖尿病|气喘|哮喘|"
    r"刺青|纹身|护照|保险|钢琴)|不?(?:吃|喝|抽|喜欢|爱|讨厌|会(?!去|来|到|参加|在|有|是|回|迟|做)|养|信|是|戴|能吃|能喝)|没(?:养|用过|去过)|[用去学养做看玩]过)|过敏|糖尿病|"
    r"去过|用过|学过"
)
_LASTING_OF_A_THING = re.compile(
    r"(?<![里内])没有(?!人|空|电|水|网|开|关|来|到|回|好)|[^没里内]有(?!人|空|电|水|网)|保固|保修|包含|含(?!糖量)|必修|防水"
)
"""What is true for long. Only such a yes and no contradict each other."""
_MOVES = re.compile(r"[猫狗人]$|朋友|同[学事]|[爸妈哥姐弟妹儿女]|孩子|老[师板]|车$|手机$|电脑$")
_SEVERAL = re.compile(
    r"朋友|同学|同事|邻居|表[哥姐弟妹]|堂[哥姐弟妹]|[哥姐弟妹]|儿子|女儿|孩子|学生|猫|狗|宠物|室友"
)
_MINE = re.compile(r"^我(?!的|们的|家|们组)")
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_STEPS = {"十": 10, "百": 100, "千": 1000}
_LONGEST = 40


def chinese_claim(sentence: str) -> Claim | None:
    """Returns the claim of a sentence, or None when the sentence makes none that is sure."""
    if (done := chinese_experience(sentence)) is not None:
        return done
    text = re.split(r"[，、：:](?!\d)", fold(sentence).strip().rstrip("。.!！ "))[0]
    if len(text) > _LONGEST or _UNSURE.search(fold(sentence)):
        return None
    if _WHEREABOUTS.match(text) or _WEATHER.search(text):
        return None
    text = re.sub("从来|从(?=没|未)", "", text)
    denials = _DENIED.findall(text)
    if len(denials) > 1:
        return None
    said = _DENIED.sub(lambda match: "在" if match[0] == "不在" else "有" if match[0] == "没有" else "", text)
    values, rest = _values(said)
    if not values:
        if (called := _NAME.match(said)) is not None and _named(called):
            values, rest = {"name": called["name"]}, called["subject"]
        elif (
            (place := _PLACE.match(said)) is not None
            and _is_place(place["place"])
            and _MOVES.search(place["subject"]) is None
        ):
            values, rest = {"place": place["place"]}, place["subject"]
    loose = _MINE.match(text) is not None
    if not values and (_LASTING if loose else _LASTING_OF_A_THING).search(text) is None:
        return None
    # The way to a place is not the way from it.
    terms = frozenset(analyse(rest)) | set("去回到从往来这那").intersection(rest)
    if loose and values and re.match("我们?要", text):
        return None
    if loose and (_PASSING.search(text) or ("过" in text and values)):
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
        (_DATE, lambda m: ("date", f"{chinese_number(m['m']):g}-{chinese_number(m['d']):g}")),
        (_MONTH, lambda m: ("month", f"{chinese_number(m['m']):g}")),
        (_YEAR, lambda m: ("year", m["y"])),
        (_WEEKDAY, lambda m: ("weekday", m["d"].replace("天", "日"))),
        (_FLOOR, lambda m: ("floor", f"{chinese_number(m['n']):g}")),
        (_AMOUNT, lambda m: amount(chinese_number(m["n"]), m["unit"])),
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
    minute = 30 if match["half"] else int(chinese_number(match["m2"])) if match["m2"] else 0
    return clock(int(chinese_number(match["h2"])), minute)


def chinese_number(text: str) -> float:
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
