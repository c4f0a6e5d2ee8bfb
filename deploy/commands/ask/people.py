"""``cardlog people``: the people in a user's conversations, and who is whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import REASON, Verbs, argument, option

if TYPE_CHECKING:
    from cardlog_client import types

app = App(name="people", help="who is who in the conversations of a user")
verbs = Verbs(app)

_ID = argument("person", UUID, "the person's id, as listed")
_OTHER = argument("other", UUID, "the id of the other person")


def _lines(person: types.Person) -> Iterator[str]:
    names = [person["name"], *person["aliases"], *person["addresses"]]
    ties = f" ({', '.join(person['kinship'])})" if person["kinship"] else ""
    yield (
        f"{person['person_id']}  {', '.join(names)}{ties}  "
        f"{person['since'][:10]} to {person['last_mention'][:10]}, {person['mentions']} cards"
    )
    for each in person["merged"]:
        yield f"    merged: {each}"


def _page(found: types.PeoplePage) -> Iterator[str]:
    for each in found["people"]:
        yield from _lines(each)
    for merge in found["proposals"]:
        evidence = "; ".join(merge["evidence"])
        yield f"perhaps one: {merge['person_id']} is {merge['into_id']} ({merge['score']:.2f}): {evidence}"
    if not found["people"]:
        yield "nobody is named"


def _shown(person: types.KnownPerson) -> Iterator[str]:
    yield from _lines(person)
    for each in person["facts"]:
        yield f"    {each['content']}"


def _entries(found: types.PersonTimeline) -> Iterator[str]:
    for each in found["entries"]:
        quoted = f"{each['quoted']} told: " if each["quoted"] else ""
        yield f"{each['card']['said_at'][:10]}  {quoted}{each['card']['content']}"


verbs.call(
    "list", "list people, the last mentioned first, and the merges that wait", Client.people, verbs.options,
    option("name", str, "only people with this name or kinship"),
    lines=_page,
)  # fmt: skip
verbs.call("show", "show a person with what is true now", Client.person, _ID, lines=_shown)
verbs.call("timeline", "show the cards that name a person", Client.person_timeline, _ID, lines=_entries)
verbs.call(
    "note", "note a person", Client.note_person,
    argument("name", str, "the name"),
    option("kinship", str, "what ties the person to the user: sister, work; it tells two of a name apart"),
    lines=_lines,
)  # fmt: skip
verbs.call(
    "alias", "give a person another name", Client.alias_person, _ID,
    argument("alias", str, "the name, or the address or account"),
    option("kind", Literal["name", "handle"], "handle: an address or an account (default: name)"),
    lines=_lines,
)  # fmt: skip
verbs.call(
    "merge",
    "say that two people are one: the other one",
    Client.merge_person,
    _ID,
    _OTHER,
    REASON,
    lines=_lines,
)
verbs.call(
    "split", "take back a merge with the other one", Client.split_person, _ID, _OTHER, REASON, lines=_lines
)
verbs.call(
    "distinct", "say that two people are two, for ever", Client.distinguish_person, _ID, _OTHER, REASON, lines=_lines
)  # fmt: skip
