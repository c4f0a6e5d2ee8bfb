"""Claims of Chinese sentences, in either script."""

import re
from collections.abc import Callable, Iterator

from events.language import timex
from events.language.names import canonical_name
from events.language.terms import analyse, fold
from retrieval.cards.claims.claim import UNITS, Claim, Told, amount, clocks, dates, matches, read_values
from retrieval.cards.claims.experience import chinese_experience

_UNSURE = re.compile(
    r"[?？吗嘛他她它你您]|如果|要是|假如|可能|也许|或许|大概|大约|想|打算|应该|希望|好像|听说|说|觉得|以为|昨|今天|今早|今晚|明天|后天|"
    r"现在|目前|以前|之前|从前|上次|上周|上个|下个|下周|刚|了|有个|有一|一个|某|有人|改|换|移到|延|提前|不再|或者|还是|最多|至少|左右|通常|有时|常常"
)
_DENIED = re.compile(r"没有|不在(?=.)|没|未(?!来|婚)|不(?!错|同|久|过(?!敏)|但|管|仅|只|如|少|断|得|用|要)")
_UNIT = "|".join(sorted((unit for unit in UNITS if not unit.isascii()), key=len, reverse=True))
_YEAR = re.compile(r"(?P<v>\d{4})年(?!的)")
_WEEKDAY = re.compile(r"(?:星期|礼拜|周)(?P<v>[一二三四五六日天])(?!的)")
_OF = re.compile(
    rf"(?P<unit>{_UNIT}|[只个把张本间位名次页颗步辆部台条件号人套杯瓶块盒])?(?P<people>人)?(?!的)"
)
_CODE = re.compile(r"(?P<v>(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{2,12})")
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
    found, rest = read_values(text, _READERS, "")
    if "weekday" in found:
        found["weekday"] = found["weekday"].replace("天", "日")
    return found, rest


def _not_of(read: Callable[[str], Iterator[Told]]) -> Callable[[str], Iterator[Told]]:
    return lambda text: (one for one in read(text) if text[one[1] : one[1] + 1] != "的")


def _floors(text: str) -> Iterator[Told]:
    for number in timex.numbers(text):
        if not number.ordinal and text[number.stop : number.stop + 1] == "楼":
            yield number.begin, number.stop + 1, "floor", f"{number.value:g}"


def _amounts(text: str) -> Iterator[Told]:
    for number in timex.numbers(text):
        if not number.ordinal and (of := _OF.match(text, number.stop)):
            yield number.begin, of.end(), *amount(number.value, of["unit"])


_READERS = (
    matches(_CODE, "code"), _not_of(clocks), _not_of(dates), matches(_YEAR, "year"), matches(_WEEKDAY, "weekday"),
    _not_of(_floors), _amounts,
)  # fmt: skip
