"""English rules on what people like, do and use, their projects, plans and decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.rules.drafts import Draft, EventDraft, StateDraft
from ingest.rules.english import rule, states
from ingest.rules.english_grammar import is_name, many, organisation, subject, thing
from ingest.rules.english_words import CONDITIONS, INSTRUMENTS, LANGUAGES, NOT_NAMES, PLACES, SPORTS, TOOLS
from ingest.rules.scene import Make, Rule, Scene
from ingest.rules.sentences import hedged

_SPORT = re.compile(rf"(?:{SPORTS})$", re.IGNORECASE)
_INSTRUMENT = re.compile(rf"(?:the )?(?:{INSTRUMENTS})$", re.IGNORECASE)
_GERUND = re.compile(r"[a-z]{2,}ing\b")
_NOT_LEISURE = re.compile(r"^(?:working|crying|worrying|thinking|being|having|feeling|taking|getting|using|going|trying|looking|"
                          r"dating|seeing|talking|eating|drinking|sleeping|making|doing|coming|believing|selling|living|telling)\b")  # fmt: skip


def _likes(key: str, *, statement: str = "asserted") -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        value = thing(scene.said(found, "v"))
        if entity is None or value is None:
            return
        # "We love" speaks for a company as often as for a household.
        items = many(value) if not re.search(r"\d", value) else [value]
        for one in items:
            item = one.removeprefix("to ").removeprefix("playing ")
            if thing(item) is not None:
                yield StateDraft(
                    entity=entity, key=key, value=item, begin=found.start(), stop=found.end(), confidence=0.85,
                    statement="ended" if statement == "ended" else "asserted",
                )  # fmt: skip

    return make


def _hobby(*, announced: bool = False, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        words = thing(scene.said(found, "v"))
        if entity is None or words is None:
            return
        value = re.sub(r"^(?:playing|doing|practicing|practising) ", "", words)
        if value == words and found.groupdict().get("verb") in ("started", "began", "stopped", "quit", "stop"):
            if not _GERUND.match(words) or _NOT_LEISURE.match(words):
                return
        key = "instrument" if _INSTRUMENT.match(value) else "hobby"
        if value.lower() in ("smoking", "drinking", "vaping"):
            key = "habit"
        yield StateDraft(
            entity=entity, key=key, value=value.removeprefix("the "), begin=found.start(), stop=found.end(),
            timed=announced or ended, announced=announced or ended, statement="ended" if ended else "asserted",
        )  # fmt: skip

    return make


def _several(key: str, allowed: str | None = None, *, timed: bool = False) -> Make:
    """A state for each member of a list in group ``v``; with ``allowed`` only what it matches."""
    pattern = re.compile(rf"(?:{allowed})$", re.IGNORECASE) if allowed else None

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        if entity is None:
            return
        for one in many(scene.said(found, "v")):
            value = one if pattern is not None else thing(one)
            if value is None or (pattern is not None and pattern.match(value) is None):
                continue
            yield StateDraft(
                entity=entity, key=key, value=value, begin=found.start(), stop=found.end(), timed=timed
            )

    return make


_TOOL_TAIL = re.compile(
    r"\s+(?:for|as|in|on|at|with|to|because|since|when|and|but|now|instead|every|these|all|daily|from|over|rather|so|again|"
    r"right|or|the|by|inside|via|until|after|here|too|anymore|any)\b.*$",
    re.DOTALL,
)


def tool(words: str) -> tuple[str, str] | None:
    """A tool as spoken and the concept it is a value of; only names: listed ones, or capitalised."""
    words = _TOOL_TAIL.sub("", words.strip()).strip(" ,.'\"")
    for prefix in ("the ", "a ", "an ", "my ", "our "):
        words = words.removeprefix(prefix)
    lowered = words.lower()
    for suffix in ("", " browser", " editor", " database", " framework", " language", " os"):
        stem = lowered.removesuffix(suffix) if suffix else lowered
        if stem in TOOLS:
            return words[: len(stem)], TOOLS[stem]
    first = words.split(" ")[0]
    if lowered.split(" ")[0] in TOOLS and len(lowered.split(" ")) <= 3 and re.fullmatch(r"[\w.+#]+(?: [\d.]+\w*| Pro| Max| Plus| Ultra| Code){0,3}", words):
        return words, TOOLS[lowered.split(" ")[0]]
    named = re.fullmatch(r"[A-Z][\w+#.-]*(?: [A-Z0-9][\w+#.-]*){0,2}", words) is not None and len(words) > 1
    if not named or first.lower() in NOT_NAMES or lowered in PLACES or lowered in LANGUAGES.lower().split("|"):
        return None
    return words, "tool"


_KIND = {"browser": "browser", "editor": "editor", "ide": "editor", "database": "tech_stack", "db": "tech_stack",
         "framework": "tech_stack", "stack": "tech_stack", "backend": "tech_stack", "frontend": "tech_stack",
         "language": "programming_language", "os": "operating_system", "operating system": "operating_system",
         "phone": "phone_model", "shell": "shell", "search engine": "search_engine"}  # fmt: skip
_KIND_WORD = re.compile(rf"\b(?:{'|'.join(_KIND)})s?\b", re.IGNORECASE)
_PROJECT_NOUN = re.compile(r"^(?:the|our|my|this) ((?:[a-z]+ )?(?:project|app|team|backend|frontend|service|product|site|website|platform|company|codebase|server|pipeline|stack))$", re.IGNORECASE)


def _user_of_tools(found: re.Match[str], scene: Scene) -> str | None:
    said = found["s"]
    if said.startswith(("He", "She", "he", "she", "I", "My ", "my ", "We", "we")) and _PROJECT_NOUN.match(said) is None:
        return subject(found, scene)
    return project(said, scene)


def project(said: str, scene: Scene) -> str | None:
    """The entity a sentence about a project means: its name, or "project" where it is only "the project"."""
    if (noun := _PROJECT_NOUN.match(said)) is not None:
        return noun[1].lower().split(" ")[-1] if noun[1].lower() != "project" else "project"
    word = re.sub(r"^(?:the )?project | project$", "", said)
    if word.lower() in NOT_NAMES or word.lower() in PLACES or not re.fullmatch(r"[\w.-]{2,30}", word):
        return None
    return word


def _tools(*, announced: bool = False, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = _user_of_tools(found, scene)
        if entity is None:
            return
        groups = found.groupdict()
        new = [one for part in many(scene.said(found, "v")) if (one := tool(part))]
        old = tool(scene.said(found, "o")) if groups.get("o") else None
        kind = _KIND_WORD.search(scene.masked)
        known = any(key != "tool" for _, key in (*new, *([old] if old else [])))
        if not known and kind is None and not (announced and groups.get("sure")):
            if announced or not groups.get("plain"):
                return
        hint = next((key for _, key in new if key != "tool"), None) or (old[1] if old and old[1] != "tool" else None)
        if hint is None and kind is not None:
            hint = _KIND[kind[0].lower().removesuffix("s")]
        if old is not None and new:
            key = hint if old[1] == "tool" and hint else old[1]
            yield StateDraft(entity=entity, key=key, value=old[0], begin=found.start(), stop=found.end(), statement="ended",
                             announced=True, timed=True)  # fmt: skip
        for value, key in new:
            yield StateDraft(
                entity=entity, key=hint if key == "tool" and hint else key, value=value, begin=found.start(), stop=found.end(),
                statement="ended" if ended else "asserted", announced=announced or ended or old is not None,
                timed=announced or ended or old is not None,
            )  # fmt: skip

    return make


def _stage(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = project(found["s"], scene) if found["s"].lower() not in ("we", "i") else "project"
    value = re.sub(r"^(?:the|its|our|now|still) ", "", scene.said(found, "v"))
    if entity is None or entity.lower() in ("he", "she", "it") or not value:
        return
    yield StateDraft(
        entity=entity, key="project_stage", value=value, begin=found.start(), stop=found.end(), timed=True,
        announced=bool(found.groupdict().get("new")),
    )  # fmt: skip


_TIME_EDGE = re.compile(r"^(?:(?:in|on|by|at|for|to|until|till|around|during|sometime|back|from) )+")


def _dated(key: str, *, announced: bool = False) -> Make:
    """A date that is the value itself: a release, a deadline. It may move, and then it is announced."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        groups = found.groupdict()
        said = next((groups[g] for g in ("s", "p") if groups.get(g)), None)
        entity: str | None
        if said is None or said.lower() in ("it", "that", "this", "the", "our", "we", "i", "my"):
            dated = [one for one in scene.earlier() if one.key == key]
            if said is not None and said.lower() in ("it", "that", "this") and not dated:
                return
            entity = dated[-1].entity if dated else "project"
        else:
            entity = project(said.removesuffix("'s"), scene)
        value = _TIME_EDGE.sub("", scene.said(found, "v"))
        if entity is None or not value or re.fullmatch(r"\d{1,2}|ever|now|today", value):
            return
        yield StateDraft(
            entity=entity, key=key, value=value, begin=found.start(), stop=found.end(), announced=announced
        )

    return make


def _decided(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"We decided to …": the decision as an event, and the tool it is about as a state."""
    rest = scene.sentence.raw[slice(*found.span("v"))].strip(" ,.")
    if len(rest) < 4 or "?" in rest:
        return
    speaker = scene.owner
    yield EventDraft(
        entity=speaker, key="decision", begin=found.start(), stop=found.end(), content=scene.sentence.raw[found.start() : found.end()],
        value=rest, importance=7,
    )  # fmt: skip
    if re.match(r"(?:not|against)\b", rest):
        return
    chosen = re.match(r"(?:to )?(?:use|using|adopt|adopting|go(?:ing)? with|pick|choose|switch(?:ing)? to|mov(?:e|ing) to|migrat(?:e|ing) to|on|with|for)? ?(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z0-9][\w.+#-]*)?)"
                      r"(?: (?:instead of|over|rather than|and not|not) (?P<o>[A-Za-z][\w.+#-]*(?: [A-Z]\w*)?))?", rest)  # fmt: skip
    moved = re.match(r"(?:to )?(?:switch|move|migrate|change)(?: \w+){0,2} from (?P<o>[\w.+#-]+(?: [A-Z]\w*)?) to (?P<v>[\w.+#-]+(?: [A-Z]\w*)?)", rest)
    replaced = re.match(r"(?:to )?replace (?P<o>[\w.+#-]+(?: [A-Z]\w*)?) with (?P<v>[\w.+#-]+(?: [A-Z]\w*)?)", rest)
    choice = moved or replaced or chosen
    if choice is None:
        return
    new, old = tool(choice["v"]), tool(choice["o"]) if choice["o"] else None
    if new is None or (new[1] == "tool" and (old is None or old[1] == "tool") and new[0].lower() not in TOOLS):
        return
    key = new[1] if new[1] != "tool" else (old[1] if old else new[1])
    if old is not None:
        yield StateDraft(entity=speaker, key=key, value=old[0], begin=found.start(), stop=found.end(), statement="ended",
                         announced=True, timed=True)  # fmt: skip
    yield StateDraft(entity=speaker, key=key, value=new[0], begin=found.start(), stop=found.end(), announced=True, timed=True)


def _happening(key: str, when: str, importance: int = 5) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene) if "s" in found.groupdict() else scene.owner
        if entity is None or (key == "plan" and hedged(scene.sentence, found.start(), found.start())):
            return
        yield EventDraft(
            entity=entity, key=key, begin=found.start(), stop=found.end(), content=scene.sentence.raw, when=when,
            importance=importance,
        )  # fmt: skip

    return make


def _diet(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is not None:
        yield StateDraft(entity=entity, key="diet", value=scene.said(found, "v"), begin=found.start(), stop=found.end(),
                         timed=True, announced=bool(found.groupdict().get("new")))  # fmt: skip


def _school(words: str) -> str | None:
    found = organisation(words)
    return None if found is None or found.lower() in PLACES else found


def _condition(words: str) -> str | None:
    return words or None


def _goal(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    value = scene.said(found, "v")
    if 3 < len(value) <= 90 and not re.match(r"(?:not|that|the same|simple|clear|still|always)\b", value):
        yield StateDraft(entity=scene.owner, key="goal", value=value, begin=found.start(), stop=found.end(), confidence=0.85)


_PAST = (
    r"(?:[a-z]{2,}ed|went|took|had|met|saw|made|got|bought|ate|drank|ran|swam|flew|drove|rode|wrote|read|gave|came|began|won|lost|"
    r"sold|built|taught|caught|found|heard|held|kept|led|left|paid|put|sang|sat|sent|shot|slept|spent|stood|told|threw|woke|wore|"
    r"broke|brought|chose|cut|did|drew|fell|fought|forgot|grew|hung|hurt|hit|knew|learnt|lit|set|shook|spoke|stuck|thought|did|"
    r"became|started|finished|quit|let|dug|bit|hosted|beat|bet|swung|snuck|lent|spread|hid)"
)
_PAST_WORDS = (
    "yesterday last ago earlier recently today morning night weekend week monday tuesday wednesday thursday friday saturday sunday "
    "on in since while mon tue tues wed thu thurs fri sat sun other past back this january february march april june july august "
    "september october november december christmas thanksgiving"
)
_FUTURE_WORDS = (
    "tomorrow next tonight weekend week monday tuesday wednesday thursday friday saturday sunday on in this coming month later "
    "january february march april may june july august september october november december christmas summer fall spring winter"
)
_RELEASE = r"(?:open[- ]sourc(?:e|ed|ing)|releas(?:e|ed|ing)|launch(?:ed|ing)?|ship(?:ped|ping)?|go(?:ing)? live|publish(?:ed|ing)?|go(?:ing)? public|roll(?:ed|ing)? out)"
_SUBJECT_NOUN = r"(?P<s>(?:[Tt]he|[Oo]ur|[Mm]y|[Tt]his) (?:[a-z]+ )?(?:project|app|team|backend|frontend|service|product|site|website|platform|company|codebase|server|pipeline|stack)|I|(?:[Pp]roject )?[A-Za-z][\w.-]{1,29}(?: project)?)"

RULES: tuple[Rule, ...] = (
    rule("love loves like likes enjoy enjoys adore adores prefer prefers",
         r"<S><ADV>(?:love|loves|like|likes|enjoy|enjoys|adore|adores|prefer|prefers) (?:to (?=\w+ ))?(?P<v><THING>)", _likes("likes")),
    rule("fan fond into", r"<S>(?:<BE>)<ADV>(?:an? (?:big |huge |massive )?fan of|fond of|into) (?P<v><THING>)", _likes("likes")),
    rule("hate hates dislike dislikes detest despise stand like likes enjoy loathe",
         r"<S><ADV>(?:hate|hates|dislike|dislikes|detest|despise|loathe|can't stand|cannot stand|(?:don't|do not|doesn't|does not) (?:really |particularly )?(?:like|enjoy)) (?P<v><THING>)",
         _likes("dislikes"), free=True),
    rule("longer", r"<S><ADV>no longer (?:like|likes|love|loves|enjoy|enjoys) (?P<v><THING>)", _likes("likes", statement="ended"), free=True),
    rule("took taken picked", r"<S><HAVE>?<ADV>(?P<verb>took up|taken up|picked up) (?P<v>[a-z]+ing\b(?: [a-z]+)?|tennis|golf|yoga|chess|pottery|guitar|piano|photography|badminton)", _hobby(announced=True)),
    rule("hobby hobbies", r"(?P<s>[Mm]y) (?:main |favou?rite |new )?hobb(?:y|ies) (?:is|are|include|includes) (?P<v><THING>)",
         lambda found, scene: (StateDraft(entity=scene.owner, key="hobby", value=one, begin=found.start(), stop=found.end())
                               for part in many(scene.said(found, "v")) if (one := thing(part)))),
    rule("stopped quit gave given", r"<S><HAVE>?<ADV>(?P<verb>stopped|quit|gave up|given up) (?P<v>[a-z]+ing\b(?: [a-z]+){0,2}|tennis|golf|yoga|chess|smoking|drinking|coffee|meat|sugar|alcohol)", _hobby(ended=True)),
    rule("play plays playing", r"<S>(?:<BE>)?<ADV>(?:play|plays)(?: (?:a lot of|some|the))? (?P<v><THING>)",
         lambda found, scene: _plays(found, scene)),
    rule("speak speaks fluent", r"<S>(?:<BE>)?<ADV>(?:speak|speaks|fluent in)(?: fluent| some| a little| a bit of| decent)? (?P<v><LANG>(?:(?:, (?:and )?| and )<LANG>){0,5})(?!\w)", _several("language", LANGUAGES)),
    rule("learning studying", r"<S>(?:<BE>|'ve been| have been| has been)<ADV>(?:learning|studying)(?: how to play| to play| to speak)? (?:the )?(?P<v><LANG>|(?:piano|guitar|violin|drums|cello|ukulele|flute)|Rust|Python|Go|Kotlin|JavaScript|TypeScript|Java|Haskell|Swift|C\+\+)(?![\w])", _several("learning", timed=True)),
    rule("programming code program", r"<S><ADV>(?:code|program|write code)(?: mostly| mainly| primarily)? in (?P<v>[A-Z][\w+#]*)", lambda f, s: _program(f, s)),
    rule("use uses using", rf"(?<![\w'])(?:{_SUBJECT_NOUN})(?:'m| am|'re| are|'s| is)?<ADV>(?P<plain>use|uses|using) (?P<v><THING>)", _tools()),
    rule("switched migrated moved changed switching migrating moving",
         rf"(?<![\w']){_SUBJECT_NOUN}<HAVE>?<ADV>(?:(?P<sure>switched|migrated)|moved|changed)(?: (?:my|our|the|everything|it|all)(?: [\w-]+){{0,3}}?)?(?: over)?(?: from (?P<o>[\w.+#-]+(?: [A-Z]\w*)?))? to (?P<v>[A-Za-z][\w.+#-]*(?: [A-Z0-9]\w*)?)", _tools(announced=True)),
    rule("replaced ditched dropped swapped traded", rf"(?<![\w']){_SUBJECT_NOUN}<HAVE>?<ADV>(?:replaced|ditched|dropped|swapped|traded) (?P<o>[\w.+#-]+(?: [A-Z]\w*)?) (?:with|for|by|in favou?r of) (?P<v>[A-Za-z][\w.+#-]*(?: [A-Z0-9]\w*)?)", _tools(announced=True)),
    rule("longer stopped", rf"(?<![\w']){_SUBJECT_NOUN}<HAVE>?<ADV>(?:no longer (?:use|uses)|stopped using) (?P<v><THING>)", _tools(ended=True), free=True),
    rule("instead over rather", rf"(?<![\w']){_SUBJECT_NOUN}<HAVE>?<ADV>(?:went with|chose|picked|use|uses|adopted) (?P<v>[A-Za-z][\w.+#-]*(?: [A-Z0-9]\w*)?) (?:instead of|over|rather than) (?P<o>[A-Za-z][\w.+#-]*(?: [A-Z]\w*)?)", _tools(announced=True)),
    rule("browser editor ide os database phone shell framework", r"(?P<s>[Mm]y|[Oo]ur) (?:new |current |main |default |primary )?(?:browser|editor|ide|os|operating system|database|phone|shell|search engine|framework)(?: of choice)? is (?:now )?(?:an? |the )?(?P<plain>)(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z0-9][\w.+#-]*){0,2})", lambda f, s: _mine(f, s)),
    rule("decided agreed chose settled opted decision", r"<I>(?:'ve| have)?(?: (?:finally|just|all|both|also|eventually|ultimately|<T>|then))*,? (?:decided|agreed|settled|opted|made (?:a|the) decision)(?: <T>)?,? (?P<v>(?:to|on|that|against|not to|for)\b<REST>)", _decided),
    rule("decided", r"(?:[Tt]he team|[Tt]he meeting|[Mm]anagement|[Oo]ur team)(?: has| have| <T>)?,? decided,? (?P<v>(?:to|on|that|against|not to|for)\b<REST>)", _decided),
    rule("in at entering entered reached moved beta alpha", rf"(?:^|[,;] |\b(?:and|so|but|now|that) ){_SUBJECT_NOUN}(?: is|'s| are|'re| has| have)?(?: <T>)?(?: now| currently| still| already| finally| just){{0,2}} (?:in|at|entering|(?P<new>entered|reached|moved (?:in)?to|moved on to|gone into)) (?:the |its |our |a |public |private |closed |open )*(?P<v><STAGE>)(?: (?:stage|phase))?(?=$|[.,!;)\x01]| (?:now|and|but|since|with|so)\b)", _stage),
    rule("stage phase status", r"(?P<s>[A-Za-z][\w.-]{1,29}|[Tt]he project|[Oo]ur project)'s (?:current )?(?:stage|phase|status) is (?:now )?(?P<v><STAGE>)", _stage),
    rule("launched shipped released live open-sourced", rf"(?:^|[,;] ){_SUBJECT_NOUN}(?: has| have|'s)? (?P<new>finally |just |officially |now |<T> )*(?:been )?(?P<v>launched|shipped|been released|open-sourced)(?=$|[.,!;)\x01])", _stage),
    rule("plan plans planned scheduled set going will aims aiming intends expects expected due targets slated launch launches launching releasing shipping",
         rf"(?:^|[,;] |\b(?:and|so|but|that) ){_SUBJECT_NOUN}(?: is|'s| will|'ll)?(?: now| still| currently| tentatively)? (?:plans?|planned|planning|scheduled|set|slated|going|aims?|aiming|intends?|expect(?:s|ed)|due|targets?|targeting|be|launch(?:es|ing)|releas(?:es|ing)|ship(?:s|ping))(?: to| for)?(?: be)?(?: {_RELEASE})?(?: for| in| on| to)?(?: public)? (?P<v><T>)",
         lambda f, s: _release(f, s)),
    rule("plan planning releasing launching launch release ship shipping open-source open-sourcing",
         r"(?<![\w'])(?:I|[Ww]e)(?:'re| are|'m| am|'ll| will)?(?: now| still)? (?:plan(?:ning)? to |going to |aim(?:ing)? to |want to )?(?:open[- ]sourc(?:e|ing)|launch(?:ing)?|releas(?:e|ing)|ship(?:ping)?|publish(?:ing)?) (?P<p>[A-Za-z][\w.-]{1,29}|it|the project|our app|the app)(?: publicly)? (?P<v><T>)", _dated("release_date"), free=True),
    rule("release launch release-date open-source open-sourcing ship date go-live",
         r"(?P<p>\b[Tt]he|\b[Oo]ur|\b[A-Za-z][\w.-]{1,29}'s|\b(?!(?:and|but|so|a|an|new|next|big|first)\b)[a-z][\w.-]{1,29}) (?:[a-z]+ )?(?:open[- ]sourc(?:e|ing)|release|launch|ship|go-live)(?: date| release)? (?:is|was|will be|has been|got|(?P<new>moved|slipped|changed))(?: now| still)?(?: (?:pushed|moved|delayed|postponed|rescheduled|set|scheduled|planned|back|to|for|on|until))* ?(?P<v><T>)",
         lambda f, s: _dated("release_date", announced=bool(re.search(r"mov|slip|push|delay|postpon|resched|chang", f[0])))(f, s)),
    rule("pushed moved delayed postponed slipped rescheduled", r"(?:^|[,;] |\b(?:and|so|but|that) )(?P<p>[Ii]t|[Tt]hat|[Ww]e|[Tt]he release|[Tt]he launch)(?: has| have|'s|'ve| was| is| got| has been| been)?(?: now| just)? (?:pushed|moved|delayed|postponed|slipped|rescheduled)(?: (?:it|the release|the launch|the open-source date|the release date|the date))?(?: back)?(?: to| until| till| by)? ?(?P<v><T>)", _dated("release_date", announced=True)),
    rule("deadline due", r"(?P<p>\b[Tt]he|\b[Oo]ur|\b[Mm]y|\b[A-Za-z][\w.-]{1,29}'s) (?:[a-z]+ ){0,2}(?:deadline|due date) (?:is|was moved to|moved to|has moved to|got moved to|is now)(?: on| now)? ?(?P<v><T>)", lambda f, s: _dated("deadline", announced="mov" in f[0])(f, s)),
    rule("allergic", r"<S>(?:<BE>)<ADV>(?:severely |deathly |highly |mildly |badly )?allergic to (?P<v><THING>)", _several("allergy")),
    rule("allergy allergies", r"<S>(?: have|'ve got| has)<ADV>an? (?:severe |bad |mild |serious )?(?P<v>[a-z]+(?: [a-z]+)?) allergy", states("allergy", _condition)),
    rule("intolerant", r"<S>(?:<BE>)<ADV>(?P<v>lactose|gluten|fructose|histamine)[- ]intolerant", states("allergy", _condition)),
    rule("vegan vegetarian pescatarian keto gluten-free dairy-free halal kosher", r"<S>(?:<BE>|<HAVE>|'ve been| have been| has been)?<ADV>(?P<new>went |gone |became |turned )?(?:an? |strictly )?(?:on an? )?(?P<v>vegan|vegetarian|pescatarian|keto|gluten-free|dairy-free)(?: diet)?(?=$|[.,!;)\x01]| (?:now|and|for|since|so|because|but)\b)", lambda f, s: _diet_stated(f, s)),
    rule("have has diagnosed suffer suffers", rf"<S>(?:(?: have|'ve got| has)(?: had)?|(?: was|'ve been| have been| been| got)(?: \x01+)?(?: just| recently)? diagnosed with|<ADV>suffers? from)<ADV>(?:severe |mild |chronic |bad |pretty bad )?(?P<v>(?i:{CONDITIONS}))(?![\w-])", states("medical_condition", _condition, timed=True)),
    rule("study studying studies attend attending attends major majoring majored graduated enrolled goes go",
         r"<S>(?:<BE>)?<ADV>(?:stud(?:y|ies|ying)|attend|attends|attending|graduated from|enrolled (?:at|in)|go to|goes to)(?: (?P<m>[a-z]+(?: [a-z]+)?) at)?(?: at)? (?P<v>(?:the )?(?:University of (?:<CAPS>)|(?:<CAPS>)(?: University| College| High School| Institute| Academy)|MIT|Stanford|Harvard|Oxford|Cambridge|Berkeley|UCLA|NYU|Caltech|Princeton|Yale|ETH|NTU|NUS))", states("school", _school, timed=True)),
    rule("majoring major", r"<S>(?:<BE>)?<ADV>(?:majoring|major) in (?P<v><THING>)", _several("major")),
    rule("volunteer volunteers volunteering", r"<S>(?:<BE>|'ve been| have been)?<ADV>(?:volunteer|volunteers|volunteering) (?:at|for|with) (?P<v>(?:an?|the|my|our) (?:[\w'-]+ ){0,3}(?:shelter|hospital|school|library|kitchen|center|centre|church|clinic|charity|food bank)|<CAPS>)", states("volunteering", organisation)),
    rule("drive drives", r"<S><ADV>(?:drive|drives) an? (?P<v>(?:\d{4} )?(?:[a-z]+ )?(?:<CAPS>))", states("vehicle", _condition)),
    rule("goal dream aim ambition", r"\b[Mm]y (?:main |big |biggest |new |ultimate |current |long-term )?(?:goal|dream|aim|ambition)(?: for \x01+| \x01+)? is (?:to )?(?P<v>[^.,;!?\x01\x02]{4,80})", _goal),
    rule(_FUTURE_WORDS, r"<S>(?:(?:'m| am|'re| are|'s| is)(?: \w+ly| also| all| both)? (?:going to|gonna|planning (?:to|on|a)|scheduled|set to|flying|travell?ing|driving|visiting|meeting|having|starting|taking|hosting|attending|moving|leaving|seeing|getting|running|performing|giving|presenting|throwing|joining|returning|coming|heading|launching|opening|playing|competing|participating|celebrating|holding|doing|off to)|(?:'ll| will)(?: also| be)? [a-z]+|(?: have|'ve got| have got| has)<ADV>an? (?:[\w'-]+ ){0,3}(?:appointment|interview|meeting|exam|flight|trip|date|surgery|party|wedding|concert|game|match|performance|audition|presentation|call|tournament|competition|test|event|show|class|recital|checkup|convention)| plan(?:s|ned)? to)\b", _happening("plan", "future", 6), free=True),
    rule(_PAST_WORDS, rf"<S>(?:'ve| have|'d| had|'s| has)?(?:[ ,]{{1,2}}(?:just|also|finally|actually|recently|even|both|all|really|already|then|\x01{{1,60}})){{0,3}}[ ,]{{1,2}}(?:{_PAST}|was (?:at|in) (?:a|an|the))\b(?! (?:to be|up in))", _happening("activity", "past")),
)  # fmt: skip


def _plays(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    words = re.split(r" (?:with|at|in|on|for|every|and I|but|because|since|when|together|regularly|professionally|to|as|after)\b", found["v"])[0].strip(" \x01")
    entity = subject(found, scene)
    if entity is None:
        return
    for one in many(words):
        said = one.strip()
        if _SPORT.match(said):
            yield StateDraft(entity=entity, key="hobby", value=said, begin=found.start(), stop=found.end())
        elif _INSTRUMENT.match(said):
            yield StateDraft(entity=entity, key="instrument", value=said.removeprefix("the "), begin=found.start(), stop=found.end())


def _program(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, language = subject(found, scene), tool(found["v"])
    if entity is not None and language is not None and language[1] == "programming_language":
        yield StateDraft(entity=entity, key="programming_language", value=language[0], begin=found.start(), stop=found.end())


def _mine(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    kind = _KIND_WORD.search(found[0])
    value = tool(scene.said(found, "v"))
    if kind is None or value is None:
        return
    key = _KIND[kind[0].lower().removesuffix("s")] if kind[0].lower() != "os" else "operating_system"
    yield StateDraft(entity=scene.owner, key=key, value=value[0], begin=found.start(), stop=found.end(), timed=True,
                     announced=" new " in found[0] or " now " in found[0])  # fmt: skip


def _release(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if not re.search(r"open[- ]?sourc|releas|launch|ship|go(?:ing)? live|publish|public|roll", found[0], re.IGNORECASE):
        return
    if found["s"].lower() in ("i", "we", "he", "she", "you", "they", "it"):
        return
    yield from _dated("release_date")(found, scene)


def _diet_stated(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if not re.search(r"(?:'m|'re|'s| am| is| are|been|went|gone|became|turned|go|eat|I|We)\b", found[0]):
        return
    if is_name(found["s"]) or found["s"].lower() in ("i", "we", "he", "she") or found["s"].lower().startswith("my "):
        yield from _diet(found, scene)

