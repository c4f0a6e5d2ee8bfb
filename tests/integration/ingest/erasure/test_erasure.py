"""An erasure takes every word of its subject and nothing of anybody else, once or never."""

import dataclasses
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from events.people.judgement import person_id
from events.platform.database import Connection, connect
from events.sealing import sealer as sealing
from events.store import log
from events.store.verification import verify
from events.types.cards import StateAsserted
from events.types.envelope import partition_of
from events.types.extraction import ExtractionFailed
from events.types.people import PersonAliased, PersonEvent, PersonsMerged, PersonsSplit
from events.types.sessions import SessionCheckpointed, checkpoint_stream
from events.types.tombstones import Erased, SubjectErased
from ingest.erasure import subjects
from ingest.erasure.erasure import ErasureRefusedError, Terms
from ingest.erasure.receipts import faults, receipt_of
from ingest.erasure.selection import events_of, is_readable
from ingest.extraction import erased_turns, extraction_events
from ingest.extraction.conversation import recorded
from ingest.extraction.extractor_port import Extraction, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import ExtractorWorker
from projectors.forgetting import ForgettingProjection
from projectors.generations.digest import digest_of
from projectors.generations.generations import Generation, begin
from projectors.rebuild.bulk_load import Task, load_all
from projectors.rebuild.swap import level
from tests.support.ingest.memories import Memory
from tests.support.projectors.folding import NOW, ORIGIN, event
from tests.support.tables import examples

TERMS = Terms(by="test")
CANARY = "Zyxwort"
LIFE = (
    f"I live in {CANARY}.",
    f"My dog is called {CANARY}.",
    f"I am learning {CANARY}. {CANARY} is a programming language.",
    f"I moved to {CANARY} City last week.",
)


def test_an_erased_user_leaves_no_word_and_the_others_stay(memory: Memory, connection: Connection) -> None:
    memory.say("bea", "I live in Valparaiso.", "My cat is called Minka.")
    memory.understand()
    before = memory.digests()
    memory.say("ada", *LIFE)
    memory.understand()
    assert memory.words(CANARY)
    outcome = memory.erase("user", "ada")
    assert memory.words(CANARY) == {}
    assert outcome.counts["turns"] == len(LIFE)
    assert outcome.counts["cards.cards"] > 0
    assert outcome.counts["vectors.card_vectors"] > 0
    assert memory.digests() == before
    assert verify(connection).faults == ()
    memory.fold()
    assert memory.digests() == before
    assert memory.rebuilt_equal()
    receipt = receipt_of(connection, outcome.erasure_id)
    assert receipt is not None
    assert faults(connection, receipt) == []


def test_a_second_erasure_finds_nothing_and_a_user_who_returns_begins_anew(
    memory: Memory, connection: Connection
) -> None:
    turn_ids = memory.say("ada", *LIFE)
    memory.understand()
    done = memory.erase("user", "ada")
    receipt = receipt_of(connection, done.erasure_id)
    assert receipt is not None
    [place] = receipt["log"]
    others: tuple[dict[str, object], ...] = (
        {"log": [{**place, "head_after": "00" * 32}]},
        {"log": [{**place, "position": place["position"] + 1}]},
        {"erasure_id": str(uuid4())},
    )
    assert all(faults(connection, receipt | other) for other in others), "they are of another log"
    heads = log.heads(connection)
    again = memory.erase("user", "ada")
    assert (again.users, log.heads(connection)) == ([], heads)
    assert receipt_of(connection, again.erasure_id) is None
    memory.say("ada", "I live in Montevideo.")
    memory.say("ada", LIFE[0], turn_id=turn_ids[0])
    memory.understand()
    assert memory.words("Montevideo")
    assert memory.words(CANARY) == {}, "the ids of erased turns stay taken"
    assert memory.rebuilt_equal()
    assert memory.words("Montevideo")


def test_an_erased_turn_takes_its_cards_and_its_words_in_later_episodes(memory: Memory) -> None:
    other = Memory(memory.settings.database_url, memory.connection)
    [first] = memory.say("ada", f"We adopted a dog, {CANARY}.")
    memory.say("ada", "Yes, from the shelter in Valparaiso.", "I live in Valparaiso.", session_id="s")
    memory.understand()
    assert memory.words(CANARY)
    outcome = memory.erase("turn", "ada", first)
    assert outcome.counts["turns"] == 1
    memory.fold()
    assert memory.words(CANARY) == {}
    assert memory.words("shelter")
    assert memory.words("Valparaiso")
    assert memory.rebuilt_equal()
    # The id of the erased turn stays taken, so nobody brings the turn back by pushing it again.
    other.say("ada", f"{CANARY} again", turn_id=first)
    other.understand()
    assert memory.words(CANARY) == {}


def test_an_erased_turn_takes_the_saved_states_of_its_session(memory: Memory, connection: Connection) -> None:
    [first] = memory.say("ada", f"We adopted a dog, {CANARY}.", session_id="s")
    for session in ("s", "s~page", "another", "sx~page"):
        saved = SessionCheckpointed(session_id=session, project_id="default", state={"heard": CANARY})
        stream = checkpoint_stream("default", session)
        log.append(connection, [dataclasses.replace(event(saved, "ada"), stream=stream)])
    memory.erase("turn", "ada", first)
    left = [
        each.payload
        for each in events_of(connection, "ada")
        if each.type == "SessionCheckpointed" and is_readable(each)
    ]
    assert [each.session_id for each in left] == ["another", "sx~page"]


def test_another_users_turn_of_the_same_id_stays(memory: Memory) -> None:
    memory.say("ada", "I live in Montevideo.", turn_id="same")
    memory.say("bea", "I live in Lisbon.", turn_id="same")
    memory.understand()
    memory.erase("turn", "ada", "same")
    assert memory.words("Montevideo") == {}
    assert memory.words("Lisbon")


@examples
def test_a_person_is_found_in_any_case_accent_and_script(memory: Memory, said: str, name: str) -> None:
    memory.say("ada", "I like camomile.", said, session_id="one")
    memory.say("bea", said, session_id="two")
    memory.understand()
    outcome = memory.erase("person", [name], ["ada", "bea"])
    assert len(outcome.users) == 2
    assert outcome.counts["turns"] == 2
    for word in (name, max(said.split(), key=len)):
        assert memory.words(word) == {}
    assert memory.words("camomile")
    assert memory.rebuilt_equal()


def test_a_person_is_found_by_a_nickname_that_the_memory_tells(memory: Memory) -> None:
    memory.say("ada", "Zyxelia phoned.", turn_id="phoned")
    named = StateAsserted(
        content="Quillwort goes by Zyxelia", entity="Quillwort", concept_key="nickname", value="Zyxelia", tags=(),
        cardinality="multi_value", effective_at=NOW, origin=ORIGIN,
    )  # fmt: skip
    log.append(memory.connection, [event(named, "ada")])
    memory.understand()
    outcome = memory.erase("person", ["Quillwort"], ["ada"])
    assert set(outcome.names) == {"quillwort", "zyxelia"}
    assert memory.words("zyxelia") == memory.words("quillwort") == {}


def judged(connection: Connection, *told: PersonEvent) -> None:
    """Appends what commands say of the people of Ada."""
    log.append(connection, [event(each, "ada") for each in told])


def known_as(handle: str) -> UUID:
    return person_id("ada", handle)


def test_a_person_goes_under_every_name_that_the_people_of_the_memory_have(memory: Memory) -> None:
    memory.say("ada", "My sister Alexandra Kim lives in Rome.", "Lexi bought a boat.")
    memory.say("ada", "Alexandra visited me.", "Zyxelia Rowe told me so.", "Marin Rowe told me so.")
    memory.understand()
    sister = known_as("alexandra kim|sister")
    judged(
        memory.connection,
        PersonAliased(person_id=sister, alias="Lexi", origin=ORIGIN),
        PersonsMerged(person_id=known_as("zyxelia rowe|"), into_id=sister, origin=ORIGIN),
        PersonsMerged(person_id=known_as("marin rowe|"), into_id=sister, origin=ORIGIN),
        PersonsSplit(person_id=known_as("marin rowe|"), from_id=sister, origin=ORIGIN),
    )
    outcome = memory.erase("person", ["Alexandra Kim"], ["ada"])
    assert outcome.names == ("alexandra", "alexandra kim", "lexi", "zyxelia rowe")
    assert outcome.counts["turns"] == 4
    memory.fold()
    for word in ("alexandra", "lexi", "zyxelia"):
        assert memory.words(word) == {}
    assert memory.words("marin")
    assert memory.rebuilt_equal()


def test_a_first_name_of_two_people_erases_neither_with_the_other(memory: Memory) -> None:
    memory.say("ada", "My sister Noor is a nurse.", "Nunu bought a boat.")
    memory.say("ada", "Noor from work told me that the job is boring.", "Marin came.")
    memory.understand()
    judged(
        memory.connection,
        PersonAliased(person_id=known_as("noor|sister"), alias="Nunu", origin=ORIGIN),
        PersonAliased(person_id=known_as("noor|work"), alias="Marin", origin=ORIGIN),
    )
    alone = memory.erase("person", ["Nunu"], ["ada"], dry_run=True)
    assert (alone.names, alone.counts["turns"]) == (("nunu",), 1)
    shared = memory.erase("person", ["Noor"], ["ada"], dry_run=True)
    assert (shared.names, shared.counts["turns"]) == (("noor",), 2)


def test_a_name_is_a_whole_word(memory: Memory) -> None:
    memory.say("ada", "Marina is a harbour word, marinade is food.")
    memory.understand()
    assert memory.erase("person", ["Marin"], ["ada"], dry_run=True).users == []


def test_users_who_do_not_name_the_person_are_read_and_never_locked(memory: Memory, database: str) -> None:
    memory.say("bea", "I live in Porto.")
    memory.understand()
    with connect(database, application="test fold") as folding, folding.transaction():
        for each in memory.projectors:
            ForgettingProjection(each).hold(folding, "bea")
        memory.connection.execute("SET lock_timeout = '1s'")
        outcome = memory.erase("person", ["Rex"], ["bea"])
    assert outcome.users == []


def test_old_turns_go_and_new_ones_stay(memory: Memory) -> None:
    memory.say("ada", "I live in Montevideo.")
    between = memory.turn("x").said_at
    memory.say("ada", "My dog is called Bartholomew.", session_id="later")
    memory.understand()
    memory.erase("before", between, ["ada"])
    assert memory.words("Montevideo") == {}
    assert memory.words("Bartholomew")
    assert memory.rebuilt_equal()


def test_an_unsealed_log_is_refused_with_the_remedy_and_nothing_goes(memory: Memory) -> None:
    used = sealing.in_use()
    sealing.use(None)
    memory.say("ada", *LIFE)
    memory.understand()
    sealing.use(used)
    before, heads = memory.digests(), log.heads(memory.connection)
    with pytest.raises(ErasureRefusedError, match="cardlog log seal"):
        memory.erase("user", "ada")
    assert (memory.digests(), log.heads(memory.connection)) == (before, heads)
    memory.erase("user", "ada", derived_only=True)
    assert memory.digests() == {}


def test_derived_rows_alone_do_not_go_where_the_words_can(memory: Memory) -> None:
    memory.say("ada", *LIFE)
    memory.understand()
    before = memory.digests()
    for dry_run in (True, False):
        with pytest.raises(ErasureRefusedError, match="leave --derived-only out"):
            memory.erase("user", "ada", derived_only=True, dry_run=dry_run)
    assert memory.digests() == before


def test_a_retired_generation_forgets_too(memory: Memory) -> None:
    memory.say("ada", *LIFE)
    memory.say("bea", "I live in Valparaiso.")
    memory.understand()
    assert memory.rebuilt_equal()
    assert any(table.startswith("cards_g1.") for table in memory.words(CANARY))
    memory.erase("user", "ada")
    assert memory.words(CANARY) == {}
    assert memory.words("Valparaiso").keys() > {"cards_g1.cards"}


def test_a_generation_that_is_built_meanwhile_forgets_when_it_catches_up(
    memory: Memory, connection: Connection
) -> None:
    memory.say("ada", *LIFE)
    [gone, _] = memory.say("bea", f"I met {CANARY}.", "I live in Valparaiso.")
    memory.understand()
    for projector in memory.projectors:
        building = begin(connection, projector)
        task = Task(memory.settings, projector, building)
        load_all(task, log.heads(connection), 1, lambda *_: None)
    memory.erase("user", "ada")
    memory.erase("turn", "bea", gone)
    assert memory.words(CANARY).keys() >= {"cards_g2.cards"}
    memory.fold()
    for projector in memory.projectors:
        building_schema = f"{projector.name}_g2"
        level(connection, projector, Generation(projector.name, 2), building_schema, log.heads(connection))
        assert digest_of(connection, projector, building_schema) == digest_of(
            connection, projector, projector.name
        )
    assert memory.words(CANARY) == {}


def test_an_extraction_that_ends_after_the_erasure_brings_nothing_back(memory: Memory) -> None:
    """The extractor has read a turn, the user is erased, and then the extractor appends what it understood."""
    memory.say("ada", *LIFE)
    events = [each for each in log.read(memory.connection, partition_of("ada")) if each.user_id == "ada"]
    extractor = RulesExtractor()
    batch = SessionBatch(tuple(map(recorded, events)), ())
    late = extraction_events.events_of(batch, extractor.extract(batch), extractor)
    memory.erase("user", "ada")
    with pytest.raises(erased_turns.TurnsErasedError), memory.connection.transaction():
        erased_turns.append(memory.connection, late)
    memory.understand()
    assert memory.words(CANARY) == {}


def test_turns_that_are_erased_during_their_extraction_are_no_failures(memory: Memory) -> None:
    """One turn of three is erased while they are read. The others become cards, and no turn is given up."""
    kept = ["I live in Valparaiso.", "My cat is called Minka."]
    [_, gone, _] = memory.say("ada", kept[0], f"My dog is called {CANARY}.", kept[1])
    eraser, erasing = memory.eraser(), [gone]

    class Slow(RulesExtractor):
        def extract(self, batch: SessionBatch) -> Extraction:
            if erasing:
                with connect(memory.settings.database_url, application="test") as other:
                    subjects.erase_turn(eraser, other, "ada", erasing.pop(), TERMS)
            return super().extract(batch)

    worker = ExtractorWorker(memory.settings, Slow(), lambda: False)
    worker.prepare(memory.connection)
    while worker.step(memory.connection):
        pass
    memory.fold()
    events = [each.payload for each in log.read(memory.connection, partition_of("ada"))]
    assert not [each for each in events if isinstance(each, ExtractionFailed)]
    assert memory.words(CANARY) == {}
    assert memory.words("Valparaiso").keys() & memory.words("Minka").keys() > {"cards.cards"}


def test_the_tombstone_says_what_and_never_who(memory: Memory, connection: Connection) -> None:
    memory.say("ada", *LIFE)
    memory.erase("person", [CANARY], ["ada"])
    [tombstone] = [
        event.payload
        for event in log.read(connection, partition_of("ada"))
        if isinstance(event.payload, SubjectErased)
    ]
    assert (tombstone.kind, tombstone.by, tombstone.reason) == ("person", "test", "request")
    assert CANARY.lower() not in str(tombstone).lower()
    erased = [
        event for event in log.read(connection, partition_of("ada")) if isinstance(event.payload, Erased)
    ]
    assert [event.position for event in erased] == list(tombstone.positions or ())


def test_a_kill_before_the_commit_leaves_the_user_whole(memory: Memory) -> None:
    class KilledError(Exception):
        pass

    class Dying(psycopg.Cursor[Any]):
        """Destroys the keys, and then the process ends."""

        def execute(self, query: Any, *args: Any, **options: Any) -> Any:
            super().execute(query, *args, **options)
            if "destroy_subject" in str(query):
                raise KilledError
            return self

    memory.say("ada", *LIFE)
    memory.understand()
    before = memory.digests()
    with connect(memory.settings.database_url, application="test") as other:
        other.cursor_factory = Dying
        with pytest.raises(KilledError):
            subjects.erase_user(memory.eraser(), other, "ada", TERMS)
    assert memory.digests() == before
    assert memory.rebuilt_equal()
    memory.erase("user", "ada")
    assert memory.words(CANARY) == {}
