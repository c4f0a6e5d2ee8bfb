"""Which questions ask for what the assistant answered."""

from retrieval.query.question_forms import asks_the_assistant
from tests.support.tables import examples


@examples
def test_a_question_about_an_earlier_answer(question: str) -> None:
    assert asks_the_assistant(question)


@examples
def test_any_other_question(question: str) -> None:
    assert not asks_the_assistant(question)
