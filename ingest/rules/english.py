"""English rules on people: where they live and work, whom they belong with, what they are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from events.concepts import canonical_key
from ingest.rules.drafts import Draft, StateDraft
from ingest.rules.english_grammar import expand, is_name, name, organisation, place, role, subject
from ingest.rules.english_words import GIVEN_NAMES, PETS, PLACES, RELATION_PLURALS, RELATIONS, TOOLS
from ingest.rules.scene import Make, Rule, Scene

Clean = Callable[[str], str | None]


def rule(words: str, source: str, make: Make, *, free: bool = False) -> Rule:
    return Rule(tuple(words.split()), expand(source), make, free)


def states(
    key: str,
    clean: Clean,
    *,
    statement: str = "asserted",
    announced: bool = False,
    timed: bool = False,
    confidence: float = 0.9,
) -> Make:
    """A builder of the state in group ``v``; ``o`` is what it replaced, ``r`` the role that comes with it."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        value = clean(scene.said(found, "v"))
        if entity is None or not value:
            return
        groups = found.groupdict()
        if groups.get("o") and (old := clean(scene.said(found, "o"))) is not None:
            yield StateDraft(
                entity=entity, key=key, value=old, begin=found.start(), stop=found.end(),
                statement="ended", announced=True, timed=True, confidence=confidence,
            )  # fmt: skip
        yield StateDraft(
            entity=entity, key=key, value=value, begin=found.start(), stop=found.end(),
            statement="ended" if statement == "ended" else "asserted",
            announced=announced, timed=timed, confidence=confidence,
        )  # fmt: skip
        if groups.get("r") and (job := role(scene.said(found, "r"))) is not None:
            yield StateDraft(
                entity=entity, key="occupation", value=job, begin=found.start(), stop=found.end(),
                statement="ended" if statement == "ended" else "asserted", announced=announced, timed=timed,
            )  # fmt: skip

    return make


def _whole(words: str) -> str | None:
    return words or None


def _person_free_place(words: str) -> str | None:
    found = place(words)
    return found if found is None or found.lower() not in TOOLS else None


_EMPLOYMENT = re.compile(
    r"\b(?:job|jobs|work|worked|working|works|company|employer|role|position|career|boss|colleagues?|coworkers?|resign|"
    r"startup|start-up|hired|joined|joining|team|salary|offer|engineer|developer|designer|manager|laid)\b"
)


def _joined(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"Joined X": an employer where a role or talk of work says so, or X is a name that is no tool or club."""
    entity, firm = subject(found, scene), organisation(scene.said(found, "v"))
    if entity is None or firm is None or firm.lower() in TOOLS:
        return
    if re.search(r"\b(?:club|group|choir|band|gym|class|league|church|community|server|call|meeting|army|navy|party|forum|program|team)\b",
                 firm.lower()):  # fmt: skip
        return
    job = role(scene.said(found, "r")) if found["r"] else None
    if job is None and not _EMPLOYMENT.search(scene.masked.replace("joined", "")) and "\x01" not in scene.masked:
        return
    yield StateDraft(
        entity=entity, key="employer", value=firm, begin=found.start(), stop=found.end(), announced=True, timed=True
    )
    if job is not None:
        yield StateDraft(
            entity=entity, key="occupation", value=job, begin=found.start(), stop=found.end(), announced=True,
            timed=True,
        )  # fmt: skip


def _left(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"Left X": an employer left only where it is known as one, or the sentence is about work."""
    entity, firm = subject(found, scene), organisation(scene.said(found, "v"))
    if entity is None or firm is None or firm.lower() in PLACES:
        return
    known = any(one.key == "employer" and one.value.lower() == firm.lower() for one in scene.earlier())
    certain = found["sure"] is not None or found.group("verb") not in ("left", "leaving")
    if not (known or certain or _EMPLOYMENT.search(scene.masked)):
        # "I left Google last month" and no more: a name that is no place and no person's.
        after = scene.masked[found.end() :].strip(" \x01")
        if firm[:1].islower() or firm.lower() in GIVEN_NAMES or not re.match(r"$|[.,!;]", after):
            return
    yield StateDraft(
        entity=entity, key="employer", value=firm, begin=found.start(), stop=found.end(), statement="ended",
        announced=True, timed=True, confidence=0.9 if known or certain else 0.8,
    )  # fmt: skip


def _occupation(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, job = subject(found, scene), role(scene.said(found, "v"))
    if entity is None or job is None:
        return
    groups = found.groupdict()
    if re.match(r" (?:of|to|for|at heart|in training|when)\b", scene.masked[found.start("v") + len(job) :]) and not groups.get("e"):
        return
    announced = bool(groups.get("new")) or "now" in found[0].split(" ")
    yield StateDraft(
        entity=entity, key="occupation", value=job, begin=found.start(), stop=found.end(), timed=True,
        announced=announced,
    )  # fmt: skip
    if groups.get("e") and (firm := organisation(scene.said(found, "e"))) is not None:
        yield StateDraft(
            entity=entity, key="employer", value=firm, begin=found.start(), stop=found.end(), timed=True,
            announced=announced,
        )  # fmt: skip


def _kin_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"My wife Anna", "Anna is my wife": the name is the owner's spouse."""
    said = name(scene.said(found, "v"))
    if said is None or not is_name(said) or said == scene.owner:
        return
    kin = found["kin"].lower().split(" ")[-1]
    if found["kin"].lower().startswith(("late ", "former ", "old ")):
        return
    yield StateDraft(
        entity=scene.owner, key=RELATIONS[kin], value=said, begin=found.start(), stop=found.end(),
        kind=found["kin"].lower(), tags=(kin,),
    )  # fmt: skip


def _pets(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Pets one has, each by its name where it has one, else by its kind."""
    groups = found.groupdict()
    entity = subject(found, scene) if groups.get("s") else scene.owner
    kind = scene.said(found, "pet").lower()
    if entity is None or not _is_pet(kind):
        return
    names = [one for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", scene.said(found, "v")) if (one := name(part)) and is_name(one)]
    singular = _singular(kind)
    if groups.get("v") and not names:
        return
    for value in names or [scene.said(found, "count_kind") if groups.get("count_kind") else singular]:
        yield StateDraft(
            entity=entity, key="pet", value=value, begin=found.start(), stop=found.end(),
            kind=singular if names else None, timed=bool(groups.get("got")), tags=(singular.split(" ")[-1],),
        )  # fmt: skip


def _is_pet(kind: str) -> bool:
    return kind.rsplit(" ", maxsplit=1)[-1] in PETS or kind.replace(" ", "-") in PETS


def _singular(kind: str) -> str:
    irregular = {"puppies": "puppy", "kitties": "kitty", "bunnies": "bunny", "ponies": "pony", "fish": "fish"}
    last = kind.rsplit(" ", maxsplit=1)[-1]
    return irregular.get(last, last.removesuffix("s"))


def _pet_died(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    groups = found.groupdict()
    said = name(scene.said(found, "v")) if groups.get("v") else None
    if groups.get("pet"):
        kind = scene.said(found, "pet").lower()
        if not _is_pet(kind):
            return
        named = [one for one in scene.earlier() if one.key == "pet" and one.kind == _singular(kind)]
        value = said or (named[-1].value if named else _singular(kind))
        entity = scene.owner
    else:
        match = [one for one in scene.earlier() if one.key == "pet" and said is not None and one.value.lower() == said.lower()]
        if not match or said is None:
            return
        value, entity, kind = match[-1].value, match[-1].entity, match[-1].kind or "pet"
    yield StateDraft(
        entity=entity, key="pet", value=value, begin=found.start(), stop=found.end(), statement="ended",
        announced=True, timed=True, kind=kind, content=f"{'The pet' if value.lower() in PETS else 'Pet'} {value} died",
    )  # fmt: skip


def _pronoun_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"Her name is Mochi" right after "I adopted a cat": the nameless pet's name."""
    nameless = [one for one in scene.earlier()[-2:] if one.key == "pet" and one.value.lower() in PETS]
    if not nameless:
        return
    names = [one for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", scene.said(found, "v")) if (one := name(part)) and is_name(one)]
    for value in names:
        yield StateDraft(
            entity=nameless[-1].entity, key="pet", value=value, begin=found.start(), stop=found.end(),
            kind=_singular(nameless[-1].value.lower()), tags=(_singular(nameless[-1].value.lower()),),
        )  # fmt: skip


def _children(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    kin = scene.said(found, "kin").lower().split(" ")[-1]
    key = RELATIONS.get(kin) or RELATION_PLURALS.get(kin)
    if entity is None or key is None:
        return
    names = [one for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", scene.said(found, "v")) if (one := name(part)) and is_name(one)]
    if found["v"] and not names:
        return
    value_of_kind = f"{found['count']} {scene.said(found, 'kin')}" if found["count"] not in ("a", "an") else scene.said(found, "kin")
    for value in names or [value_of_kind]:
        yield StateDraft(
            entity=entity, key=key, value=value, begin=found.start(), stop=found.end(), kind=kin if names else None,
            tags=(kin,),
        )  # fmt: skip


_ATTRIBUTES = (
    r"(?:(?:current|new|full|first|last|home|work|mailing|e-?mail|email|phone|mobile|cell|contact|telephone) ){0,2}"
    r"(?:name|nickname|pronouns|email|e-mail|email address|address|phone number|phone|number|cell|birthday|date of birth|age|height|"
    r"blood type|zodiac sign|star sign|hometown|nationality|job|job title|occupation|profession|employer|native language|"
    r"mother tongue|major|hobby|time ?zone|salary|rent|shoe size|favou?rite [\w-]+(?: [\w-]+)?)"
)
_FREE_VALUE = re.compile(r"^(?:a bit|so|very|really|too|not|always|never|going|getting|coming|that|it|this|kind of|pretty|great|good|bad|about|"
                         r"more|different|hard|amazing|the best|one of|when|where|how|what|to)\b", re.IGNORECASE)  # fmt: skip


def _attribute(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"My sister's birthday is May 4", "my email is …", "my favourite colour is blue"."""
    owner, attribute = found["of"], found["attr"].lower()
    begin = found.start()
    if owner.lower() == "my":
        entity: str | None = scene.owner
    else:
        words = owner.removesuffix("'s")
        if words.lower().startswith("my "):
            entity = words[3:] if scene.owner == "user" else f"{scene.owner}'s {words[3:]}"
            if words[3:].split(" ")[-1].lower() in ("job", "company", "work", "project", "app", "house", "car"):
                return
        else:
            entity = words if is_name(words, first=begin == 0) else None
    value = scene.said(found, "v")
    if entity is None or not value or _FREE_VALUE.match(value):
        return
    key = canonical_key(attribute)
    if key in ("birthday",) and "\x01" not in found["v"]:
        return
    if key == "pet" or (key == "name" and name(value) is None):
        return
    if key == "name":
        value = name(value) or value
        kin = entity.split(" ")[-1].lower()
        if entity != scene.owner and kin in RELATIONS:
            yield StateDraft(entity=scene.owner, key=RELATIONS[kin], value=value, begin=begin, stop=found.end(), kind=entity)
            return
        if entity != scene.owner and kin in PETS:
            yield StateDraft(entity=scene.owner, key="pet", value=value, begin=begin, stop=found.end(), kind=kin)
            return
    if key.startswith("favourite_") or key in ("hobby", "likes"):
        value = re.split(r" (?:because|since|but|so|and I|and it|as it|which)\b", value)[0].strip(" ,")
    if key == "email":
        address = re.search(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", scene.sentence.raw[found.start("v") :])
        if address is None:
            return
        value = address[0]
    if key == "phone" and sum(c.isdigit() for c in value) < 6:
        return
    if len(value) > 80 or (key not in ("residence", "email") and len(value.split(" ")) > 8):
        return
    yield StateDraft(entity=entity, key=key, value=value, begin=begin, stop=found.end(), announced=" new " in f" {attribute} ",
                     timed=key in ("residence", "employer", "occupation"))  # fmt: skip


def _relationship(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is None:
        return
    status = found["v"].lower()
    yield StateDraft(
        entity=entity, key="relationship_status", value=status, begin=found.start(), stop=found.end(), timed=True,
        announced="got" in found[0] or "just" in found[0],
    )  # fmt: skip
    if found["n"] and status in ("married", "engaged") and (who := name(scene.said(found, "n"))) is not None and is_name(who):
        yield StateDraft(entity=entity, key="spouse" if status == "married" else "partner", value=who, begin=found.start(),
                         stop=found.end(), timed=True)  # fmt: skip


_WITH = r"(?: (?:with|alone|together|here|in an? apartment|in a house|out|over|up|down|back)(?: (?:my|our|his|her) [\w' ]{2,25}?)?)?"
_NEW_JOB = (
    r"(?:started(?: working)?(?: at| with)|started (?:a |my |the |his |her )?(?:new )?(?:job|role|position)(?: as (?:an?|the) (?P<r>[\w /&-]{3,40}?))? (?:at|with)|"
    r"got (?:a|an|the|this|my) (?:new )?(?:job|position|role)(?: offer)? (?:at|with)|(?:was|got|been|'s been) hired (?:by|at)|"
    r"landed (?:a|an|my) (?:new )?(?:dream )?(?:job|role|position) (?:at|with)|switched jobs to|changed jobs to|jumped ship to|"
    r"accepted (?:a|an|the) (?:job|offer|position|role)(?: offer)? (?:at|with|from))"
)

RULES: tuple[Rule, ...] = (
    rule("live lives living based settled reside resides",
         r"<S><BE>?<ADV>(?:live|lives|living|reside|resides|residing|based|settled(?: down)?)" + _WITH + r"(?:[ ,]*<T>,?)? (?:in|at|outside) (?P<v><PLACE>)",
         states("residence", _person_free_place, timed=True)),
    rule("living",
         r"<I> (?:really |absolutely |just )?(?:love|enjoy|like) living" + _WITH + r" in (?P<v><PLACE>)",
         states("residence", _person_free_place)),
    rule("living lived",
         r"<S>(?:'ve| have|'s| has)<ADV>(?:been living|lived)" + _WITH + r" in (?P<v><PLACE>)(?=[ ,]*\x01)",
         states("residence", _person_free_place, timed=True)),
    rule("moved relocated emigrated immigrated",
         r"<S><HAVE>?<ADV>(?:moved|relocated|emigrated|immigrated)(?: back| over| out| up| down| house| away|,? <T>)?"
         r"(?: with (?:my|our|his|her) [\w ]{2,20}?)?(?: from (?P<o><PLACE>))?(?: <T>)? to (?P<v><PLACE>)",
         states("residence", _person_free_place, announced=True, timed=True)),
    rule("moved",
         r"<S><HAVE>?<ADV>moved (?:in)?to (?:an?|the|my|our) (?:[\w-]+ ){0,3}(?:apartment|flat|house|place|home|condo|studio) (?:in|near) (?P<v><PLACE>)",
         states("residence", _person_free_place, announced=True, timed=True)),
    rule("longer live lives living",
         r"<S><ADV>(?:no longer (?:live|lives)|(?:stopped|quit) living|(?:don't|doesn't|do not|does not) live (?=[^.!?]{0,50}(?:anymore|any more|any longer|now)))(?: in) (?P<v><PLACE>)",
         states("residence", _person_free_place, statement="ended", timed=True), free=True),
    rule("used", r"<S><ADV>used to live (?:in|at) (?P<v><PLACE>)",
         states("residence", _person_free_place, statement="ended"), free=True),
    rule("from hometown",
         r"<S><BE> (?:originally |actually |also )?from (?P<v><PLACE>)(?=$|[.,!;)]| (?:originally|and|but)\b)",
         states("hometown", _person_free_place, confidence=0.85)),
    rule("grew", r"<S><ADV>grew up in (?P<v><PLACE>)", states("hometown", _person_free_place)),
    rule("born", r"<S> was born(?: and raised)? in (?P<v><PLACE>)", states("birthplace", _person_free_place)),
    rule("work works working employed interning",
         r"<S><BE>?<ADV>(?:work|works|working|employed|interning)(?: full[- ]time| part[- ]time| remotely| here|,? <T>)? (?:at|for|by) (?P<v><ORG>)"
         r"(?:,? as (?:an?|the|their) (?P<r><ROLE>))?(?=$|[^\w-])",
         states("employer", organisation, timed=True)),
    rule("worked working",
         r"<S>(?:'ve| have|'s| has)<ADV>(?:been working|worked)(?: as an? (?P<r>[\w /-]{3,40}?))? (?:at|for) (?P<v><ORG>)(?=[ ,]*\x01)",
         states("employer", organisation, timed=True)),
    rule("joined joining", r"<S><HAVE>?<ADV>joined (?P<v><ORG>)(?:'s [\w ]{2,20}?)?(?:,? as (?:an?|the|their) (?P<r><ROLE>))?(?=$|[^\w-])", _joined),
    rule("started job jobs hired landed accepted got position role",
         rf"<S><HAVE>?<ADV>{_NEW_JOB} (?P<v><ORG>)", states("employer", organisation, announced=True, timed=True)),
    rule("job employer company",
         r"(?P<s>[Mm]y) (?:new |current )?(?:job|employer|company|workplace) is (?:at |with |called |named )?(?P<v><CAPS>)(?=$|[.,!;)\x01 ])",
         lambda found, scene: _owner_state(found, scene, "employer", organisation)),
    rule("left quit resigned laid fired retired leaving stopped",
         r"<S><HAVE>?<ADV>(?P<verb>left|quit|resigned from|(?:got|was|been) laid off (?:from|by)|(?:got|was) fired from|retired from|stopped working (?:at|for))"
         r"(?P<sure> (?:my|his|her) (?:old )?(?:job|position|role)(?: as an? [\w ]{3,30}?)? (?:at|with))? (?P<v><ORG>)", _left),
    rule("longer anymore working work",
         r"<S><ADV>(?:no longer (?:work|works)|(?:am|is|'m|'s) no longer (?:working|with)|(?:don't|doesn't|do not|does not) work (?=[^.!?]{0,60}(?:anymore|any more|any longer)))"
         r"(?: at| for| with)? ?(?P<v><ORG>)(?: as an? (?P<r><ROLE>))?",
         states("employer", organisation, statement="ended", timed=True), free=True),
    rule("used", r"<S><ADV>used to work (?:at|for) (?P<v><ORG>)(?:,? as an? (?P<r><ROLE>))?",
         states("employer", organisation, statement="ended"), free=True),
    rule("am i'm im is she's he's we're are",
         r"<S><BE><ADV>(?P<new>now )?(?:an?|the) (?P<v><ROLE>)(?: (?:at|for|with) (?P<e><ORG>))?(?=$|[^\w'-])", _occupation),
    rule("work works working worked hired promoted employed started position job",
         r"<S>(?:<BE>|'ve been| have been| has been)?<ADV>(?:work|works|working|employed|(?P<new>hired|(?:got |was |been )?promoted|started(?: working| out)?|got a (?:new )?(?:job|position))) (?:as|to) (?:an? |the )?(?:new )?(?P<v><ROLE>)(?: (?:at|for|with) (?P<e><ORG>))?(?=$|[^\w'-])",
         _occupation),
    rule(" ".join(RELATIONS), r"\b[Mm]y (?P<kin><ADJ><REL>)(?:,? (?:is |who is |who's )?(?:named|called),?|'s name is|, | is )? ?(?P<v><NAME>)(?!\w)", _kin_named, free=True),
    rule(" ".join(RELATIONS), r"(?:^|[,;] |\b(?:and|but|so|that) )(?P<v>[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?: is|,| was|'s) my (?P<kin><ADJ><REL>)(?=$|[.,!;)]| (?:and|who|from|since)\b)", _kin_named, free=True),
    rule(" ".join((*RELATIONS, *RELATION_PLURALS)),
         r"<S>(?: have|'ve got| have got| has|'s got)<ADV>(?P<count>an?|one|two|three|four|five|six) (?:[a-z-]+ ){0,2}(?P<kin>(?:wife|husband|girlfriend|boyfriend|son|daughter|kid|child|baby|brother|sister|sibling|twin)s?|children|(?:older|younger|twin|little|big) (?:brother|sister)s?)"
         r"(?:,? (?:named|called),? (?P<v>[A-Z]\w+(?:(?:, (?:and )?| and )[A-Z]\w+){0,5}))?(?=$|[.,!;)\x01]| (?:and|who|together|with|in)\b)", _children),
    rule("married engaged divorced single", r"<S>(?:<BE>|'ve been| have been| has been| got| just got|<ADV>got)<ADV>(?:happily |newly )?(?P<v>married|engaged|divorced|single)(?: to (?P<n><NAME>))?(?=$|[.,!;)\x01 ])(?! (?:about|out|mom|mother|dad|father|parent|file|point|person|day|thing))", _relationship),
    rule(" ".join(PETS), r"<S>(?:<HAVE>)?<ADV>(?:have|has|own|owns|(?P<got>got|adopted|bought|rescued|brought home)|'ve got)<ADV>(?:an?|one|two|three|four|five|\d|this|our|my|another)(?: new)? (?P<count_kind>(?:(?!for|of|with|to|the)[\w-]+ ){0,3}?(?P<pet>guinea pigs?|[a-z-]+))(?:,? ?(?:named|called),? |, |: | - |-)(?P<v>[\"“']?[A-Z]\w+[\"”']?(?:(?:, (?:and )?| and | & )[A-Z]\w+){0,5})(?!\w)", _pets),
    rule(" ".join(PETS), r"<S>(?:<HAVE>)?<ADV>(?:have|has|own|owns|(?P<got>adopted|bought|rescued|brought home))<ADV>(?:an?|one|two|three|four|five|\d|another)(?: new)? (?P<count_kind>(?:(?!for|of|with|to|the|hot)[\w-]+ ){0,2}?(?P<pet>guinea pigs?|[a-z-]+))(?=$|[.,!;)]| ?\x01| (?:and|at home|too|that|who|from|which)\b)", _pets),
    rule(" ".join(PETS), r"\b[Mm]y (?:[a-z-]+ ){0,2}?(?P<pet>guinea pig|[a-z-]+)(?:,? (?:is )?(?:named|called),?|'s name is|s' names are|s are (?:named|called)|,)? (?P<v>[A-Z]\w+(?:(?:, (?:and )?| and | & )[A-Z]\w+){0,5})(?!\w)", _pets, free=True),
    rule(" ".join(PETS), r"(?:^|[,;] |\band )(?P<v>[A-Z][a-z]+)(?: is|,|'s) (?:my|our) (?:[a-z-]+ ){0,2}?(?P<pet>guinea pig|[a-z-]+)(?=$|[.,!;)]| (?:and|who)\b)", _pets, free=True),
    rule("named call called name names", r"(?:\b(?:[Hh]er|[Hh]is|[Ii]ts|[Tt]heir) names? (?:is|are|'s)|\b(?:I|[Ww]e)(?:'ve| have)?(?: decided to)? (?:named?|call|called) (?:him|her|it|them)) (?P<v>[\"“']?[A-Z]\w+[\"”']?(?:(?:, (?:and )?| and | & )[A-Z]\w+){0,5})(?!\w)", _pronoun_named, free=True),
    rule("died passed dies", r"\b(?:[Mm]y|[Oo]ur) (?:[a-z-]+ ){0,2}?(?P<pet>guinea pig|[a-z-]+),?(?: (?P<v>[A-Z]\w+),?)?(?:[ ]\w+ly| just| has| had| sadly|,? <T>){0,3} (?:died|passed(?: away| on)?)(?!\w)", _pet_died),
    rule("died passed", r"(?P<v>\b[A-Z]\w+)(?:[ ]\w+ly| just| has| had|,? <T>){0,3} (?:died|passed(?: away| on)?)(?!\w)", _pet_died),
    rule("name nickname pronouns email address phone number cell birthday age height type sign hometown nationality job title "
         "occupation profession employer language tongue major hobby timezone zone salary rent size birth favorite favourite e-mail mail",
         r"(?P<of>\b[Mm]y|\b[Mm]y [\w-]+(?: [\w-]+)?'s|\b[A-Z]\w+'s) (?P<attr>" + _ATTRIBUTES + r")(?: is| was|'s| are|:| =| has changed to| changed to)(?: (?:called|now|currently|actually|on|in|at))? ?:? ?(?P<v>[^.;!?\x02\n]{1,90})", _attribute, free=True),
    rule("address mail email e-mail", r"(?P<of>\b[Mm]y|\b[A-Z]\w+'s) (?P<attr>(?:new )?e-?mail(?: address)?)(?: is|:| =)? ?(?P<v>[^\s,;!?]{3,90})", _attribute, free=True),
)  # fmt: skip


def _owner_state(found: re.Match[str], scene: Scene, key: str, clean: Clean) -> Iterable[Draft]:
    value = clean(scene.said(found, "v"))
    if value:
        yield StateDraft(entity=scene.owner, key=key, value=value, begin=found.start(), stop=found.end(), timed=True,
                         announced=" new " in found[0])  # fmt: skip
