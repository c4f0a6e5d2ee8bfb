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
from projectors.rebuild.rebuild import Rebuild
from projectors.rebuild.swap import level
from tests.support.ingest.memories import Memory, words_in_tables
from tests.support.projectors.folding import NOW, ORIGIN, event
from tests.support.tables import examples

TERMS = Terms(by="test")
DRY = Terms(by="test", dry_run=True)
CANARY = "Zyxwort"
LIFE = (
    f"I live in {CANARY}.",
    f"My dog is called {CANARY}.",
    f"I am learning {CANARY}. {CANARY} is a programming language.",
    f"I moved to {CANARY} City last week.",
)


def rebuilt_equal(memory: Memory) -> bool:
    return all(
        Rebuild(memory.settings, projector, workers=1, verify=True).run().equal
        for projector in memory.projectors
    )


def test_an_erased_user_leaves_no_word_and_the_others_stay(memory: Memory, connection: Connection) -> None:
    memory.say(connection, "bea", "I live in Valparaiso.", "My cat is called Minka.")
    memory.understand(connection)
    before = memory.digests(connection)
    memory.say(connection, "ada", *LIFE)
    memory.understand(connection)
    assert words_in_tables(connection, CANARY)
    outcome = subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
    assert words_in_tables(connection, CANARY) == {}
    assert outcome.counts["turns"] == len(LIFE)
    assert outcome.counts["cards.cards"] > 0
    assert outcome.counts["vectors.card_vectors"] > 0
    assert memory.digests(connection) == before
    assert verify(connection).faults == ()
    memory.fold()
    assert memory.digests(connection) == before
    assert rebuilt_equal(memory)
    receipt = receipt_of(connection, outcome.erasure_id)
    assert receipt is not None
    assert faults(connection, receipt) == []


def test_a_second_erasure_finds_nothing_and_a_user_who_returns_begins_anew(
    memory: Memory, connection: Connection
) -> None:
    turn_ids = memory.say(connection, "ada", *LIFE)
    memory.understand(connection)
    done = subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
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
    again = subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
    assert (again.users, log.heads(connection)) == ([], heads)
    assert receipt_of(connection, again.erasure_id) is None
    memory.say(connection, "ada", "I live in Montevideo.")
    memory.say(connection, "ada", LIFE[0], turn_id=turn_ids[0])
    memory.understand(connection)
    assert words_in_tables(connection, "Montevideo")
    assert words_in_tables(connection, CANARY) == {}, "the ids of erased turns stay taken"
    assert rebuilt_equal(memory)
    assert words_in_tables(connection, "Montevideo")


def test_an_erased_turn_takes_its_cards_and_its_words_in_later_episodes(
    memory: Memory, connection: Connection
) -> None:
    other = Memory(memory.settings.database_url)
    [first] = memory.say(connection, "ada", f"We adopted a dog, {CANARY}.")
    memory.say(
        connection, "ada", "Yes, from the shelter in Valparaiso.", "I live in Valparaiso.", session_id="s"
    )
    memory.understand(connection)
    assert words_in_tables(connection, CANARY)
    outcome = subjects.erase_turn(memory.eraser(), connection, "ada", first, TERMS)
    assert outcome.counts["turns"] == 1
    memory.fold()
    assert words_in_tables(connection, CANARY) == {}
    assert words_in_tables(connection, "shelter")
    assert words_in_tables(connection, "Valparaiso")
    assert rebuilt_equal(memory)
    # The id of the erased turn stays taken, so nobody brings the turn back by pushing it again.
    other.say(connection, "ada", f"{CANARY} again", turn_id=first)
    other.understand(connection)
    assert words_in_tables(connection, CANARY) == {}


def test_an_erased_turn_takes_the_saved_states_of_its_session(memory: Memory, connection: Connection) -> None:
    [first] = memory.say(connection, "ada", f"We adopted a dog, {CANARY}.", session_id="s")
    for session in ("s", "s~page", "another", "sx~page"):
        saved = SessionCheckpointed(session_id=session, project_id="default", state={"heard": CANARY})
        stream = checkpoint_stream("default", session)
        log.append(connection, [dataclasses.replace(event(saved, "ada"), stream=stream)])
    subjects.erase_turn(memory.eraser(), connection, "ada", first, TERMS)
    left = [
        each.payload
        for each in events_of(connection, "ada")
        if each.type == "SessionCheckpointed" and is_readable(each)
    ]
    assert [each.session_id for each in left] == ["another", "sx~page"]


def test_another_users_turn_of_the_same_id_stays(memory: Memory, connection: Connection) -> None:
    memory.say(connection, "ada", "I live in Montevideo.", turn_id="same")
    memory.say(connection, "bea", "I live in Lisbon.", turn_id="same")
    memory.understand(connection)
    subjects.erase_turn(memory.eraser(), connection, "ada", "same", TERMS)
    assert words_in_tables(connection, "Montevideo") == {}
    assert words_in_tables(connection, "Lisbon")


@examples
def test_a_person_is_found_in_any_case_accent_and_script(
    memory: Memory, connection: Connection, said: str, name: str
) -> None:
    memory.say(connection, "ada", "I like camomile.", said, session_id="one")
    memory.say(connection, "bea", said, session_id="two")
    memory.understand(connection)
    outcome = subjects.erase_person(memory.eraser(), connection, [name], ["ada", "bea"], TERMS)
    assert len(outcome.users) == 2
    assert outcome.counts["turns"] == 2
    for word in (name, max(said.split(), key=len)):
        assert words_in_tables(connection, word) == {}
    assert words_in_tables(connection, "camomile")
    assert rebuilt_equal(memory)


def test_a_person_is_found_by_a_nickname_that_the_memory_tells(
    memory: Memory, connection: Connection
) -> None:
    memory.say(connection, "ada", "Zyxelia phoned.", turn_id="phoned")
    named = StateAsserted(
        content="Quillwort goes by Zyxelia", entity="Quillwort", concept_key="nickname", value="Zyxelia", tags=(),
        cardinality="multi_value", effective_at=NOW, origin=ORIGIN,
    )  # fmt: skip
    log.append(connection, [event(named, "ada")])
    memory.understand(connection)
    outcome = subjects.erase_person(memory.eraser(), connection, ["Quillwort"], ["ada"], TERMS)
    assert set(outcome.names) == {"quillwort", "zyxelia"}
    assert words_in_tables(connection, "zyxelia") == words_in_tables(connection, "quillwort") == {}


def judged(connection: Connection, *told: PersonEvent) -> None:
    """Appends what commands say of the people of Ada."""
    log.append(connection, [event(each, "ada") for each in told])


def known_as(handle: str) -> UUID:
    return person_id("ada", handle)


def test_a_person_goes_under_every_name_that_the_people_of_the_memory_have(
    memory: Memory, connection: Connection
) -> None:
    memory.say(connection, "ada", "My sister Alexandra Kim lives in Rome.", "Lexi bought a boat.")
    memory.say(
        connection, "ada", "Alexandra visited me.", "Zyxelia Rowe told me so.", "Marin Rowe told me so."
    )
    memory.understand(connection)
    sister = known_as("alexandra kim|sister")
    judged(
        connection,
        PersonAliased(person_id=sister, alias="Lexi", origin=ORIGIN),
        PersonsMerged(person_id=known_as("zyxelia rowe|"), into_id=sister, origin=ORIGIN),
        PersonsMerged(person_id=known_as("marin rowe|"), into_id=sister, origin=ORIGIN),
        PersonsSplit(person_id=known_as("marin rowe|"), from_id=sister, origin=ORIGIN),
    )
    outcome = subjects.erase_person(memory.eraser(), connection, ["Alexandra Kim"], ["ada"], TERMS)
    assert outcome.names == ("alexandra", "alexandra kim", "lexi", "zyxelia rowe")
    assert outcome.counts["turns"] == 4
    memory.fold()
    for word in ("alexandra", "lexi", "zyxelia"):
        assert words_in_tables(connection, word) == {}
    assert words_in_tables(connection, "marin")
    assert rebuilt_equal(memory)


def test_a_first_name_of_two_people_erases_neither_with_the_other(
    memory: Memory, connection: Connection
) -> None:
    memory.say(connection, "ada", "My sister Noor is a nurse.", "Nunu bought a boat.")
    memory.say(connection, "ada", "Noor from work told me that the job is boring.", "Marin came.")
    memory.understand(connection)
    judged(
        connection,
        PersonAliased(person_id=known_as("noor|sister"), alias="Nunu", origin=ORIGIN),
        PersonAliased(person_id=known_as("noor|work"), alias="Marin", origin=ORIGIN),
    )
    alone = subjects.erase_person(memory.eraser(), connection, ["Nunu"], ["ada"], DRY)
    assert (alone.names, alone.counts["turns"]) == (("nunu",), 1)
    shared = subjects.erase_person(memory.eraser(), connection, ["Noor"], ["ada"], DRY)
    assert (shared.names, shared.counts["turns"]) == (("noor",), 2)


def test_a_name_is_a_whole_word(memory: Memory, connection: Connection) -> None:
    memory.say(connection, "ada", "Marina is a harbour word, marinade is food.")
    memory.understand(connection)
    assert subjects.erase_person(memory.eraser(), connection, ["Marin"], ["ada"], DRY).users == []


def test_users_who_do_not_name_the_person_are_read_and_never_locked(
    memory: Memory, database: str, connection: Connection
) -> None:
    memory.say(connection, "bea", "I live in Porto.")
    memory.understand(connection)
    with connect(database, application="test fold") as folding, folding.transaction():
        for each in memory.projectors:
            ForgettingProjection(each).hold(folding, "bea")
        connection.execute("SET lock_timeout = '1s'")
        outcome = subjects.erase_person(memory.eraser(), connection, ["Rex"], ["bea"], TERMS)
    assert outcome.users == []


def test_old_turns_go_and_new_ones_stay(memory: Memory, connection: Connection) -> None:
    memory.say(connection, "ada", "I live in Montevideo.")
    between = memory.turn("x").said_at
    memory.say(connection, "ada", "My dog is called Bartholomew.", session_id="later")
    memory.understand(connection)
    subjects.erase_before(memory.eraser(), connection, between, ["ada"], TERMS)
    assert words_in_tables(connection, "Montevideo") == {}
    assert words_in_tables(connection, "Bartholomew")
    assert rebuilt_equal(memory)


def test_an_unsealed_log_is_refused_with_the_remedy_and_nothing_goes(
    memory: Memory, connection: Connection
) -> None:
    used = sealing.in_use()
    sealing.use(None)
    memory.say(connection, "ada", *LIFE)
    memory.understand(connection)
    sealing.use(used)
    before, heads = memory.digests(connection), log.heads(connection)
    with pytest.raises(ErasureRefusedError, match="cardlog log seal"):
        subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
    assert (memory.digests(connection), log.heads(connection)) == (before, heads)
    only_derived = Terms(by="test", derived_only=True)
    subjects.erase_user(memory.eraser(), connection, "ada", only_derived)
    assert memory.digests(connection) == {}


def test_derived_rows_alone_do_not_go_where_the_words_can(memory: Memory, connection: Connection) -> None:
    memory.say(connection, "ada", *LIFE)
    memory.understand(connection)
    before = memory.digests(connection)
    for dry_run in (True, False):
        with pytest.raises(ErasureRefusedError, match="leave --derived-only out"):
            subjects.erase_user(
                memory.eraser(), connection, "ada", Terms(by="test", derived_only=True, dry_run=dry_run)
            )
    assert memory.digests(connection) == before


def test_a_retired_generation_forgets_too(memory: Memory, connection: Connection) -> None:
    memory.say(connection, "ada", *LIFE)
    memory.say(connection, "bea", "I live in Valparaiso.")
    memory.understand(connection)
    assert rebuilt_equal(memory)
    assert any(table.startswith("cards_g1.") for table in words_in_tables(connection, CANARY))
    subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
    assert words_in_tables(connection, CANARY) == {}
    assert words_in_tables(connection, "Valparaiso").keys() > {"cards_g1.cards"}


def test_a_generation_that_is_built_meanwhile_forgets_when_it_catches_up(
    memory: Memory, connection: Connection
) -> None:
    memory.say(connection, "ada", *LIFE)
    [gone, _] = memory.say(connection, "bea", f"I met {CANARY}.", "I live in Valparaiso.")
    memory.understand(connection)
    for projector in memory.projectors:
        building = begin(connection, projector)
        task = Task(memory.settings, projector, building)
        load_all(task, log.heads(connection), 1, lambda *_: None)
    subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
    subjects.erase_turn(memory.eraser(), connection, "bea", gone, TERMS)
    assert words_in_tables(connection, CANARY).keys() >= {"cards_g2.cards"}
    memory.fold()
    for projector in memory.projectors:
        building_schema = f"{projector.name}_g2"
        level(connection, projector, Generation(projector.name, 2), building_schema, log.heads(connection))
        assert digest_of(connection, projector, building_schema) == digest_of(
            connection, projector, projector.name
        )
    assert words_in_tables(connection, CANARY) == {}


def test_an_extraction_that_ends_after_the_erasure_brings_nothing_back(
    memory: Memory, connection: Connection
) -> None:
    """The extractor has read a turn, the user is erased, and then the extractor appends what it understood."""
    memory.say(connection, "ada", *LIFE)
    events = [each for each in log.read(connection, partition_of("ada")) if each.user_id == "ada"]
    extractor = RulesExtractor()
    batch = SessionBatch(tuple(map(recorded, events)), ())
    late = extraction_events.events_of(batch, extractor.extract(batch), extractor)
    subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
    with pytest.raises(erased_turns.TurnsErasedError), connection.transaction():
        erased_turns.append(connection, late)
    memory.understand(connection)
    assert words_in_tables(connection, CANARY) == {}


def test_turns_that_are_erased_during_their_extraction_are_no_failures(
    memory: Memory, connection: Connection
) -> None:
    """One turn of three is erased while they are read. The others become cards, and no turn is given up."""
    kept = ["I live in Valparaiso.", "My cat is called Minka."]
    [_, gone, _] = memory.say(connection, "ada", kept[0], f"My dog is called {CANARY}.", kept[1])
    eraser, erasing = memory.eraser(), [gone]

    class Slow(RulesExtractor):
        def extract(self, batch: SessionBatch) -> Extraction:
            if erasing:
                with connect(memory.settings.database_url, application="test") as other:
                    subjects.erase_turn(eraser, other, "ada", erasing.pop(), TERMS)
            return super().extract(batch)

    worker = ExtractorWorker(memory.settings, Slow(), lambda: False)
    worker.prepare(connection)
    while worker.step(connection):
        pass
    memory.fold()
    events = [each.payload for each in log.read(connection, partition_of("ada"))]
    assert not [each for each in events if isinstance(each, ExtractionFailed)]
    assert words_in_tables(connection, CANARY) == {}
    assert words_in_tables(connection, "Valparaiso").keys() & words_in_tables(connection, "Minka").keys() > {
        "cards.cards"
    }


def test_the_tombstone_says_what_and_never_who(memory: Memory, connection: Connection) -> None:
    memory.say(connection, "ada", *LIFE)
    subjects.erase_person(memory.eraser(), connection, [CANARY], ["ada"], TERMS)
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


def test_a_kill_before_the_commit_leaves_the_user_whole(memory: Memory, connection: Connection) -> None:
    class KilledError(Exception):
        pass

    class Dying(psycopg.Cursor[Any]):
        """Destroys the keys, and then the process ends."""

        def execute(self, query: Any, *args: Any, **options: Any) -> Any:
            super().execute(query, *args, **options)
            if "destroy_subject" in str(query):
                raise KilledError
            return self

    memory.say(connection, "ada", *LIFE)
    memory.understand(connection)
    before = memory.digests(connection)
    with connect(memory.settings.database_url, application="test") as other:
        other.cursor_factory = Dying
        with pytest.raises(KilledError):
            subjects.erase_user(memory.eraser(), other, "ada", TERMS)
    assert memory.digests(connection) == before
    assert rebuilt_equal(memory)
    subjects.erase_user(memory.eraser(), connection, "ada", TERMS)
    assert words_in_tables(connection, CANARY) == {}
