"""How names of people stand in English and Chinese words: the patterns, and where a name begins and ends."""

import re
from functools import cache
from typing import Literal

from events.language import stop_words
from events.language.segmentation import dictionary
from events.language.values import word_set
from events.people.ties import alternatives, begins_a_name, has_surname, own, surnames, tie_of, titles

LinkKind = Literal["stated", "identity", "apart"]
_OPENERS = word_set(
    "maybe perhaps yesterday today tonight tomorrow then also apparently anyway finally later once sometimes actually "
    "unfortunately luckily hi hey hello dear thanks sorry ok okay so well oh yes no yeah wow good great last next my "
    "our monday tuesday wednesday thursday friday saturday sunday"
)
"""Words with a capital letter before a name, which are no part of it."""
_DAYS = re.compile(r"(?: (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)+$")
# A capital letter of any Latin alphabet, and a name of up to three words.
_CAPITAL = "[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĻŁŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŹŻŽ]"
_WORD = rf"{_CAPITAL}[\w’'-]*\w"
NAME = rf"(?:(?:Mrs?|Ms|Dr|Prof)\. )?{_WORD}(?:[ ](?:(?:van|von|de|da|del|bin|al)[ ])?{_WORD}){{0,2}}"
# The words after which a Chinese name ends. Names have no spaces around them. Before 了 stands a verb: 小红哭了.
_END = (
    r"(?=$|[\s，。！？、,.!?；：:（(）)]|今天|昨天|明天|现在|"
    r"[在是去说跟和也的想要叫刚上住从对告给很最有来搬换喜又就会])"
)
_PLACING = ("in", "at", "of", "from", "to", "near")
# The word before tells that a name is that of a place, or not that of who speaks.
_PLACED = "(?:" + "|".join(rf"(?<=\b{word} )" for word in _PLACING) + ")"
AFTER_PLACING = re.compile(_PLACED)
_UNPLACED = "".join(rf"(?<!\b{word} )" for word in _PLACING)
CALLERS = (
    r"(?i:every(?:one|body)|people|we|i|they|friends|family|(?:my|our|her|his|their) \w+) "
    r"(?:all |just |always )?calls? (?:him|her|them) "
)
_HAN = rf"[\u4e00-\u9fff]{{2,3}}?{_END}"
HAN = re.compile(_HAN)
_FAMILIAR = r"[小阿老][\u4e00-\u9fff]"
_RUN = re.compile(r"[\u4e00-\u9fff]+")


@cache
def english_patterns() -> tuple[re.Pattern[str], ...]:
    """The namings of English words, the most certain first. The groups are kin, circle, name, and told."""
    kin = rf"(?i:(?P<kin>{alternatives(kin=True, chinese=False)}))"
    circle = rf"(?i:(?:my |our )?(?P<circle>{alternatives(kin=False, chinese=False)}))\b"
    says = r"(?P<told>[ ](?:told|said|says|asked|mentioned|explained|thinks|tells|wrote|texted|promised|recommended)\b)"
    mine = r"\b(?:[Mm]y|[Oo]ur|MY)"
    return tuple(
        map(
            re.compile,
            (
                rf"{mine} (?:(?:best|old|new|good|dear|late|other) )?{kin}"
                rf"(?:(?:'s|’s) name is|,? (?:is |who is |was )?(?:called|named),?|,|) (?P<name>{NAME}){says}?",
                rf"(?P<name>{NAME}),? (?:(?:is|(?:who|that) is|(?:who|that)['’]s) )?(?:my|our) "
                rf"(?:(?:best|old|new|good) )?{kin}\b(?! of)",
                rf"\b(?=\S+ of (?:mine|ours)\b){kin} of (?:mine|ours)(?:,|,? (?:called|named))? (?P<name>{NAME})",
                rf"\b[Aa]n? (?:\w+ )?{kin} (?:named|called) (?P<name>{NAME})",
                rf"(?P<name>{NAME}) from {circle}{says}?",
                rf"(?P<name>{NAME}){says}",
                rf"\b(?P<title>(?i:{titles(chinese=False)})) (?P<name>{NAME})",
                rf"{mine} {kin}\b{says}?(?! of)",
                rf"(?P<name>{NAME})",
            ),
        )
    )


def bare(name: str) -> str:
    """Returns a name without words before it that only begin a sentence, a day after it, and a possessive ending."""
    words = _DAYS.sub("", re.sub(r"(?:'s|’s|'|’)$", "", name)).split(" ")
    while words and (first := words[0].casefold().replace("’", "'")) and _opens(first):
        words.pop(0)
    return " ".join(words)


def _opens(word: str) -> bool:
    """True for a word that begins a sentence and no name. "I've" and "couldn't" are such as "I" and "could" are."""
    parts = {word, word.replace("'", ""), word.partition("'")[0], word.partition("n't")[0]} - {""}
    return not parts.isdisjoint(stop_words.ENGLISH) or word in _OPENERS


@cache
def chinese_patterns() -> tuple[re.Pattern[str], ...]:
    kin = rf"(?P<kin>{alternatives(kin=True, chinese=True)})"
    circle = rf"(?P<circle>{alternatives(kin=False, chinese=True)})"
    says = r"(?P<told>(?:昨天|今天|刚才|刚刚|上周|之前)?(?:[跟和对]我[说讲提]|告诉我|说过?|提到))"
    return tuple(
        map(
            re.compile,
            (
                rf"(?:我的?|咱|我们的?|(?<![他她你您])(?<![他她你您]的)){kin}(?:的名字)?(?P<called>名?叫做?)?[是，]?"
                rf"(?P<name>(?P<open>{_FAMILIAR}(?!{_END}))|{_HAN}){says}?",
                rf"(?:^|(?<=[\s，。！？、；,.!?;是的和跟]))(?:{circle}的?)?(?P<name>[\u4e00-\u9fff]{{2,3}}?)"
                rf"(?<![不也])是我们?的?{kin}",
                rf"{circle}的?(?:同事)?(?P<name>(?P<open>{_FAMILIAR}(?!{_END}))|{_HAN}){says}?",
                r"(?P<name>[\u4e00-\u9fff]{2,3}?)(?:昨天|今天|刚才|刚刚|上周|之前)?(?P<told>[跟和对]我[说讲提]|告诉我)",
                rf"我的?{kin}{says}?",
                rf"(?:^|(?<=[\s，。！？、；,.!?;是的和跟给找叫问请让到在把被了]))(?P<name>{surnames()}(?:{titles(chinese=True)}))",
                rf"(?:^|(?<=[\s，。！？；,.!?;]))(?P<kin>{'|'.join(sorted(own(chinese=True)))})(?![们的])",
            ),
        )
    )


def is_familiar(plain: str, begins: int, place: int) -> bool:
    """True when the words at ``place`` are a familiar name, whatever follows: 阿珍生了, 小王結婚了. 小时候 is none."""
    run = _RUN.match(plain, begins)
    at, words = begins, dictionary().cut(run[0] if run else "")
    while words and at < place:
        at += len(words.pop(0))
    if at > place or not words:
        return False
    if len(words[0]) == 2:
        return has_surname(words[0][1])
    return (
        len("".join(words[:2])) == 2
        and words[1] not in stop_words.CHINESE
        and (words[0] != "老" or has_surname(words[1]))
    )


def like_a_name(words: str) -> bool:
    """True for a surname with a given name, and for a familiar name, that is no kinship."""
    return begins_a_name(words) and tie_of(words) == words and words not in stop_words.CHINESE


@cache
def linking_patterns() -> tuple[tuple[LinkKind, str, re.Pattern[str]], ...]:
    """Returns the kind of each pattern, and words without which it finds nothing. A search for words is cheap."""
    one, other = (
        rf"(?:(?:[Mm]y|[Oo]ur) (?i:(?P<kin{n}>{alternatives(kin=True, chinese=False)}))\b ?)?(?P<name{n}>{NAME})?"
        rf"(?: from (?i:(?:my |our )?(?P<circle{n}>{alternatives(kin=False, chinese=False)}))\b)?"
        for n in (1, 2)
    )
    called = (
        r",? ?(?:\(?(?:also known as|aka|a\.k\.a\.|whose (?:full|real) name is|(?:'s|’s) (?:full|real) name is|goes by"
        r"|known as|short for|(?:'s|’s) nickname is"
        r"|is short for|is also called|also goes by|is the same person as)) "
    )
    # "Her" is the last one named before it.
    them = rf"(?:[^A-Z.!?]|{_PLACED}[A-Z]){{0,60}}\b{CALLERS}(?:just )?"
    kin, circle = (alternatives(kin=each, chinese=True) for each in (True, False))
    han = rf"(?:(?P<kin1>{kin})|(?P<circle1>{circle}))?的?(?P<name1>[\u4e00-\u9fff]{{2,4}}?)"
    return (
        ("stated", " ", re.compile(one + called + other)),
        ("stated", "call", re.compile(rf"\b(?=[Mm]y |[Oo]ur |{_CAPITAL}){_UNPLACED}{one}{them}{other}")),
        ("stated", "call", re.compile(
            rf"\b(?:[Ww]e|[Ii]|[Ee]veryone|[Pp]eople) calls? (?P<name1>{NAME}) (?P<name2>{NAME})"
        )),
        ("identity", " is ", re.compile(rf"{one} is (?:actually |really )?{other}(?=[\s.,!;]|$)(?!'s|’s)")),
        ("apart", " ", re.compile(rf"(?P<name1>{NAME})(?:,| and|, and) (?P<name2>{NAME})")),
        ("stated", "", re.compile(
            rf"{han}的?(?:也叫|又叫|又名|本名是?叫?|全名是?叫?|外号是?叫?|小名是?叫?|绰号是?叫?|英文名是?叫?)"
            rf"(?P<name2>{_HAN}|{NAME})"
        )),
        ("identity", "就是", re.compile(rf"{han}就是(?P<name2>{_HAN})")),
        # One name has two ties: 公司的小芳是我主管.
        ("stated", "是我", re.compile(
            rf"(?P<circle1>{circle})的?(?=(?P<name1>[\u4e00-\u9fff]{{2,3}}?)是)"
            rf"(?P<name2>(?:[小阿老]|{surnames()})[\u4e00-\u9fff]{{1,2}}?)是我们?的?(?P<kin2>{kin})"
        )),
    )  # fmt: skip


DOUBTFUL = re.compile(
    r"[?？]|\b(?:if|maybe|perhaps|might|probably|imagine|suppose|not|isn't|isn’t)\b|如果|也许|可能|大概|不是",
    re.IGNORECASE,
)
