"""Plans that somebody calls off or moves: "the Prague trip is off", "we moved the dinner to Friday", 聚餐取消了."""

from __future__ import annotations

import re
from collections.abc import Iterator

from events.language.values import word_set
from ingest.extraction.rules.drafts import EventDraft
from ingest.extraction.rules.moments import TIME, tells_time
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import HIDDEN, Sentence, hedged

# Words for things that people plan. "Cancelled my subscription" calls off no plan.
_NOUNS = (
    "trips?|flights?|dinner|lunch|brunch|breakfast|party|parties|meeting|meet-?up|appointment|wedding|holidays?|"
    "vacation|getaway|visit|date|concert|gig|show|game|match|race|barbecue|bbq|cookout|picnic|hike|reservation|"
    "booking|surgery|operation|interview|exam|test|class|lesson|course|conference|workshop|seminar|event|plans?|tour|"
    "drinks|call|retreat|sleepover|reunion|cruise|camping|festival|rehearsal|recital|audition|presentation|"
    "demo|launch|session|checkup|check-up|viewing|playdate|potluck|ceremony|funeral|move|road trip|outing|training|"
    "practice|tournament|night out|movie night|game night|book club|standup|review|weekend away"
)
_N = rf"(?:[\w'’&-]+ |{TIME}+ ){{0,3}}(?:{_NOUNS})"
_ABOUT = (
    r"(?: (?:to|with|at|in|for|on|of) (?:the |my |our )?[\w'’&-]+(?: [A-Z][\w'-]+| and [A-Z]\w+)?|"
    rf",? ?{TIME}+){{0,2}}"
)
_NP = (
    rf"(?:(?P<det>[Tt]he|[Mm]y|[Oo]ur|[Tt]his|[Tt]hat|[A-Z][a-z]+'s) |(?P<t>{TIME}+(?:'s)? )|^(?=[A-Z]))"
    rf"(?P<n>(?i:{_N}){_ABOUT})"
)
_IT = r"(?P<it>[Ii]t|[Tt]hat)"
_AUX = (
    r"(?:'s|'re| is| are| was| were| has| have| had| got| been| to be| just| now| officially| also| both| all|"
    r" finally| sadly){1,4}"
)
_WHO = (
    rf"(?:^|(?<![\w'])(?:I|[Ww]e|[Tt]hey|[Ss]he|[Hh]e|[A-Z][a-z]+)(?:'ve| have| had to| has|'d)?"
    rf"(?: {TIME}+| just| finally| also| all| both| \w+ly)* )"
)
_GONE = (
    r"(?:off(?![\w-]| to| the| by| with)|cancell?ed|called off|scrapped|axed|not happening|no longer happening|"
    r"not going ahead|no longer on)"
)
_OFF = re.compile(
    rf"(?:{_NP}|\b{_IT})(?:{_AUX} {_GONE}|(?:,? sadly)? fell through| (?:isn't|is not|won't be|aren't) "
    rf"(?:happening|going ahead)| won't happen)"
)
_CALLS_OFF = re.compile(
    rf"{_WHO}(?:[Cc]ancell?ed|cancel|[Cc]alled off|call off|[Ss]crapped|backed out of|pulled out of|bailed on) "
    rf"(?:{_NP}|{_IT})"
)
_CALLED_IT = re.compile(rf"{_WHO}[Cc]alled {_IT} off")
_STAYS = re.compile(
    rf"(?<![\w'])(?:I|[Ww]e)(?:'m not|'re not| am not| are not| aren't|'m no longer|'re no longer| no longer)"
    rf" (?P<n>(?:going|flying|travell?ing|driving|coming|moving|visiting|seeing|meeting|attending|hosting|having|"
    rf"throwing|running)(?: [^.,;!?{HIDDEN}]{{1,50}}?)?) ?(?:anymore|any more|any longer|after all)\b"
)
_MOVED = (
    r"(?:moved|pushed|postponed|rescheduled|shifted|delayed|bumped|brought forward|put off|put back|changed)"
)
_TO = (
    rf"(?: back| forward| up| again)?(?:,? (?:from )?{TIME}+)? (?:to |until |till |for |by )?(?P<to>{TIME}+)"
)
_IS_MOVED = re.compile(rf"(?:{_NP}|\b{_IT})(?:{_AUX})? ?{_MOVED}{_TO}")
_MOVES = re.compile(rf"{_WHO}(?:[A-Z])?(?i:{_MOVED}) (?:{_NP}|{_IT}){_TO}")
_INSTEAD = re.compile(
    rf"(?:{_NP}|\b{_IT})(?:'s| is| will be|'ll be)(?P<now> now)?(?: on| at| in)? ?(?P<to>{TIME}+)"
    rf"(?P<then>,? (?:instead|now)\b)?"
)

_NOUNS_ZH = (
    "行程|旅行|旅游|聚餐|聚会|饭局|约会|会议|面试|婚礼|派对|演唱会|音乐会|比赛|考试|手术|看诊|门诊|回诊|预约|航班|"
    "露营|出差|活动|健行|登山|晚餐|午餐|早餐|生日会|庆生|展览|之旅|旅程|同学会|讲座|研讨会|家长会|体检|健检|烤肉|"
    "野餐|读书会|球赛|饭约|订位|参访|家访|拍摄|彩排|典礼|开会|面谈|课"
)
_N_ZH = rf"(?P<n>[^，,。；;！!？?{HIDDEN}]{{0,14}}?(?:{_NOUNS_ZH}))"
_SO_ZH = "(?:已经|都|被|临时|决定|就|也|要|又|确定|只好|通通|全部|突然|后来|结果)*"
_OFF_ZH = re.compile(rf"{_N_ZH}{_SO_ZH}(?:取消|告吹|泡汤|作罢|停办|不办|去不成)了?")
_CALLS_OFF_ZH = re.compile(rf"(?:取消|推掉|退掉)了?{_N_ZH}")
_STAYS_ZH = re.compile(
    rf"不(?P<n>(?:去|飞|参加|出席)[^，,。；;！!？?了{HIDDEN}]{{0,12}})了|(?P<m>去)不成(?P<place>[^，,。了]{{0,8}})了?"
)
_MOVED_ZH = "(?:改|延后|延期|延|挪|换|调|移|提前|提早|推迟|顺延)(?:期)?(?:到|至|成|在)?了?"
_MOVES_ZH = re.compile(rf"{_N_ZH}{_SO_ZH}(?:时间)?(?:从?{TIME}+)?{_SO_ZH}{_MOVED_ZH}(?P<to>{TIME}+)")
_RESCHEDULED_ZH = re.compile(rf"{_N_ZH}{_SO_ZH}(?:改期|延期|顺延)了?")
_MOVES_IT_ZH = re.compile(
    rf"(?:^|，|后来|现在)(?:又)?(?:时间)?{_MOVED_ZH}(?P<to>{TIME}+)(?:了|喔|哦|啦)*(?=$|[，,。！!])"
)
_LEAD_ZH = re.compile(
    r"^(?:我们|我|他们|她们|大家|那个|这个|原本的?|原定的?|本来的?|所以|但是|可是|因为|结果|然后|"
    r"把|的|要|跟你说|[，, ])+"
)

_CHANGING = word_set(
    "off cancelled canceled cancel scrapped axed happening happen anymore longer after moved pushed postponed "
    "rescheduled shifted delayed bumped brought put changed backed pulled bailed ahead through any"
)
_PLANNED = word_set(_NOUNS.replace("?", "").replace("|", " ")) | word_set(
    "it it's that that's going flying travelling traveling driving coming visiting seeing attending hosting throwing"
)
_TRIGGERS_ZH = re.compile(
    "取消|告吹|泡汤|作罢|停办|不办|不成|推掉|退掉|不去|不飞|不参加|不出席|[改延挪换调移]|提[前早]|推迟|顺延"
)


def may_change(sentence: Sentence) -> bool:
    """Returns True when a word of the sentence may call off or move a plan."""
    if sentence.chinese:
        return _TRIGGERS_ZH.search(sentence.plain) is not None
    words = sentence.words
    if words.isdisjoint(_PLANNED):
        return False
    return not words.isdisjoint(_CHANGING) or ("is" in words and tells_time(sentence))


def changed(scene: Scene) -> Iterator[EventDraft]:
    """Yields the plan that the sentence calls off or moves, at most one.

    A pronoun stands for the last plan of the conversation. Without such a plan it gives nothing.
    """
    patterns = _PATTERNS_ZH if scene.sentence.chinese else _PATTERNS
    for pattern, moves in patterns:
        if pattern in _VERBS and scene.sentence.words.isdisjoint(_VERBS[pattern]):
            continue
        if moves and TIME not in scene.masked:
            continue
        found = pattern.search(scene.masked)
        if found is None or _doubtful(found, scene):
            continue
        groups = found.groupdict()
        to = found.span("to") if moves else None
        named = _named(found, scene)
        settled = pattern is _INSTEAD and not (groups["now"] or groups["then"])
        if settled and (to is None or groups.get("it") or TIME not in found["to"]):
            continue
        replaces = None if settled else named or _last_plan(scene)
        if replaces is None and not settled:
            continue
        yield EventDraft(
            entity=scene.owner,
            key="plan",
            span=to or found.span(),
            content=scene.sentence.raw,
            value=scene.said(found, "to") if to is not None else None,
            when="coming" if to is not None else "said",
            importance=6,
            status="planned" if to is not None else "cancelled",
            replaces=replaces,
        )
        return


def _doubtful(found: re.Match[str], scene: Scene) -> bool:
    if scene.sentence.chinese:
        return (
            re.search(
                r"可能|也许|或许|如果|要是|万一|希望|会不会|不要|别|还没|没有?$",
                scene.masked[: found.start()],
            )
            is not None
        )
    return hedged(scene.sentence, found.start(), found.start())


def _named(found: re.Match[str], scene: Scene) -> str | None:
    """Returns the words that name the plan, or None for a pronoun."""
    groups = found.groupdict()
    if groups.get("m"):
        place = scene.said(found, "place")
        return f"去{place}" if place else None
    words = scene.said(found, "n")
    if not words:
        return None
    if scene.sentence.chinese:
        words = _LEAD_ZH.sub("", words)
        return words if len(words) > 1 else None
    if words in ("going", "coming"):
        return None
    return f"{scene.said(found, 't')} {words}".strip() if groups.get("t") else words


def _last_plan(scene: Scene) -> str | None:
    plans = [one for one in scene.told().events if one.status == "planned"]
    return (
        plans[-1].content.removeprefix(f"{scene.owner}: ").removeprefix(f"{scene.owner}：") if plans else None
    )


_PATTERNS = (
    (_CALLED_IT, False),
    (_OFF, False),
    (_CALLS_OFF, False),
    (_STAYS, False),
    (_IS_MOVED, True),
    (_MOVES, True),
    (_INSTEAD, True),
)
# An English pattern needs one of its words. Most sentences have none, so most patterns never run.
_VERBS = {
    _CALLED_IT: frozenset(("called",)),
    _OFF: word_set("off cancelled canceled scrapped axed happening longer ahead through happen"),
    _CALLS_OFF: word_set("cancelled canceled cancel called call scrapped backed pulled bailed"),
    _STAYS: word_set("anymore more longer all"),
    _IS_MOVED: word_set("moved pushed postponed rescheduled shifted delayed bumped brought put changed"),
    _MOVES: word_set("moved pushed postponed rescheduled shifted delayed bumped brought put changed"),
}
_PATTERNS_ZH = (
    (_MOVES_ZH, True),
    (_MOVES_IT_ZH, True),
    (_OFF_ZH, False),
    (_CALLS_OFF_ZH, False),
    (_STAYS_ZH, False),
    (_RESCHEDULED_ZH, False),
)
