"""The workers know the cards in the log when they read a turn, and link what replaces an earlier event."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from events.platform.database import Connection
from events.store import log
from events.types.cards import EventNoted, StateAsserted
from events.types.envelope import Event, NewEvent, partition_of, uuid7
from events.types.extraction import CardsWithdrawn, TurnsExtracted
from events.types.problems import ProblemClosed, ProblemOpened
from events.types.relations import CardsConnected
from events.types.threads import STREAM, ThreadOpened
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.conversation import recorded
from ingest.extraction.extractor_port import Extraction, RecordedTurn, SessionBatch
from ingest.extraction.known_cards import KnownCards
from ingest.extraction.known_memory import KnownMemory
from ingest.extraction.workers.reextraction import Reextraction, ReextractionFilter, past_extractions
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from tests.support.events.payloads import READING
from tests.support.events.turns import neighbours
from tests.support.ingest.claude import event, said, state
from tests.support.ingest.known import NOW, event_with, origin, planned, stated
from tests.support.ingest.messages_api import Request, Trouble, calls
from tests.support.ingest.model_workers import Reader, turn

ANA = partition_of("ana")


def known(
    memory: KnownMemory, connection: Connection, user: str = "ana", *, position: int = 1_000
) -> KnownCards:
    one = said("Hello", position)
    asked = RecordedTurn(user, position, one.turn)
    return memory.of(connection, partition_of(user), (asked,))


def values(cards: KnownCards) -> list[str]:
    return [fact.value for fact in cards.facts]


def of(user: str, *events: NewEvent) -> list[NewEvent]:
    return [replace(each, user_id=user) for each in events]


def withdrawal(*gone: UUID) -> NewEvent:
    payload = CardsWithdrawn(event_ids=gone, positions=tuple(range(1, len(gone) + 1)), reason="read again")
    return replace(stated("pet", "x"), event_id=uuid7(), payload=payload)


def test_every_card_event_of_the_log_is_known_at_once_whoever_wrote_it(connection: Connection) -> None:
    memory = KnownMemory()
    assert known(memory, connection) == KnownCards()
    log.append(connection, [stated("residence", "Bergen", 1), planned("Sail to Cadiz", 2, on=20)])
    assert values(known(memory, connection)) == ["Bergen"]
    log.append(connection, [stated("residence", "Cadiz", 3, days=0), planned("Turn", 4, episode=True)])
    found = known(memory, connection)
    assert (values(found), [plan.content for plan in found.plans]) == (["Cadiz"], ["Sail to Cadiz"])
    log.append(connection, [withdrawal(UUID(int=3), UUID(int=2))])
    found = known(memory, connection)
    assert (values(found), found.plans) == (["Bergen"], ())
    assert found == known(KnownMemory(), connection)


def test_users_of_one_partition_are_known_apart_and_forgetting_one_changes_nothing(
    connection: Connection,
) -> None:
    users = neighbours(4)
    for number, user in enumerate(users):
        log.append(
            connection,
            of(user, *(stated("likes", f"{user} {n}", cardinality="multi_value") for n in range(6))),
        )
        log.append(connection, of(user, stated("residence", f"town {number}")))
    memory = KnownMemory(depth=5, cards=12)
    for user in (*users, *reversed(users)):
        wanted = [f"{user} {n}" for n in range(2, 6)] + [f"town {users.index(user)}"]
        assert values(known(memory, connection, user)) == wanted


def test_a_payload_that_cannot_be_read_hides_no_other_card(connection: Connection) -> None:
    log.append(connection, [stated("residence", "Bergen", 1)])
    connection.execute(
        "INSERT INTO log.events SELECT partition, 2, gen_random_uuid(), user_id, stream, 2, type, 99, NULL, "
        "occurred_at, "
        'recorded_at, actor, NULL, NULL, \'{"x":"\\u0000"}\', digest FROM log.events WHERE partition = %s',
        (ANA,),
    )
    connection.execute("UPDATE log.heads SET position = 2 WHERE partition = %s", (ANA,))
    assert values(known(KnownMemory(), connection)) == ["Bergen"]


class Notes:
    """An extractor whose turns say in so many words what they plan and what they take back."""

    name, prompt_version = "notes", "notes-1"
    model: str | None = None

    def extract(self, batch: SessionBatch) -> Extraction:
        return Extraction(tuple(self._card(one) for one in batch.turns))

    def _card(self, one: RecordedTurn) -> EventNoted:
        status, content, *replaces = one.turn.text.split("|")
        made = planned(content, status=status, replaces=replaces[0] if replaces else None).payload
        assert isinstance(made, EventNoted)
        origin = replace(made.origin, said_at=one.turn.said_at, turn_ids=(one.turn.turn_id,))
        return replace(made, origin=origin, occurred_at=one.turn.said_at)


TOLD = (
    ("a", "planned|Trip to Bergen with Nora"),
    ("a", "planned|Visit the dentist"),
    ("b", "cancelled|The Bergen trip is off|the Bergen trip"),
    ("a", "planned|See the dentist in June|the dentist"),
    ("c", "corrected|It was an ice show|the opera"),
    ("c", "cancelled|No dentist at all|the dentist"),
)


def test_the_rules_worker_links_across_sessions_in_one_round_and_over_several(reader: Reader) -> None:
    targets = []
    for user, at_once in (("ana", len(TOLD)), ("bea", 1)):
        PROCESSOR.open(reader.connection)
        worker = ExtractorWorker(reader.settings, Notes(), lambda: False)
        turns = [turn(user, text, number, session=session) for number, (session, text) in enumerate(TOLD)]
        for start in range(0, len(turns), at_once):
            reader.append(*turns[start : start + at_once])
            while worker.step(reader.connection):
                pass
        targets.append(linked_contents(reader, user))
    wanted = {
        "The Bergen trip is off": "Trip to Bergen with Nora",
        "See the dentist in June": "Visit the dentist",
        "It was an ice show": None,
        "No dentist at all": "See the dentist in June",
    }
    assert targets == [wanted, wanted]


def linked_contents(reader: Reader, user: str) -> dict[str, str | None]:
    """Returns the content of each event that names an earlier one, with the content of that one."""
    events = [each for each in reader.events(user) if isinstance(each.payload, EventNoted)]
    by_id = {each.event_id: each.payload for each in events}
    found: dict[str, str | None] = {}
    for each in events:
        payload = each.payload
        if payload.replaces is not None:
            earlier = by_id.get(payload.replaces_event) if payload.replaces_event else None
            found[payload.content] = None if earlier is None else earlier.content
    return found


def plans_answered(request: Request) -> Trouble | None:
    """A model that reads "Planning X" as a plan, and "X is off" as the end of the plan that the prompt shows."""
    events = []
    for number, text in enumerate(request.turns, 1):
        if (made := re.search(r"Planning (.+?)\.", text)) is not None:
            events.append(event(made[0], turn=number, content=f"Plans {made[1]}", status="planned"))
        elif (off := re.search(r"(The \w+) is off", text)) is not None:
            label = re.search(r"^(P\d+) .*" + off[1].split()[1], request.question, re.MULTILINE)
            words = label[1] if label is not None else off[1]
            events.append(event(off[0], turn=number, status="cancelled", replaces=words))
    return calls({"states": [], "events": events, "knowledge": []})


def test_the_model_worker_links_a_cancellation_in_flight_with_its_plan(reader: Reader) -> None:
    reader.api.trouble = plans_answered
    reader.api.seconds = 0.3
    texts = (
        "Planning a regatta for the club.",
        "The regatta is off for good.",
        "The concert is off they say.",
    )
    reader.read(*[turn("ana", text, number) for number, text in enumerate(texts)])
    assert linked_contents(reader, "ana") == {
        "The regatta is off": "Plans a regatta for the club", "The concert is off": None,
    }  # fmt: skip


def test_the_model_is_shown_what_is_known_and_may_answer_by_label(reader: Reader) -> None:
    trouble = ProblemOpened(description="a stiff neck", origin=origin(NOW - timedelta(days=1)))
    ours, theirs = (ThreadOpened(title=title, project_id=project) for title, project in (
        ("the move to Cadiz", "default"), ("a thread of another project", "work"),
    ))  # fmt: skip
    later = replace(event_with(ThreadOpened(title="told later", project_id="default")), stream=STREAM)
    later = replace(later, occurred_at=NOW + timedelta(days=1))
    threads = [*(replace(event_with(each), stream=STREAM) for each in (ours, theirs)), later]
    known = [stated("hobby", "painting", 1, cardinality="multi_value"), planned("Regatta in Cadiz", 2, on=20)]
    reader.append(*known, event_with(trouble), *threads)
    answers: list[dict[str, Any]] = [
        state("I paint with watercolours", "watercolours", concept_key="hobby", same_as="F1", turn=1),
        state("brushes from Kyoto", "brushes from Kyoto", concept_key="possession", expands="F1", turn=1),
        state("brushes from Kyoto", "Kyoto", concept_key="brand", expands="F7", turn=1),
    ]
    off = event("The regatta was called off", status="cancelled", replaces="P1", turn=1)
    gone = {"turn": 1, "quote": "A new pillow did it", "step": "closed", "problem": "R1"}
    again = {"turn": 1, "quote": "A new pillow did it", "step": "opened", "problem": "R1"}
    reader.api.trouble = lambda _: calls({"states": answers, "events": [off], "problems": [gone, again]})
    text = (
        "I paint with watercolours and brushes from Kyoto. The regatta was called off. A new pillow did it."
    )
    reader.read(turn("ana", text, 5))
    assert "F1 2026-05-07 user.hobby = painting" in reader.api.requests[0].question
    assert "P1 2026-05-20 Regatta in Cadiz" in reader.api.requests[0].question
    assert "<open_problems>\nR1 a stiff neck\n</open_problems>" in reader.api.requests[0].question
    assert "<open_threads>\nthe move to Cadiz\n</open_threads>" in reader.api.requests[0].question
    made = reader.events("ana")[6:]
    [closed] = [each.payload for each in made if isinstance(each.payload, ProblemClosed)]
    assert closed.problem == "a stiff neck"
    states = {each.payload.value: each for each in made if isinstance(each.payload, StateAsserted)}
    assert set(states) == {"painting", "brushes from Kyoto", "Kyoto"}
    [connected] = [each.payload for each in made if isinstance(each.payload, CardsConnected)]
    assert (connected.from_card, connected.to_card) == (states["brushes from Kyoto"].event_id, UUID(int=1))
    assert connected.predicate == "expands"
    [cancelled] = [
        each.payload for each in made if isinstance(each.payload, EventNoted) and each.payload.replaces
    ]
    assert (cancelled.status, cancelled.replaces_event) == ("cancelled", UUID(int=2))
    [leader] = [each.payload for each in made if isinstance(each.payload, TurnsExtracted)]
    assert leader.refused == 2


def again(reader: Reader) -> None:
    extractor = ClaudeExtractor(reader.settings)
    try:
        chosen = list(
            past_extractions(
                reader.connection, ReextractionFilter(prompt_version=extractor.prompt_version), extractor
            )
        )
        summary = Reextraction(reader.settings, extractor, lambda: False).run(
            reader.connection, chosen, lambda _: None
        )
    finally:
        extractor.close()
    assert (summary.left, summary.away) == (0, None)


@pytest.mark.parametrize("sessions", [("s", "s", "s"), ("a", "b", "a")])
def test_a_reextraction_knows_what_was_known_then_and_links_the_new_cards(
    reader: Reader, sessions: tuple[str, ...]
) -> None:
    reader.api.trouble = plans_answered
    texts = (
        "Planning a regatta for the club.",
        "The regatta is off for good.",
        "Planning a second regatta for May.",
    )
    log.append(
        reader.connection,
        [
            turn("ana", text, n, session=session)
            for n, (session, text) in enumerate(zip(sessions, texts, strict=True))
        ],
    )
    with reader.working():
        reader.until_read("ana")
    first = len(reader.api.requests)
    reader.set(extract_concurrency=3)
    again(reader)
    asked = {request.turns[0]: request.question for request in reader.api.requests[first:]}
    assert "open_plans" not in asked[texts[0]]
    assert "second" not in asked[texts[1]].replace(texts[1], "")
    events = reader.events("ana")
    gone = {
        each
        for event in events
        if isinstance(event.payload, CardsWithdrawn)
        for each in event.payload.event_ids
    }
    fresh = {event.event_id: event for event in events if event.event_id not in gone}
    [off] = [each for each in fresh.values() if status_of(each) == "cancelled"]
    assert isinstance(off.payload, EventNoted)
    assert off.payload.replaces_event in fresh
    assert fresh[off.payload.replaces_event].position < off.position
    again_known = KnownMemory().of(reader.connection, ANA, (recorded(events[0]),), before=True)
    assert again_known == KnownCards()


def status_of(event: Event) -> str | None:
    return event.payload.status if isinstance(event.payload, EventNoted) else None


def test_usage_of_a_memory_does_not_depend_on_who_asked_before(connection: Connection) -> None:
    leader = replace(READING, turn_ids=("1",), turn_positions=(7,), cards=1)
    cause = replace(stated("pet", "x"), event_id=uuid7(), payload=leader)
    card = replace(stated("pet", "Rex", 1), causation_id=cause.event_id)
    log.append(connection, [cause, card])
    one = said("Hello", 7)
    early = RecordedTurn("ana", 7, one.turn)
    late = RecordedTurn("ana", 8, one.turn)
    memory = KnownMemory()
    for turns, wanted in (((early,), []), ((late,), ["Rex"]), ((early, late), [])):
        assert values(memory.of(connection, ANA, turns, before=True)) == wanted
