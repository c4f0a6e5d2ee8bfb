"""Plans, called-off plans, moved plans and corrected events, as the rules read them."""

from __future__ import annotations

import pytest

from tests.support.ingest.rules import episodes, events, states

CANCELLED = [
    ("The Prague trip is off.", "Prague trip"),
    ("We cancelled the dinner.", "dinner"),
    ("We had to cancel the dentist appointment on Friday.", "dentist appointment on Friday"),
    ("They called off the wedding.", "wedding"),
    ("The concert next week got cancelled, sadly.", "concert next week"),
    ("I'm not going to Prague anymore.", "going to Prague"),
    ("Our trip to Rome fell through.", "trip to Rome"),
    ("聚餐取消了", "聚餐"),
    ("我們取消了去台南的行程", "去台南的行程"),
    ("我们取消了去台南的行程", "去台南的行程"),
    ("我不去台南了", "去台南"),
    ("下週的聚餐取消了", "下週的聚餐"),
    ("週六的露營改期了", "週六的露營"),
]


@pytest.mark.parametrize(("text", "plan"), CANCELLED)
def test_a_plan_called_off_names_the_plan(text: str, plan: str) -> None:
    (found,) = events(text)
    assert (found.status, found.replaces) == ("cancelled", plan)
    assert found.occurred_at == found.origin.said_at


MOVED = [
    ("The dinner moved to Tuesday.", "dinner", "2026-05-12"),
    ("We pushed the meeting back to Tuesday.", "meeting", "2026-05-12"),
    ("My meeting was moved from Monday to Thursday.", "meeting", "2026-05-14"),
    ("The dinner is on Friday instead.", "dinner", "2026-05-15"),  # said on a Friday
    ("聚餐改到週五", "聚餐", "2026-05-15"),
    ("會議延到下週三", "會議", "2026-05-13"),
    ("会议从周三改到周五", "会议", "2026-05-15"),
]


@pytest.mark.parametrize(("text", "plan", "day"), MOVED)
def test_a_plan_that_moves_is_planned_for_its_new_day(text: str, plan: str, day: str) -> None:
    (found,) = events(text)
    assert (found.status, found.replaces, found.occurred_at.date().isoformat()) == ("planned", plan, day)


@pytest.mark.parametrize(
    ("plan", "text", "status"),
    [
        ("I'm flying to Prague next weekend.", "It's off.", "cancelled"),
        ("I'm having dinner with Ana on Tuesday.", "We moved it to Thursday.", "planned"),
        ("我下週六要去台南看阿嬤", "不去了", "cancelled"),
        ("我下週六要去台南看阿嬤", "改到下下週六了", "planned"),
    ],
)
def test_a_pronoun_stands_for_the_last_plan(plan: str, text: str, status: str) -> None:
    first, second = events(plan, text)
    assert first.status == "planned"
    assert (second.status, second.replaces) == (status, plan)
    assert events(text) == []
    assert states(plan, text) == []


@pytest.mark.parametrize(
    ("told", "text", "content", "at"),
    [
        (
            "I have a flight tomorrow at 8:15.",
            "No wait, 8:50.",
            "I have a flight tomorrow at 8:50.",
            "2026-05-09T08:50",
        ),
        (
            "I'm flying to Prague next weekend.",
            "Sorry, I meant Vienna.",
            "I'm flying to Vienna next weekend.",
            "2026-05-16T00:00",
        ),
        (
            "I have a dentist appointment on Tuesday.",
            "Sorry, I meant Wednesday, not Tuesday.",
            "I have a dentist appointment on Wednesday.",
            "2026-05-13T00:00",
        ),
        ("我下週六要去台南看阿嬤", "打錯了，是高雄", "我下週六要去高雄看阿嬤", "2026-05-16T00:00"),
        ("我下周六要去台南看阿嬷", "打错了，是高雄", "我下周六要去高雄看阿嬷", "2026-05-16T00:00"),
    ],
)
def test_a_correction_mends_the_event(told: str, text: str, content: str, at: str) -> None:
    for found in (events(told, text), events(f"{told} {text}" if told.isascii() else f"{told}。{text}")):
        first, second = found
        assert first.status == "planned"
        assert second.status == "corrected"
        assert second.replaces is not None
        assert (second.replaces.rstrip("。"), second.content.rstrip("。")) == (told, content)
        assert second.occurred_at.isoformat().startswith(at)


@pytest.mark.parametrize(
    "text",
    [
        "I cancelled my subscription.",
        "The meeting is off to a good start.",
        "If the trip is off, I'll cry.",
        "The trip might be cancelled.",
        "Is the trip cancelled?",
        "I'm not going to lie, it was good.",
        "We moved it to Friday.",
        "我取消訂閱了",
        "聚餐會取消嗎？",
        "如果聚餐取消了我會難過",
        "不去了",
    ],
)
def test_what_calls_off_or_moves_no_plan_makes_no_event(text: str) -> None:
    assert events(text) == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Yesterday I took my niece to the zoo.", "2026-05-07"),
        ("Last week I visited the observatory.", "2026-04-27"),
        ("Last weekend I got away to the coast.", "2026-05-02"),
        ("Three years ago I joined a rowing club.", "2023-05-08"),
        ("Two days ago we met the new neighbours.", "2026-05-06"),
        ("Went to the dentist yesterday.", "2026-05-07"),
        ("Finished the marathon last Sunday!", "2026-05-03"),
    ],
)
def test_a_past_event_is_dated_wherever_its_time_stands_and_dates_its_episode(text: str, day: str) -> None:
    (found,) = events(text)
    (episode,) = episodes(text)
    assert (found.status, found.occurred_at.date().isoformat()) == ("happened", day)
    assert (episode.occurred_at, episode.time_resolved) == (found.occurred_at, True)


@pytest.mark.parametrize(
    "text",
    [
        "I'm flying to Prague next weekend.",
        "We went hiking yesterday. Last Sunday we met the mayor.",
        "We need to finish this phase today.",
        "Excited about yesterday.",
    ],
)
def test_a_plan_two_times_and_no_event_leave_the_episode_at_its_turn(text: str) -> None:
    (episode,) = episodes(text)
    assert (episode.occurred_at, episode.time_resolved) == (episode.origin.said_at, False)


@pytest.mark.parametrize(
    ("text", "key", "day"),
    [
        ("I've been vegetarian for two years now.", "diet", "2024-05-08"),
        ("I've been learning the cello for half a year.", "learning", "2025-11-08"),
        ("For twenty years now I've worked at Tessel.", "employer", "2006-05-08"),
        ("I've been married for a decade.", "relationship_status", "2016-05-08"),
        ("我在台南住了三年了", "residence", "2023-05-08"),
        ("我在台積電工作兩年半了", "employer", "2023-11-08"),
        ("我学了五年钢琴了", "learning", "2021-05-08"),
    ],
)
def test_a_length_of_time_says_when_a_state_began(text: str, key: str, day: str) -> None:
    (found,) = states(text)
    assert (found.concept_key, found.effective_at.date().isoformat()) == (key, day)
    assert events(text) == []


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("I'm 34.", "age", "34"),
        ("I'm 34 and I love it", "age", "34"),
        ("I weigh 78 kilos now.", "weight", "78 kilos"),
        ("我現在78公斤", "weight", "78公斤"),
        ("Hi! I'm Mei.", "name", "Mei"),
        ("I am Mei", "name", "Mei"),
        ("Hello, this is Ana from Lisbon.", "name", "Ana"),
        ("你好，我是小美", "name", "小美"),
        ("我是林雅婷", "name", "林雅婷"),
        ("叫我小美就好", "name", "小美"),
    ],
)
def test_who_somebody_is_becomes_a_state(text: str, key: str, value: str) -> None:
    assert (key, value) in {(one.concept_key, one.value) for one in states(text)}


@pytest.mark.parametrize(
    "text",
    [
        "I'm tired", "I'm French.", "I'm Catholic.", "I'm Taiwanese.", "I'm OK.", "I'm Google certified.",
        "This is Berlin.", "我是學生", "我是台灣人", "我是高中生", "我是金牛座", "我是小孩", "我们是小组",
    ],
)  # fmt: skip
def test_what_somebody_is_is_not_their_name(text: str) -> None:
    assert [one for one in states(text) if one.concept_key == "name"] == []
