"""Finds the states that a sentence tells: its clauses, their subjects, and the rows that explain them.

A subject is the user, somebody of the user's kin, or a named person. A pronoun ("she", 他) is no subject: the reader
does not guess whom it means.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from events.language.concepts import canonical_key
from ingest.extraction.rules.drafts import StateDraft
from ingest.extraction.rules.patterns import Row, Slot, group_of, index
from ingest.extraction.rules.sentences import Sentence
from ingest.extraction.rules.values import TIME, key_of, named, split
from ingest.extraction.rules.words import KEYS, SETS, either

_START = re.compile(
    r"^|[,;:.(–—!\x02] ?|\s-+\s|\b(?:and|but|so|because|since|'?cause|cuz|as|though|although|while|where)\s",
    re.IGNORECASE,
)
_LEAD = re.compile(
    rf"(?:(?:and|but|so|well|also|oh|ok|okay|hi|hey|hello|yes|yeah|yep|no|actually|btw|by the way|anyway|fyi|honestly|"
    rf"update|news|big news|guess what|sorry|correction|because|since|now|currently|right now|these days|nowadays|note|"
    rf"recently|ha|haha|lol|ugh|wow|yay|omg|hmm|damn|"
    rf"sure|thanks|remember that|note that|as of)[ ,:!.-]+|(?:(?:in|on|since|back in|last|"
    rf"this|at|as "
    rf"of) )?{TIME}++[ ,]*)*",
    re.IGNORECASE,
)
_CAP = r"[A-ZÀ-Þ][\w-]+"
_SUBJECT = re.compile(r"(?P<self>I(?=(?:m|ve) )|(?:I|[Ww]e)(?=[ ']))|(?P<my>[Mm]y|[Oo]ur) |(?P<the>[Tt]he )")
_NAMED = re.compile(rf"(?P<name>{_CAP}(?: {_CAP})?)(?=['’ ])")
_KIN = re.compile(
    rf"(?:(?:older|younger|little|big|twin|best|oldest|youngest) )?(?P<kin>{either('kin')})(?:,? "
    rf"(?P<name>{_CAP}),?)?(?=[ '])"
)
_ADVERBS = (
    "also|just|now|still|really|currently|actually|always|recently|finally|officially|absolutely|mostly|usually|only|"
    f"totally|genuinely|originally|{TIME}++"
)
_ADVERB = rf"(?: (?:{_ADVERBS})(?!\w),?)"
_PREDICATE = re.compile(
    rf"{_ADVERB}*+(?P<aux>'?m|'re|'s|'?ve| am| is| are| have| has)?{_ADVERB}* (?P<word>[A-Za-z'’]+)"
)
_BE = frozenset(("'m", "m", "'re", "'s", "am", "is", "are"))
_HAVE = frozenset(("'ve", "ve", "'s", "have", "has"))

# A space ends a clause between two characters and before another subject. Particles are no part of it: 我叫小雅喔.
_BORDER_ZH = (
    r"(?:[，,]|(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff]))(?!(?:名字|它|牠)?叫|换了)|[；;。！!？?：:\n]|"
    r" (?=[我你您他她它咱])"
)
_CLAUSE_ZH = re.compile(
    rf"(?P<said>(?:(?!{_BORDER_ZH}).)+?)(?:[啦喔哦噢唷耶呢嘛咯喽啰嘞]+|的说)?(?=$|{_BORDER_ZH})"
)
_LEAD_ZH = re.compile(
    rf"(?:你好|您好|大家好|嗨|哈喽|早安|对了|其实|因为|所以|但是|但|不过|而且|然后|后来|另外|还有|此外|话说|顺便一提|[哦噢喔嗯啊哎唉诶欸呃嘿]+对?了?|{TIME}|"
    rf"原来|由于|虽然| )*"
)
_SELF_ZH = re.compile("我们|咱们|我|咱|本人")
_KIN_ZH = re.compile(rf"(?:我|我们|我家|咱)的?(?P<kin>{either('亲')})(?=[^的]|的(?:生日|职业|工作|老家))")
# "I have a cat, three years old": the age is not that of the speaker.
_HAS_ANOTHER_ZH = re.compile(rf"(?:有|养|生)[^，,]*?(?:{either('亲')}|{either('宠物')})")
_ADVERBS_ZH = re.compile(
    rf"(?:现在|目前|平常|平时|最近|已经|已|也|都|还|就|一直|其实|真的|超级?|非常|最|特别|很|每(?:天|周|个?月|年|"
    rf"次)?|刚刚?|才|又|从小就?|仍然|仍|{TIME}| )*"
)
_PREPOSITION = re.compile(r"(?:on|at|in|by) ", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:today|tomorrow|tonight|yesterday|next|this|last|in)\b", re.IGNORECASE)
_NEAR = 5
_DENIED = re.compile(
    r"(?<=[ '])(?:no longer|(?:do(?:es)?(?:n'?t| not)|not)(?= [^,.;:!?]{1,60} any ?(?:more|longer)\b))",
    re.IGNORECASE,
)
_DOUBLED = frozenset("爸妈哥姐弟妹")


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whom a clause is about. ``own`` is true for the user, and ``new`` for a new one of the user's things."""

    entity: str
    own: bool
    new: bool = False


def states(sentence: Sentence, masked: str, owner: str) -> Iterator[StateDraft]:
    """Yields the states that the sentence tells. ``masked`` is its plain text with masked times; ``owner`` says "I".

    The entity of something that ended is the value itself when the sentence does not say whose it was.
    """
    seen: set[tuple[str, str, str]] = set()
    found = _chinese(sentence, masked, owner) if sentence.chinese else _english(sentence, masked, owner)
    for draft in chain(found, _denied(sentence, masked, owner)):
        identity = (draft.entity, draft.key, draft.value)
        owned = draft.entity != draft.value or identity[1:] not in {one[1:] for one in seen}
        if identity not in seen and owned:
            seen.add(identity)
            yield draft


def _english(sentence: Sentence, text: str, owner: str) -> Iterator[StateDraft]:
    reached, carried, third = 0, None, None
    for start in _START.finditer(text):
        if start.end() < reached:
            continue
        lead = _LEAD.match(text, start.end())
        begin = lead.end() if lead is not None else start.end()
        best: list[tuple[re.Match[str], Row, _Subject]] = []
        for subject, rows, at in (
            *_readings(text, begin, owner),
            *_continued(text, begin, carried, third, near=start.end() - reached <= _NEAR),
        ):
            best += [
                (found, row, subject) for row in rows if (found := row.compiled().match(text, at)) is not None
            ]
        carried = third = None
        best.sort(key=lambda one: -len(one[1].slots) * 1000 - one[0].end())
        keys: set[str] = set()
        for found, row, subject in best:
            for draft in _drafts(found, row, subject, sentence):
                if draft.key not in keys or row is best[0][1]:
                    keys.add(draft.key)
                    reached, carried = found.end(), subject
                    third = _introduced(draft, subject) or third or (None if row.subject == "$" else subject)
                    yield replace(draft, span=(begin, draft.span[1]))
    for row in index(False)[("*", "")]:
        for found in row.compiled().finditer(text):
            yield from _drafts(found, row, _Subject(owner, own=True), sentence)


def _denied(sentence: Sentence, text: str, owner: str) -> Iterator[StateDraft]:
    """Yields the ends of what "no longer" or "don't … any more" denies: what the words without it assert."""
    denials = [found.start() for found in _DENIED.finditer(text)]
    plain = _DENIED.sub(lambda found: TIME * len(found[0]), text)
    for draft in _english(sentence, plain, owner) if denials else ():
        begin, stop = draft.span
        of_denial = any(begin <= each < stop for each in denials)
        if of_denial and draft.statement == "asserted" and draft.content is None:
            yield replace(draft, statement="ended", announced=False)


def _readings(text: str, begin: int, owner: str) -> Iterator[tuple[_Subject, list[Row], int]]:
    """Yields what a clause at ``begin`` may be about, with the rows to try and where they begin."""
    rows = index(False)
    me = _Subject(owner, own=True)
    found = _SUBJECT.match(text, begin)
    if found is None:
        name = _NAMED.match(text, begin)
        if name is not None and _may_be_person(name["name"]):
            yield from _of_predicate(text, name.end(), _Subject(name["name"], own=False))
        yield me, rows[("%", "")], begin
        return
    if found["self"]:
        yield from _of_predicate(text, found.end(), me)
        return
    if found["the"]:
        yield me, rows[("%", "")], found.end()
        return
    new = text.startswith("new ", found.end())
    at = found.end() + len("new ") * new
    word = re.match(r"[A-Za-z]+", text[at : at + 30])
    mine = replace(me, new=new)
    yield mine, [*rows.get(("$", word[0] if word is not None else ""), []), *rows[("$", "")]], at
    kin = _KIN.match(text, found.end())
    if kin is not None:
        yield from _of_predicate(text, kin.end(), _Subject(kin["name"] or kin["kin"], own=False))


def _continued(
    text: str, begin: int, carried: _Subject | None, third: _Subject | None, *, near: bool
) -> Iterator[tuple[_Subject, list[Row], int]]:
    """Yields the subject of the clause before for a clause that begins with its verb.

    "My sister is called Zoe and lives in Porto": the verb of a third person is hers.
    """
    word = re.match(r"[a-z']+", text[begin : begin + 20]) if near else None
    whose = third if word is not None and word[0].endswith("s") else carried
    if word is not None and whose is not None:
        yield whose, index(False).get(("@", word[0]), []), begin


def _may_be_person(name: str) -> bool:
    words = name.casefold().split()
    return not any(word in SETS["not_name"] or word in SETS["tool"] for word in words)


def _of_predicate(text: str, at: int, subject: _Subject) -> Iterator[tuple[_Subject, list[Row], int]]:
    found = _PREDICATE.match(text, at)
    if found is None:
        return
    rows = index(False)
    auxiliary = (found["aux"] or "").strip()
    heads = [
        *(["be"] if auxiliary in _BE else []),
        *(["have"] if auxiliary in _HAVE else []),
        *([found["word"].replace("’", "'")] if not auxiliary or auxiliary in _HAVE else []),
    ]
    if subject.own and not auxiliary:
        yield subject, rows.get(("I", ""), []), found.start("word")
    for head in heads:
        tried = [*rows.get(("@", head), []), *(rows.get(("I", head), []) if subject.own else [])]
        if tried:
            yield subject, tried, found.start("word")


def _chinese(sentence: Sentence, text: str, owner: str) -> Iterator[StateDraft]:
    rows = index(True)
    me = _Subject(owner, own=True)
    carried: _Subject | None = None
    for clause in _CLAUSE_ZH.finditer(text):
        begin, stop = clause.span("said")
        lead = _LEAD_ZH.match(text, begin, stop)
        at = lead.end() if lead is not None else begin
        kin, self_ = _KIN_ZH.match(text, at, stop), _SELF_ZH.match(text, at, stop)
        tries: list[tuple[_Subject, int]] = []
        if kin is not None:
            said = kin["kin"]
            tries.append(
                (_Subject(said * 2 if said in _DOUBLED else _raw(sentence, kin, "kin"), own=False), kin.end())
            )
        if self_ is not None:
            tries.append((me, self_.end()))
        elif carried is not None:
            tries.append((carried, at))
        matched = other = None
        for subject, where in tries:
            adverbs = _ADVERBS_ZH.match(text, where, stop)
            after = adverbs.end() if adverbs is not None else where
            for place in dict.fromkeys((after, where)):
                for row in _rows_at(rows, text, place, subject):
                    found = row.compiled().match(text, place, stop)
                    for draft in _drafts(found, row, subject, sentence) if found is not None else ():
                        matched, other = subject, _introduced(draft, subject) or other
                        yield draft
                if matched is not None:
                    break
            if matched is not None:
                break
        of_another = self_ is not None and text[self_.end() : self_.end() + 1] in ("家", "的")
        of_another = of_another or _HAS_ANOTHER_ZH.search(text, at, stop) is not None
        carried = other or (
            None
            if of_another and matched in (None, me)
            else matched or (me if self_ is not None and kin is None else None)
        )
        if matched is None:
            for row in rows[("%", "")]:
                found = row.compiled().match(text, at, stop)
                if found is not None:
                    yield from _drafts(found, row, me, sentence)


def _introduced(draft: StateDraft, subject: _Subject) -> _Subject | None:
    """Returns whom of the kin a fact of the user names: a later clause without a subject is about this person."""
    if not subject.own or draft.kind is None or draft.key == "pet":
        return None
    return _Subject(draft.value if draft.value.isascii() else draft.kind, own=False)


def _rows_at(rows: dict[tuple[str, str], list[Row]], text: str, at: int, subject: _Subject) -> Iterator[Row]:
    for kind in ("@", "I") if subject.own else ("@",):
        yield from (*rows.get((kind, text[at : at + 1]), ()), *rows.get((kind, ""), ()))


def _raw(sentence: Sentence, found: re.Match[str], group: str) -> str:
    return sentence.raw[slice(*found.span(group))]


def _drafts(found: re.Match[str], row: Row, subject: _Subject, sentence: Sentence) -> Iterator[StateDraft]:
    groups = found.groupdict()
    drafts: list[StateDraft] = []
    for slot in row.slots:
        if groups[slot.group] is None:
            continue
        begin = found.start(slot.group)
        parts = list(split(slot.kind, groups[slot.group], sentence.chinese))
        if not parts:
            return
        for first, last in parts:
            draft = _draft(found, row, slot, subject, sentence, begin + first, begin + last)
            if draft is None:
                return
            drafts.append(draft)
    yield from drafts


def _draft(
    found: re.Match[str], row: Row, slot: Slot, subject: _Subject, sentence: Sentence, begin: int, stop: int
) -> StateDraft | None:
    value = sentence.raw[begin:stop].strip(' \t,.;:!?，。；：！？、~～"“”「」')
    groups = found.groupdict()
    dated = TIME in found[slot.group]
    preposition = _PREPOSITION.match(value) if dated else None
    if preposition is not None:
        value = value[preposition.end() :]
    if not value:
        return None
    value = named(slot.kind, value)
    key: str | None = slot.key
    content: str | None = None
    if slot.listed:
        before = preposition[0] if preposition is not None else groups.get("prep") or ""
        key, content = _listed(slot, found, sentence, value, before, subject.entity)
    if key is None:
        return None
    entity = groups.get("entity")
    if row.subject == "%" and slot.key == "release_date":
        entity = "project"
    kind = next((groups[name] for name in ("animal", "kin") if groups.get(name)), None)
    if kind is not None and not sentence.chinese:
        kind = kind.split(" ")[-1]
    elif kind is not None:
        kind = sentence.raw[slice(*found.span("animal" if groups.get("animal") else "kin"))]
    if slot.ended and key == "pet":
        content = f"{value}過世了" if sentence.chinese else f"{value} died"
    if slot.key == "birthday" and not re.search(r"[A-Z][a-z]{2}|[月/.-]|\d{3}", value):
        return None
    return StateDraft(
        entity=entity or subject.entity,
        key=key,
        value=value,
        span=(found.start(), max(found.end(slot.group) for slot in row.slots)),
        statement="ended" if slot.ended else "asserted",
        announced=(row.announced or subject.new) and not slot.ended,
        timed=row.timed,
        dated=row.dated,
        content=content,
        kind=kind,
        value_span=(begin, stop) if dated else None,
    )


def _listed(
    slot: Slot, found: re.Match[str], sentence: Sentence, value: str, before: str, entity: str
) -> tuple[str | None, str | None]:
    """Returns the key that the words of the row decide, and the content where the words are the best sentence."""
    if slot.key == "tool":
        return key_of(value, "tool"), None
    group = group_of(slot.key)
    words = found[group]
    said = sentence.raw[slice(*found.span(group))]
    if slot.key in KEYS:
        return key_of(words, slot.key), None
    if slot.key == "喜欢":
        return canonical_key(f"最喜欢的{words}"), f"最喜歡的{said}是{value}"
    whose = "The" if entity == "user" else f"{entity}'s"
    if slot.key == "favourite":
        return canonical_key(f"favourite {words}"), f"{whose} favourite {said} is {value}"
    head = words.split(" ")[-1]
    if slot.key == "attribute" and (head in SETS["kin"] or head in SETS["pet"] or head in SETS["vague"]):
        return None, None
    if slot.key == "occasion" and _RELATIVE.search(value):
        return None, None  # A plan, and no lasting fact.
    if slot.key == "occasion":
        return f"{canonical_key(words)}_time", f"{whose} {said} is {before}{value}"
    key = canonical_key(words)
    return key, None if slot.key == "attribute" and key != words.replace(
        " ", "_"
    ) else f"{whose} {said} is {value}"
