"""A request that cannot be answered is refused with its field."""

from urllib.parse import parse_qs
from uuid import uuid4

from retrieval.cards.slice import AXES
from tests.support.conversing import Memory
from tests.support.tables import rows


def test_a_bad_request_names_its_field(memory: Memory) -> None:
    for asked, field in rows(__file__, "test_cards_api_problems.txt"):
        path, _, query = asked.partition("?")
        problem = memory.get(path, answers=422, **parse_qs(query, keep_blank_values=True))
        assert (problem["status"], problem["field"]) == (422, field), asked


def test_a_refusal_lists_the_allowed_values(memory: Memory) -> None:
    problem = memory.get("cards/aggregate", answers=422, group_by="colour")
    assert problem["allowed"] == list(AXES)
    assert "agent_id" in problem["detail"]


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    for path in (f"cards/{uuid4()}", f"arbitrations/{uuid4()}"):
        assert memory.get(path, answers=404)["title"] == "Not found"
    assert memory.get("cards", answers=404, knowledge=str(uuid4()))["field"] == "knowledge"
