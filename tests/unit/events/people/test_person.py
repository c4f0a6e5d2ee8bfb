"""Who is whom is a function of what was told, has no cycle, and never joins what is distinct."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from events.people.judgement import person_id
from events.people.mentions import Link, read
from events.people.person import Handle, People, fold
from events.types.cards import CardOrigin
from events.types.envelope import Event
from events.types.people import (
    PersonAliased,
    PersonEvent,
    PersonNoted,
    PersonsDistinct,
    PersonsMerged,
    PersonsSplit,
)
from tests.support.events.turns import stored
from tests.support.tables import examples

T = datetime(2026, 5, 8, tzinfo=UTC)
ORIGIN = CardOrigin(
    project_id="default", session_id="s", turn_ids=(), said_at=T, source_span=None, provenance="user_stated"
)
KINS = ("sister", "colleague", "friend", "neighbor")


def ident(handle: str) -> UUID:
    return person_id("u", handle)


def event(payload: PersonEvent, at: int) -> Event:
    when = T + timedelta(minutes=at)
    return stored(payload, position=at + 1, stream="people", occurred_at=when, recorded_at=when)


def told(*texts: str) -> tuple[list[Handle], list[Link]]:
    handles = [
        Handle(handle=each.handle, name=each.name, certain=each.certain, since=when, until=when)
        for day, text in enumerate(texts)
        for each in read(text).mentions
        if (when := T + timedelta(days=day))
    ]
    return handles, [link for text in texts for link in read(text).links]


def people(*texts: str, events: Iterable[PersonEvent] = ()) -> People:
    return fold("u", *told(*texts), [event(each, at) for at, each in enumerate(events)])


def groups(found: People) -> set[tuple[str, ...]]:
    return {each.handles for each in found.people}


def merged(one: str, other: str) -> PersonsMerged:
    return PersonsMerged(person_id=ident(one), into_id=ident(other), origin=ORIGIN)


def split(one: str, other: str) -> PersonsSplit:
    return PersonsSplit(person_id=ident(one), from_id=ident(other), origin=ORIGIN)


def distinct(one: str, other: str) -> PersonsDistinct:
    return PersonsDistinct(person_id=ident(one), other_id=ident(other), origin=ORIGIN)


TWO = ("My sister Noor is a nurse.", "Noor from work told me the job is boring.")
IS = "Noor from work is Noora Haddad."


def test_a_name_alone_is_the_only_person_of_that_name_and_nobody_when_there_are_two() -> None:
    assert groups(people(TWO[0], "Noor called.")) == {("noor|", "noor|sister")}
    found = people(*TWO, "Noor called.")
    assert groups(found) == {("noor|sister",), ("noor|work",)}
    assert len(found.shared["noor"]) == 2


def test_a_part_of_a_full_name_with_another_tie_is_proposed_and_not_applied() -> None:
    boss, club = "My boss Helen Marsh is strict.", "Helen from the book club likes Woolf."
    found = people(boss, club, "Helen called.")
    assert groups(found) == {("helen marsh|boss",), ("helen|", "helen|club")}
    [proposal] = found.proposals
    assert 0.5 < proposal.score < 0.95
    assert groups(people(boss, "Helen called.")) == {("helen marsh|boss", "helen|")}


def test_an_animal_is_no_person_and_no_part_of_a_person_who_has_its_name() -> None:
    dog, called = "My dog Max is seven.", "Max said woof."
    assert groups(people(dog, called)) == set()
    assert groups(people(dog, called, "Max Reed told me so.")) == {("max reed|",)}
    assert groups(people(dog, called, "My friend Max is here.")) == {("max|friend",)}


def test_a_sister_may_be_the_elder_one_unless_there_is_a_younger_one() -> None:
    sister, elder, younger = (f"My {age}sister Noor is here." for age in ("", "elder ", "younger "))
    assert groups(people(sister, elder, "Noor called.")) == {("noor|", "noor|elder_sister", "noor|sister")}
    assert len(groups(people(sister, elder, younger))) == 3


def test_two_people_of_one_name_who_are_one_have_the_name_alone() -> None:
    found = people(*TWO, "Noor called.", events=[merged("noor|sister", "noor|work")])
    assert groups(found) == {("noor|", "noor|sister", "noor|work")}
    assert not found.shared


def test_what_words_say_of_identity_is_proposed_and_not_applied() -> None:
    found = people(*TWO, IS)
    assert ("noor|work",) in groups(found)
    [proposal] = found.proposals
    assert (proposal.person_id, proposal.into_id) == (ident("noor|work"), ident("noora haddad|"))
    assert IS in proposal.evidence[0]
    assert 0.5 < proposal.score < 0.95


def test_a_merge_holds_until_it_is_split_and_may_hold_again() -> None:
    merge, apart = merged("noor|work", "noora haddad|"), split("noor|work", "noora haddad|")
    found = people(*TWO, IS, events=[merge])
    assert ("noora haddad|", "noor|work") in groups(found)
    assert found.of_id[ident("noor|work")].person_id == ident("noora haddad|")
    assert found.proposals == []
    assert ("noor|work",) in groups(people(*TWO, IS, events=[merge, apart]))
    again = people(*TWO, IS, events=[merge, apart, merge])
    assert again.of_id[ident("noor|work")].name == "Noora Haddad"


def test_different_holds_for_ever() -> None:
    pair = ("noor|work", "noora haddad|")
    orders: tuple[list[PersonEvent], ...] = (
        [distinct(*pair), merged(*pair)],
        [merged(*pair), distinct(*pair), merged(*pair), split(*pair)],
    )
    for events in orders:
        assert ("noor|work",) in groups(people(*TWO, IS, events=events))


def test_a_split_takes_back_what_the_fold_itself_applied() -> None:
    found = people(
        "My sister Noor is here.", "My sister is a nurse.", events=[split("|sister", "noor|sister")]
    )
    assert groups(found) == {("noor|sister",), ("|sister",)}


@examples
def test_likeness_alone_merges_nobody(texts: tuple[str, ...]) -> None:
    found = people(*texts)
    assert all(len(each.handles) == 1 for each in found.people)
    assert found.proposals == []


def test_a_noted_person_has_a_tie_and_other_names() -> None:
    noted = PersonNoted(name="Noor", kinship="my sister", origin=ORIGIN)
    alias = PersonAliased(
        person_id=ident("noor|sister"), alias="noor@example.org", kind="handle", origin=ORIGIN
    )
    other = PersonAliased(person_id=ident("noor|sister"), alias="Nunu", origin=ORIGIN)
    [found] = people(events=[noted, alias, other]).people
    assert (found.name, found.aliases, found.kinship) == ("Noor", ("Nunu",), ("sister",))
    assert found.addresses == ("noor@example.org",)
    assert found.gender == "f"


_HANDLES = [f"{name}|{kin}" for name in ("ann", "bo") for kin in KINS]
_PAIRS = st.sampled_from([(one, other) for one in _HANDLES for other in _HANDLES if one != other])
_JUDGED = st.tuples(st.sampled_from((merged, split, distinct)), _PAIRS)


@given(st.lists(_JUDGED, max_size=25), st.randoms())
def test_people_have_one_canonical_person_in_any_order(
    judged: list[tuple[Callable[[str, str], PersonEvent], tuple[str, str]]], random: Random
) -> None:
    noted = [PersonNoted(name=name, kinship=kin, origin=ORIGIN) for name in ("Ann", "Bo") for kin in KINS]
    told = [*noted, *(make(*pair) for make, pair in judged)]
    events = [event(each, at) for at, each in enumerate(told)]
    found = fold("u", [], [], events)
    shuffled = list(events)
    random.shuffle(shuffled)
    assert found.people == fold("u", [], [], shuffled).people
    members = [one for each in found.people for one in each.ids]
    assert sorted(members) == sorted(map(ident, _HANDLES))
    for each in found.people:
        assert {found.of_id[one].person_id for one in each.ids} == {each.person_id}
    parted = {frozenset(pair) for make, pair in judged if make is distinct}
    parted |= {
        pair for pair, make in {frozenset(pair): make for make, pair in judged}.items() if make is split
    }
    for pair in parted:
        assert len({found.of_id[ident(handle)].person_id for handle in pair}) == 2
