"""Each family of facts in both languages: what the reader finds, and the traps in which it finds nothing."""

from __future__ import annotations

import pytest

from tests.support.ingest.rules import cards, ended, events, facts, knowledge, states

FOUND = [
    # name, home
    ("My name is Tilda Brandt.", "user name Tilda Brandt"),
    ("Hi, I'm Tilda, a florist from Graz.", "user name Tilda"),
    ("大家好，我叫林予安。", "user name 林予安"),
    ("I live in Bologna, close to the station.", "user residence Bologna"),
    ("I moved to Aarhus last month and I still have boxes.", "user residence Aarhus"),
    ("My brother Ivo lives in Split.", "Ivo residence Split"),
    ("我住在屏東，離海很近。", "user residence 屏東"),
    ("我去年搬到昆明了。", "user residence 昆明"),
    ("我姊姊住在台東。", "姊姊 residence 台東"),
    # work, study
    ("Big news: I just started a new job at Brightwater!", "user employer Brightwater"),
    ("I work at Kestrel Labs as a data analyst.", "user occupation data analyst"),
    ("I'm a pharmacist at Northgate Hospital and I like it.", "user employer Northgate Hospital"),
    ("我在研華科技當工程師。", "user employer 研華科技"),
    ("我是護理師，在夜班。", "user occupation 護理師"),
    ("I study marine biology at Coastal University.", "user major marine biology"),
    ("我就讀成功大學。", "user school 成功大學"),
    # family and pets
    ("I'm worried about my son Anselm, he sleeps badly.", "user child Anselm"),
    ("My manager is Odalys.", "user manager Odalys"),
    ("We adopted a rabbit called Fennel.", "user pet Fennel"),
    ("我女兒叫小滿。", "user child 小滿"),
    ("我們養了一隻狗，名字叫湯圓。", "user pet 湯圓"),
    # body, health and food
    ("My birthday is October 9th.", "user birthday October 9th"),
    ("我的生日是三月二號。", "user birthday 三月二號"),
    ("FYI I'm badly allergic to sesame and kiwi.", "user allergy kiwi"),
    ("我對芒果過敏。", "user allergy 芒果"),
    ("I'm vegan now.", "user diet vegan"),
    ("我現在吃素。", "user diet 吃素"),
    ("I don't eat pork.", "user avoids pork"),
    ("I was diagnosed with asthma last year.", "user medical_condition asthma"),
    # likes
    ("I love brass bands and rainy weekends.", "user likes rainy weekends"),
    ("My favorite tree is the hornbeam.", "user favourite_tree the hornbeam"),
    ("我喜歡划船。", "user likes 划船"),
    ("I've taken up woodturning.", "user hobby woodturning"),
    # things and tools
    ("My browser is Vivaldi.", "user browser Vivaldi"),
    ("我的編輯器是 Emacs。", "user editor Emacs"),
    ("We switched from MySQL to Postgres.", "user tech_stack Postgres"),
    ("Our marketing budget is $240,500 per year.", "user marketing_budget $240,500 per year"),
    ("my wifi password is otter-77b", "user wifi_password otter-77b"),
    ("我的電話是0933-222-111。", "user phone 0933-222-111"),
    ("Heron's release moved to March.", "Heron release_date March"),
    ("發布日期改到九月。", "project release_date 九月"),
]

NOTHING = [
    # the words of others
    "Olof said, I live in Ghent.",
    "我姊姊跟我說，我住在台東。",
    # questions, conditions, wishes, hedges
    "Do I live in Bologna?", "If I lived in Bologna, I would "
    "cycle.", "I might move to Bologna.", "I wish I lived in Rome.",
    "我是不是住在屏東？", "如果我住在屏東就好了。", "我可能會搬到昆明。", "I'd love a dog named Rex.",
    # words of others, pasted words, role play
    "He said: I live in Bologna.", "Rewrite this: I work at Kestrel Labs and live in Bologna.",
    "Fill in the form with test data: my name is Peter Pane.", '"I live in Bologna" is a line of the song.',
    "幫我改這段自我介紹：我叫林予安，在研華科技上班。", "Pretend you are my doctor. I am allergic to nuts.",
    "帮我看看这封信:\n我住在昆明,在华为工作。",
    # a pronoun is no subject, and a negation is no fact
    "She lives in Split.", "他住在台東。", "I don't live in Bologna.", "I never liked tea.", "我不住屏東。",
    # values with left-over words, and words that only look like values
    "I live in fear.", "I like how it turned "
    "out.", "I love him so much.", "I like the second option.", "I'm Exhausted.",
    "I like sitename.com but it is "
    "taken.", "I work at night.", "我喜歡你。", "我在家工作。", "我在忙。", "我今天去買材料。",
    "My question is simple.", "My appointment is tomorrow.", "我現在興趣有點變了。", "I take notes daily.",
]  # fmt: skip


@pytest.mark.parametrize(("text", "fact"), FOUND)
def test_a_fact_is_found(text: str, fact: str) -> None:
    assert fact in {" ".join(found) for found in facts(text)}


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_is_read_when_in_doubt(text: str) -> None:
    assert [(one.concept_key, one.value) for one in states(text)] == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I no longer work at Kestrel Labs.", ("user", "employer", "Kestrel Labs")),
        ("I gave up on keto.", ("user", "diet", "keto")),
        ("I moved from Graz to Aarhus.", ("user", "residence", "Graz")),
        ("我已經不吃素了。", ("user", "diet", "吃素")),
        ("我從研華科技離職了。", ("user", "employer", "研華科技")),
    ],
)
def test_the_end_of_a_fact_is_found(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in ended(text)


@pytest.mark.parametrize(
    ("texts", "value", "replaces"),
    [
        (("I live in Graz.", "Sorry, I meant Aarhus."), "Aarhus", "Graz"),
        (("I live in Graz.", "Oops. It's Aarhus."), "Aarhus", "Graz"),
        (("My rent is $1,450.", "Correction: my rent is $1,540."), "$1,540", "$1,450"),
        (("我住在屏東。", "打錯了，是台東。"), "台東", "屏東"),
    ],
)
def test_a_correction_replaces_the_value_told_before(
    texts: tuple[str, ...], value: str, replaces: str
) -> None:
    last = states(*texts)[-1]
    assert (last.statement, last.value, last.replaces) == ("corrected", value, replaces)


@pytest.mark.parametrize(
    "text", ["Hang on, make that the later train.", "Sorry, I meant to call you.", "不對，我再想想。"]
)
def test_a_correction_without_a_right_value_gives_nothing(text: str) -> None:
    assert [one.value for one in states("I live in Graz.", text) if one.statement == "corrected"] == []


@pytest.mark.parametrize(
    ("text", "status", "day", "replaces"),
    [
        ("I'm flying to Turku next Friday.", "planned", "2026-05-15", None),
        ("I have a dentist appointment on Tuesday at 3pm.", "planned", "2026-05-12", None),
        ("下週六要去龜山島。", "planned", "2026-05-16", None),
        ("We went to the zoo yesterday.", "happened", "2026-05-07", None),
        ("昨天我和阿哲去看了展覽。", "happened", "2026-05-07", None),
        ("The Turku trip is off.", "cancelled", "2026-05-08", "Turku trip"),
        ("Dinner with Ivo moved to Friday.", "planned", "2026-05-15", "Dinner with Ivo"),
        ("讀書會取消了。", "cancelled", "2026-05-08", "讀書會"),
        ("吉他課改到星期四了。", "planned", "2026-05-14", "吉他課"),
    ],
)
def test_a_plan_has_its_day(text: str, status: str, day: str, replaces: str | None) -> None:
    (found,) = events(text)
    assert (found.status, str(found.occurred_at.date()), found.replaces) == (status, day, replaces)


@pytest.mark.parametrize("text", ["The concert today was far too loud.", "Paid the dentist this morning."])
def test_the_name_of_an_occasion_on_a_day_that_has_begun_is_no_plan(text: str) -> None:
    assert all(event.status != "planned" for event in events(text))


@pytest.mark.parametrize(
    "text",
    ["Maybe I'll swim tomorrow.", "也許明天去爬山。", "I didn't run yesterday.", "Shall we meet on Friday?"],
)
def test_an_unsure_day_is_no_event(text: str) -> None:
    assert events(text) == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I live in Graz.", "Lives in Graz"),
        ("I work as an usher.", "Works as an usher"),
        ("I'm vegan.", "Follows a vegan diet"),
        ("my sister lives in Split", "My sister lives in Split"),
        ("I have a dog.", "Has a dog"),
        ("My manager is Odalys.", "Has a manager named Odalys"),
        ("The standup is at 9:45.", "The standup is at 9:45"),
        ("Our rent is $1,450 a month.", "The rent is $1,450 a month"),
        ("我爸是電工。", "爸爸的職業是電工"),
        ("我兒子八歲。", "兒子八歲"),
        ("我從屏東搬到台東了。", "住在台東"),
    ],
)
def test_a_card_is_a_sentence_in_its_language_and_script(text: str, content: str) -> None:
    assert content in [card.content for card in cards(text)]


def test_a_definition_is_knowledge() -> None:
    (found,) = knowledge("CRDT stands for conflict-free replicated data type.")
    assert (found.title, found.definition) == ("CRDT", "conflict-free replicated data type")


def test_the_speaker_of_a_turn_is_the_subject() -> None:
    assert [(one.entity, one.content) for one in states("I live in Graz.", speaker="Ivo")] == [
        ("Ivo", "Ivo lives in Graz")
    ]
