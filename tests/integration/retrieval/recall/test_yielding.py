"""A fact yields to later words wherever they stand in the memory, and to nobody else's."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.conversing import Memory, day
from tests.support.retrieval.channels import Recall, asking


@pytest.fixture
def memory(memory: Memory) -> Memory:
    memory.state("manager", "Ines", day(0), content="Reports to Ines", turn_ids=("t0",))
    return memory


@pytest.fixture
def recall(database: str) -> Iterator[Recall]:
    """Recalls with the shipped coefficients: the file of the settings is missing, which costs a warning."""
    with asking(database, ranking_file="/nowhere/ranking.json") as ask:
        yield ask


def told(memory: Memory, number: int, text: str, **more: Any) -> None:
    memory.event(text, day(number), episode=True, turn_ids=(f"t{number}",), session_id=f"s{number}", **more)


def test_a_fact_yields_to_a_turn_that_shares_no_word_with_the_question(
    memory: Memory, recall: Recall
) -> None:
    for number in range(1, 105):
        told(memory, number, f"The boss level {number} of that game took an hour")
    told(memory, 200, "Ines quit, and Tom runs everything")
    memory.fold()
    cards = recall("Who is my boss?", k=50)["cards"]
    assert cards[0]["content"] == "Ines quit, and Tom runs everything"
    [fact] = [card for card in cards if card["content"] == "Reports to Ines"]
    assert fact["perhaps_no_longer"]["content"] == cards[0]["content"]


def test_words_of_another_project_of_another_user_and_of_a_later_time_end_nothing(
    memory: Memory, recall: Recall
) -> None:
    told(memory, 9, "Ines quit, and Tom runs everything")
    hostile = ("no longer Ines " * 900, "Ines changed moved quit " * 500, "Ines 不再 " * 900)
    for number, text in enumerate(hostile, 20):
        told(memory, number, text, project_id="other")
        told(memory.of("someone"), number, text)
    memory.fold()
    [fact] = recall("Who is my boss?", k=1, as_of=day(5).isoformat())["cards"]
    assert (fact["content"], "perhaps_no_longer" in fact) == ("Reports to Ines", False)
    with asking(memory.database) as shipped:
        assert shipped("Who is my boss?", k=2)["cards"] == recall("Who is my boss?", k=2)["cards"]
    first, second = recall("Who is my boss?", k=2)["cards"]
    assert first["content"] == second["perhaps_no_longer"]["content"] == "Ines quit, and Tom runs everything"


@pytest.mark.parametrize("other", [{"speaker": "Noor"}, {"provenance": "assistant_stated"}])
def test_a_turn_that_names_the_answer_again_is_shown_below_it(
    memory: Memory, recall: Recall, other: dict[str, str]
) -> None:
    told(memory, 1, "Our courier is Velopak")
    told(memory, 3, "Velopak got too dear, so Ostra brings the parcels")
    told(memory, 60, "Velopak got too dear, so Brisk brings the parcels", **other)
    for number in range(4, 40):
        told(memory, number, f"A courier, number {number}")
    memory.fold()
    question = "Which courier is ours?"
    first, second = recall(question, k=2)["cards"]
    assert first["content"] == "Our courier is Velopak"
    assert second["content"] == "Velopak got too dear, so Ostra brings the parcels"
    before = recall(question, k=2, as_of=day(1).isoformat())["cards"]
    assert [card["content"] for card in before] == [first["content"]]


def test_a_turn_that_shares_a_word_of_many_cards_is_not_moved(memory: Memory, recall: Recall) -> None:
    told(memory, 1, "Our courier is Velopak of Utrecht")
    for number in range(2, 40):
        told(memory, number, f"Utrecht has seen a match {number}")
        told(memory, 100 + number, f"A courier, number {number}")
    memory.fold()
    first, second = recall("Which courier is ours?", k=2)["cards"]
    assert (first["content"], second["content"][:9]) == ("Our courier is Velopak of Utrecht", "A courier")
