"""A person is erased from every event that has words. What else these events say stays."""

import dataclasses
import types
from datetime import datetime
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID, uuid4

import pytest

from events.insights import insights_of
from events.modes.mode_log import RegistriesAt, registry_of
from events.platform.database import Connection
from events.platform.settings import Settings
from events.references.declarations import kind_of
from events.references.owners import stream_of, tenant_owner
from events.references.reference import Reference
from events.references.reference_log import current
from events.store import log
from events.threads import threads_of
from events.types import codec
from events.types.cards import EventNoted
from events.types.codec import encode
from events.types.envelope import NewEvent, partition_of, uuid7
from events.types.insights import STREAM as INSIGHTS
from events.types.insights import InsightDerived, InsightRetracted
from events.types.modes import CardReclassified
from events.types.references import (
    ReferenceName,
    ReferenceProposalRefused,
    ReferenceProposed,
    ReferenceTierChanged,
)
from events.types.tombstones import SubjectErased
from ingest import modes as mode_commands
from ingest.api import commands, corrections
from ingest.api.corrections import Correction
from ingest.api.thread_routes import UserThreads, close, open_thread, reopen
from ingest.decider import Command
from ingest.erasure.names import IDENTIFIERS
from ingest.modes import UserModes
from ingest.references import declarations, reference_commands
from ingest.references.reference_commands import ReferenceStream
from projectors.generations.generations import ensure_live
from projectors.references import ReferencesProjector
from projectors.registry import projectors
from tests.support.ingest.memories import SAID_AT, Memory
from tests.support.projectors import folding
from tests.support.projectors.folding import ORIGIN
from tests.support.tables import texts

PERSON = "Quillwortine"
LIST = ReferenceName(kind="todo_list", key="gifts")
BY = Command(owner="ada", actor="user/ada", at=SAID_AT)


def filled(hint: Any, text: str | None) -> Any:
    """Returns a value of the type, with ``text`` in every place for words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return filled(next(each for each in inner if each is not type(None)), text)
    if origin is Literal:
        return inner[0]
    if origin is tuple:
        return (filled(inner[0], text),)
    if origin is dict:
        return {"op": text or "plain"}
    if dataclasses.is_dataclass(hint):
        return made(hint, text)
    plain = {
        str: text or "plain",
        Any: {"text": text or "plain"},
        datetime: SAID_AT,
        UUID: uuid4(),
        bool: False,
    }
    return plain[hint] if hint in plain else hint(1)


def made(cls: Any, text: str | None) -> Any:
    """Returns an instance of a dataclass with ``text`` in its words, and plain identifiers."""
    hints = get_type_hints(cls)
    identifiers = IDENTIFIERS.get(cls, ())
    names = [each.name for each in dataclasses.fields(cls)]
    return cls(**{name: filled(hints[name], None if name in identifiers else text) for name in names})


codec.known_types()
ALL = sorted((cls for cls in codec._BY_CLASS if cls is not SubjectErased), key=lambda cls: cls.__name__)


def event(payload: Any, stream: str = "test", **more: Any) -> NewEvent:
    return folding.event(payload, "ada", **{"stream": stream, "occurred_at": SAID_AT} | more)


def test_a_name_in_any_words_of_any_event_goes(memory: Memory, connection: Connection) -> None:
    memory.fold()
    for cls in ALL:
        user, payload = cls.__name__, made(cls, f"a gift for {PERSON} today")
        named = PERSON in encode(payload).decode()
        log.append(connection, [dataclasses.replace(event(payload), user_id=user)])
        memory.erase("person", [PERSON], [user])
        left = [each.payload for each in log.read(connection, partition_of(user)) if each.user_id == user]
        assert not [each for each in left if PERSON in repr(each)], cls
        assert (payload in left) is not named, cls


class Ada:
    """A user with references, and the commands on them."""

    def __init__(self, memory: Memory, connection: Connection) -> None:
        self.memory = memory
        self.connection = connection
        memory.projectors.append(ReferencesProjector())

    def todo(self, *texts: str, name: ReferenceName = LIST) -> None:
        kind = kind_of(self.connection, "default", name.kind)
        if current(self.connection, "ada", self.stream(name)) is None:
            reference_commands.create(self.reference(name), kind, None, "session")
        for text in texts:
            reference_commands.apply(self.reference(name), kind, {"op": "add", "text": text})

    def reference(self, name: ReferenceName = LIST, command: Command = BY) -> ReferenceStream:
        return ReferenceStream(self.connection, name, command)

    def stream(self, name: ReferenceName = LIST) -> str:
        return stream_of(name)

    def list_of(self, name: ReferenceName = LIST) -> Reference:
        found = current(self.connection, "ada", self.stream(name))
        assert found is not None
        return found

    def texts(self, name: ReferenceName = LIST) -> list[str]:
        return [item["text"] for item in self.list_of(name).data["items"]]

    def forget(self, *words: str) -> None:
        """Erases the person. No table holds ``words``, and the tables equal a rebuild of the log."""
        self.memory.understand()
        self.memory.erase("person", [PERSON], ["ada"])
        self.memory.settle(PERSON, *words)


@pytest.fixture
def ada(memory: Memory, connection: Connection) -> Ada:
    return Ada(memory, connection)


def test_the_other_items_of_lists_stay_with_what_was_decided_about_the_lists(ada: Ada) -> None:
    ada.todo("milk", f"a scarf for {PERSON}", "bread")
    created, archived, moved = (
        ReferenceName(kind="todo_list", key=key) for key in ("created", "archived", "moved")
    )
    kind = kind_of(ada.connection, "default", "todo_list")
    given = {"items": [{"text": "milk"}, {"text": f"call {PERSON}"}]}
    reference_commands.create(ada.reference(created), kind, given, "pinned")
    ada.todo("bread", name=created)
    ada.todo("milk", f"a scarf for {PERSON}", name=archived)
    reference_commands.archive(ada.reference(archived), f"{PERSON} moved away")
    ada.todo("tea", name=moved)
    reference_commands.change_tier(ada.reference(moved), "pinned", f"for {PERSON}")
    ada.forget()
    assert ada.texts() == ["milk", "bread"]
    ada.todo("salt")
    assert ada.texts() == ["milk", "bread", "salt"]
    assert (ada.texts(created), ada.list_of(created).tier) == (["milk", "bread"], "pinned")
    assert (ada.texts(archived), ada.list_of(archived).archived) == (["milk"], True)
    assert (ada.list_of(moved).tier, ada.list_of(moved).tier_reason) == ("pinned", "")
    reasons = [
        each.payload.reason
        for each in log.read(ada.connection, partition_of("ada"))
        if isinstance(each.payload, ReferenceTierChanged)
    ]
    assert reasons == [""]


def test_an_item_that_was_removed_before_leaves_the_list_as_it_is(ada: Ada) -> None:
    ada.todo("milk", f"a scarf for {PERSON}")
    kind = kind_of(ada.connection, "default", "todo_list")
    item = ada.list_of().data["items"][1]["id"]
    reference_commands.apply(ada.reference(), kind, {"op": "remove", "item_id": item})
    before = ada.list_of()
    ada.forget()
    assert (ada.texts(), ada.list_of().version) == (["milk"], before.version)
    # The version with the name cannot be read any more, and nobody takes another value for it.
    assert current(ada.connection, "ada", ada.stream(), before.version - 1) is None
    readable = current(ada.connection, "ada", ada.stream(), before.version - 2)
    assert readable is not None
    assert readable.data == before.data


def test_a_reference_with_the_name_in_its_key_goes_as_a_whole(ada: Ada) -> None:
    about = ReferenceName(kind="todo_list", key=f"gifts_for_{PERSON.lower()}")
    ada.todo("milk")
    ada.todo("a scarf", name=about)
    ada.memory.understand()
    ada.memory.erase("person", [PERSON], ["ada"])
    ada.memory.settle("scarf")
    assert current(ada.connection, "ada", ada.stream(about)) is None
    assert ada.texts() == ["milk"]


def test_an_erased_turn_takes_its_op_and_leaves_the_ops_after_it(ada: Ada) -> None:
    [turn] = ada.memory.say("ada", "Put a zyxwort on my list.")
    ada.todo("milk")
    kind = kind_of(ada.connection, "default", "todo_list")
    said = dataclasses.replace(BY, turn_ids=(turn,), derived=True, quote="Put a zyxwort on my list")
    reference_commands.apply(ada.reference(command=said), kind, {"op": "add", "text": "a zyxwort"})
    ada.todo("bread")
    proposed = ReferenceProposed(
        name=LIST, op={"op": "add", "text": "a zyxwort"}, confidence=0.5, quote="a zyxwort", turn_ids=(turn,)
    )
    waiting = event(proposed, "proposals")
    log.append(ada.connection, [waiting])
    log.append(
        ada.connection, [event(ReferenceProposalRefused(proposal_id=waiting.event_id, by="ada"), "proposals")]
    )
    ada.memory.understand()
    assert ada.memory.words("zyxwort")
    ada.memory.erase("turn", "ada", turn)
    ada.memory.settle("zyxwort")
    assert ada.texts() == ["milk", "bread"]


def test_a_proposal_with_the_name_goes_and_a_refusal_stays_without_its_reason(ada: Ada) -> None:
    ada.todo("milk")
    kept = event(
        ReferenceProposed(name=LIST, op={"op": "add", "text": "tea"}, confidence=0.5, quote="", turn_ids=())
    )
    gone = event(
        ReferenceProposed(
            name=LIST, op={"op": "add", "text": f"{PERSON}"}, confidence=0.5, quote="", turn_ids=()
        )
    )
    refused = ReferenceProposalRefused(proposal_id=kept.event_id, by="ada", reason=f"{PERSON} has some")
    log.append(ada.connection, [kept, gone, event(refused)])
    ada.forget()
    rows = ada.connection.execute('SELECT proposal_id, status FROM "references".proposals').fetchall()
    assert rows == [(kept.event_id, "refused")]


def test_a_declared_kind_loses_what_it_says_of_the_person_and_still_fits(ada: Ada) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "description": f"for {PERSON}"}}}
    owner = tenant_owner("default")
    by = dataclasses.replace(BY, owner=owner)
    declarations.declare(ada.connection, "counter", schema, {"n": 1}, f"what {PERSON} counts", by)
    ada.memory.understand()
    assert ada.memory.words(PERSON)
    ada.memory.erase("person", [PERSON], [owner])
    ada.memory.settle(PERSON)
    assert kind_of(ada.connection, "default", "counter").schema["properties"] == {"n": {"type": "integer"}}


def test_modes_lose_their_words_and_stay_modes_at_every_position(ada: Ada) -> None:
    modes = UserModes(ada.connection, BY)

    def declare(name: str, **wanted: Any) -> None:
        mode_commands.declare(modes, None, name, wanted, lambda _: 384)

    declare("work", embedder="one", description=f"what {PERSON} does", prompt_overrides={"style": "short"})
    declare("work", embedder="two", prompt_overrides={"person": f"{PERSON} is the boss", "style": "short"})
    changes = {"description": f"with {PERSON}", "default_mode": "work"}
    mode_commands.declare_project(modes, "p", changes, {})
    declare("journal", description="a day")

    def seen() -> list[Any]:
        at = [each for each in log.read(ada.connection, partition_of("ada")) if each.stream == "notes"]
        found = [RegistriesAt(ada.connection, at).of("ada", position) for position in range(1, 5)]
        return [[(mode.name, mode.embedder, mode.embedders) for mode in each.modes] for each in found]

    noted = dataclasses.replace(made(EventNoted, None), origin=ORIGIN)
    log.append(ada.connection, [event(noted, "notes")])
    before = seen()
    ada.forget()
    assert seen() == before
    registry = registry_of(ada.connection, "ada")
    assert [(each.name, each.description, each.prompt_overrides) for each in registry.modes] == [
        ("work", "", {"style": "short"}), ("journal", "a day", {}),
    ]  # fmt: skip
    assert [(each.project_id, each.default_mode, each.description) for each in registry.projects] == [
        ("p", "work", "")
    ]
    # A second person in the same modes goes, too.
    ada.memory.erase("person", ["a day"], ["ada"])
    assert seen() == before
    assert {each.description for each in registry_of(ada.connection, "ada").modes} == {""}


def test_a_card_keeps_its_last_mode_without_the_reason(ada: Ada) -> None:
    ada.memory.say("ada", "We adopted a cat last week.")
    ada.memory.understand()
    row = ada.connection.execute("SELECT card_id FROM cards.cards WHERE kind = 'event' LIMIT 1").fetchone()
    assert row is not None
    [place] = [
        each.position for each in log.read(ada.connection, partition_of("ada")) if each.event_id == row[0]
    ]
    for mode, reason in (("work", f"{PERSON} said so"), ("journal", "mine")):
        given = CardReclassified(
            card_id=row[0], kind="event", positions=(place,), mode=mode, by="ada", reason=reason
        )
        log.append(ada.connection, [event(given)])
    ada.forget()
    modes = ada.connection.execute("SELECT mode FROM cards.cards WHERE card_id = %s", row).fetchall()
    assert modes == [("journal",)]


def held(ada: Ada) -> list[tuple[str, bool]]:
    """Returns the value of each state, and whether it is retracted."""
    asked = "SELECT value, retracted FROM cards.retractable_cards WHERE kind = 'state' ORDER BY 1, 2"
    return ada.connection.execute(asked).fetchall()


def card_of(ada: Ada, value: str) -> UUID:
    asked = "SELECT card_id FROM cards.retractable_cards WHERE kind = 'state' AND value = %s"
    row = ada.connection.execute(asked, (value,)).fetchone()
    assert row is not None
    card: UUID = row[0]
    return card


def test_a_retraction_stays_without_the_reason_that_names_the_person(ada: Ada) -> None:
    ada.memory.say("ada", "I live in Rome.", "I work at Acme.", "I'm allergic to peanuts.")
    ada.memory.understand()
    values = [value for value, _ in held(ada)]
    made = {
        value: corrections.retract(ada.connection, card_of(ada, value), f"{PERSON} said so", BY)
        for value in values
    }
    again, undone, left = values
    back = made[undone].state
    assert back is not None
    commands.withdraw(ada.connection, back.event_id, "it was right", BY)
    [text] = [
        each for each in ("I live in Rome.", "I work at Acme.", "I'm allergic to peanuts.") if again in each
    ]
    ada.memory.say("ada", text, session_id="later")
    ada.memory.understand()
    ada.forget()
    assert {value for value, retracted in held(ada) if not retracted} == {again, undone}
    assert (left, True) in held(ada)


def test_a_thread_stays_closed_or_open_without_the_reason_that_names_the_person(ada: Ada) -> None:
    closed, again = (
        open_thread(UserThreads(ada.connection, BY), title, "default", None, None).state.thread_id
        for title in ("the move", "the garden")
    )
    for each in (closed, again):
        close(UserThreads(ada.connection, BY, each), f"{PERSON} said so")
    reopen(UserThreads(ada.connection, BY, again), "the boiler")
    ada.forget()
    found = threads_of(ada.connection, "ada")
    assert (found[closed].status, found[again].status) == ("closed", "open")


def test_an_insight_goes_with_its_source_and_its_retraction_stays(ada: Ada) -> None:
    ada.memory.say("ada", f"I went climbing with {PERSON}.")
    ada.memory.understand()
    [(card,)] = ada.connection.execute("SELECT DISTINCT card_id FROM cards.cards WHERE episode").fetchall()
    derived = InsightDerived(
        content="climbs", kind="pattern", theme="climb", project_id="default", sources=(card,), reason="often"
    )
    first, second = (event(derived, INSIGHTS, actor="curator") for _ in range(2))
    refused = InsightRetracted(
        insight_id=first.event_id, digest="0a", sources=(card,), reason=f"{PERSON} said so"
    )
    log.append(ada.connection, [first, second, dataclasses.replace(first, event_id=uuid7(), payload=refused)])
    assert [each.status for each in insights_of(ada.connection, "ada").present].count("current") == 1
    ada.forget()
    left = insights_of(ada.connection, "ada")
    assert not left.present
    assert left.refused_sources("0a") == frozenset((card,))


def test_a_corrected_fact_stays_wrong_when_the_right_one_goes(ada: Ada) -> None:
    ada.memory.say("ada", "I work at Acme.")
    ada.memory.understand()
    right = Correction(value=PERSON, content=None, reason="misheard")
    corrections.correct(ada.connection, card_of(ada, "Acme"), right, BY)
    ada.memory.understand()
    assert held(ada) == [("Acme", True), (PERSON, False)]
    ada.forget()
    assert held(ada) == [("Acme", True)]


def test_a_correction_goes_with_the_turn_of_the_wrong_fact(ada: Ada) -> None:
    [turn] = ada.memory.say("ada", "I work at Acme.")
    ada.memory.understand()
    right = Correction(value="Initech", content=None, reason="misheard")
    corrections.correct(ada.connection, card_of(ada, "Acme"), right, BY)
    ada.memory.understand()
    ada.memory.erase("turn", "ada", turn)
    ada.memory.settle("Acme", "Initech")
    assert held(ada) == []


def test_every_table_is_forgotten_sealed_or_has_no_words(ada: Ada) -> None:
    folded = set()
    for projector in projectors(Settings()):
        ensure_live(ada.connection, projector)
        folded.add(projector.name)
    rows = ada.connection.execute(
        "SELECT n.nspname, n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
    ).fetchall()
    others = {table for schema, table in rows if schema not in folded}
    assert others == set(texts(__file__, "tables.txt")), "say there what an erasure does with a new table"
