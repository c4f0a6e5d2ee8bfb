"""What a sentence tells of a problem of the user: one that begins, what was tried against it, one that is over."""

import re
from collections.abc import Callable, Iterator

from events.language.quoted import HIDDEN
from events.problems import wording
from events.problems.naming import named
from events.types.cards import CardOrigin, EventNoted, Sentiment
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import ProblemTold
from ingest.extraction.rules.drafts import DialogueState
from ingest.extraction.rules.sentences import Sentence

_IMPORTANCE = 6
_EDGES = ' \t,.;:!?，。；：！？、~～"“”「」'
_WORDS, _NOUN = rf"[^,;:.!?()\n{HIDDEN}]", rf"[^，,。！？；：:\s{HIDDEN}]"
_ADVERBS = r"(?:(?:still|really|constantly|finally|now|just|always|lately) ){0,3}"
# The words that name a problem end where the sentence goes on to something else.
_ON = (
    r"(?=\s*(?:$|[,;:.!?()]|\s[-–—]|"
    r"\b(?:and|but|so|because|since|for|lately|(?:right )?now|again|when|which|that)\b))"
)
_FAILED = r"(?:(?:did|does|has)(?:n't| not) (?:really )?(?:help|work)(?:ed)?|no (?:luck|effect))"
_WORKED = r"(?:helped|helps|worked|works)"
_ENGLISH = (
    re.compile(
        rf"\bI(?:'ve|'m| have| am)? (?:been )?{_ADVERBS}(?:(?:struggling|battling|dealing|suffering) (?:with|from)|"
        rf"(?:struggle|suffer) (?:with|from)|keep (?:getting|having)) (?P<opened>{_WORDS}{{2,100}}?){_ON}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:I|we)(?:'ve| have)? (?:also |already )?tried (?!to\b)(?P<tried>{_WORDS}{{2,100}}?)"
        rf"(?: (?:for|against) (?:my|the) (?P<about>{_WORDS}{{2,80}}?))?"
        rf"(?P<result>,? (?:and|but) (?:it )?{_ADVERBS}(?:(?P<failed>{_FAILED})|{_WORKED})\b[^.!?\n]{{0,120}})",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bmy (?P<closed>{_WORDS}{{2,60}}?)(?: (?:is|are)|'s) {_ADVERBS}(?:gone|cured)(?=\s*(?:$|[,;:.!?()]))",
        re.IGNORECASE,
    ),
)
_LONG_ZH = "(?:最近|一直|老是|总是|常常|真的|都|很|长期)"
_CHINESE = (
    re.compile(
        rf"我{_LONG_ZH}{{0,4}}(?:为|被)(?P<opened>{_NOUN}{{1,30}}?)所?(?:困扰|折磨|苦(?=$|[，,。！]))"
    ),
    re.compile(
        rf"(?:为了(?P<about>{_NOUN}{{1,20}}?)[，,]?)?(?:^|[，,]|我)(?:我|也|最近){{0,2}}试过?了?(?P<tried>{_NOUN}{{1,30}}?)"
        r"(?P<result>[，,](?:但是?|结果|真的|还是|完全|很|都){0,4}(?:(?P<failed>没有?(?:什么)?(?:用|效果?)|无效)|有用|有效))"
    ),
    re.compile(rf"我的?(?P<closed>{_NOUN}{{1,20}}?)(?:终于|已经|现在|都){{0,2}}好了(?=$|[，,。！ ])"),
)
# What ails a person. The end of anything else ("my money is gone") closes no problem, unless it was told as one.
_AILMENT = re.compile(
    r"aches?\b|itis\b|pains?\b|insomnia|cough|colds?\b|fever|rash|migraine|anxiety|stress|nausea|allerg|swelling|cramp|"
    r"痛|疼|酸|失眠|咳|感冒|发烧|过敏|晕|便秘|焦虑|压力|疹|炎|病",
    re.IGNORECASE,
)


def told(sentence: Sentence) -> Iterator[re.Match[str]]:
    """Yields what the sentence says about problems. Only the words of the speaker about themselves count."""
    for shape in _CHINESE if sentence.chinese else _ENGLISH:
        if (found := shape.search(sentence.plain)) is not None:
            yield found


def problem(
    found: re.Match[str],
    sentence: Sentence,
    turn: TurnRecorded,
    origin: CardOrigin,
    known: Callable[[], DialogueState],
    said: DialogueState,
) -> ProblemTold | None:
    """Returns the event of a find of :func:`told`, or None when nothing tells which problem it is about.

    ``known`` returns what the speaker told in the conversation, and ``said`` takes what this turn tells. An attempt
    that names no problem is about the one that the speaker told last.
    """

    def words(group: str) -> str:
        return sentence.raw[slice(*found.span(group))].strip(_EDGES)

    step = next(group for group in ("opened", "tried", "closed") if group in found.re.groupindex)
    name = re.sub(r"^(?:my |the |我的)", "", words("about" if step == "tried" else step), flags=re.IGNORECASE)
    if step == "closed":
        earlier = named(name, ((each, each) for each in known().problems))
        over = earlier is not None or _AILMENT.search(found["closed"]) is not None
        return ProblemClosed(problem=earlier or name, origin=origin) if over else None
    if step == "tried" and not name:
        name = next(reversed(known().problems), "")
    if not name:
        return None
    said.problems.append(name)
    if step == "opened":
        return ProblemOpened(description=name, origin=origin)
    return ProblemAttempted(
        approach=words("tried"),
        problem=name,
        outcome=words("result"),
        successful=found["failed"] is None,
        tried_at=turn.said_at,
        origin=origin,
    )


def noted(tried: ProblemAttempted) -> EventNoted:
    """Returns the card of an attempt: the approach with the problem that it is about."""
    mood: Sentiment = (
        "neutral" if tried.successful is None else "positive" if tried.successful else "negative"
    )
    outcome = () if tried.successful is None else ("worked" if tried.successful else "failed",)
    return EventNoted(
        content=wording.attempted(tried.problem, tried.approach, None, tried.successful),
        entity="user",
        tags=("problem", "attempt", *outcome),
        origin=tried.origin,
        occurred_at=tried.tried_at,
        importance=_IMPORTANCE,
        sentiment=mood,
    )
