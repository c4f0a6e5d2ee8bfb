"""Chinese words about problems: 我一直為…所苦, 我試了…沒有用, …好了. The patterns read simplified script."""

import re
from collections.abc import Iterator

from events.language.quoted import HIDDEN
from ingest.extraction.rules.problems.found import Found, group
from ingest.extraction.rules.sentences import Sentence

TRIGGERS = re.compile(
    r"困扰|所苦|苦恼|折磨|烦恼|老是|总是|一直|试|好了|好转|痊愈|消失|解决|没了|不见了|不[痛疼痒咳]了"
)
_OFTEN = (
    r"(?:最近|这阵子|这几[天周]|这段时间|近来|一直|老是|总是|常常|经常|还是|都|也|真的|又|很久|长期|持续)"
)
_NOUN = rf"[^，,。！？；：:\s{HIDDEN}]"
AILMENT = re.compile(
    r"[头胃腰背肩颈膝脚腿手牙喉肚腹胸][\u4e00-\u9fff]{0,2}?[痛疼酸]|痛|疼|失眠|睡不[好着]|咳|感冒|发烧|过敏|头晕|晕眩|耳鸣|"
    r"便秘|腹泻|拉肚子|胃食道逆流|焦虑|压力|忧郁|抑郁|疲[倦劳惫]|血糖|血压|湿疹|疹|鼻塞|流鼻[水涕]|抽筋|水肿|发炎|感染|"
    r"伤口|青春痘|痘|拖延|问题|毛病|症状|困扰|故障|漏水|噪音|病"
)
"""What ails a person. The end of anything else (手機好了) closes no problem, unless it was told as one."""
_OPEN = (
    re.compile(
        rf"我{_OFTEN}{{0,4}}(?:为|被|因|受){_OFTEN}{{0,2}}(?P<about>{_NOUN}{{1,30}}?)(?:所|而)?"
        r"(?:困扰|苦恼|折磨|烦恼|苦(?=$|[，,。！了很]))"
    ),
    re.compile(rf"我{_OFTEN}{{0,3}}(?:深受|饱受)(?P<about>{_NOUN}{{1,30}}?)(?:之苦|的?困扰|的?折磨|所苦)"),
    re.compile(rf"(?:^|[，,])(?:我的?)?(?P<about>{_NOUN}{{1,30}}?){_OFTEN}{{1,3}}(?:困扰|折磨)着?我"),
    re.compile(rf"我{_OFTEN}{{1,4}}有(?P<about>{_NOUN}{{1,20}}?)的?(?:问题|困扰|毛病)"),
    re.compile(
        rf"(?:我{_OFTEN}{{0,2}}|^(?:最近|这阵子|近来))(?:老是|总是|一直|常常|经常)(?:会|都|在)?"
        rf"(?P<about>(?:{AILMENT.pattern}){_NOUN}{{0,4}}?)(?=$|[，,。！]|了)"
    ),
)
_TRIED = r"(?:试了|试过了?|尝试了|尝试过|试着)"
_FAILED = r"(?:没有?什?么?(?:用|效果?|改善|帮助|起色)|无效|不管用|不见效|没差|完全没用|更糟|更严重|毫无(?:帮助|效果))"
_WORKED = r"(?:有用|有效|见效|管用|有帮助|很?有改善|改善了?|好多了|好转|好很多|减轻了?|降下来)"
_BETWEEN = (
    r"(?:[，, ]|但是?|可是|不过|结果|而且|后来|真的|还是|好像|完全|确实|果然|居然|却|很|都|也|效果|非常|根本|"
    r"似乎){0,6}"
)
_TOWARD = r"(?:对(?P<toward>[^，,。！？对]{1,20}?))?"
_TRY = re.compile(
    rf"(?:(?:为了|针对|因为)(?P<before>{_NOUN}{{1,20}}?)[，,]?)?(?:^|[，,。]|我)(?:我|也|还|又|后来|最近|已经|于是|昨天|今天){{0,3}}"
    rf"{_TRIED}(?P<with>{_NOUN}{{1,30}}?)"
    rf"(?:来?(?:改善|缓解|治疗?|对付|解决|舒缓)(?P<about>{_NOUN}{{1,20}}?))?"
    rf"(?P<result>{_BETWEEN}{_TOWARD}{_BETWEEN}(?:(?P<failed>{_FAILED})|(?P<worked>{_WORKED}))[^。！？]{{0,40}})"
)
_SINCE = r"(?:终于|总算|已经|现在|完全|全部?|都|也|今天|再){0,4}"
_OVER = r"(?=$|[，,。！!～~ ]|啦|喔|哦)"
_CLOSE = re.compile(
    rf"(?:^|[，,。：:]|我的?)(?:我的?)?(?P<about>{_NOUN}{{1,20}}?){_SINCE}"
    rf"(?:好了|痊愈了|消失了|不见了|解决了|没了|没事了){_OVER}"
)
_NO_PAIN = re.compile(
    rf"(?:^|[，,。]|我的?)(?:我的?)?(?P<about>{_NOUN}{{1,8}}?){_SINCE}不(?P<pain>[痛疼痒])了{_OVER}"
)
# 不知道怎么办 asks nobody.
_AT_A_LOSS = re.compile(r"[，,]?(?:真的|都|我){0,3}不知道(?:该|要)?(?:怎么办|怎么做|如何是好)[。！!~…]*$")
_ASKS = re.compile(r"[吗嘛呢?？]|怎|什么|如何|哪|谁|几|多少|是否|有没有|是不是|要不要|能不能|会不会")
_OF_ANOTHER = re.compile(
    r"(?:我(?:妈|爸|哥|姐|弟|妹|儿子|女儿|先生|太太|老公|老婆|朋友|同事|同学|奶奶|爷爷|外婆|外公|室友|老板|女友|男友|"
    r"女朋友|男朋友|家人|孩子|小孩|们?家?的?[猫狗])|"
    r"他|她|它|你|您|别人|有人|大家|网友|医生说|听说|据说)"
)
_MYSELF = re.compile(r"我(?:来说|而言)?(?:很|真的|都|也)*")
_NOT_YET = re.compile(r"(?:想|打算|准备|考虑|要|可以|应该|会|不|没|别|未|还没)[^，,。]{0,2}$")


def finds(sentence: Sentence) -> Iterator[Found]:
    """Yields what a statement says about problems, in reading order."""
    plain = sentence.plain
    if TRIGGERS.search(plain) is None:
        return
    for pattern in _OPEN:
        found = pattern.search(plain)
        if found is not None and not _of_another(plain, found.start()) and (about := group(found, "about")):
            if _OF_ANOTHER.match(plain, *about):
                continue
            yield Found(step="opened", span=found.span(), about=about)
            break
    tried = _TRY.search(plain)
    if (
        tried is not None
        and not _of_another(plain, tried.start())
        and not _NOT_YET.search(plain[: tried.start("with")][:-2])
    ):
        about = group(tried, "before") or group(tried, "about") or group(tried, "toward")
        if about is not None and _MYSELF.fullmatch(plain, *about):
            about = None
        yield Found(
            step="attempted",
            span=tried.span(),
            about=about,
            with_=group(tried, "with"),
            outcome=group(tried, "result"),
            successful=tried["failed"] is None,
        )
    ended = _NO_PAIN.search(plain)
    if ended is not None and not _of_another(plain, ended.end()):
        yield Found(step="closed", span=ended.span(), about=group(ended, "about"), suffix=ended["pain"])
        return
    ended = _CLOSE.search(plain)
    if ended is not None and not _of_another(plain, ended.end()) and (about := group(ended, "about")):
        yield Found(step="closed", span=ended.span(), about=about)


def only_at_a_loss(sentence: Sentence) -> bool:
    """True for a statement that ends with 不知道怎么办 and asks nothing else."""
    rest, removed = _AT_A_LOSS.subn("", sentence.plain)
    return removed > 0 and _ASKS.search(rest) is None


def result(sentence: Sentence) -> Found | None:
    """Returns None: a Chinese sentence that tells only an outcome is too short to be sure of its subject."""
    return None


def _of_another(plain: str, before: int) -> bool:
    """True when words before ``before`` in the sentence say that somebody else is meant."""
    return _OF_ANOTHER.search(plain, 0, before) is not None or _OF_ANOTHER.match(plain, before) is not None
