"""Plans and days: what somebody does on a day that the sentence names, and plans that are called off or moved."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime

from events.language.quoted import HIDDEN
from events.language.timex.chinese.words import WILL
from events.language.values import word_set
from events.types.cards import EventNoted
from ingest.extraction.rules.drafts import DialogueState, EventDraft
from ingest.extraction.rules.moments import Moment
from ingest.extraction.rules.sentences import Sentence, hedged
from ingest.extraction.rules.values import TIME
from ingest.extraction.rules.words import either

_N = rf"(?:[\w'’&-]+ |{TIME}++ ){{0,3}}(?:{either('occasion')}|{either('plan')})s?"
_ABOUT = (
    rf"(?: (?:to|with|at|in|for|on|of) (?:the |my |our )?[\w'’&-]+(?: [A-Z][\w'-]+)?|,? ?{TIME}++){{0,2}}"
)
_NP = rf"(?:(?:[Tt]he|[Mm]y|[Oo]ur|[Tt]his|[Tt]hat|[A-Z][a-z]+'s) |^(?=[A-Z]))(?P<n>(?i:{_N}){_ABOUT})"
_IT = r"\b(?P<it>[Ii]t|[Tt]hat)"
_AUX = (
    r"(?:'s|'re| is| are| was| were| has| have| had| got| been| just| now| officially| finally| sadly){1,4}"
)
_WHO = rf"(?:^|(?<![\w'])(?:I|[Ww]e|[Tt]hey|[A-Z][a-z]+)(?:'ve| have| had to| has|'d)?(?: {TIME}++| just| finally)* )"
_GONE = (
    r"(?:off(?![\w-]| to| the| by| with)|cancell?ed|called off|scrapped|not happening|no longer happening|"
    r"no longer on)"
)
_OFF = re.compile(
    rf"(?:{_NP}|{_IT})(?:{_AUX} {_GONE}|(?:,? sadly)? fell through| (?:isn't|won't be) happening)"
)
_CALLS_OFF = re.compile(rf"{_WHO}(?:[Cc]ancell?ed|[Cc]alled off|[Ss]crapped|[Bb]ailed on) (?:{_NP}|{_IT})")
_MOVED = r"(?:moved|pushed|postponed|rescheduled|shifted|delayed|bumped|brought forward|put off|changed)"
_TO = (
    rf"(?: back| forward| up)?(?:,? (?:from )?{TIME}++)? (?:to |until |till |for |by )?(?:on |at |the "
    rf")?(?P<to>{TIME}++)"
)
# "Moved from Monday to Thursday": a change, and no stretch of time.
_ORIGIN = re.compile(r"from .+? (?:to|until|till) ", re.IGNORECASE)
_IS_MOVED = re.compile(rf"(?:{_NP}|{_IT})(?:{_AUX})? ?{_MOVED}{_TO}")
_MOVES = re.compile(rf"{_WHO}(?i:{_MOVED}) (?:{_NP}|{_IT}){_TO}")
_NP_ZH = rf"(?P<n>[^，,。；;！!？?{HIDDEN}]{{0,14}}?(?:{either('约')}))"
_SO_ZH = "(?:已经|都|被|临时|决定|就|也|要|又|只好|全部|突然|后来|结果)*"
_MOVED_ZH = "(?:改|延后|延期|延|挪|换|调|移|提前|提早|推迟|顺延)(?:期)?(?:到|至|成|在)了?"
_OFF_ZH = re.compile(rf"{_NP_ZH}{_SO_ZH}(?:取消|告吹|泡汤|作罢|停办|不办|去不成)了?")
_CALLS_OFF_ZH = re.compile(rf"(?:取消|推掉|退掉)了?{_NP_ZH}")
_MOVES_ZH = re.compile(rf"{_NP_ZH}{_SO_ZH}(?:时间)?(?:从?{TIME}++)?{_SO_ZH}{_MOVED_ZH}(?P<to>{TIME}++)")
_LEAD_ZH = re.compile(
    r"^(?:我们|我|大家|那个|这个|原本的?|原定的?|本来的?|所以|但是|可是|因为|结果|然后|把|的|要|[，, ])+"
)
_CHANGES = ((_OFF, False), (_CALLS_OFF, False), (_IS_MOVED, True), (_MOVES, True))
_CHANGES_ZH = ((_MOVES_ZH, True), (_OFF_ZH, False), (_CALLS_OFF_ZH, False))
_CHANGING = word_set(
    "off cancelled canceled scrapped happening bailed through moved pushed postponed rescheduled shifted "
    "delayed bumped "
    "brought put changed"
)
_CHANGING_ZH = re.compile("取消|告吹|泡汤|作罢|停办|不办|不成|推掉|退掉|[改延挪换调移]|提[前早]|推迟")

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
    rf"{_WHO_DOES}(?:'ll| will|(?:'m|'re|'s| am| are| is) (?:also |now |then )*(?:going to |gonna |about to "
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
_EDGE = " \t,.;，。；-–—"


def changed(
    sentence: Sentence, masked: str, owner: str, told: Callable[[], DialogueState]
) -> EventDraft | None:
    """Returns the plan that the sentence calls off or moves, or None.

    A pronoun stands for the last plan of the conversation. Without such a plan it gives nothing.
    """
    if (_CHANGING_ZH.search(masked) is None) if sentence.chinese else sentence.words.isdisjoint(_CHANGING):
        return None
    for pattern, moves in _CHANGES_ZH if sentence.chinese else _CHANGES:
        found = pattern.search(masked) if not moves or TIME in masked else None
        if found is None or (_UNSURE_ZH if sentence.chinese else _UNSURE).search(masked, 0, found.start()):
            continue
        named = sentence.raw[slice(*found.span("n"))].strip(_EDGE) if found["n"] else ""
        if sentence.chinese:
            named = sentence.raw[found.end("n") - len(_LEAD_ZH.sub("", found["n"])) : found.end("n")]
        replaces = named or _last_plan(told(), owner)
        if replaces is None:
            continue
        to = found.span("to") if moves else None
        if to is not None and (origin := _ORIGIN.match(sentence.raw, *to)) is not None:
            to = origin.end(), to[1]
        return EventDraft(
            entity=owner,
            key="plan",
            span=to or found.span(),
            content=sentence.raw,
            value=sentence.raw[slice(*to)] if to is not None else None,
            when="coming" if to is not None else "said",
            importance=6,
            status="planned" if to is not None else "cancelled",
            replaces=replaces,
        )
    return None


def corrected(sentence: Sentence, right: re.Match[str], told: DialogueState, owner: str) -> EventDraft | None:
    """Returns the last event of the conversation with a time, with the right time, or None without one of both."""
    dated = [one for one in told.events if one.status == "planned" or one.time_resolved]
    if not dated or TIME not in right["v"]:
        return None
    ahead = dated[-1].status == "planned"
    return EventDraft(
        entity=owner, key="plan" if ahead else "activity", span=right.span("v"), content=sentence.raw,
        value=sentence.raw[slice(*right.span("v"))], when="coming" if ahead else "past", importance=6 if ahead else 5,
        status="planned" if ahead else "corrected", replaces=_words_of(dated[-1], owner),
    )  # fmt: skip


def _last_plan(told: DialogueState, owner: str) -> str | None:
    plans = [one for one in told.events if one.status == "planned"]
    return _words_of(plans[-1], owner) if plans else None


def _words_of(event: EventNoted, owner: str) -> str:
    return event.content.removeprefix(f"{owner}: ").removeprefix(f"{owner}：")


def dated(
    sentence: Sentence, masked: str, owner: str, moments: list[Moment], reference: datetime
) -> Iterator[EventDraft]:
    """Yields what happened or will happen at the time that the sentence names, and what somebody decided."""
    decided = _DECIDED.search(masked) if "decided" in masked or "决定" in masked else None
    if decided is not None and hedged(sentence, decided.start(), decided.start()):
        decided = None
    moment = next((one for one in moments if one.start is not None and not _CLOCK.match(one.words)), None)
    if moment is not None and _AGED.match(masked, moment.stop):
        return
    if decided is None and moment is None:
        return
    unsure = (_UNSURE_ZH if sentence.chinese else _UNSURE).search(masked)
    if decided is not None and (moment is None or moment.start is None or moment.start <= reference):
        yield EventDraft(
            entity=owner,
            key="decision",
            span=(0, len(sentence.raw)),
            content=sentence.raw,
            when="said",
            importance=6,
        )
        return
    if moment is None or unsure is not None or moment.start is None:
        return
    ended = moment.end is not None and moment.end <= reference
    did = (_DAY_ZH if sentence.chinese else _DID).search(masked) is not None
    ahead = moment.start > reference
    will = (_WILL_ZH if sentence.chinese else _WILL).search(masked) is not None
    # The name of an occasion alone is no plan on a day that has begun: "The concert today was too loud".
    will = will or (ahead and not sentence.chinese and _OCCASION.search(masked) is not None)
    if moment.start <= reference and did and (sentence.chinese or not will or ended):
        if moment.end is None and not sentence.chinese:
            return  # "since March" is the begin of a state.
        yield EventDraft(
            entity=owner, key="activity", span=(moment.begin, moment.stop), content=sentence.raw, when="past"
        )
    elif will and (ahead or not ended):
        yield EventDraft(
            entity=owner, key="plan", span=(moment.begin, moment.stop), content=sentence.raw, when="future",
            importance=6, status="planned",
        )  # fmt: skip
