"""The English rules: the pattern table, with the pieces and word lists that only the table uses."""

from __future__ import annotations

from events.language.timex.english.words import MONTHS, WEEKDAYS
from events.language.values import word_set
from ingest.extraction.rules.attributes.nouns import ROLES
from ingest.extraction.rules.english import (
    changes,
    health,
    life,
    people,
    projects,
    relationships,
    replies,
    routines,
)
from ingest.extraction.rules.english import work as english_work
from ingest.extraction.rules.english.grammar import LEISURE, expand
from ingest.extraction.rules.english.words import (
    CONDITIONS,
    INSTRUMENTS,
    LANGUAGES,
    OCCUPATIONS,
    ORGANISATION_HEADS,
    PETS,
    RELATION_PLURALS,
    RELATIONS,
    SPORTS,
    STAGE_WORDS,
)
from ingest.extraction.rules.table import rules

_WITH = (
    r"(?: (?:with|alone|together|here|in an? apartment|in a house|out|over|up|down|back)(?: (?:my|our|"
    r"his|her) [\w' ]{2,25}?)?)?"
)
_NEW_JOB = (
    r"(?:[Ss]tarted(?: working)? at|[Ss]tarted working with|[Ss]tarted (?:a |my |the |his |her )?(?:new )?(?:job|role|"
    r"position)(?: as (?:an?|the) (?P<r>[\w /&-]{3,40}?))? (?:at|with)|"
    r"[Gg]ot (?:a|an|the|this|my) (?:new )?(?:job|position|role)(?: offer)? (?:at|with)|(?:was|[Gg]ot|been|"
    r"'s been) hired (?:by|at)|"
    r"[Ll]anded (?:a|an|my) (?:new )?(?:dream )?(?:job|role|position) (?:at|with)|[Ss]witched jobs to|"
    r"[Cc]hanged jobs to|jumped ship to|"
    r"[Aa]ccepted (?:a|an|the) (?:job|offer|position|role)(?: offer)? (?:at|with|from))"
)
_ATTRIBUTE = (
    r"(?:(?:current|new|full|first|last|home|work|mailing|e-?mail|email|phone|mobile|cell|contact|"
    r"telephone) ){0,2}"
    r"(?:name|nickname|pronouns|email|e-mail|email address|address|phone number|phone|number|cell|birthday|"
    r"date of birth|age|height|"
    r"blood type|zodiac sign|star sign|hometown|nationality|job|job title|occupation|profession|employer|"
    r"native language|"
    r"mother tongue|major|hobby|time ?zone|salary|rent|shoe size|favou?rite [\w-]+(?: [\w-]+)?)"
)
_RELEASES = (
    "open-source open-sourced open-sourcing opensource source sourced sourcing release released releasing "
    "releases launch launched "
    "launching launches ship shipped shipping ships live publish published publishing public rolled "
    "rolling roll"
)
_PROJECT = (
    r"(?P<s>(?:[Tt]he|[Oo]ur|[Mm]y|[Tt]his) (?:[a-z]+ )?(?:project|app|team|backend|frontend|"
    r"service|product|site|website|platform|company|codebase|server|pipeline|stack)|I|(?:[Pp]roject "
    r")?[A-Za-z][\w.-]{1,29}(?: project)?)"
)
_RELEASE = (
    r"(?:open[- ]sourc(?:e|ed|ing)|releas(?:e|ed|ing)|launch(?:ed|ing)?|ship(?:ped|ping)?|"
    r"go(?:ing)? live|publish(?:ed|ing)?|go(?:ing)? public|roll(?:ed|ing)? out)"
)
_PAST = (
    r"(?:(?!need|exceed|succeed|proceed|indeed|speed|bleed|breed|embed|agreed)[a-z]{2,}ed|went|took|had|met|saw|made|got|bought|ate|drank|ran|swam|flew|drove|rode|wrote|read|"
    r"gave|came|began|won|lost|"
    r"sold|built|taught|caught|found|heard|held|kept|led|left|paid|put|sang|sat|sent|shot|slept|spent|"
    r"stood|told|threw|woke|wore|"
    r"broke|brought|chose|cut|did|drew|fell|fought|forgot|grew|hung|hurt|hit|knew|learnt|lit|set|shook|"
    r"spoke|stuck|thought|did|"
    r"became|started|finished|quit|let|dug|bit|hosted|beat|bet|swung|snuck|lent|spread|hid)"
)
# Verbs that open a sentence without a subject ("Went to the lake yesterday"). "Excited" opens other sentences.
_DID = (
    r"went|took|met|saw|made|got|bought|ate|drank|ran|swam|flew|drove|rode|wrote|gave|began|won|sold|built|taught|"
    r"caught|found|spent|slept|threw|brought|visited|attended|watched|finished|started|joined|tried|played|cooked|baked|"
    r"hosted|celebrated|moved|signed|booked|painted|planted|picked|dropped|"
    r"called|talked|walked|hiked|climbed|travell?ed|"
    r"volunteered|donated|adopted|ordered|installed|cleaned|fixed|repaired|passed|graduated|submitted|launched|shipped|"
    r"released|presented|performed|practi[cs]ed|learned|learnt|helped|hung out|caught up|had (?:a|an|the|my|our|dinner|"
    r"lunch|breakfast|coffee|drinks)|did (?:a|an|the|my|some)|read (?:a|an|the|my)|cut (?:my|the|our)"
)
_INDUSTRIES = (
    r"(?:marketing|finance|banking|insurance|sales|advertising|health ?care|education|retail|hospitality|logistics|"
    r"construction|tech|IT|HR|human resources|consulting|accounting|real estate|manufacturing|publishing|journalism|"
    r"customer (?:service|support|success)|public relations|procurement|agriculture|cybersecurity|biotech|pharma|"
    r"e-commerce|fashion|aviation|tourism|social work|childcare|law enforcement|nursing|catering)"
)
_MONTHS = tuple({number: name for name, number in reversed(MONTHS.items())}.values())
_WEEKDAYS = tuple({number: name for name, number in reversed(WEEKDAYS.items())}.values())
_PAST_DAYS = (
    word_set(
        "yesterday last ago earlier recently today morning night weekend week # weeks months years days since while "
        "other past back christmas thanksgiving"
    )
    | {*WEEKDAYS, *_MONTHS}
) - {"may"}
_FUTURE_DAYS = word_set(
    "tomorrow next tonight weekend week coming month later # christmas summer fall spring winter"
) | {*_WEEKDAYS, *_MONTHS}
_PIECES = {
    "<WITH>": _WITH,
    "<NEWJOB>": _NEW_JOB,
    "<ATTRIBUTE>": _ATTRIBUTE,
    "<PROJECT>": _PROJECT,
    "<RELEASE>": _RELEASE,
    "<PAST>": _PAST,
    "<DID>": f"(?:{_DID})",
    "<LANGUAGES>": f"(?:{LANGUAGES})",
    "<CONDITION>": f"(?i:{CONDITIONS})",
    "<PASTIME>": f"(?:{SPORTS}|{INSTRUMENTS}|{'|'.join(sorted(LEISURE))}|yoga|pilates|pottery|photography)",
    "<SHOP>": ORGANISATION_HEADS.replace("|bank|", "|").replace("|bar|", "|").replace("|lab|", "|"),
    "<ROLED>": f"(?:{'|'.join(sorted(ROLES))})",
    "<INDUSTRY>": _INDUSTRIES,
    "<CAR>": r"(?:[A-Z][\w-]+)(?: (?:[A-Z][\w-]*|\d[\w-]*)){0,3}",
}


def _source(text: str) -> str:
    for piece, pattern in _PIECES.items():
        text = text.replace(piece, pattern)
    return expand(text)


RULES = rules(
    "english/patterns.txt",
    people.MAKES
    | english_work.MAKES
    | relationships.MAKES
    | life.MAKES
    | health.MAKES
    | replies.MAKES
    | projects.MAKES
    | changes.MAKES
    | routines.MAKES,
    {
        "occupations": OCCUPATIONS,
        "relations": RELATIONS,
        "relation_plurals": RELATION_PLURALS,
        "pets": PETS,
        "stages": STAGE_WORDS.split("|"),
        "releases": _RELEASES.split(),
        "roles": ROLES,
        "role_plurals": {f"{role}s" for role in ROLES},
        "introductions": ("i'm", "am", "call", "name's", "this"),
        "future": sorted(_FUTURE_DAYS),
        "past": sorted(_PAST_DAYS),
    },
    _source,
)
