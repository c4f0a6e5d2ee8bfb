"""Plans and days: what somebody does on a day that the sentence names, and plans that are called off or moved."""

import re
from collections.abc import Callable
from datetime import datetime

from events.language.quoted import HIDDEN
from events.language.timex.chinese.words import WILL
from ingest.extraction.rules.drafts import DialogueState, EventDraft
from ingest.extraction.rules.moments import Moment, coming
from ingest.extraction.rules.sentences import Sentence
from ingest.extraction.rules.values import TIME
from ingest.extraction.rules.words import either

_N = rf"(?:[\w'’&-]+ |{TIME}++ ){{0,3}}(?:{either('occasion')}|{either('plan')})s?"
_ABOUT = rf"(?: (?:to|with|at|for|of) (?:the |my |our )?[\w'’&-]+(?: [A-Z][\w'-]+)?|,? ?{TIME}++){{0,2}}"
_NP = rf"(?:(?:(?:[Tt]he|[Mm]y|[Oo]ur|[Tt]hat) |^(?=[A-Z]))(?P<n>(?i:{_N}){_ABOUT})|\b(?P<it>[Ii]t|[Tt]hat))"
_AUX = r"(?:'s| is| was| has| have| got| been| just| now){0,4}"
_OFF = re.compile(rf"{_NP}{_AUX} (?:off(?![\w-]| to| the| by| with)|cancell?ed|called off|not happening)")
_TO = (
    rf"(?: back| forward| up)?(?:,? (?:from )?{TIME}++)? (?:to |until |till |for |by )?(?:on |at |the "
    rf")?(?P<to>{TIME}++)"
)
# "Moved from Monday to Thursday": a change, and no stretch of time.
_ORIGIN = re.compile(r"from .+? (?:to|until|till) ", re.IGNORECASE)
_MOVED = re.compile(rf"{_NP}{_AUX} (?:moved|pushed|postponed|rescheduled|shifted|delayed){_TO}")
_NP_ZH = rf"(?P<n>[^，,。；;！!？?{HIDDEN}]{{0,14}}?(?:{either('约')}))"
_SO_ZH = "(?:已经|都|被|临时|决定|就|也|要|又|只好|后来|结果)*"
_OFF_ZH = re.compile(rf"{_NP_ZH}{_SO_ZH}(?:取消|告吹|泡汤|不办)了?")
_MOVED_ZH = re.compile(
    rf"{_NP_ZH}{_SO_ZH}(?:时间)?(?:从?{TIME}++)?{_SO_ZH}"
    rf"(?:改|延后|延期|延|挪|换|调|提前|推迟)(?:期)?(?:到|至|成|在)了?(?P<to>{TIME}++)"
)
_LEAD_ZH = re.compile(
    r"^(?:我们|我|大家|那个|这个|原本的?|原定的?|本来的?|所以|但是|可是|因为|结果|然后|把|的|要|[，,, ])+"
)

_UNSURE = re.compile(
    r"\b(?:might|maybe|perhaps|probably|possibly|not|never|would|could|should|wish|want(?:s|ed)?|hop(?:e|es|ed|ing)|"
    r"think(?:ing)?|thought|consider(?:ing|ed)?|guess|someday|if|unless|whether|tentative(?:ly)?|can you|let me|"
    r"please)\b|n't\b|'d\b",
    re.IGNORECASE,
)
_UNSURE_ZH = re.compile(
    "可能|也许|或许|大概|好像|应该|考虑|想要?|希望|如果|要是|万一|会不会|说不定|不一定|估计|听说|不|没|别|请|帮我"
)
_WHO_DOES = (
    r"(?<![\w'])(?:I|[Ww]e|(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){0,2}?[\w'-]+|[A-Z][a-zA-Z]+(?: and [A-Z]\w+)?)"
)
_DID = re.compile(
    rf"(?:{_WHO_DOES}(?:'ve| have| has)?(?: (?:and I|just|finally|also|all|both|already|actually|even|{TIME}++))*|"
    # Without a subject, a past form that is also the base form is an order: "Set the alarm for Monday".
    rf"^(?:[A-Z]\w+ly,? )?(?:{TIME}++,? )?(?!(?i:put|set|cut|hit|let|shut|read|hurt|quit|feed)\b)) ?"
    rf"(?:\w{{2,}}(?<!ne)ed|(?i:{either('did')}))\b",
)
_WILL = re.compile(
    rf"{_WHO_DOES}(?:'ll| will|(?:'m|(?<=\bI)m|'re|'s| am| are| is) (?:also |now |then )*(?:going to |gonna |about to "
    rf")?(?!not|so|very|too)"
    rf"[a-z]+ing\b|(?:'m|'re|'s| am| are| is) (?:going to|gonna|off to)|(?:'ve| have| has)(?: got)? (?:an?|my|"
    rf"our|the|to)\b|"
    rf" (?:need|plan|plans|leave|leaves|fly|flies|arrive|arrives|start|starts|get|gets|meet|meets|booked|have to)\b)|"
    rf"^(?:Going|Heading|Flying|Driving|Meeting|Seeing|Visiting)\b"
)
_OCCASION = re.compile(rf"^(?:[\w'-]+ ){{0,3}}(?i:{either('occasion')}|{either('plan')})s?\b")
_DAY_ZH = re.compile("了|过|去|来|跟|和|参加|到|在|买|开|带|做|吃|看|见|收|完|陪|聊|完成|进行")
_WILL_ZH = re.compile(
    f"{WILL}|会|打算|准备|计划|预约|预定|预订|订|去|见|有|约|出发|开工|回来|到|参加|跟|{either('约')}"
)
_DECIDED = re.compile(
    r"\b(?:I|we)(?:'ve| have)?(?: \w+ly| just)? decided (?:to|on|against|that)\b|决定", re.IGNORECASE
)
_CLOCK = re.compile(r"(?:at |by |around )?\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\.?)?$|noon|midnight", re.IGNORECASE)
_AGED = re.compile(r" ?[\d一二三四五六七八九十]{1,3}岁")
# "Moved the date to August": August is the new date and not the time of the event.
_MOVED_TO = re.compile(r"\b(?:to|until|till) ?$|[到至]$")
_EDGE = " \t,.;，。；-–—"


def changed(
    sentence: Sentence, masked: str, owner: str, told: Callable[[], DialogueState], reference: datetime
) -> EventDraft | None:
    """Returns the plan that the sentence calls off or moves, or None.

    A pronoun stands for the last plan of the conversation. Without such a plan it gives nothing.
    """
    for pattern in (_MOVED_ZH, _OFF_ZH) if sentence.chinese else (_MOVED, _OFF):
        moves = "to" in pattern.groupindex
        found = pattern.search(masked) if not moves or TIME in masked else None
        if found is None or (_UNSURE_ZH if sentence.chinese else _UNSURE).search(masked, 0, found.start()):
            continue
        named = sentence.raw[slice(*found.span("n"))].strip(_EDGE) if found["n"] else ""
        if sentence.chinese:
            named = sentence.raw[found.end("n") - len(_LEAD_ZH.sub("", found["n"])) : found.end("n")]
        replaces = named or _last_plan(told(), owner)
        if replaces is None:
            continue
        if not moves:
            return EventDraft(
                key="plan", span=found.span(), status="cancelled", replaces=replaces, importance=6
            )
        begin, stop = found.span("to")
        if (origin := _ORIGIN.match(sentence.raw, begin, stop)) is not None:
            begin = origin.end()
        moment = coming(sentence, begin, stop, reference)
        if moment is not None:
            return EventDraft(
                key="plan", span=(begin, stop), moment=moment, value=sentence.raw[begin:stop], status="planned",
                replaces=replaces, importance=6,
            )  # fmt: skip
    return None


def _last_plan(told: DialogueState, owner: str) -> str | None:
    plans = [one.content for one in told.events if one.status == "planned"]
    return plans[-1].removeprefix(f"{owner}: ").removeprefix(f"{owner}：") if plans else None


def dated(sentence: Sentence, masked: str, moments: list[Moment], reference: datetime) -> EventDraft | None:
    """Returns what somebody decided, or what happened or will happen at the time that the sentence names."""
    moment = next((one for one in moments if one.start is not None and not _CLOCK.match(one.words)), None)
    start = moment.start if moment is not None else None
    if moment is not None and _AGED.match(masked, moment.stop):
        return None
    unsure = _UNSURE_ZH if sentence.chinese else _UNSURE
    decided = _DECIDED.search(masked) if start is None or start <= reference else None
    if decided is not None and unsure.search(masked, 0, decided.start()) is None:
        return EventDraft(key="decision", span=(0, len(sentence.raw)), moment=moment, importance=6)
    if moment is None or start is None or unsure.search(masked):
        return None
    if _MOVED_TO.search(masked, max(0, moment.begin - 6), moment.begin):
        return None
    ended, ahead = moment.end is not None and moment.end <= reference, start > reference
    did = (_DAY_ZH if sentence.chinese else _DID).search(masked) is not None
    will = (_WILL_ZH if sentence.chinese else _WILL).search(masked) is not None
    # The name of an occasion alone is no plan on a day that has begun: "The concert today was too loud".
    will = will or (ahead and not sentence.chinese and _OCCASION.search(masked) is not None)
    span = moment.begin, moment.stop
    if not ahead and did and (sentence.chinese or not will or ended):
        # "Since March" is the begin of a state.
        begins = moment.end is None and not sentence.chinese
        return None if begins else EventDraft(key="activity", span=span, moment=moment)
    if will and (ahead or (moment.end is not None and not ended)):
        return EventDraft(key="plan", span=span, moment=moment, status="planned", importance=6)
    return None
