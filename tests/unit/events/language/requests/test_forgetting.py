"""Requests to forget make no card. Words that only look like them are ordinary words."""

from __future__ import annotations

import pytest

from events.language.requests.forgetting import hidden_requests, requests_to_forget, without_requests
from tests.support.ingest.rules import cards, facts

REQUESTS = (
    "please forget my wife's name", "Please forget my wife’s name.", "Forget my address.", "Forget about my address",
    "Could you please forget my phone number?", "Can you forget what I said about my job?", "Forget what I told you.",
    "forget that I live in Porto", "Forget everything I told you about my sister.", "Forget the address I gave you.",
    "Please forget everything you know about my ex.", "Delete my address from your memory.", "Forget me.",
    "Please remove what I said about Anna from your records", "Erase everything I told you about my health.",
    "Don't save my phone number.", "Please do not store my address", "don't keep what I said about my boss",
    "Please don't remember my salary.", "Oh, and please forget my old job.", "I'd like you to forget my birthday.",
    "You can forget my old number.", "Please don't save this.",
    "忘掉我說的地址", "忘掉我说的地址", "請忘記我太太的名字", "请忘掉我之前说的电话号码。", "麻烦忘记我的生日",
    "可以忘掉我的地址吗？", "把我的電話忘掉吧", "請把我說的地址從記憶中刪除", "刪掉我剛才說的話", "不要記住我的薪水",
    "别保存我的地址", "請不要記錄我的病史", "请忘了我说的话", "忘记关于我前女友的事", "你忘掉我妹妹的名字吧",
)  # fmt: skip
OTHERWISE = (
    "I forgot my umbrella.", "I always forget my keys.", "Don't forget my birthday.", "Please don't forget my lunch!",
    "Never forget my words.", "Forget the trip, we stay home.", "I want to forget my ex.", "My dad forgets my name.",
    "I don't remember my phone number.", "Don't remember my phone number.", "Remove milk from my shopping list.",
    "Delete the old branch.", "I can't forget what you said.", "She told me to forget my past.", "I never save money.",
    "I do not keep my shoes inside.", "We forgot what I said.", "I deleted my account.",
    "我忘了我的雨傘", "我老是忘記帶鑰匙", "別忘了我的生日", "不要忘記我的生日", "請別忘記我的藥", "我想忘掉我的前男友",
    "媽媽忘記我的名字了", "我不記得我的電話", "記住我的地址", "我把舊照片刪掉了", "不要存太多錢", "忘了帶傘",
)  # fmt: skip


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_to_forget_makes_no_card(text: str) -> None:
    [request] = requests_to_forget(text)
    assert (request.begin, request.end) == (0, len(text))
    assert cards(text) == []


@pytest.mark.parametrize("text", OTHERWISE)
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


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["please ", "forget my ", "you can ", "请", "忘掉我的", "the a ", "\n", "把我"]
)
def test_a_long_text_of_the_same_words_is_read(piece: str) -> None:
    for length in (290, 20_000):
        requests_to_forget((piece * length)[:length] + " I said")
