"""An erasure leaves nothing of a document, its queue, problems and episodes; what it leaves equals a rebuild."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
import pytest

from events.core.fold import Present
from events.platform.database import Connection
from events.problems.problem import Problem, fold, in_order
from events.problems.problem_log import entries
from events.types.migrations import Migrated
from events.types.problems import ProblemAttempted
from ingest.api import problem_routes as problem_commands
from ingest.api.problem_routes import KnownProblem, UserProblems
from ingest.core import patching, time_travel
from ingest.core.aggregate import CoreDocument, CoreHistory
from ingest.core.patching import Patched, WaitingPatch
from ingest.decider import Command
from projectors.core.documents import documents_of
from projectors.core.projector import CoreProjector
from projectors.problems import ProblemsProjector
from tests.support.ingest.memories import SAID_AT, Memory
from tests.support.retrieval.core_documents import add

CANARY = "Zyxwort"
PERSON = "Quillwortine"
COMMAND = Command(owner="ada", actor="user/ada", at=SAID_AT)


class Ada:
    """A user with a document, a queue and problems, and the commands on them."""

    def __init__(self, memory: Memory, connection: Connection) -> None:
        self.memory = memory
        self.connection = connection
        self.documents = documents_of(memory.settings)
        memory.projectors += [CoreProjector(), ProblemsProjector()]

    def say(self, *texts: str, **more: Any) -> list[str]:
        ids = self.memory.say("ada", *texts, **more)
        self.memory.understand()
        return ids

    def patch(self, *ops: dict[str, Any], **more: Any) -> Patched:
        command = replace(COMMAND, **more)
        return patching.patch(CoreDocument(self.connection, self.documents, command), ops)

    def history(self, **more: Any) -> CoreHistory:
        return CoreHistory(self.connection, self.documents, replace(COMMAND, **more))

    def waiting_patch(self, queue_id: UUID) -> WaitingPatch:
        return WaitingPatch(self.connection, self.documents, COMMAND, queue_id)

    @property
    def opening(self) -> UserProblems:
        return UserProblems(self.connection, COMMAND)

    def known(self, problem_id: UUID) -> KnownProblem:
        return KnownProblem(self.connection, COMMAND, problem_id)

    def queued(self, **more: Any) -> UUID:
        """Sends a patch that does not fit. Returns its entry."""
        wrong = [{"op": "test", "path": "/profile/name", "value": "nobody"}, add("/profile/name", "somebody")]
        done = self.patch(*wrong, **more)
        assert done.queued is not None
        assert done.outcome.event is not None
        return done.outcome.event.event_id

    @property
    def present(self) -> Present:
        return self.documents.present(self.connection, "ada", history=True, entries=[UUID(int=0)])

    @property
    def document(self) -> Any:
        return self.present.state.document

    @property
    def open_problems(self) -> list[Problem]:
        return in_order(fold(entries(self.connection, "ada")).by_id.values())

    @property
    def problems(self) -> list[str]:
        return [each.description for each in self.open_problems]

    def waiting(self) -> set[UUID]:
        return {each.queue_id for each in self.present.fold.waiting}


@pytest.fixture
def ada(memory: Memory, connection: Connection) -> Ada:
    return Ada(memory, connection)


def mark() -> str:
    return orjson.dumps(Migrated(source="notes").metadata()).decode()


def test_an_erased_user_leaves_no_document_queue_problem_or_episode(ada: Ada) -> None:
    ada.memory.say("bea", "I live in Valparaiso.", "I've been struggling with migraines.")
    ada.say(f"I live in {CANARY}.", f"I've been struggling with {CANARY} pain.")
    ada.say(f"User might be allergic to {CANARY}", metadata=mark())
    ada.patch(add("/profile/other/note", CANARY), rationale=f"{CANARY} said so")
    patching.refuse(ada.waiting_patch(ada.queued(rationale=CANARY)), CANARY)
    ada.queued(source=CANARY)
    problem = problem_commands.open_problem(ada.opening, CANARY, 5, "default", None)
    tried = {"approach": f"{CANARY} tea", "outcome": CANARY, "successful": True}
    problem_commands.change(ada.known(problem.state.problem_id), ProblemAttempted, tried_at=SAID_AT, **tried)
    ada.memory.understand()
    held = {name for name in ada.memory.words(CANARY) if "core" in name or "problem" in name}
    assert len(held) > 4
    counts = ada.memory.erase("user", "ada").counts
    assert counts["core.documents"] == 1
    assert counts["core.queue"] >= 3
    assert ada.present.state.version == 0
    assert ada.problems == []
    ada.memory.settle(CANARY)
    assert ada.memory.words("Valparaiso")


def test_a_name_in_a_reason_or_rationale_is_found(ada: Ada) -> None:
    ada.say("I live in Lisbon.")
    ada.patch(add("/profile/other/seat", "aisle"), rationale="as always")
    mistaken = ada.patch(add("/profile/other/shoe", "42"))
    gone = ada.queued(rationale=f"{PERSON} told me")
    kept = ada.queued(rationale="a guess")
    refused, approved = ada.queued(), ada.queued()
    patching.refuse(ada.waiting_patch(refused), f"{PERSON} says no")
    patching.approve(ada.waiting_patch(approved), None, f"{PERSON} agreed")
    ada.patch(add("/profile/other/hat", "red"), rationale=f"{PERSON} saw it")
    assert mistaken.outcome.event is not None
    left_out = [mistaken.outcome.event.event_id]
    time_travel.roll_back(ada.history(rationale=f"{PERSON} noticed"), left_out, None)
    problem = problem_commands.open_problem(ada.opening, "snoring", 5, "default", None)
    tried = {"approach": "nose strips", "outcome": f"{PERSON} slept", "successful": True}
    problem_commands.change(ada.known(problem.state.problem_id), ProblemAttempted, tried_at=SAID_AT, **tried)
    ada.say(f"I met {PERSON} yesterday.", "My cat is called Minka.")
    ada.memory.understand()
    assert ada.memory.words(PERSON)
    ada.memory.erase("person", [PERSON], ["ada"])
    ada.memory.settle(PERSON)
    other = ada.document["profile"]["other"]
    assert other == {"seat": "aisle"}, (
        "the rollback stays in force, and the value that the person backed is gone"
    )
    assert ada.document["profile"]["residence"] == "Lisbon"
    assert ada.waiting() == {kept, approved}, "a refusal stays, an approval is asked for again"
    assert gone not in ada.waiting()
    assert "name" not in ada.document["profile"]
    assert ada.problems == ["snoring"]


def test_a_rollback_that_was_undone_is_not_said_again(ada: Ada) -> None:
    first = ada.patch(add("/profile/other/seat", "aisle"))
    assert first.outcome.event is not None
    noticed = ada.history(rationale=f"{PERSON} noticed")
    undone = time_travel.roll_back(noticed, [first.outcome.event.event_id], None)
    assert undone.outcome.event is not None
    time_travel.roll_back(ada.history(), [undone.outcome.event.event_id], None)
    ada.memory.understand()
    ada.memory.erase("person", [PERSON], ["ada"])
    ada.memory.settle(PERSON)
    assert ada.document["profile"]["other"] == {"seat": "aisle"}


def test_a_name_in_the_metadata_of_a_turn_is_found(ada: Ada) -> None:
    ada.say("I live in Lisbon.", metadata=orjson.dumps({"heard_by": PERSON}).decode())
    ada.memory.erase("person", [PERSON], ["ada"])
    ada.memory.settle(PERSON, "Lisbon")
    assert "residence" not in ada.document["profile"]


def test_an_erased_turn_takes_its_values_patches_proposals_and_problems(ada: Ada) -> None:
    [home] = ada.say(f"I live in {CANARY}.")
    [pain] = ada.say(f"I've been struggling with {CANARY} pain.")
    [note] = ada.say(f"User might be allergic to {CANARY}", metadata=mark())
    [other] = ada.say("I've been struggling with insomnia.")
    [proposal] = ada.present.fold.waiting
    assert proposal.kind == "proposal"
    patching.approve(ada.waiting_patch(proposal.queue_id), None, None)
    ada.patch(add("/profile/other/note", CANARY), turn_ids=(home,))
    ada.patch(add("/profile/other/seat", "aisle"))
    ada.queued(source=home, rationale=CANARY)
    refused = ada.queued(source=home)
    patching.refuse(ada.waiting_patch(refused), f"not in {CANARY}")
    [problem] = [
        each
        for each in in_order(fold(entries(ada.connection, "ada")).by_id.values())
        if pain in each.turn_ids
    ]
    tried = {"approach": "rest", "outcome": None, "successful": None}
    problem_commands.change(ada.known(problem.problem_id), ProblemAttempted, tried_at=SAID_AT, **tried)
    ada.memory.understand()
    assert ada.document["healthProfile"]["allergies"]["food"] == [CANARY]
    for turn_id in (home, pain, note):
        ada.memory.erase("turn", "ada", turn_id)
    ada.memory.settle(CANARY)
    assert ada.document["profile"].get("residence") is None
    assert ada.document["profile"]["other"] == {"seat": "aisle"}
    assert ada.document["healthProfile"]["allergies"]["food"] == []
    assert ada.waiting() == set()
    assert ada.problems == ["insomnia"]
    assert other not in (home, pain, note)
