"""The rules extractor: which turns become which cards, and which must become none."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.types.cards import EventNoted, KnowledgeLearned
from ingest.extraction.extractor_port import CardEvent, SessionBatch
from tests.support.ingest.rules import (
    EXTRACTOR,
    SAID_AT,
    cards,
    ended,
    episodes,
    events,
    facts,
    knowledge,
    states,
    turn,
)

ASSERTED = [
    # home
    ("I live in Lisbon now", ("user", "residence", "Lisbon")),
    ("I live at 12 Rose Street.", ("user", "residence", "12 Rose Street")),
    ("i live in lisbon", ("user", "residence", "lisbon")),
    ("I just moved from Porto to Lisbon.", ("user", "residence", "Lisbon")),
    ("Moved to Lisbon last month!", ("user", "residence", "Lisbon")),
    ("I've been living in Berlin since 2019.", ("user", "residence", "Berlin")),
    ("My new address is 12 Rose Street, Lisbon.", ("user", "residence", "12 Rose Street, Lisbon")),
    ("I'm originally from Sweden.", ("user", "hometown", "Sweden")),
    ("我現在住在高雄", ("user", "residence", "高雄")),
    ("我上個月搬到台中", ("user", "residence", "台中")),
    ("我搬家了，現在住新竹", ("user", "residence", "新竹")),
    ("我家住在板橋", ("user", "residence", "板橋")),
    ("我老家在台南", ("user", "hometown", "台南")),
    ("我是台南人", ("user", "hometown", "台南")),
    # work
    ("I work at Google as a software engineer.", ("user", "employer", "Google")),
    ("I work at Google as a software engineer.", ("user", "occupation", "software engineer")),
    ("Just joined Stripe as a backend engineer.", ("user", "employer", "Stripe")),
    ("I quit Google and joined Anthropic last week.", ("user", "employer", "Anthropic")),
    ("I'm a freelance illustrator.", ("user", "occupation", "freelance illustrator")),
    ("I got promoted to senior engineer", ("user", "occupation", "senior engineer")),
    ("I work at a small hospital.", ("user", "employer", "a small hospital")),
    ("我從三月開始在聯發科上班", ("user", "employer", "聯發科")),
    ("我在台積電當工程師", ("user", "occupation", "工程師")),
    ("從鴻海跳槽到台積電當工程師", ("user", "employer", "台積電")),
    ("我換工作了，現在在 Stripe 當資料工程師", ("user", "employer", "Stripe")),
    ("我是一名護理師", ("user", "occupation", "護理師")),
    # people and pets
    ("My wife Anna loves hiking.", ("user", "spouse", "Anna")),
    ("My wife Anna loves hiking.", ("Anna", "likes", "hiking")),
    ("My sister lives in Kyoto.", ("sister", "residence", "Kyoto")),
    ("Tom said he moved to Berlin last week.", ("Tom", "residence", "Berlin")),
    ("Alex has a dog named Rex", ("Alex", "pet", "Rex")),
    ("I have a cat named Mochi.", ("user", "pet", "Mochi")),
    ("We've got two dogs, Max and Bella.", ("user", "pet", "Bella")),
    ("My dog is called Rex.", ("user", "pet", "Rex")),
    ("I adopted a puppy last week. Her name is Luna.", ("user", "pet", "Luna")),
    ("I have two kids, Emma and Noah.", ("user", "child", "Noah")),
    ("我太太叫小芳，在銀行工作。", ("user", "spouse", "小芳")),
    ("我太太叫小芳，在銀行工作。", ("太太", "employer", "銀行")),
    ("我養了一隻貓叫麻糬", ("user", "pet", "麻糬")),
    ("我們剛領養了一隻小狗，名字叫餅乾", ("user", "pet", "餅乾")),
    ("我的狗叫豆豆", ("user", "pet", "豆豆")),
    ("張偉是我的上司，其電話是13640813241。", ("user", "manager", "張偉")),
    ("張偉是我的上司，其電話是13640813241。", ("張偉", "phone", "13640813241")),
    ("我媽媽在銀行工作，她是櫃員。", ("媽媽", "occupation", "櫃員")),
    # likes, hobbies, skills
    ("I love sushi and ramen.", ("user", "likes", "ramen")),
    ("I don't like cilantro.", ("user", "dislikes", "cilantro")),
    ("My favorite color is blue.", ("user", "favourite_colour", "blue")),
    ("I play the piano and tennis.", ("user", "instrument", "piano")),
    ("I speak English and French.", ("user", "language", "French")),
    ("我喜歡喝咖啡，不喜歡香菜", ("user", "likes", "喝咖啡")),
    ("我喜歡喝咖啡，不喜歡香菜", ("user", "dislikes", "香菜")),
    ("我會說英文和日文", ("user", "language", "日文")),
    ("我會彈吉他", ("user", "instrument", "吉他")),
    # tools and projects
    ("I switched from Firefox to Chrome.", ("user", "browser", "Chrome")),
    ("I use VS Code for work and Chrome for browsing.", ("user", "editor", "VS Code")),
    ("The project uses Postgres and Redis.", ("project", "tech_stack", "Redis")),
    ("We decided to use Postgres instead of Mongo.", ("user", "tech_stack", "Postgres")),
    ("fibon plans to open-source in July.", ("fibon", "release_date", "July")),
    ("The launch moved from July to August.", ("project", "release_date", "August")),
    ("fibon is now in pre-release acceptance.", ("fibon", "project_stage", "pre-release acceptance")),
    ("我從 Firefox 換到 Chrome 了", ("user", "browser", "Chrome")),
    ("我們專案用 PostgreSQL 和 Redis", ("project", "tech_stack", "PostgreSQL")),
    ("上週三的會議決定了改用 PostgreSQL", ("user", "tech_stack", "PostgreSQL")),
    ("fibon 預計七月開源", ("fibon", "release_date", "七月")),
    ("專案進入驗收階段", ("project", "project_stage", "驗收")),
    # the rest of a life
    ("My birthday is March 5th.", ("user", "birthday", "March 5th")),
    ("my email is foo@bar.com", ("user", "email", "foo@bar.com")),
    ("I'm allergic to peanuts.", ("user", "allergy", "peanuts")),
    ("I'm vegetarian.", ("user", "diet", "vegetarian")),
    ("I'm 34 years old.", ("user", "age", "34")),
    ("My goal is to run a marathon.", ("user", "goal", "run a marathon")),
    ("我的生日是3月5號", ("user", "birthday", "3月5號")),
    ("我對花生過敏", ("user", "allergy", "花生")),
    ("我畢業於台灣大學", ("user", "school", "台灣大學")),
]


@pytest.mark.parametrize(("text", "fact"), ASSERTED)
def test_a_fact_stated_becomes_a_state(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(text)


ENDED = [
    ("I no longer work at Google.", ("user", "employer", "Google")),
    ("I don't work at Google anymore.", ("user", "employer", "Google")),
    ("I left Google last month.", ("user", "employer", "Google")),
    ("Lost my job as a banker yesterday.", ("user", "occupation", "banker")),
    ("I used to live in Boston.", ("user", "residence", "Boston")),
    ("I lived in Boston until 2019.", ("user", "residence", "Boston")),
    ("I stopped playing tennis.", ("user", "hobby", "tennis")),
    ("I stopped using VS Code.", ("user", "editor", "VS Code")),
    ("I switched from Firefox to Chrome.", ("user", "browser", "Firefox")),
    ("My dog Rex passed away last week.", ("user", "pet", "Rex")),
    ("我已經不在聯發科上班了", ("user", "employer", "聯發科")),
    ("上個月從聯發科離職了", ("user", "employer", "聯發科")),
    ("我不再住在台北了", ("user", "residence", "台北")),
    ("我已經不打網球了", ("user", "hobby", "網球")),
    ("我戒菸了", ("user", "habit", "抽菸")),
    ("我的狗豆豆上週過世了", ("user", "pet", "豆豆")),
]


@pytest.mark.parametrize(("text", "fact"), ENDED)
def test_an_ending_ends_the_state_and_does_not_assert_it(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in ended(text)
    assert fact not in facts(text)


NOTHING = [
    # questions
    "Do you live in Lisbon?",
    "Should I say I work at Google?",
    "Where do I live",
    "你住在哪裡？",
    "我媽問我在台積電工作嗎",
    # what is not so
    "I want to move to Lisbon.",
    "I hope I work at Google someday.",
    "If I moved to Berlin I'd be happy.",
    "I might move to Berlin next year.",
    "I almost joined Google.",
    "I turned down a job at Google.",
    "I wish I lived in Paris.",
    "I dreamed that I moved to Mars.",
    "我可能會搬到台中",
    "如果我在台積電上班就好了",
    "我考慮跳槽到台積電",
    "我上週差點搬到台中",
    "我想搬到台中",
    # negations that end nothing
    "I don't live in Paris.",
    "I'm not allergic to anything.",
    "We don't use Mongo.",
    "我不住在台北",
    "我沒有搬到台中",
    "我不是工程師",
    # requests, quotations, fiction
    "Write me a story where I live in Paris.",
    "Translate: I live in Paris and work at Google.",
    "Pretend I work at NASA.",
    '"I live in Paris and I love it", he told the crowd.',
    "> I live in Rome",
    "`I live in Rome`",
    "翻譯：我住在巴黎，在Google上班",
    "幫我寫一篇我住在巴黎的故事",
    # words that only look like it
    "I work hard. I work on weekends. I work from home. I work with kids.",
    "I joined the call late.",
    "I left the house at 9. I left Paris yesterday. I left Tom.",
    "I moved to the next level. I moved on.",
    "I love that painting! I love it. I love how you think.",
    "I have a hot dog. My dog ate my homework.",
    "I'm a bit tired. I'm a believer. I'm a good cook.",
    "My goal is simple. My email is broken. My phone is dead. My job is hard.",
    "I got married to my work.",
    "I speak from experience. I play a role in this.",
    "The server died. My phone died.",
    "My boss told me I work at a snail's pace.",
    "She said I should move to Rome.",
    "Google moved to Dublin.",
    "I changed my mind. I switched seats with Tom.",
    "I meant to call you.",
    "我住在飯店",
    "我在家工作",
    "我加入了群組",
    "我離開了台北",
    "我喜歡你",
    "我的手機壞了",
    "我老闆叫我去開會",
    "我弟叫我起床",
    "狗叫得很大聲",
    "他說我住在台北",
    "我以前住在台北附近工作的朋友來了",
]  # fmt: skip


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_statement_of_fact_makes_no_state(text: str) -> None:
    assert states(text) == []


def test_another_persons_facts_are_never_the_speakers() -> None:
    for text in (
        "我朋友搬到台中了",
        "My brother works at Apple.",
        "我的貓叫麻糬，今年三歲",
        "Tom said he moved to Berlin.",
    ):
        assert all(one.entity != "user" or one.concept_key in ("pet", "sibling") for one in states(text)), (
            text
        )


def test_a_speaker_with_a_name_is_the_entity_of_the_first_person() -> None:
    (found,) = states("I live in Lisbon.", speaker="Caroline")
    assert found.entity == "Caroline"
    assert found.content == "Caroline lives in Lisbon"
    assert states("My sister lives in Kyoto.", speaker="Caroline")[0].entity == "Caroline's sister"


@pytest.mark.parametrize(
    ("text", "day", "announced"),
    [
        ("I moved to Lisbon yesterday.", "2026-05-07", True),
        ("I moved to Lisbon last month.", "2026-04-01", True),
        ("I moved to Lisbon last week.", "2026-04-30", True),  # a week has no first day anyone means
        ("I've been living in Lisbon since 2019.", "2019-01-01", False),
        ("I live in Lisbon.", "2026-05-08", False),
        ("我上個月搬到台中", "2026-04-01", True),
        ("我從三月開始在聯發科上班", "2026-03-01", False),
        ("我現在住在高雄", "2026-05-08", False),
    ],
)
def test_a_state_holds_from_the_time_said_with_it(text: str, day: str, announced: bool) -> None:
    (found,) = [one for one in states(text) if one.statement == "asserted"]
    assert found.effective_at.date().isoformat() == day
    assert found.announced is announced
    assert found.time_resolved is (found.effective_at != SAID_AT)


def test_what_lasted_for_years_began_years_ago() -> None:
    (found,) = states("I've worked at Stripe for three years.")
    assert (found.effective_at.year, found.time_grain, found.occurred_at_hint) == (
        2023,
        "year",
        "for three years",
    )


@pytest.mark.parametrize(
    ("before", "text", "key", "value", "replaces"),
    [
        ("I live in Taipei.", "typo, I meant Kaohsiung", "residence", "Kaohsiung", "Taipei"),
        ("I work at Google.", "sorry, I mean Goodyear", "employer", "Goodyear", "Google"),
        (
            "fibon plans to open-source in July.",
            "Oops, I meant August, not July.",
            "release_date",
            "August",
            "July",
        ),
        ("我住在台北", "打錯了，是高雄", "residence", "高雄", "台北"),
        ("我住在台北", "不是台北，是高雄", "residence", "高雄", "台北"),
    ],
)
def test_a_slip_is_corrected_within_a_burst_and_across_bursts(
    before: str, text: str, key: str, value: str, replaces: str
) -> None:
    for found in (states(before, text)[-1], states(text, preceding=(before,))[-1]):
        assert (found.statement, found.concept_key, found.value, found.replaces) == (
            "corrected",
            key,
            value,
            replaces,
        )


def test_a_correction_of_nothing_known_is_nothing() -> None:
    assert states("typo, I meant Kaohsiung") == []
    assert states("My cat is called Mochi.", "I meant to call you. Sorry, I mean, whatever.")[1:] == []


@pytest.mark.parametrize("preceding", [("I have a dog named Rex.",), ()])
def test_a_death_ends_the_pet_of_that_name_whenever_it_was_spoken_of(preceding: tuple[str, ...]) -> None:
    found = states("Rex died yesterday.", preceding=preceding)
    assert [(one.value, one.statement, one.effective_at.date().isoformat()) for one in found] == [
        ("Rex", "ended", "2026-05-07")
    ]
    assert (found[0].confidence > 0.8) is bool(preceding)


def test_it_moved_needs_something_that_has_a_date() -> None:
    assert states("It moved to August.") == []
    (found,) = states("It moved to August.", preceding=("fibon plans to open-source in July.",))
    assert (found.entity, found.concept_key, found.value, found.announced) == (
        "fibon",
        "release_date",
        "August",
        True,
    )


@pytest.mark.parametrize(
    ("text", "key", "day"),
    [
        ("I went hiking yesterday.", "activity", "2026-05-07"),
        ("Last Friday I took my kids to a pottery workshop.", "activity", "2026-05-01"),
        ("I'm flying to Tokyo next Friday.", "plan", "2026-05-15"),
        ("I have an appointment with the dentist tomorrow.", "plan", "2026-05-09"),
        ("We decided to use Postgres instead of Mongo.", "decision", "2026-05-08"),
        ("我昨天去爬山了", "activity", "2026-05-07"),
        ("我下週五要去東京出差", "plan", "2026-05-15"),
        ("上週三的會議決定了改用 PostgreSQL", "decision", "2026-04-29"),
    ],
)
def test_what_happened_or_will_is_an_event_at_its_own_time(text: str, key: str, day: str) -> None:
    (found,) = events(text)
    assert (found.concept_key, found.occurred_at.date().isoformat()) == (key, day)


@pytest.mark.parametrize(
    "text",
    ["I went hiking.", "I might fly to Tokyo next Friday.", "We moved the meeting to Monday.", "我會去東京"],
)
def test_an_event_without_its_time_is_left_to_the_episode(text: str) -> None:
    assert events(text) == []
    assert len(episodes(text)) == 1


@pytest.mark.parametrize(
    ("text", "title", "alias"),
    [
        ("JWT (JSON Web Token) is a compact format for signed claims.", "JWT", "JSON Web Token"),
        ("RRF stands for Reciprocal Rank Fusion.", "RRF", "Reciprocal Rank Fusion"),
        ("Event sourcing is a pattern where state is derived from a log.", "Event sourcing", None),
        ("TIL that Postgres has partial indexes.", "Postgres", None),
        ("I learned that B-trees keep keys sorted.", "B-trees", None),
        ("JWT 是一種用來簽署聲明的格式", "JWT", None),
        ("所謂事件溯源是指把狀態的每次變化都記成事件", "事件溯源", None),
    ],
)
def test_a_definition_is_knowledge(text: str, title: str, alias: str | None) -> None:
    (found,) = knowledge(text)
    assert found.title == title
    assert found.aliases == ((alias,) if alias else ())


@pytest.mark.parametrize(
    "text",
    [
        "Tom is a teacher.",
        "That means a lot.",
        "It is a great idea.",
        "Lisbon is a beautiful place.",
        "I learned that my sister is coming.",
        "What is a JWT?",
        "這是一種很好的感覺",
        "他是一種很特別的人",
    ],
)
def test_a_person_a_feeling_and_a_question_are_not_knowledge(text: str) -> None:
    assert knowledge(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Thanks!",
        "ok",
        "Hey Mel!",
        "hahaha",
        "Yesss",
        "👍",
        "好的",
        "哈哈哈",
        "謝謝你！",
        "嗯嗯",
        "",
        "  \n",
    ],
)
def test_small_talk_is_no_episode(text: str) -> None:
    assert episodes(text) == []


@pytest.mark.parametrize(
    "text",
    ["Yeah, two cats", "Luna and Oliver!", "What did you paint?", "在三樓", "麻糬", "ok, Tuesday then", "42"],
)
def test_anything_with_content_is_an_episode_in_its_own_words(text: str) -> None:
    (found,) = episodes(text)
    assert found.content == text
    assert 1 <= found.importance <= 10


def test_an_episode_has_topics_mood_and_weight() -> None:
    (sad,) = episodes("My grandma passed away last week and I'm heartbroken.")
    (dull,) = episodes("Could you look at line three")
    assert sad.sentiment == "negative"
    assert dull.sentiment == "neutral"
    assert sad.importance > dull.importance
    assert "grandma" in sad.topics
    assert episodes("我昨天去爬山，真的很開心")[0].sentiment == "positive"


def test_an_assistant_states_no_facts_of_the_user_but_keeps_its_words_and_definitions() -> None:
    found = cards("I live in Lisbon. JWT is a compact format for signed claims.", role="assistant")
    assert [type(one) for one in found] == [EventNoted, KnowledgeLearned]
    assert {one.origin.provenance for one in found} == {"assistant_stated"}


def test_a_system_turn_makes_no_cards() -> None:
    assert cards("I live in Lisbon.", role="system") == []


def test_what_a_memory_gave_is_not_heard_again() -> None:
    text = "<state_cards>\nI live in Porto.\n</state_cards>\nI live in Lisbon. <current_time>2026-05-08</current_time>"
    (episode,) = episodes(text)
    assert facts(text) == {("user", "residence", "Lisbon")}
    assert episode.content == "I live in Lisbon."


def test_content_is_in_the_language_and_script_of_the_turn() -> None:
    assert [one.content for one in states("I moved from Porto to Lisbon.")] == [
        "No longer lives in Porto",
        "Lives in Lisbon",
    ]
    assert states("我養了一隻貓叫麻糬")[0].content == "養了貓，名叫麻糬"
    assert states("Alex has a dog named Rex")[0].content == "Alex has a dog named Rex"


def test_the_same_fact_twice_in_a_turn_is_one_card() -> None:
    assert len(states("I live in Lisbon. I really do live in Lisbon.")) == 1


def test_the_same_burst_gives_the_same_cards() -> None:
    texts = ("I moved to Lisbon last week.", "我養了一隻貓叫麻糬", "typo, I meant Porto")
    assert cards(*texts) == cards(*texts)


def _spans_are_exact(found: list[CardEvent], texts: tuple[str, ...]) -> None:
    for one in found:
        span = one.origin.source_span
        assert span is not None
        text = texts[int(span.turn_id[1:])]
        assert text[span.start : span.end] == span.text
        assert span.text.strip()


_FRAGMENTS = st.sampled_from(
    [text for text, _ in ASSERTED + ENDED]
    + NOTHING
    + [
        "<memory>",
        "</memory>",
        "```",
        '"',
        "「",
        "typo, I meant X",
        "👩‍👩‍👧",
        "e\u0301",
        "\u202e",
        "\x00\x01\x02",
        "’",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(_FRAGMENTS, st.text(max_size=40)), max_size=6), st.sampled_from([" ", "\n", "，", ""])
)
def test_no_text_raises_and_every_span_is_exact(parts: list[str], joint: str) -> None:
    texts = (joint.join(parts), joint.join(reversed(parts)))
    _spans_are_exact(cards(*texts), texts)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to " * 6000,
        "my " * 20000,
        "A" * 65536,
        "我" * 20000,
        "I use " + "Chrome and " * 6000,
        '"' * 65536,
        "<memory>" * 8000,
        "I live in " + "A " * 30000,
        "our " * 120 + "decided " * 20,
        "\x01" * 500,
        "從" * 499,
        "叫" * 499 + "了",
        "我的" * 249,
    ],
)
@pytest.mark.timeout(10)
def test_hostile_lengths_stay_quick(text: str) -> None:
    _spans_are_exact(cards(text), (text,))


def test_naughty_strings_are_read_in_silence() -> None:
    folder = os.environ.get("CARDLOG_EVAL_DATA")
    if folder is None:
        pytest.skip("CARDLOG_EVAL_DATA names no folder of evaluation data")
    for text in json.loads((Path(folder) / "naughty_strings" / "blns.json").read_text(encoding="utf-8")):
        _spans_are_exact(cards(text), (text,))


def test_every_card_carries_the_scope_of_its_turn() -> None:
    recorded = turn("I moved to Lisbon last week. JWT is a compact format for signed claims.")
    recorded = dataclasses.replace(
        recorded,
        turn=dataclasses.replace(
            recorded.turn, project_id="p", agent_id="a", document_id="d", context_layer="work", mode="code"
        ),
    )
    for one in EXTRACTOR.extract(SessionBatch((recorded,))).cards:
        origin = one.origin
        assert (
            origin.project_id,
            origin.agent_id,
            origin.document_id,
            origin.context_layer,
            origin.mode,
        ) == ("p", "a", "d", "work", "code")
        assert (origin.turn_ids, origin.session_id, origin.said_at) == (("t0",), "s", SAID_AT)
