"""What newer words do to older cards: a later turn on the same topic may end what an earlier card says.

Everything is decided from the cards of one recall, without a model. The words of topics are compared as the stored keys
of their terms, so no text is analysed again.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from math import log

from events.language.changes import (
    READ,
    before_change,
    brief,
    differ,
    doer,
    mends,
    over_in,
    subject_in,
    tells_of_a_change,
    told_clauses,
    told_sentences,
    values,
    without_change,
)
from events.language.concepts import concept, concepts_asked, concepts_changed
from events.language.quoted import without_quotations
from events.language.terms import stem, term_keys
from events.types.cards import PASTED
from projectors.cards.card import Card
from retrieval.query.scope import OWNER
from retrieval.recall.ranking.asked import Asked, asks, words_of
from retrieval.recall.ranking.candidate import SAME_TOPIC, Candidate

COMPARED = 30
"""The best candidates, whose topics are compared."""
_ALIKE = 0.05  # of the weight of all words of an older turn: fewer words in common may be another matter
_ENDS = 0.1  # of that weight: a change ends a turn with so much in common
_ABOUT = 0.25  # of the weight of the question's words: a card with less is about another thing
_ENGLISH_UNITS = (
    "mg",
    "milligrams",
    "g",
    "grams",
    "kg",
    "ml",
    "millilitres",
    "hours",
    "minutes",
    "days",
    "times",
)
_CHINESE_UNITS = ("毫克", "克", "公斤", "毫升", "片", "粒", "次", "小时", "分钟", "天")
_UNITS = frozenset(map(stem, (*_ENGLISH_UNITS, *_CHINESE_UNITS)))
_TIES = frozenset(("family", "social"))  # categories of concepts whose values are people and pets
_SOON = timedelta(minutes=30)
_PRONOUNS = frozenset(
    ("they", "it", "that", "this", "these", "he", "she", "它", "这", "那", "他", "她", "他们")
)


def compare(found: Sequence[Candidate], asked: Asked, *, most: int = COMPARED) -> None:
    """Notes in the best candidates, at ``most`` so many, what newer ones do to older ones.

    The topic of a card are its words that the question has, or all its words when the question has none of them. The
    topic of a state is its value, too, and its slot, when the question asks for it. Only what one speaker said counts,
    and only a text that tells something ends anything. Cards of one turn are never compared, and share what ends them.
    A turn that repeats a value without a word of change refreshes it.
    """
    # Of two cards of one instant, the card that was made later is the later one.
    own = sorted(found[:most], key=lambda each: (each.card.said_at, each.card.card_id.int))
    own = [
        each
        for each in own
        if each.card.provenance != "assistant_stated" and each.card.kind in ("state", "event")
    ]
    telling = [
        (place, each, _changes(_own_words(each.card.content)))
        for place, each in enumerate(own)
        if each.card.episode and PASTED not in each.card.tags and asks(each.card.content) < 1
    ]
    spread = Counter(term for each in own for term in each.terms)
    weights = {term: log(1 + len(own) / count) for term, count in spread.items()}
    # Whatever people say to each other has their names, so their names are no topic.
    names = frozenset().union(*(_name_keys(each.card.speaker, asked.user_id) for each in own))
    for place, older in enumerate(own):
        if _happened(older.card) or older.card.card_id in asked.disputed:
            continue
        # A turn without a change tells something of a card without a value only by another number or time.
        valued, others = asked.value(older.card) is not None, _values(older.card.content)
        later = [
            each
            for at, each, changes in telling
            if at > place
            and (valued or changes or _differ(_values(_own_words(each.card.content)), others))
            and _may_end(each.card, older.card)
            and _share_a_subject(each.subjects, older.subjects)
            and not _ends_another(each, older.card, asked)
        ]
        if later:
            _compare_with(later, older, weights, names, asked)
    for place, newer, _ in telling:
        if _mends(_own_words(newer.card.content)):
            _mend(newer, own[:place], asked)
    known = {each.card_id: each for each in found}
    for turn, successor in asked.over.items():
        # A turn is over when another card superseded its only fact, unless the question asks for its other words.
        if turn in known and successor in known:
            over, new = known[turn], known[successor]
            if not asked.for_another(new.card) or over.terms & asked.keys <= new.terms:
                over.is_ended(new, 1.0, surely=True)
    _share_among_turns(own, asked)


def _may_end(newer: Card, older: Card) -> bool:
    """True for two cards of one speaker and project, and of different turns."""
    return (
        newer.speaker == older.speaker
        and newer.project_id == older.project_id
        and set(newer.turn_ids).isdisjoint(older.turn_ids)
    )


def _happened(card: Card) -> bool:
    """True for an event that has happened: nothing that comes later can end it."""
    return card.kind == "event" and not card.episode and card.event_status in (None, "happened")


def _share_a_subject(newer: frozenset[str], older: frozenset[str]) -> bool:
    """True unless facts were read from both, and nobody is in both. What Ruben does says nothing of the user."""
    return not newer or not older or not newer.isdisjoint(older)


def _compare_with(
    later: Sequence[Candidate],
    older: Candidate,
    weights: Mapping[int, float],
    names: frozenset[int],
    asked: Asked,
) -> None:
    """Notes what each of the ``later`` turns, in their order, does to an older card."""
    card = older.card
    value = asked.value(card)
    # A new hobby ends no other hobby.
    listed = card.cardinality == "multi_value"
    one = card.entity == OWNER and not listed
    tie = _matter(card) in _TIES
    of_slots = asked.question.concepts
    slot = card.concept_key if one and (asked.question.overview or card.concept_key in of_slots) else None
    # A word of a topic or a value that is often spoken of is no weaker sign of it.
    told = older.terms - names - _name_keys(card.entity, asked.user_id)
    # A time is in many texts. Without words of the question, the topic is what the time is told of.
    topic = told & asked.keys or told - _time_keys(card.content, asked.user_id) or told
    # A card that has little of the question is about another thing.
    of_question = asked.keys & weights.keys()
    beside = value is None and bool(of_question) and _share(of_question, told, weights) < _ABOUT
    # A value that the question names tells which thing is meant.
    others = _values(card.content if value is None else card.value or "")
    meant = others & _values(asked.question.text)
    asked_of = frozenset() if beside else (told & asked.keys) - _time_keys(asked.question.text, asked.user_id)
    of_slot = _slot_keys(card, asked.user_id)
    of_fact = told | of_slot | (value or frozenset())
    # Numbers and their units are in many texts, so they are no sign of a topic.
    thing = _thing_keys(card.value, asked.user_id) or topic
    for newer in later:
        said, text = newer.terms, _own_words(newer.card.content)
        changes = _changes(text)
        own = _values(text) if others else others
        another = _differ(own, others)
        # With words of the question that the older card lacks, it is about another thing: the VPN of the office.
        elsewhere = value is None and not (said & asked.keys) - names <= older.terms
        apart, telling = False, frozenset[int]()
        if changes or another:
            # Two turns are about different things when each names its thing with a word that the other lacks.
            telling, subjects = _telling(text, asked.user_id, own - others if another else frozenset())
            of_older = (*(_subjects(card.content, asked.user_id) or [told & asked.keys]), thing)
            apart = bool(subjects) and not _any_in(subjects, of_fact) and not _any_in(of_older, said)
        if value is not None:
            share = _share(thing if others else value or topic, said)
            repeated = _share(value or topic, said) >= 1
            news = False
            if slot is not None:
                # "Moved" is news of many things. A turn that is far from the question is no news of its slot.
                news = newer.evidence.meaning >= 0 and _any_about(
                    _news(text).get(slot, ()), of_fact, asked.user_id
                )
                changes = changes or news
                apart = apart and not news and slot not in _concepts(text)
                share = 1.0 if news or slot in _concepts(text) else share
            named = max(share, _share(of_slot, said))
            changed: Collection[str] = _changed(text)
            if listed or tie:
                changed = _changed_of(value, text, asked.user_id, tie=tie)
            of_it = not apart and (news or _any_about(changed, of_fact, asked.user_id))
            if of_it and named >= SAME_TOPIC:
                older.is_ended(newer, named, surely=True)
            elif repeated:
                older.holds_again()
        # One more member of a list is no change of the others, and no other change of a turn that names it is one.
        of_list = value is not None and (listed or tie) and not others
        tells = another or (changes and not asked.question.several)
        if of_list or not tells or (own and not meant <= own):
            continue
        very = frozenset[int]() if apart or elsewhere else asked_of
        if changes and _tells_only(text, telling, very, told, asked):
            older.is_ended(newer, 1.0, surely=True)
            continue
        share = _share(thing, telling)
        alike = _share(older.terms, said, weights) if share else 0.0
        if alike < _ALIKE:
            share = 0.0
        replaced = changes and another and value is None and not asked.question.message
        in_the_session = newer.card.session_id == card.session_id
        # One common word of the question, such as a name, says little of what two turns are about.
        other = apart or beside or (elsewhere and not replaced) or (value is None and alike < _ENDS)
        if replaced and not apart and in_the_session and _names_nothing(text):
            # "They moved it to 4:30" names no word of the topic. Both turns are near to the question.
            share, other = max(share, min(older.evidence.meaning, newer.evidence.meaning)), False
        if share and other:
            older.is_like(newer, share)
        elif share:
            older.is_ended(newer, share, surely=replaced)


def _any_in(things: Collection[frozenset[int]], words: frozenset[int]) -> bool:
    return any(each <= words for each in things)


def _tells_only(
    text: str, telling: frozenset[int], topic: frozenset[int], told: frozenset[int], asked: Asked
) -> bool:
    """True when a change tells little else than the ``topic`` of an older card, and all of it."""
    named = bool(topic) and topic <= telling
    return named and _share(_unchanged(text, asked.user_id), told) >= SAME_TOPIC


def _mend(correction: Candidate, earlier: Sequence[Candidate], asked: Asked) -> None:
    """Notes the last turn before a brief correction that it can mean. It needs no word of that turn.

    Of several sentences it means the last one, or one with another value of the same kind.
    """
    for before in reversed(earlier):
        if (
            before.card.episode
            and _may_end(correction.card, before.card)
            and correction.card.session_id == before.card.session_id
            and correction.card.said_at - before.card.said_at <= _SOON
        ):
            if _may_mean(_own_words(correction.card.content), before, asked):
                before.is_ended(correction, 1.0, surely=True)
            return


def _may_mean(correction: str, before: Candidate, asked: Asked) -> bool:
    """True unless the question asks for another sentence of a turn than the one that a correction can mean."""
    *first, last = [each for each in told_sentences(before.card.content) if each.strip()] or [""]
    about = [each for each in first if asked.keys & _name_keys(each, asked.user_id)]
    if not about or asked.keys & _name_keys(last, asked.user_id):
        return True
    return any(_differ(_values(correction), _values(each)) for each in about)


def _share_among_turns(own: Sequence[Candidate], asked: Asked) -> None:
    """Gives the cards of a turn what surely ends one of them.

    Beside other facts of the turn, what has a number holds, because the next weight says nothing of the height. So does
    a fact of another matter: who leaves an employer lives where they lived, and has the occupation no longer. What ends
    the turn itself ends no well-known fact that the question does not ask for.
    """
    of_turn: dict[str, list[Candidate]] = {}
    for each in own:
        for turn in each.card.turn_ids:
            of_turn.setdefault(turn, []).append(each)
    for cards in of_turn.values():
        several = sum(not each.card.episode for each in cards) > 1
        ended = next((each.ended_by for each in reversed(cards) if each.surely), None)
        matters = {_matter(each.card) for each in cards if each.surely and each.card.kind == "state"}
        for each in cards:
            if ended is None or each.surely or (several and _holds_beside(each.card, matters)):
                continue
            if not matters and asked.for_another(each.card):
                continue
            each.is_ended(ended, 1.0, surely=True)


def _holds_beside(card: Card, ended: Collection[str]) -> bool:
    """True for what holds beside facts of its turn that ended. ``ended`` are the matters of these facts."""
    other = card.kind == "state" and _matter(card) not in ended
    return not card.episode and (other or bool(_values(card.content)))


def _matter(card: Card) -> str:
    """Returns the category of the concept of a fact, or its key."""
    key = card.concept_key or ""
    known = concept(key)
    return key if known is None else known.category


def _share(topic: frozenset[int], said: frozenset[int], weights: Mapping[int, float] | None = None) -> float:
    """Returns how much of the words of a topic a text has, by number or by weight. ``weights`` have each of them."""
    shared = topic & said
    if not shared or weights is None:
        return len(shared) / len(topic) if shared else 0.0
    weight = weights.__getitem__
    return sum(map(weight, shared)) / sum(map(weight, topic))


def _slot_keys(card: Card, user_id: str) -> frozenset[int]:
    """Returns the keys of the words that name a fact with one value, if the registry does not know it."""
    key = card.concept_key
    if key is None or card.kind != "state" or card.cardinality != "single_value" or concept(key) is not None:
        return frozenset()
    return frozenset(term_keys(user_id, words_of(key.replace("_", " "))))


@lru_cache(maxsize=4096)
def _name_keys(name: str | None, user_id: str) -> frozenset[int]:
    return frozenset(term_keys(user_id, words_of(name))) if name and name != OWNER else frozenset()


@lru_cache(maxsize=4096)
def _time_keys(text: str, user_id: str) -> frozenset[int]:
    return frozenset(term_keys(user_id, [word for each in _values(text) for word in words_of(each)]))


@lru_cache(maxsize=4096)
def _thing_keys(value: str | None, user_id: str) -> frozenset[int]:
    """Returns the keys of the words that a value with a number names: of the medicine, and not of its dose."""
    if value is None or not _values(value):
        return frozenset()
    no_things = _UNITS | _values(value)
    things = [each for each in words_of(value) if each.isalpha() and len(each) > 1 and each not in no_things]
    return frozenset(term_keys(user_id, things))


# Most recalls of a user see the same cards as the recall before.
_own_words = lru_cache(maxsize=4096)(without_quotations)
_changes = lru_cache(maxsize=4096)(tells_of_a_change)
_values = lru_cache(maxsize=4096)(values)
_differ = lru_cache(maxsize=8192)(differ)
_mends = lru_cache(maxsize=4096)(mends)


@lru_cache(maxsize=4096)
def _news(text: str) -> Mapping[str, Collection[str]]:
    """Returns who does what is new of each concept."""
    found: dict[str, set[str]] = {}
    for each in told_clauses(text):
        for key, before in concepts_changed(each).items():
            if (who := doer(before)) is not None:
                found.setdefault(key, set()).add(who)
    return found


@lru_cache(maxsize=4096)
def _sentences(text: str) -> Sequence[tuple[str, bool, frozenset[str]]]:
    """Returns each sentence, if it tells a change, and its values."""
    return [(each, tells_of_a_change(each), values(each)) for each in told_sentences(text)]


@lru_cache(maxsize=8192)
def _telling(
    text: str, user_id: str, values_of: frozenset[str]
) -> tuple[frozenset[int], Sequence[frozenset[int]]]:
    """Returns the keys of the sentences that tell a change or one of ``values_of``, and of the subjects they name."""
    told = [each for each, changes, own in _sentences(text) if changes or not values_of.isdisjoint(own)]
    keys = frozenset[int]().union(*(_name_keys(each, user_id) for each in told))
    return keys, [subject for each in told for subject in _subjects(each, user_id)]


@lru_cache(maxsize=4096)
def _unchanged(text: str, user_id: str) -> frozenset[int]:
    """Returns the keys of the sentences that tell a change, without the words of change."""
    told = (without_change(each) for each, changes, _ in _sentences(text) if changes)
    return frozenset[int]().union(*(_name_keys(each, user_id) for each in told))


@lru_cache(maxsize=8192)
def _subjects(text: str, user_id: str) -> Sequence[frozenset[int]]:
    """Returns the keys of each subject that the clauses of a text name: neither the speaker, nor a pronoun."""
    named = (doer(subject) for each in told_clauses(text) if (subject := subject_in(each)) is not None)
    return [keys for each in named if each and each not in _PRONOUNS and (keys := _name_keys(each, user_id))]


@lru_cache(maxsize=4096)
def _names_nothing(text: str) -> bool:
    """True for brief words in which the speaker, "they" or "it" does what changes: that may be any thing.

    Who says more names the thing. A correction is about one thing.
    """
    return brief(text) and not _mends(text) and any(not who or who in _PRONOUNS for who in _changed(text))


@lru_cache(maxsize=4096)
def _changed(text: str) -> Mapping[str, str]:
    """Returns who does what changes, with the words from the change on.

    "They" stands for people in general, who change things for everybody. A correction is the speaker's own.
    """
    found = {"": text} if _mends(text) else {}
    for clause in told_clauses(text):
        before = before_change(clause)
        if before is not None and (who := doer(before)) is not None:
            who = "" if who == "they" else who
            found[who] = f"{found.get(who, '')} {clause[len(before) :]}"
    return found


def _changed_of(value: frozenset[int], text: str, user_id: str, *, tie: bool) -> Collection[str]:
    """Returns who changes a member of a list: the speaker, whose words name it ("I gave up rowing"), or it itself.

    What somebody does ends no tie to the speaker: a sister who moves stays a sister.
    """
    return [
        who
        for who, told in _changed(text).items()
        if not (who and tie) and value <= _name_keys(who or told, user_id)
    ]


def _any_about(doers: Collection[str], fact: frozenset[int], user_id: str) -> bool:
    """True when the speaker does it, or the thing of a fact: "the lease ended". Somebody else's news end no fact."""
    return any(not who or ((keys := _name_keys(who, user_id)) and keys <= fact) for who in doers)


@lru_cache(maxsize=8192)
def _over(text: str, user_id: str) -> Sequence[frozenset[int]]:
    """Returns the keys of each clause that says what is no longer so."""
    return [_name_keys(each, user_id) for each in over_in(text)]


def _ends_another(newer: Candidate, card: Card, asked: Asked) -> bool:
    """True when a turn says what is no longer so of another value: "I no longer use the editor VS Code"."""
    over = _over(_own_words(newer.card.content), asked.user_id)
    value = asked.value(card) if over else None
    if value is None or value & newer.terms:
        return False
    known = _slot_keys(card, asked.user_id) | asked.keys
    return any(not told <= known for told in over)


@lru_cache(maxsize=4096)
def _concepts(text: str) -> tuple[str, ...]:
    return concepts_asked(text[:READ])
