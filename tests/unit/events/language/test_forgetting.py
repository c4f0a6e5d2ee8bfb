"""Requests to forget make no card. Words that only look like them are ordinary words."""

from __future__ import annotations

import pytest

from events.language.forget_requests import hidden_requests, requests_to_forget, without_requests
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
    "Please forget my wife's name.", "Forget that I live in Leeds.",
    "Can you delete what I told you about my salary?", "I'd like you to erase my phone number.",
    "Remove my address from your memory, please.", "Please don't store my bank details.",
    "Could you forget everything I said about my divorce?", "Forget what I said about moving to Berlin.",
    "Wipe everything you know about my brother.", "Stop remembering my birthday.",
    "You should forget about my old job.", "Delete my email address from your records.",
    "I want you to forget my ex-girlfriend's name.", "Would you mind forgetting my weight?",
    "Scrub my medical history.", "Please remove the note about my allergy.",
    "I don't want you to remember my religion.", "Hey, erase all you have on my landlord.",
    "Forget my wife's name, would you?", "請忘掉我太太的名字。", "请忘记我的电话号码", "把我的地址刪掉",
    "刪除我的生日", "請把我薪水的事忘了", "可以忘記我說過的病情嗎?", "不要記住我的身分證號碼", "别记我的工资",
    "麻煩你刪掉關於我前女友的記錄", "請不要再記得我的舊工作", "我想讓你忘記我弟弟的事", "清除你對我體重的記憶",
    "能不能把我的邮箱删了", "幫我刪除我之前講的住址", "请抹掉我所有关于离婚的信息", "我要你忘了我住在台中",
    "別記我的信仰了", "删掉你记的我的银行账号", "關於我的過敏,請忘掉吧",
    "Please forget what I told you about Dan.", "Can you remove my birthday from your memory?",
    "Delete my phone number, please.", "Forget that we ever talked about my debts.", "Erase my home address.",
    "Stop saving my medical details.", "Please delete your notes about my mother.",
    "I don't want you to keep my salary.", "could you wipe all you remember about my trip",
    "Forget my old email address now.", "请删除我的手机号码", "把我说的都忘掉", "別再記我的體重了",
    "我希望你忘掉我的收入", "刪掉所有關於我爸爸的記錄", "請清除我的病歷", "關於我的離婚,麻煩忘了",
    "幫我忘記我女兒的學校", "不要保存我的密碼", "請你把我的名字忘記",
)  # fmt: skip
OTHERWISE = (
    "I forgot my umbrella.", "I always forget my keys.", "Don't forget my birthday.", "Please don't forget my lunch!",
    "Never forget my words.", "Forget the trip, we stay home.", "I want to forget my ex.", "My dad forgets my name.",
    "I don't remember my phone number.", "Don't remember my phone number.", "Remove milk from my shopping list.",
    "Delete the old branch.", "I can't forget what you said.", "She told me to forget my past.", "I never save money.",
    "I do not keep my shoes inside.", "We forgot what I said.", "I deleted my account.",
    "我忘了我的雨傘", "我老是忘記帶鑰匙", "別忘了我的生日", "不要忘記我的生日", "請別忘記我的藥", "我想忘掉我的前男友",
    "媽媽忘記我的名字了", "我不記得我的電話", "記住我的地址", "我把舊照片刪掉了", "不要存太多錢", "忘了帶傘",
    "Don't forget my wife's name.", "I forgot my wife's name.", "Forget it.", "Never forget my birthday.",
    "Forget about it, let's move on.", "Please don't forget that I'm allergic to nuts.",
    "Did you forget my address?", "I deleted my email account yesterday.",
    "My doctor told me to forget about my old job.", "How do I delete my Facebook account?",
    "I can't forget my first dog.", "Can you remind me, I forget my sister's number.",
    "Please delete the second paragraph of this essay.", "My wife wants me to forget her birthday gift.",
    "I will never forget my grandmother's cooking.", "Remove the onions from my recipe.",
    "You won't forget my name, will you?", "Don't let me forget my passport.", "別忘了我的地址",
    "不要忘記我太太的名字", "我忘了我太太的名字", "算了,忘了吧", "我常常忘記帶鑰匙", "你忘了我的名字嗎?",
    "我永遠不會忘記我的奶奶", "我把我的帳號刪了", "怎麼刪除我的臉書帳號?", "提醒我不要忘記護照",
    "我差點忘了我的生日", "千万别忘记我对花生过敏", "我老婆叫我忘掉前女友", "请删除文章的第二段",
    "我想忘記我的前男友", "你不會忘記我的生日吧", "记得我的生日,别忘", "他忘了我的地址", "别让我忘记吃药",
    "我忘記把地址告訴你了", "Delete my last email to Bob.", "Remove my name from the guest list.",
    "Forget about the gym today.", "I want you to remember my birthday.", "Wipe the table.",
    "I had to erase all my notes about biology.", "They asked me to delete my data.", "Stop keeping me awake.",
    "Don't let me forget my meds.", "My phone forgot my password.",
    "I don't want you to worry about my health.", "He said: never forget where you come from.", "删除我的文件",
    "把我的衣服收好", "我把我的地址改了", "別忘記我的藥", "我不想忘記我的名字", "不要記錯我的生日",
    "老師要我忘記我的失敗", "我清除了手機的資料", "請別再忘記我的名字", "不要再忘了我的生日",
    "关于我的工作,我换了公司",
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


@pytest.mark.parametrize("words", ["请你" * 60, "麻烦你" * 40, "你可以" * 40, "can you please " * 18])
@pytest.mark.timeout(10)
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
