"""Words before a turn help only the turn that continues them."""

import pytest

from events.language.continuation import continued
from events.types.cards import Utterance


def test_a_turn_continues_what_another_named_speaker_said() -> None:
    before = (
        Utterance("What is it called?", "Ines"),
        Utterance("I got a boat", "Otto"),
        Utterance("Hm", "Ines"),
    )
    assert continued(Utterance("Albatross", "Otto"), before) == before[:2]


@pytest.mark.parametrize("said", ["A blue one", "藍色的那台"])
@pytest.mark.parametrize("asked", ["Which bike did you take?", "你騎哪一台？", "你骑哪一台？"])
def test_without_names_a_short_answer_continues_its_question_alone(said: str, asked: str) -> None:
    before = (Utterance(asked), Utterance("I rode to the lake"))
    assert continued(Utterance(said), before) == before[:1]


@pytest.mark.parametrize(
    ("said", "before"),
    [
        (Utterance("Second item: the roof leaks"), (Utterance("First item: the door sticks"),)),
        (Utterance("The roof leaks", "Ines"), (Utterance("Does the door stick?", "Ines"),)),
        (Utterance("I have plans of my own for the garden, with beans by the fence"), (Utterance("More?"),)),
        (Utterance("我打算在院子的整排籬笆旁邊都種上豆子，另外再搭一個棚架"), (Utterance("還有別的嗎？"),)),
        (Utterance("Alone"), ()),
    ],
)  # fmt: skip
def test_anything_else_stands_by_itself(said: Utterance, before: tuple[Utterance, ...]) -> None:
    assert continued(said, before) == ()
