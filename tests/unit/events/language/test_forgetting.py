"""What sentences say of forgetting, of changes, of frequency, and of the turn before."""

import pytest

from events.language.changes import denies
from events.language.continuation import continued
from events.language.forget_requests import hidden_requests, requests_to_forget, without_requests
from events.language.frequencies import with_frequency
from events.types.cards import Utterance
from tests.support.ingest.rules import cards, facts
from tests.support.tables import examples, texts


@pytest.mark.parametrize("text", texts(__file__, "forget.txt"))
def test_a_request_to_forget_makes_no_card(text: str) -> None:
    [request] = requests_to_forget(text)
    assert (request.begin, request.end) == (0, len(text))
    assert cards(text) == []


@pytest.mark.parametrize("text", texts(__file__, "no_forget.txt"))
def test_words_that_only_look_like_it_are_kept(text: str) -> None:
    assert requests_to_forget(text) == ()


def test_the_other_sentences_of_the_turn_are_read() -> None:
    text = "I moved to Oslo. Please forget my old address. I work at Acme."
    assert [text[each.begin : each.end].strip() for each in requests_to_forget(text)] == [
        "Please forget my old address."
    ]
    assert without_requests(text) == "I moved to Oslo. I work at Acme."
    assert len(hidden_requests(text)) == len(text)
    assert {value for _, _, value in facts(text)} == {"Oslo", "Acme"}
    chinese = "我搬到高雄了。忘掉我說的舊地址。"
    assert requests_to_forget(chinese)[0].about == "我說的舊地址"


@pytest.mark.processor_seconds(20)
@pytest.mark.parametrize(
    "piece", ["please ", "forget my ", "you can ", "请", "忘掉我的", "the a ", "\n", "把我"]
)
def test_a_long_text_of_the_same_words_is_read(piece: str) -> None:
    for length in (290, 20_000):
        requests_to_forget((piece * length)[:length] + " I said")


@pytest.mark.parametrize("words", ["请你" * 60, "麻烦你" * 40, "你可以" * 40, "can you please " * 18])
@pytest.mark.processor_seconds(10)
def test_a_request_beside_words_of_politeness_in_a_row_is_found(words: str) -> None:
    [found] = requests_to_forget(f"{words}忘 forget x! Please forget what I said about Ghent.")
    assert found.about == "what I said about Ghent"


@pytest.mark.parametrize(
    "asked", ["can you please forget", "you should please forget", "please, can you forget"]
)
def test_a_polite_request_is_found(asked: str) -> None:
    [found] = requests_to_forget(f"{asked} what I said about Ghent.")
    assert found.about == "what I said about Ghent"


@pytest.mark.parametrize("asked", ["请你", "麻烦你", "你可以", "你能不能", "麻烦你帮我"])
def test_a_polite_request_in_chinese_is_found(asked: str) -> None:
    assert len(requests_to_forget(f"{asked}忘掉我说过的地址。")) == 1


@pytest.mark.parametrize("text", ["Is not allergic to nuts", "我不吃肉", "我對花生冇敏感", "佢唔食肉"])
def test_a_denial_is_read_in_english_and_in_both_spoken_forms_of_chinese(text: str) -> None:
    assert denies(text)


@pytest.mark.parametrize("text", ["Is allergic to nuts", "我對花生敏感"])
def test_what_is_so_is_no_denial(text: str) -> None:
    assert not denies(text)


@examples
def test_an_activity_and_its_frequency(text: str, found: tuple[str, str] | None) -> None:
    assert with_frequency(text) == found


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
