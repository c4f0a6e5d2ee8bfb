"""What lies ahead on a named day, whoever does it: "My sister arrives on Sunday", 週四有家長會.

A sentence counts that names a time ahead and an appointment, an arrival, a duty, a booking or a day of celebration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.extraction.rules.drafts import EventDraft
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene

_NOUN = (
    r"(?:appointment|appt|reservation|booking|meeting|interview|exam|test|quiz|lesson|party|dinner|lunch|brunch|breakfast|"
    r"date|flight|concert|gig|game|match|recital|play|show|wedding|funeral|shift|presentation|check-?up|surgery|operation|"
    r"session|practice|rehearsal|trip|conference|workshop|race|marathon|tour|haircut|viewing|inspection|delivery|"
    r"reunion|barbecue|bbq|picnic|parents'? evening|open house|baby shower|graduation|christening|housewarming|"
    r"class|seminar|lecture|webinar|scan|x-?ray|vaccination|vet|dentist|doctor|physio|therapy|training|audition|hearing)s?"
)
_CELEBRATED = (
    r"(?:birthday|anniversary|wedding|graduation|party|recital|funeral|baby shower|christening|housewarming|reunion|"
    r"farewell|leaving do|last day|first day|engagement|memorial)"
)
_WHOSE = r"(?:my|our|his|her|their|the|\w+'s)"
_GAP = rf"[^.!?;{TIME}]"
_WHO = rf"(?:{_WHOSE} )?(?:[\w'-]+ ){{0,2}}?[\w'-]+"
_NEAR = rf"{_GAP}{{0,40}}{TIME}"
_COMING = (
    # "Saturday is Mari's birthday"
    rf"^{_GAP}{{0,12}}{TIME}+,? ?(?:is|it's|we celebrate) {_GAP}{{0,30}}\b{_CELEBRATED}\b",
    # "we have a recital on Thursday", "there's a parents' evening on Tuesday"
    rf"(?:\b(?:have|has|[Tt]here's|[Tt]here is)|'(?:ve|s) got) (?:(?:an?|the|my|our|his|her|their|another|some|two) )?"
    rf"(?:[\w'-]+ ){{0,3}}?{_NOUN}\b{_NEAR}",
    # "my parents are visiting next weekend", "my sister arrives on Sunday"
    rf"^(?:\W|\w+, )?{_WHO}(?:'s|'re| is| are) (?:coming|arriving|visiting|flying|moving|getting married|throwing|"
    rf"hosting|dropping|returning|leaving|stopping by|staying)\b{_NEAR}",
    rf"^(?:\W|\w+, )?(?!(?:[Tt]he )?(?i:sun|moon|spring|summer|autumn|winter|fall)\b){_WHO} (?:arrives?|comes?|leaves?|"
    rf"lands?|starts?|begins?|opens?|visits?|returns?|flies|departs?|gets? (?:here|back|in))\b{_NEAR}",
    # "I need to call the bank tomorrow"
    rf"\b(?:I|[Ww]e)(?:'ve)? (?:have to|need to|must|got to|gotta|ought to) {_GAP}{{3,60}}{TIME}",
    # "going hiking with Jo on Sunday"
    rf"^(?i:going|heading|flying|driving|meeting|seeing|visiting|picking up|taking)\b{_GAP}{{2,50}}{TIME}",
)
_BOOKED = (
    # The time is that of what was booked.
    rf"\b(?:booked|reserved|scheduled|arranged|made (?:an? |the |our )?(?:reservation|booking|rez|appointment)s?|"
    rf"(?:got|bought|have) (?:\w+ )?tickets)\b{_GAP}{{0,40}}?\b(?:for|on) ?{TIME}",
    rf"\b(?:booked|reserved|made (?:an? |the |our )?(?:reservation|booking|rez|appointment)s?)\b{_GAP}{{0,40}}{TIME}",
)
# The time itself must tell that it lies ahead.
_UNTENSED = (
    # "Dentist tomorrow at 9", "dinner with Tom on Friday"
    rf"^(?i:(?:{_GAP}{{0,25}}[:,] )?(?:[\w'-]+ ){{0,2}}{_NOUN})\b(?: (?:with|at|in|for) {_GAP}{{1,30}})?,? ?{TIME}",
)
_EVENT_ZH = (
    r"(?:家长会|聚餐|聚会|会议|开会|考试|期中考|期末考|面试|课|比赛|演出|表演|演唱会|饭局|婚礼|手术|活动|讲座|展览|门诊|约会|体检|"
    r"健检|回诊|派对|典礼|说明会|同学会|尾牙|音乐会|彩排|排练|面谈)"
)
_GAP_ZH = rf"[^，。,！!？?；{TIME}]"
_COMING_ZH = (
    rf"^{_GAP_ZH}{{0,6}}{TIME}+(?:就)?是{_GAP_ZH}{{0,10}}(?:生日|纪念日|婚礼|典礼|忌日|满月|告别式)",
    rf"{TIME}{_GAP_ZH}{{0,6}}有{_GAP_ZH}{{0,10}}{_EVENT_ZH}",
    rf"{TIME}(?:就)?(?:到|来|回来|抵达|出发|报到|开学|开工|考试|出院|开幕|面试|开会)(?=$|[，。！!])",
    rf"{TIME}(?:要|会)?(?:跟|和|与|约){_GAP_ZH}{{1,8}}(?:吃|看|去|喝|见|碰|逛|打|聊){_GAP_ZH}{{0,8}}(?<![了过])(?=$|[，。！!])",
    rf"(?:截止|截稿|交稿|期限|到期|开幕|报名){_GAP_ZH}{{0,4}}(?:是|在)?{TIME}",
)
_BOOKED_ZH = (
    rf"(?:订|预约|预订|约|挂)了?(?:好|到)?{_GAP_ZH}{{0,8}}{TIME}",
    rf"{TIME}{_GAP_ZH}{{0,6}}(?:已经|已)?(?:订|预约|约)(?:了|好)",
)
_UNTENSED_ZH = (
    rf"{TIME}{_GAP_ZH}{{0,8}}(?:要|会|得|该|必须|需要)(?:[来去到交搬考开参回飞带陪接送还缴做看拿领打办面出拜]|准备){_GAP_ZH}{{0,20}}",
)
_IS_COMING = re.compile(r"(?:\b(?:is|are|am)|'(?:s|re|m)) (?P<verb>coming )")
_DOUBT = re.compile(
    r"\b(?:not|n't|never|no|cancell?ed|if|unless|maybe|perhaps|might|wish|would|could|every|usually|always|often|"
    r"sometimes|each|used to|did|was|were|had|made me|ago|last)\b|n't\b",
    re.IGNORECASE,
)
_DOUBT_ZH = re.compile(
    r"没|不|别|取消|如果|要是|可能|也许|每[天周月年个次]|常常|经常|通常|平常|总是|以前|当时|那时|[了过]吗"
)


def _compiled(ahead: tuple[str, ...], untensed: tuple[str, ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Returns each pattern with the ``when`` of its drafts."""
    return tuple(
        (re.compile(source), when)
        for group, when in ((ahead, "ahead"), (untensed, "future"))
        for source in group
    )


_PATTERNS = _compiled((*_COMING, *_BOOKED), _UNTENSED)
_PATTERNS_ZH = _compiled((*_COMING_ZH, *_BOOKED_ZH), _UNTENSED_ZH)


def appointments(scene: Scene) -> Iterator[EventDraft]:
    """Yields what the sentence says to lie ahead, at most one. Its time must lie ahead of the turn.

    The masked sentence names a time. What is denied, doubted or happens again and again gives nothing.
    """
    chinese = scene.sentence.chinese
    if (_DOUBT_ZH if chinese else _DOUBT).search(scene.masked):
        return
    # "Coming" is a word of the time in "this coming Friday", and of the visit in "is coming on Friday".
    masked = scene.masked
    for visit in () if chinese else _IS_COMING.finditer(scene.sentence.plain):
        begin, stop = visit.span("verb")
        masked = f"{masked[:begin]}{visit['verb']}{masked[stop:]}"
    for pattern, when in _PATTERNS_ZH if chinese else _PATTERNS:
        found = pattern.search(masked)
        if found is not None:
            begin = masked.index(TIME) if when == "ahead" else 0
            yield EventDraft(
                entity=scene.owner,
                key="plan",
                span=(begin, len(scene.sentence.raw)),
                content=scene.sentence.raw,
                when=when,
                importance=6,
                status="planned",
            )
            return
