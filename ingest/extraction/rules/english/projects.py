"""Makes English states of tools and projects: tools, stages, dates and decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.extraction.rules.drafts import Draft, EventDraft, StateDraft
from ingest.extraction.rules.english.grammar import many, subject
from ingest.extraction.rules.english.words import LANGUAGES, NOT_NAMES, PLACES, RELATIONS, TOOLS
from ingest.extraction.rules.scene import Make, Scene

_TOOL_TAIL = re.compile(
    r"\s+(?:for|as|in|on|at|with|to|because|since|when|and|but|now|instead|every|these|all|daily|from|over|"
    r"rather|so|again|"
    r"right|or|the|by|inside|via|until|after|here|too|anymore|any)\b.*$",
    re.DOTALL,
)


_TECHNIQUES = frozenset(("AI", "ML", "NLP", "LLM", "LLMs", "API", "APIs", "OTP", "IT"))


def tool(words: str) -> tuple[str, str] | None:
    """Returns a tool as spoken and its concept key, or None. A tool is a listed name or a capitalised name."""
    words = _TOOL_TAIL.sub("", words.strip()).strip(" ,.'\"")
    if words in _TECHNIQUES:
        return None
    for prefix in ("the ", "a ", "an ", "my ", "our "):
        words = words.removeprefix(prefix)
    lowered = words.lower()
    for suffix in ("", " browser", " editor", " database", " framework", " language", " os"):
        stem = lowered.removesuffix(suffix) if suffix else lowered
        if stem in TOOLS:
            return words[: len(stem)], TOOLS[stem]
    first = words.split(" ")[0]
    if (
        lowered.split(" ")[0] in TOOLS
        and len(lowered.split(" ")) <= 3
        and re.fullmatch(r"[\w.+#]+(?: [\d.]+\w*| Pro| Max| Plus| Ultra| Code){0,3}", words)
    ):
        return words, TOOLS[lowered.split(" ")[0]]
    named = re.fullmatch(r"[A-Z][\w+#.-]*(?: [A-Z0-9][\w+#.-]*){0,2}", words) is not None and len(words) > 1
    if (
        not named
        or first.lower() in NOT_NAMES
        or lowered in PLACES
        or lowered in LANGUAGES.lower().split("|")
    ):
        return None
    return words, "tool"


_KIND = {
    "browser": "browser",
    "editor": "editor",
    "ide": "editor",
    "database": "tech_stack",
    "db": "tech_stack",
    "framework": "tech_stack",
    "stack": "tech_stack",
    "backend": "tech_stack",
    "frontend": "tech_stack",
    "language": "programming_language",
    "os": "operating_system",
    "operating system": "operating_system",
    "phone": "phone_model",
    "shell": "shell",
    "search engine": "search_engine",
}
_KIND_WORD = re.compile(rf"\b(?:{'|'.join(_KIND)})s?\b", re.IGNORECASE)
_PROJECT_NOUN = re.compile(
    r"^(?:the|our|my|this) ((?:[a-z]+ )?(?:project|app|team|backend|frontend|service|product|site|website|"
    r"platform|company|codebase|server|pipeline|stack))$",
    re.IGNORECASE,
)


_DETERMINED = re.compile(
    r"\b(?:my|our|his|her|their|your|an?|the|some|most|many|all|each|every|no|of|to|I|we|you|they|he|she|"
    r"who|not|don't|can|could|should|would|will|and|or|also|just|still) $",
    re.IGNORECASE,
)


def _user_of_tools(found: re.Match[str], scene: Scene) -> str | None:
    said = found["s"]
    if (
        said.startswith(("He", "She", "he", "she", "I", "My ", "my ", "We", "we"))
        and _PROJECT_NOUN.match(said) is None
    ):
        return subject(found, scene)
    return project(said, scene)


def _agrees(said: str, verb: str | None) -> bool:
    """Returns True when the verb fits its subject. "The deck cannot use it" has neither "uses" nor a plural."""
    return verb is None or said.endswith(" team") or (said in ("I", "We", "we")) != (verb == "uses")


def project(said: str, scene: Scene) -> str | None:
    """Returns the entity of a sentence about a project, or None: its name, or "project" for "the project"."""
    if (noun := _PROJECT_NOUN.match(said)) is not None:
        return noun[1].lower().split(" ")[-1] if noun[1].lower() != "project" else "project"
    word = re.sub(r"^(?:the )?project | project$", "", said)
    if word.islower() and (word.endswith(("s", "ed", "ing", "ly")) or word in RELATIONS):
        return None
    if word.islower() and _DETERMINED.search(scene.masked, 0, max(0, scene.masked.find(said))):
        return None
    if word.lower() in NOT_NAMES or word.lower() in PLACES or not re.fullmatch(r"[\w.-]{2,30}", word):
        return None
    return word


# "We switched my daughter to Oakridge" names no tool.
_SOMEBODY = re.compile(
    rf"\b(?:my|our) (?:\w+ )?(?:{'|'.join(RELATIONS)}|internet|insurance|phone plan|bank)\b"
)


def _tools(*, announced: bool = False, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = _user_of_tools(found, scene)
        groups = found.groupdict()
        if entity is None or not _agrees(found["s"], groups.get("verb")) or _SOMEBODY.search(found[0]):
            return
        new = [one for part in many(scene.said(found, "v")) if (one := tool(part))]
        old = tool(scene.said(found, "o")) if groups.get("o") else None
        kind = _KIND_WORD.search(scene.masked)
        known = any(value.lower() in TOOLS for value, _ in (*new, *([old] if old else [])))
        # "Switched to Foo" and "use Foo" name a tool for every Foo. "Moved to Foo" does not.
        sure = bool(groups.get("sure")) if announced else "verb" in groups
        if not known and kind is None and not sure:
            return
        hint = next((key for _, key in (*new, old) if key != "tool"), None) if old is not None else None
        if hint is None and kind is not None:
            hint = _KIND[kind[0].lower().removesuffix("s")]
        if old is not None and new:
            key = hint if old[1] == "tool" and hint else old[1]
            yield StateDraft(
                entity=entity,
                key=key,
                value=old[0],
                span=found.span(),
                statement="ended",
                announced=True,
                timed=True,
            )
        for value, key in new:
            yield StateDraft(
                entity=entity,
                key=hint if key == "tool" and hint else key,
                value=value,
                span=found.span(),
                statement="ended" if ended else "asserted",
                announced=announced or ended or old is not None,
                timed=announced or ended or old is not None,
            )

    return make


def _stage(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = project(found["s"], scene) if found["s"].lower() not in ("we", "i") else "project"
    value = re.sub(r"^(?:the|its|our|now|still) ", "", scene.said(found, "v"))
    if entity is None or entity.lower() in ("he", "she", "it") or not value:
        return
    yield StateDraft(
        entity=entity,
        key="project_stage",
        value=value,
        span=found.span(),
        timed=True,
        announced=bool(found.groupdict().get("new")),
    )


_TIME_EDGE = re.compile(r"^(?:(?:in|on|by|at|for|to|until|till|around|during|sometime|back|from) )+")
_MOVES = re.compile(r"mov|slip|push|delay|postpon|resched|chang")


# "We moved it to Friday" is about a release only after a release, or when its words name one.
_DATE_WORD = re.compile(r"releas|launch|sourc|ship|live|publish|deadline|due|date|roll", re.IGNORECASE)
_LATER = re.compile(r" (?:back )?to (?P<v>\x01+)")


def _dated(key: str) -> Make:
    """Returns a function that makes a state whose value is a date: a release, a deadline.

    A moved date is an announced change.
    """

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        groups = found.groupdict()
        said = next((groups[g] for g in ("x", "s", "p") if groups.get(g)), None)
        entity: str | None
        if said is None or said.lower() in ("it", "that", "this", "the", "our", "we", "i", "my"):
            dated = [one for one in scene.earlier() if one.key == key]
            if said is not None and not dated and not _DATE_WORD.search(found[0]):
                return
            entity = dated[-1].entity if dated else "project"
        else:
            entity = project(said.removesuffix("'s"), scene)
        value = _TIME_EDGE.sub("", scene.said(found, "v"))
        # "From July to August": August is the new date.
        later = _LATER.match(scene.masked, found.end()) if _MOVES.search(found[0]) else None
        if later is not None:
            value = _TIME_EDGE.sub("", scene.said(later, "v"))
        if entity is None or not value or re.fullmatch(r"\d{1,2}|ever|now|today", value):
            return
        yield StateDraft(
            entity=entity,
            key=key,
            value=value,
            span=found.span(),
            announced=_MOVES.search(found[0]) is not None,
        )

    return make


# "The colours we decided on look great" tells of the colours and of no decision.
_RELATIVE = re.compile(
    r"\b(?:the|that|this|those|these|what|all|everything|which) [\w' -]{0,30}$", re.IGNORECASE
)


def _decided(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes an event of a decision ("We decided to …"), and a state of the tool that it chooses."""
    rest = scene.sentence.raw[slice(*found.span("v"))].strip(" ,.")
    if len(rest) < 4 or "?" in rest or _RELATIVE.search(scene.masked, 0, found.start()):
        return
    speaker = scene.owner
    yield EventDraft(
        entity=speaker,
        key="decision",
        span=found.span(),
        content=scene.sentence.raw[found.start() : found.end()],
        value=rest,
        importance=7,
    )
    if re.match(r"(?:not|against)\b", rest):
        return
    chosen = re.match(
        r"(?:to )?(?:use|using|adopt|adopting|go(?:ing)? with|pick|choose|switch(?:ing)? to|mov(?:e|ing) "
        r"to|migrat(?:e|ing) to|on|with|for)? ?(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z0-9][\w.+#-]*)?)"
        r"(?: (?:instead of|over|rather than|and not|not) (?P<o>[A-Za-z][\w.+#-]*(?: [A-Z]\w*)?))?",
        rest,
    )
    moved = re.match(
        r"(?:to )?(?:switch|move|migrate|change)(?: \w+){0,2} from (?P<o>[\w.+#-]+(?: [A-Z]\w*)?) to "
        r"(?P<v>[\w.+#-]+(?: [A-Z]\w*)?)",
        rest,
    )
    replaced = re.match(
        r"(?:to )?replace (?P<o>[\w.+#-]+(?: [A-Z]\w*)?) with (?P<v>[\w.+#-]+(?: [A-Z]\w*)?)", rest
    )
    choice = moved or replaced or chosen
    if choice is None:
        return
    new, old = tool(choice["v"]), tool(choice["o"]) if choice["o"] else None
    if new is None or (
        new[1] == "tool" and (old is None or old[1] == "tool") and new[0].lower() not in TOOLS
    ):
        return
    key = new[1] if new[1] != "tool" else (old[1] if old else new[1])
    if old is not None:
        yield StateDraft(
            entity=speaker,
            key=key,
            value=old[0],
            span=found.span(),
            statement="ended",
            announced=True,
            timed=True,
        )
    yield StateDraft(entity=speaker, key=key, value=new[0], span=found.span(), announced=True, timed=True)


def _program(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, language = subject(found, scene), tool(found["v"])
    if entity is not None and language is not None and language[1] in ("programming_language", "editor"):
        yield StateDraft(entity=entity, key=language[1], value=language[0], span=found.span())


def _mine(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    kind = _KIND_WORD.search(found[0])
    value = tool(scene.said(found, "v"))
    if kind is None or value is None:
        return
    key = _KIND[kind[0].lower().removesuffix("s")] if kind[0].lower() != "os" else "operating_system"
    yield StateDraft(
        entity=scene.owner,
        key=key,
        value=value[0],
        span=found.span(),
        timed=True,
        announced=re.search(r"\b(?:new|now)\b", found[0]) is not None,
    )


def _release(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if not re.search(
        r"open[- ]?sourc|releas|launch|ship|go(?:ing)? live|publish|public|roll", found[0], re.IGNORECASE
    ):
        return
    if found["s"].lower() in ("i", "we", "he", "she", "you", "they", "it"):
        return
    yield from _dated("release_date")(found, scene)


MAKES: dict[str, Make] = {
    "programs": _program,
    "tools": _tools(),
    "tools_changed": _tools(announced=True),
    "tools_ended": _tools(ended=True),
    "own_tool": _mine,
    "decision": _decided,
    "stage": _stage,
    "release": _release,
    "release_date": _dated("release_date"),
    "release_moved": _dated("release_date"),
    "deadline": _dated("deadline"),
}
