"""Claims about what somebody has ever done: "I have never eaten oysters" against "I ate oysters last summer"."""

import re
from datetime import UTC, datetime

from events.language import timex
from events.language.terms import analyse, fold, stem
from retrieval.cards.claims.claim import Claim

_EVER = "ever"
_FORMS = """
go been went gone visited|eat ate eaten|see saw seen|drink drank drunk|drive drove driven|ride rode ridden|
swim swam swum|sing sang sung|run ran|read|write wrote written|fly flew flown|break broke broken|take took taken|
give gave given|buy bought|sell sold|own owned|have had|do did done|make made|meet met|win won|lose lost|catch caught|
teach taught|learn learned learnt|hold held|build built|wear wore worn|play played|smoke smoked|try tried|watch watched|
climb climbed|use used|cook cooked|bake baked|dance danced|ski skied|surf surfed|dive dived dove|cheat cheated|
travel travelled traveled|attend attended|join joined|study studied|work worked|live lived|donate donated|vote voted|
gamble gambled|break broke broken|steal stole stolen|fall fell fallen|keep kept|hike hiked|camp camped|sail sailed|
paint painted|hunt hunted|fish fished|kiss kissed|finish finished|quit|celebrate celebrated|hear heard
"""
_VERB = {
    form: forms.split()[0]
    for forms in _FORMS.replace("\n", "").split("|")
    for form in (forms.split()[1:] or forms.split())
}
_PAST = "|".join(sorted(_VERB, key=len, reverse=True))
_TIME = (
    r"(?:once|twice|[a-z\d]+ times|before|recently|already|yet|ever|so far|in my (?:whole |entire )?life|"
    r"as a (?:child|kid|student|teenager)|for the first time|at least once|at all|when i was(?: [\w'-]+){1,4})"
)
_ENGLISH = re.compile(
    rf"^(?:{_TIME},? )?(?:i|we)(?P<have>'ve| have|)(?P<not>n't| not|)"
    r"(?P<never>(?: also| still| just)? never(?: once| ever)?|)"
    rf"(?: (?:ever|once|also|just|actually|already|recently|finally|even|definitely|really|both))* (?P<verb>{_PAST})"
    rf"(?P<rest>(?: [\w'-]+){{0,8}}?)(?:,? {_TIME})*+$",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\?|\b(?:if|unless|until|till|since|maybe|perhaps|might|would|could|should|almost|nearly|dream|game|thought|that|"
    r"than|like|he|she|they|it|you|your|his|her|their|them|him|about|to (?:do|get|have|be)|but|except|only|or|without|"
    r"same|such|another|other|more|again)\b",
    re.IGNORECASE,
)
_VERBS_ZH = "参加|尝试|[去到吃喝看读听玩用学坐搭骑开养写抽打住见跑爬买试谈弹唱做拿丢赢种拍搬]"
_SAME_ZH = {"到": "去", "搭": "坐", "尝试": "试"}
# No word of a repeated list is made of others of it: the time would double with each such word.
_TIME_ZH = (
    r"(?:上次|小时候|年轻时|大学时|高中时|暑假|寒假|以前|之前|曾经?|已经|终于|刚|第一次|最近|早就|也|就|都|又|"
    r"早上|下午|晚上|中午)"
)
_BEFORE_TIME = re.compile(r"(?:\b(?:(?:back )?(?:in|on|at)|during|,)|在)?\s*$", re.IGNORECASE)
_SOME_DAY = datetime(2020, 6, 15, tzinfo=UTC)
_CHINESE = re.compile(
    rf"^{_TIME_ZH}*我们?(?:这辈子|至今|到现在|一直|{_TIME_ZH}|有)*"
    rf"(?P<denied>(?:都|也|还)?(?:从来?)?(?:都|也)?(?:没有|没|未曾|不曾))?(?P<verb>{_VERBS_ZH})"
    r"(?P<done>过了?|了)(?:[一两三几\d](?:次|趟|遍|回|个|碗|杯|只|部|本|支|根|条|场|首|盘|点|口|台|座)(?:的)?)?"
    r"(?P<rest>[^了过没不]{1,12}?)(?:了|[一两三几\d](?:次|趟|遍|回))?$"
)
_UNSURE_ZH = re.compile(
    r"[?？吗他她它你您谁]|如果|要是|假如|的话|差点|差一点|几乎|可能|也许|或许|大概|好像|听说|(?<!小)说|梦[到见]|做梦|想|打算|应该|直到|才|除了|以外|只|"
    r"难道|还是|或者|一样|这么|那么|完|到底|游戏里"
)


def _timeless(text: str) -> str:
    """Returns a sentence without its times. "I ate oysters last summer" and "I ate oysters in 2019" are one claim."""
    for found in reversed(timex.find(text, _SOME_DAY)):
        if found.start is not None or found.end is not None:
            text = _BEFORE_TIME.sub("", text[: found.begin]) + text[found.stop :]
    return text.strip(" ,，")


def english_experience(sentence: str) -> Claim | None:
    """Returns the claim that the speaker did something at some time, or never did. Returns None for all else.

    "I had never … until" and "I didn't" are about one time, and claim nothing.
    """
    text = _timeless(sentence.replace("’", "'").strip().rstrip(".! "))
    found = _ENGLISH.match(text)
    if found is None or _UNSURE.search(text):
        return None
    negative, never = bool(found["not"]), bool(found["never"])
    verb = _VERB[found["verb"].casefold()]
    rest = found["rest"].strip()
    if (negative and (never or not found["have"])) or (
        found["verb"].casefold() == "been" and rest[:3] not in ("to ", "in ")
    ):
        return None
    topic = frozenset(analyse(rest)) - {stem("once")}
    if not topic or (
        verb == "go" and found["verb"].casefold() != "visited" and not rest.startswith(("to ", "in "))
    ):
        return None
    return Claim("english", topic | {"i", _EVER, verb}, frozenset(), negative or never, loose=True)


def chinese_experience(sentence: str) -> Claim | None:
    """Returns the claim of 我从来没吃过… or 我吃了…, or None. 直到…才 and 还没…的话 claim nothing."""
    text = _timeless(fold(sentence).strip().rstrip("。.!！ "))
    text = re.sub(r"[，,](?=我)|(?<=前)[，,]", "", text)
    found = _CHINESE.match(text)
    if found is None or _UNSURE_ZH.search(text) or (found["denied"] and found["done"] != "过"):
        return None
    verb = _SAME_ZH.get(found["verb"], found["verb"])
    topic = frozenset(analyse(found["rest"]))
    if not topic:
        return None
    return Claim("chinese", topic | {_EVER, verb}, frozenset(), bool(found["denied"]), loose=True)
