"""Finds definitions: sentences that explain a general concept."""

import re
from collections.abc import Iterable

from events.language.values import word_set
from ingest.extraction.rules.drafts import KnowledgeDraft
from ingest.extraction.rules.sentences import Sentence
from ingest.extraction.rules.words import SETS, either, pattern

# The head nouns of a definition. "A teacher" or "a great place" is no definition.
_HEADS = either("definition")
_TERM = r"(?P<t>(?:[A-Za-z][\w+#./-]*)(?: [A-Za-z0-9][\w+#./-]*){0,4})"
_ALIAS = r"(?: ?[(（](?P<a>[^()（）]{2,60})[)）])?"
_IS = re.compile(
    r"^(?:(?:so|well|basically|ok|okay|fyi|note|remember|yes|right|sure)[,:]? )?(?:(?:an?|the) "
    rf")?{_TERM}{_ALIAS},? (?:is|are) (?:basically |essentially |simply |just |usually |actually )?"
    rf"(?P<d>(?:(?:an?|the|one) )(?:[\w'-]+,? ){{0,5}}?(?:{_HEADS})s?\b[^\n]{{0,400}})$",
    re.IGNORECASE,
)
_ACRONYM_IS = re.compile(
    rf"^(?P<t>[A-Z][A-Za-z]*[A-Z0-9][\w.-]*){_ALIAS} (?:is|are) (?P<d>(?:an?|the) [^\n]{{8,400}})$"
)
_STANDS = re.compile(
    rf"^(?:(?:so|well|btw|fyi)[,:]? )?[\"“']?{_TERM}[\"”']?{_ALIAS} (?:stands for|is short for|is an? "
    rf"(?:acronym|abbreviation) (?:for|of)) (?P<d>[^\n]{{3,300}})$",
    re.IGNORECASE,
)
_MEANS = re.compile(
    rf"^[\"“']?{_TERM}[\"”']?{_ALIAS} (?:refers to|means that|means|is defined as|is when) (?P<d>[^\n]{{6,"
    r"300}})$",
    re.IGNORECASE,
)
_LEARNED = pattern("knowledge_LEARNED")
_LEARNED_SUBJECT = re.compile(
    r"^(?:the |an? )?(?P<t>(?:[\w+#./()-]+ ){1,5}?)(?:is|are|was|were|can|cannot|can't|uses|use|has|have|"
    r"does|do|keeps?|sorts?|needs?|means?|supports?|works?|comes?|gives?|requires?|helps?|causes?|contains?|consists?|makes?|doesn't|don't|needs|works|will|must|should|isn't|aren't|means|supports|only|never|always|"
    r"comes|stands|runs|keeps|stores|gives|allows|lets|requires|returns|caps|takes)\b",
    re.IGNORECASE,
)
_RELATED = pattern("knowledge_RELATED")
_AND = re.compile(r", (?:and )?| and |、|，|[和跟与]")
_PERSONAL = pattern("knowledge_PERSONAL")
_EVALUATED = pattern("knowledge_EVALUATED")
_VAGUE = SETS["not_name"] - word_set("go art yoga photography reading writing a the function set")

_IS_ZH = re.compile(
    r"^(?:[所其]实|简单来说|简单说|基本上|，)*(?P<t>[A-Za-z][\w+#./ -]{1,40}|[\u4e00-\u9fffA-Za-z0-9+#./-]{2,14}?)"
    r"(?:[(（](?P<a>[^()（）]{2,60})[)）])?\s?(?:就|其实)?(?:是一[种类项个套门款](?!人|地方|好)|是指|指的是|是用来|的意思是|的定义是|又称为?)"
    r"\s?(?P<d>[^\n]{4,300})$"
)
_SO_CALLED_ZH = re.compile(
    r"^所谓的?[「“]?(?P<t>[^，,「」“”是]{2,20})[」”]?，?(?:就|指的|其实)?(?:是|指)(?:指|一种)?(?P<d>[^\n]{4,300})$"
)
_SHORT_ZH = pattern("knowledge_SHORT_ZH")
_LEARNED_ZH = re.compile(
    r"^(?:我)?(?:今天|刚|最近|才|原来)*(?:我)?(?:学到了?|学会了?一件事|才知道|了解到|搞懂了?|弄懂了?|发现原来)(?:一件事)?[：:，,"
    r"]?(?:原来)?(?P<d>[^\n]{6,200})$"
)
_PERSONAL_ZH = re.compile(
    r"[我你您他她咱](?!们?的资料|国)|这[个家种里次是]|那[个家种里次是]|大家|真的?是|很[好棒赞]|不错|好用|挺|让人"
)
_LEARNED_SUBJECT_ZH = re.compile(
    r"^(?P<t>[A-Za-z][\w+#./ -]{1,30}?|[\u4e00-\u9fff]{2,10}?)\s?(?:是|可以|会|不会|能|不能|需要|有|的|用|在|必须|应该)"
)
_HEADS_ZH = re.compile(
    r"(?:技术|方法|算法|演算法|模式|架构|框架|协议|协定|格式|语言|标准|机制|概念|原则|工具|系统|模型|数据库|资料库|结构|策略|理论|现象|疾病|服务|函式库|库|规范|流程|手法|"
    r"方式|加密|编码|指标|类型|形式|做法|设计|思维|状态|手段|过程|能力|单位|药物|食物|植物|动物|材料|运动|料理|金融商品|制度)"
)


_DEFINING = SETS["defining"]


def definition(sentence: Sentence) -> Iterable[KnowledgeDraft]:
    """Returns the definitions in the sentence. A statement about a person or a feeling is no definition."""
    if sentence.chinese:
        return _chinese(sentence)
    return () if _DEFINING.isdisjoint(sentence.words) else _english(sentence)


def related(sentence: Sentence) -> tuple[str, ...]:
    """Returns the concepts to which the sentence relates the last one ("it")."""
    found = _RELATED.match(sentence.plain.rstrip(" .。！!"))
    said = sentence.raw[slice(*found.span(found.lastgroup or 0))] if found is not None else ""
    return tuple(name.strip() for name in _AND.split(said) if name.strip() and _is_term(name.strip()))


def _english(sentence: Sentence) -> Iterable[KnowledgeDraft]:
    text = sentence.plain.rstrip(" .!")
    learned = _LEARNED.match(text)
    if learned is not None:
        begin = learned.start("d")
        body = text[begin:]
        if _PERSONAL.search(body):
            return
        inner = list(_defined(body, begin, sentence))
        if inner:
            yield from inner
            return
        named = _LEARNED_SUBJECT.match(body)
        if named is not None and named["t"].split(" ")[0].lower() not in _VAGUE - {"the", "a"}:
            yield KnowledgeDraft(
                title=named["t"].strip(),
                definition=sentence.raw[begin : len(text)],
                begin=begin,
                stop=len(text),
            )
        return
    yield from _defined(text, 0, sentence)


def _defined(text: str, shift: int, sentence: Sentence) -> Iterable[KnowledgeDraft]:
    found = _STANDS.match(text)
    if found is None:
        found = _IS.match(text) or _ACRONYM_IS.match(text) or _MEANS.match(text)
        if found is not None and (_EVALUATED.match(found["d"]) or _PERSONAL.search(text)):
            return
        if found is not None and found.re is _MEANS and not _technical(found["t"]):
            return
    if found is None or not _is_term(found["t"]) or (found.re is _ACRONYM_IS and _person(found["d"])):
        return
    title = sentence.raw[shift + found.start("t") : shift + found.end("t")]
    aliases = (
        (found["a"],) if found["a"] and not re.match(r"or\b|like\b|e\.g|see\b|which\b|\d", found["a"]) else ()
    )
    if found.re is _STANDS:
        expansion = re.split(r"[,;(]| and (?:is|it)\b| which\b", found["d"])[0].strip()
        aliases = (*aliases, expansion) if 2 < len(expansion) <= 60 else aliases
    words = sentence.raw[shift + found.start("d") : shift + found.end("d")]
    yield KnowledgeDraft(
        title=title,
        definition=words,
        begin=shift + found.start("t"),
        stop=shift + found.end("d"),
        aliases=aliases,
    )


def _is_term(term: str) -> bool:
    words = term.lower().split(" ")
    return (
        words[0] not in _VAGUE
        and words[-1] not in _VAGUE
        and not _PERSONAL.search(term)
        and words[0] not in SETS["no_term"]
    )


def _technical(term: str) -> bool:
    """Returns True for an acronym or a word with inner capitals or digits.

    "Means" after other words is seldom a definition.
    """
    return re.search(r"[A-Z][A-Z0-9]|[a-z][A-Z]|\d|[+#./]", term) is not None


def _person(words: str) -> bool:
    return any(word.strip(",.") in SETS["occupation"] for word in words.lower().split(" ")[:5])


def _chinese(sentence: Sentence) -> Iterable[KnowledgeDraft]:
    text = sentence.plain.rstrip(" .。！!")
    learned = _LEARNED_ZH.match(text)
    shift = learned.start("d") if learned is not None else 0
    body = text[shift:]
    found = _SO_CALLED_ZH.match(body) or _SHORT_ZH.match(body) or _IS_ZH.match(body)
    if found is not None:
        title = found["t"].strip()
        known = (
            found.re is not _IS_ZH
            or "是一" not in body[found.end("t") : found.start("d")]
            or _HEADS_ZH.search(re.split("[，,；]", found["d"])[0])
        )
        if (
            known
            and not _PERSONAL_ZH.search(title)
            and not _PERSONAL_ZH.search(found["d"][:12])
            and not re.match(r"[这那它他她其每有就也都]|今天|昨天|明天", title)
        ):
            alias = found.groupdict().get("a")
            aliases = (alias,) if alias else (found["d"].strip(),) if found.re is _SHORT_ZH else ()
            yield KnowledgeDraft(
                title=sentence.raw[shift + found.start("t") : shift + found.start("t") + len(title)],
                definition=sentence.raw[shift + found.start("d") : shift + found.end("d")],
                begin=shift + found.start("t"),
                stop=shift + found.end("d"),
                aliases=aliases,
            )
            return
    if (
        learned is not None
        and not _PERSONAL_ZH.search(body)
        and (named := _LEARNED_SUBJECT_ZH.match(body)) is not None
    ):
        yield KnowledgeDraft(
            title=sentence.raw[shift : shift + len(named["t"].strip())],
            definition=sentence.raw[shift : len(text)],
            begin=shift,
            stop=len(text),
        )
