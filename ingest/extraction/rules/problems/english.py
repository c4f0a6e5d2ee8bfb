"""English words about problems: "I've been struggling with …", "I tried … and it helped", "my … is gone"."""

import re
from collections.abc import Iterator

from events.language.quoted import HIDDEN
from ingest.extraction.rules.problems.found import Found, group
from ingest.extraction.rules.sentences import Sentence

TRIGGERS = re.compile(
    r"\b(?:struggl|battl|deal|suffer|troubl|problem|difficult|hard time|keep|tried|trying|help|work|gone|fixed|solved|"
    r"cured|resolved|cleared|went away|disappeared|got rid|no longer|anymore|get rid|did the trick)",
    re.IGNORECASE,
)
_WORDS = rf"[^,;:.!?()\n{HIDDEN}]"
_ADVERBS = (
    r"(?:(?:still|really|constantly|currently|now|also|just|finally|actually|seriously|always|recently|lately) )"
    r"{0,3}"
)
_I = r"\bI(?:'ve|'m| have| am)? "
_STOP = r"(?=\s*(?:$|[,;:.!?()]))"
# The words that name a problem end where the sentence goes on to something else.
_NAMED = (
    rf"(?P<about>{_WORDS}{{2,100}}?)"
    r"(?=\s*(?:$|[,;:.!?()]|\s[-–—]|\b(?:and|but|so|because|since|for (?:the|a|an|about|over|almost|nearly|many|"
    r"several|some|weeks|months|years|days|ages|quite|two|three|four|five|six|\d|as long)|lately|recently|these days|"
    r"this (?:week|month|year|past)|all (?:week|month|year|day|night)|now|again|at the moment|right now|ever since|"
    r"when|whenever|while|which|that|though)\b))"
)


def _named(number: int) -> str:
    """Returns the group of a problem's words. The name of a group is unique in its pattern."""
    return _NAMED.replace("<about>", f"<about{number}>")


_OPEN = re.compile(
    rf"{_I}(?:been )?{_ADVERBS}(?:"
    rf"(?:struggling|battling|dealing|suffering|wrestling)(?: (?:with|from|against))? {_named(1)}|"
    rf"(?:struggle|suffer) (?:with|from) {_named(2)}|"
    rf"(?:keep (?:on )?(?:getting|having)) {_named(3)}|"
    r"(?:having|have) (?:a lot of |some |so much |real |big )?(?P<hard>trouble|problems|issues|difficulty|"
    rf"difficulties|a hard time)(?: with)? {_named(4)}|"
    rf"can't (?:seem to )?get rid of {_named(5)})",
    re.IGNORECASE,
)
# What a person deals with by choice, or at work, is no trouble.
_NO_TROUBLE = re.compile(
    r"^(?:this|that|it|them|him|her|you|people|customers|clients|kids|children|him|students|what|how|whether|something|"
    r"things|stuff|everything|nothing|anything)\b",
    re.IGNORECASE,
)
_WORKED = (
    r"(?:helped|helps|worked|works|did the trick|made (?:a|such a) (?:big |huge |real )?difference|(?:it )?got better|"
    r"improved|eased|relieved|cured)"
)
_FAILED = (
    r"(?:(?:did|does|has)(?:n't| not) (?:really |actually )?(?:help|work|helped|worked|do anything|"
    r"make (?:a|any) difference)|"
    r"(?:made|makes) (?:it|things|them) worse|made no difference|(?:had |has )?no (?:luck|effect|use|difference)|"
    r"(?:to no|without any|without) (?:avail|success|effect|luck)|nothing changed|never (?:helped|worked)|failed)"
)
_OUTCOME = rf"(?:has |have )?{_ADVERBS}(?:(?P<failed>{_FAILED})|(?P<worked>{_WORKED}))(?![\w'])"
_RESULT = (
    rf"(?P<result>(?:(?:and|but|yet|though|although|,|;|-|–|—) ?){{0,3}}(?:it|that|this|they|those|which)? ?"
    rf"{_OUTCOME}[^.!?\n]{{0,120}})"
)
_WHAT = rf"(?P<with>(?!to\b){_WORDS}{{2,100}}?)"
_AGAINST = (
    r"(?: (?:for|against|to (?:help(?: with)?|fix|treat|ease|relieve|get rid of)) (?:my|the|this|these) "
    rf"(?P<about>{_WORDS}{{2,80}}?))"
)
_TRY = re.compile(
    r"\b(?:I|we)(?:'ve| have)? (?:(?:also|already|finally|even|just|now|then|recently|actually) ){0,2}"
    rf"tried (?:out )?{_WHAT}{_AGAINST}?\s*(?:{_RESULT}|$|[.!])",
    re.IGNORECASE,
)
_TRYING = re.compile(
    r"\b(?:I'm|I am|I've been|I have been|we're|we've been) (?:now |currently |also )?"
    rf"trying (?:out )?{_WHAT}{_AGAINST}\s*(?:$|[.!,;])",
    re.IGNORECASE,
)
# "Walking after dinner has helped my morning sugars."
_DOING = re.compile(
    r"^\W*(?P<with>(?!(?:having|being|going|something|nothing|anything|everything|feeling)\b)[a-z]+ing\b"
    rf"{_WORDS}{{0,80}}?) (?:has |have )?{_ADVERBS}"
    r"(?:(?P<failed>(?:did|does|has)(?:n't| not) (?:really )?(?:help(?:ed)?|work(?:ed)?))|"
    r"(?P<worked>helped|helps|worked|works|improved|eased|relieved|cured))(?: me)?(?: (?:with|for|against|on))? my "
    rf"(?P<about>{_WORDS}{{2,80}}?)(?P<result>)(?=\s*(?:$|[,;.!?]))",
    re.IGNORECASE,
)
# "It worked!" after "I tried cutting out coffee."
_IT = re.compile(
    r"^\W*(?:(?:and|but|so|well|yes|unfortunately|sadly|luckily|thankfully|surprisingly)[, ]+){0,2}"
    rf"(?:it|that|this|they) {_OUTCOME}",
    re.IGNORECASE,
)
_MIXED = re.compile(
    r"\b(?:at first|but then|for a while|only (?:a|for)|not for long|stopped (?:working|helping))\b",
    re.IGNORECASE,
)
_DONE = (
    r"(?:finally |now |all |completely |totally |fully |at last |already ){0,2}"
    r"(?:gone|cured|resolved|solved|fixed|cleared up|over)(?: now| for good| at last| completely)?"
)
_CLOSE = re.compile(
    rf"\b(?:my|the) (?P<about1>{_WORDS}{{2,60}}?)(?: (?:is|are|has been|have been)|'s) {_DONE}"
    r"(?=\s*(?:$|[,;:.!?()]| thanks| since| after| and\b))|"
    rf"\b(?:my|the) (?P<about2>{_WORDS}{{2,60}}?) (?:has |have )?(?:finally |completely |just )?"
    rf"(?:went away|gone away|disappeared|cleared up){_STOP}|"
    rf"\bI(?:'ve| have)? (?:finally )?(?:got|gotten) (?:rid of|over) (?:my|the|this|that) (?P<about3>{_WORDS}{{2,60}}?)"
    rf"{_STOP}|"
    r"\bI no longer (?:have|suffer from|struggle with) (?:my |any |the )?"
    rf"(?P<about4>{_WORDS}{{2,60}}?){_STOP}",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"^(?:(?:\w+ )?(?:mother|mom|mum|father|dad|brother|sister|wife|husband|partner|son|daughter|friend|boss|colleague|"
    r"coworker|neighbou?r|kid|child|baby|boy|girl|girlfriend|boyfriend|grandma|grandpa|grandmother|grandfather|aunt|"
    r"uncle|cousin|dog|cat|boyfriend|roommate)(?:'s)?)\b",
    re.IGNORECASE,
)
# What ails a person. The end of anything else ("my money is gone") closes no problem, unless it was told as one.
AILMENT = re.compile(
    r"\b(?:\w*aches?|\w+itis|\w*pains?|insomnia|cough\w*|colds?|fever|flu|rash(?:es)?|migraines?|anxiety|stress|nausea|"
    r"dizziness|vertigo|tinnitus|allerg\w+|swelling|cramps?|fatigue|tension|soreness|stiffness|spikes?|sugars?|"
    r"symptoms?|problems?|issues?|trouble|bugs?|leaks?|infections?|injur\w+|blisters?|acne|heartburn|reflux|burnout|"
    r"depression|itch\w*|eczema|asthma|bloating|constipation|diarrh\w+|panic attacks?|nightmares?|procrastination|"
    r"addiction|jet ?lag|hiccups|snoring|numbness|dandruff)\b",
    re.IGNORECASE,
)


def finds(sentence: Sentence) -> Iterator[Found]:
    """Yields what a statement says about problems, in reading order."""
    plain = sentence.plain
    if TRIGGERS.search(plain) is None:
        return
    for found in _OPEN.finditer(plain):
        about = next((at for name in _names(found, "about") if (at := group(found, name))), None)
        if (
            about is None
            or _NO_TROUBLE.match(plain, about[0], about[1])
            or _PERSON.match(_bare(plain, about))
        ):
            continue
        if found["hard"] is not None:
            about = (found.start("hard"), about[1])
        yield Found(step="opened", span=found.span(), about=about)
    tried = _TRY.search(plain) or _TRYING.search(plain) or _DOING.search(plain)
    if tried is not None and not _PERSON.match(_bare(plain, tried.span("with"))):
        groups: dict[str, str | None] = tried.groupdict()
        yield Found(
            step="attempted",
            span=tried.span(),
            about=group(tried, "about"),
            with_=group(tried, "with"),
            outcome=group(tried, "result") if groups.get("result") else None,
            successful=_success(plain, groups),
        )
    for found in _CLOSE.finditer(plain):
        about = next((at for name in _names(found, "about") if (at := group(found, name))), None)
        if about is not None and not _PERSON.match(_bare(plain, about)):
            yield Found(step="closed", span=found.span(), about=about)


def result(sentence: Sentence) -> Found | None:
    """Returns the outcome that a sentence tells of the attempt of the sentence before ("It worked!"), or None."""
    found = _IT.match(sentence.plain)
    if found is None:
        return None
    return Found(
        step="attempted",
        span=found.span(),
        outcome=(0, len(sentence.plain.rstrip(" .!"))),
        successful=_success(sentence.plain, found.groupdict()),
    )


def _success(plain: str, groups: dict[str, str | None]) -> bool | None:
    if groups.get("failed"):
        return False
    return None if not groups.get("worked") or _MIXED.search(plain) else True


def _names(found: re.Match[str], prefix: str) -> list[str]:
    return [name for name in found.re.groupindex if name.startswith(prefix) and found[name] is not None]


def _bare(plain: str, span: tuple[int, int]) -> str:
    words = plain[slice(*span)].strip()
    return re.sub(r"^(?:my|our|the) ", "", words, flags=re.IGNORECASE)
