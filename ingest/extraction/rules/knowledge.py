"""Finds definitions: sentences that explain a general concept."""

import re

from events.language.values import word_set
from ingest.extraction.rules.drafts import KnowledgeDraft
from ingest.extraction.rules.sentences import Sentence
from ingest.extraction.rules.words import SETS, either, pattern

# The head nouns of a definition. "A teacher" or "a great place" is no definition.
_HEADS = either("definition")
_ALIAS = r"(?: ?[(（](?P<a>[^()（）]{2,60})[)）])?"
_DEFINED = re.compile(
    r"^(?:(?:TIL|today I learned|I (?:just |recently |also )?learned)(?: that|:|,)? |(?:so|fyi|note)[,:]? )?"
    rf"(?:(?:an?|the) )?[\"“']?(?P<t>[A-Za-z][\w+#./-]*(?: [A-Za-z0-9][\w+#./-]*){{0,4}})[\"”']?{_ALIAS},? "
    r"(?:(?:stands for|is short for) (?P<long>[^\n]{3,300})|(?:is|are) (?:basically |essentially |simply |just )?"
    rf"(?P<d>(?:an?|the|one) (?:[\w'-]+,? ){{0,5}}?(?:{_HEADS})s?\b[^\n]{{0,400}}))$",
    re.IGNORECASE,
)
_RELATED = pattern("knowledge_RELATED")
_AND = re.compile(r", (?:and )?| and |、|，|[和跟与]")
_PERSONAL = pattern("knowledge_PERSONAL")
_EVALUATED = pattern("knowledge_EVALUATED")
_VAGUE = SETS["not_name"] - word_set("go art yoga photography reading writing a the function set")
_NO_ALIAS = re.compile(r"or\b|like\b|e\.g|see\b|which\b|\d")
_LONG_FORM = re.compile(r"[,;(]| and (?:is|it)\b| which\b")

_DEFINED_ZH = re.compile(
    r"^(?:我?(?:今天|最近|刚|才)*我?(?:学到了?|了解到)[：:，,]?|基本上，?)?(?:所谓的?)?"
    r"(?P<t>[A-Za-z][\w+#./ -]{1,40}|[\u4e00-\u9fffA-Za-z0-9+#./-]{2,14}?)"
    rf"{_ALIAS}\s?(?:就|其实)?(?:(?P<kind>是一[种类项个套门])(?!人|地方|好)|是指|指的是|是用来|的意思是|的定义是)\s?(?P<d>[^\n]{{4,300}})$"
)
_PERSONAL_ZH = re.compile(
    r"[我你您他她咱]|[这那][个家种里次是]|大家|真的?是|很[好棒赞]|不错|好用|挺|让人|今天|昨天|明天"
)
_PRONOUN_ZH = re.compile("[这那它每有就也都]")
_HEADS_ZH = re.compile(
    r"(?:技术|方法|算法|演算法|模式|架构|框架|协议|协定|格式|语言|标准|机制|概念|原则|工具|系统|模型|数据库|资料库|结构|策略|理论|现象|疾病|服务|库|规范|流程|"
    r"方式|加密|编码|指标|类型|形式|做法|设计|状态|过程|能力|单位|药物|食物|植物|动物|材料|运动|制度|权杖)"
)


def definition(sentence: Sentence) -> KnowledgeDraft | None:
    """Returns the definition in the sentence. A statement about a person or a feeling is no definition."""
    text = sentence.plain.rstrip(" .。！!")
    found = (_DEFINED_ZH if sentence.chinese else _DEFINED).match(text)
    if found is None or not (_is_chinese if sentence.chinese else _is_english)(found, text):
        return None
    aliases = [found["a"]] if found["a"] and not _NO_ALIAS.match(found["a"]) else []
    group = "d"
    if not sentence.chinese and found["long"]:
        group = "long"
        aliases.append(_LONG_FORM.split(found["long"])[0].strip())
    return KnowledgeDraft(
        title=sentence.raw[slice(*found.span("t"))].strip(),
        definition=sentence.raw[slice(*found.span(group))],
        begin=found.start("t"),
        stop=found.end(group),
        aliases=tuple(alias for alias in aliases if 1 < len(alias) <= 60),
    )


def related(sentence: Sentence) -> tuple[str, ...]:
    """Returns the concepts to which the sentence relates the last one ("it")."""
    found = _RELATED.match(sentence.plain.rstrip(" .。！!"))
    said = sentence.raw[slice(*found.span(found.lastgroup or 0))] if found is not None else ""
    return tuple(name.strip() for name in _AND.split(said) if name.strip() and _is_term(name.strip()))


def _is_english(found: re.Match[str], text: str) -> bool:
    evaluates = found["d"] is not None and (
        _EVALUATED.match(found["d"]) or _PERSONAL.search(text, found.start("t"))
    )
    return not evaluates and _is_term(found["t"])


def _is_term(term: str) -> bool:
    words = term.lower().split(" ")
    return (
        words[0] not in _VAGUE
        and words[-1] not in _VAGUE
        and not _PERSONAL.search(term)
        and words[0] not in SETS["no_term"]
    )


def _is_chinese(found: re.Match[str], text: str) -> bool:
    known = found["kind"] is None or _HEADS_ZH.search(re.split("[，,；]", found["d"])[0])
    personal = _PERSONAL_ZH.search(text, found.start("t"), found.start("d") + 12)
    return known is not None and not personal and not _PRONOUN_ZH.match(found["t"])
