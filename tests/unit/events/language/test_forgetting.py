"""Requests to forget make no card. Words that only look like them are ordinary words."""

import pytest

from events.language.forget_requests import hidden_requests, requests_to_forget, without_requests
from tests.support.ingest.rules import cards, facts
from tests.support.tables import texts


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
