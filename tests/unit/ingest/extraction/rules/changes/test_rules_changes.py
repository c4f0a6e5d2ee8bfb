"""The rules extractor on changing lives: beginnings, the ends they cause, and words that only sound like them."""

from __future__ import annotations

import pytest

from ingest.extraction.rules.moments import TIME, mask
from ingest.extraction.rules.sentences import sentences
from tests.support.ingest.rules import ended, facts, states

# The turn, the states that hold from then on, and the states that end.
CHANGED = [
    ("I switched from tennis to squash, my knees thank me.", ("hobby", "squash"), ("hobby", "tennis")),
    ("I gave up golf for climbing.", ("hobby", "climbing"), ("hobby", "golf")),
    ("I stopped playing golf and took up padel.", ("hobby", "padel"), ("hobby", "golf")),
    ("I've switched from the flute to the cello.", ("instrument", "cello"), ("instrument", "flute")),
    (
        "I sold the Toyota Yaris and bought a Volvo V60.",
        ("vehicle", "Volvo V60"),
        ("vehicle", "Toyota Yaris"),
    ),
    ("I stopped using Brave; Firefox is my browser now.", ("browser", "Firefox"), ("browser", "Brave")),
    ("I gave up golf. I play padel now.", ("hobby", "padel"), ("hobby", "golf")),
    ("I'm not a nurse anymore, I work as a baker.", ("occupation", "baker"), ("occupation", "nurse")),
    ("No longer a nurse: I started working as a baker.", ("occupation", "baker"), ("occupation", "nurse")),
    ("我不當老師了，現在是一名律師。", ("occupation", "律師"), ("occupation", "老師")),
    ("我已經不住首爾了，現在住在杭州。", ("residence", "杭州"), ("residence", "首爾")),
    ("I switched from Firefox to Chrome.", ("browser", "Chrome"), ("browser", "Firefox")),
    ("Moss passed away. A month later I got a puppy called Fig.", ("pet", "Fig"), ("pet", "Moss")),
    ("我不打排球了，改打網球", ("hobby", "網球"), ("hobby", "排球")),
    ("我的愛好從排球換成網球了", ("hobby", "網球"), ("hobby", "排球")),
    ("我把 Sublime Text 換成 Vim 了", ("editor", "Vim"), ("editor", "Sublime Text")),
    ("我把 Ford Focus 賣了，換了一台 Toyota Yaris", ("vehicle", "Toyota Yaris"), ("vehicle", "Ford Focus")),
    ("餅乾上週過世了，後來我們又養了一隻貓叫可樂", ("pet", "可樂"), ("pet", "餅乾")),
    ("我从台北搬到成都了", ("residence", "成都"), ("residence", "台北")),
]


@pytest.mark.parametrize(("text", "new", "old"), CHANGED)
def test_a_change_begins_one_thing_and_ends_the_other(
    text: str, new: tuple[str, str], old: tuple[str, str]
) -> None:
    assert ("user", *new) in facts(text)
    assert ("user", *old) in ended(text)
    # Pets coexist. For every other fact, the end of the old value announces the new one.
    assert all(one.announced for one in states(text) if (one.concept_key, one.value) == new)


ANNOUNCED = [
    ("I have a new manager: Theo.", "manager", "Theo"),
    ("Jonas left the team, so Theo is my manager now.", "manager", "Theo"),
    ("My new car is a Mazda 3.", "vehicle", "Mazda 3"),
    ("I changed my number, it's 555-0142 now.", "phone", "555-0142"),
    ("My phone number is now 555-0142, forget 555-0163.", "phone", "555-0142"),
    ("The Marigold release moved from April to June.", "release_date", "June"),
    ("We pushed the Marigold release to June.", "release_date", "June"),
    ("Marigold slipped: it now ships in June instead of April.", "release_date", "June"),
    ("I changed jobs: I work for Tessel now.", "employer", "Tessel"),
    ("我換工作了，現在在廣達上班。", "employer", "廣達"),
    ("我搬家了，現在住新竹", "residence", "新竹"),
    ("我的主管換成雅婷了", "manager", "雅婷"),
    ("我的新主管是雅婷，家豪調到別的部門了", "manager", "雅婷"),
    ("我的瀏覽器改成 Firefox 了", "browser", "Firefox"),
    ("我的職業改成工程師了", "occupation", "工程師"),
    ("我的新電話號碼是0912-345-678", "phone", "0912-345-678"),
    ("飛魚專案的上線時間從七月延到九月了", "release_date", "九月"),
    ("飛魚專案延期了，改到九月上線。", "release_date", "九月"),
]


@pytest.mark.parametrize(("text", "key", "value"), ANNOUNCED)
def test_words_that_announce_a_change_say_so(text: str, key: str, value: str) -> None:
    found = [one for one in states(text) if one.concept_key == key and one.statement == "asserted"]
    assert [(one.value.removeprefix("到"), one.announced) for one in found] == [(value, True)]


READ = [
    ("We've been living in Ghent for a couple of years.", ("user", "residence", "Ghent")),
    ("I've been allergic to peanuts since I was a kid.", ("user", "allergy", "peanuts")),
    ("I was born on May 14, so I'm always cold.", ("user", "birthday", "May 14")),
    ("Note that my birthday is on May 14, please.", ("user", "birthday", "May 14")),
    ("I've played the cello since school.", ("user", "instrument", "cello")),
    ("I write all my code in Vim.", ("user", "editor", "Vim")),
    ("My number is 555-0142 if the courier asks.", ("user", "phone", "555-0142")),
    ("You can reach me at 555-0142.", ("user", "phone", "555-0142")),
    ("Theo's manager is Noor, poor thing.", ("Theo", "manager", "Noor")),
    ("I studied at Uppsala University.", ("user", "school", "Uppsala University")),
    ("Marigold will ship in June if nothing burns down.", ("Marigold", "release_date", "June")),
    ("我今天搬到成都了，到處都是箱子。", ("user", "residence", "成都")),
    ("我在京都住了兩年多，很喜歡這裡。", ("user", "residence", "京都")),
    ("我在台北的聯發科上班", ("user", "employer", "聯發科")),
    ("我從春天開始在聯發科工作。", ("user", "employer", "聯發科")),
    ("我是做工程師的，沒什麼特別。", ("user", "occupation", "工程師")),
    ("我上網都用 Firefox。", ("user", "browser", "Firefox")),
    ("我的編輯器是 VS Code，不要跟我吵。", ("user", "editor", "VS Code")),
    ("我每週四都打網球。", ("user", "hobby", "網球")),
    ("我開一台 Mazda 3，兩邊都有刮痕。", ("user", "vehicle", "Mazda 3")),
    ("有事打0912-345-678，這是我的電話號碼。", ("user", "phone", "0912-345-678")),
    ("我五月十四號生日，請記下來。", ("user", "birthday", "五月十四號")),
    ("我從小就對花生過敏。", ("user", "allergy", "花生")),
    ("診所說我的血型是A型。", ("user", "blood_type", "A型")),
    ("我是成功大學畢業的。", ("user", "school", "成功大學")),
    ("我會講一點日文，奶奶教的。", ("user", "language", "日文")),
    ("我的主管是雅婷，不太管事。", ("user", "manager", "雅婷")),
    ("雅婷是我的主管", ("user", "manager", "雅婷")),
    ("宗翰現在住在高雄。", ("宗翰", "residence", "高雄")),
    ("宗翰剛加入趨勢科技。", ("宗翰", "employer", "趨勢科技")),
    ("淑芬的生日是5月17日，我差點忘了。", ("淑芬", "birthday", "5月17日")),
]


@pytest.mark.parametrize(("text", "fact"), READ)
def test_a_fact_said_in_other_words_becomes_a_state(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(text)


NOTHING = [
    "I bought a Kindle. I got a book about dogs. I sold my house and bought a boat.",
    "My new car is amazing. My phone number is dead. Call me at 5.",
    "My friend Karlie passed away. David Bowie died. Grandma died. The server died.",
    "Tom's dad is great. My dad is now retired. My boss is out today.",
    "I was born on a Tuesday.",
    "奶奶過世了。張大明去世了。我手機死了。老王走了。",
    "美國在下雪。國家在進步。公司在台北。平安在家。",
    "我昨天打網球。",
    "我的老闆是個好人。我主管換人了。我媽媽是好人。",
    "我以前在台北住了三年。",
    "這東西我們叫壓蓋。",
    "我現在特別喜歡琢磨瓶子的“料”和“色”。",
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_only_sounds_like_a_fact_of_the_speaker_is_none(text: str) -> None:
    assert [one for one in states(text) if one.entity == "user" and one.concept_key != "friend"] == []


@pytest.mark.parametrize(
    ("text", "value", "day"),
    [
        ("From next month I work at Tessel.", "Tessel", "2026-06-01"),
        ("Starting next month I work at Tessel.", "Tessel", "2026-06-01"),
        ("我下個月開始在台積電上班", "台積電", "2026-06-01"),
    ],
)
def test_what_begins_next_month_holds_from_then(text: str, value: str, day: str) -> None:
    (found,) = states(text)
    assert (found.value, found.effective_at.date().isoformat()) == (value, day)


@pytest.mark.parametrize(
    "time",
    [
        "in March",
        "on May 4",
        "since May",
        "last May",
        "on Tuesday morning",
        "yesterday",
        "the day before yesterday",
        "in 2019",
        "back in the 2000s",
        "Q3 2026",
        "on the 3rd",
        "three weeks ago",
        "a couple of months ago",
        "every semester",
        "at 5pm",
        "noon",
        "last Christmas",
        "on New Year's Eve",
        "a while ago",
        "the other day",
        "at the moment",
        "right now",
        "nowadays",
        "for ages",
        "all day",
        "long ago",
        "so far",
        "mid-June",
        "this weekend's",
        "the 3rd of June",
        "half an hour ago",
        "next spring",
        "2026-05-08",
        "tonight",
    ],
)
def test_every_way_to_say_a_time_is_seen_before_it_is_looked_for(time: str) -> None:
    """The words of a sentence decide whether the rules look for times in it. No word may be missing there."""
    (sentence,) = sentences(f"We met {time} by the river")
    assert TIME in mask(sentence)


@pytest.mark.parametrize(
    "time",
    [
        "昨天",
        "上週三",
        "去年春天",
        "民國一一四年五月",
        "三月五號",
        "三天前",
        "最近",
        "目前",
        "現在",
        "如今",
        "眼下",
        "後來",
        "前陣子",
        "不久前",
        "一直以來",
        "向來",
        "近來",
        "下午三點",
        "凌晨",
        "傍晚",
        "半夜",
        "年初",
        "月底",
        "Q3",
        "元旦",
        "聖誕節",
        "除夕",
        "上半年",
        "這幾天",
        "當晚",
        "2026/5/8",
        "夏天",
    ],
)
def test_every_chinese_way_to_say_a_time_is_seen_before_it_is_looked_for(time: str) -> None:
    (sentence,) = sentences(f"我們{time}見過面")
    assert TIME in mask(sentence)


def test_a_statement_in_the_past_tense_is_not_moved_to_a_future_day() -> None:
    found = states("I left Bluefen at the end of the month and joined Tessel.")
    assert {(one.value, one.statement) for one in found} == {("Bluefen", "ended"), ("Tessel", "asserted")}
    assert all(one.effective_at <= one.origin.said_at for one in found)


def test_a_later_in_a_story_dates_nothing() -> None:
    (fig,) = [one for one in states("A month later I got a puppy called Fig.") if one.value == "Fig"]
    assert not fig.time_resolved
    assert fig.effective_at == fig.origin.said_at
