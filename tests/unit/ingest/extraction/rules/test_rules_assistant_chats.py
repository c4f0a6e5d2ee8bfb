"""Chats with an assistant: facts in passing are found, and requests, labels, firms and parts give no states."""

from __future__ import annotations

import pytest

from ingest.extraction.rules import RulesExtractor
from tests.support.ingest.rules import events, facts, states

Fact = tuple[str, str, str]

IN_PASSING: list[tuple[str, set[Fact]]] = [
    ("I live in Ghent, so which trains go to Paris?", {("user", "residence", "Ghent")}),
    ("Since I live in Tartu, which airport is closest?", {("user", "residence", "Tartu")}),
    ("My daughter Ines is 6 and she won't eat vegetables, any ideas?", {("user", "child", "Ines")}),
    ("I'm allergic to peanuts, can you suggest a snack?", {("user", "allergy", "peanuts")}),
    ("I have type 2 diabetes, so what can I bake?", {("user", "medical_condition", "type 2 diabetes")}),
    ("My cat Miso threw up twice, should I worry?", {("user", "pet", "Miso")}),
    ("As a vegetarian, I need more protein ideas.", {("user", "diet", "vegetarian")}),
    ("As a paramedic, I often skip lunch.", {("user", "occupation", "paramedic")}),
    (
        "I'm a freelance illustrator and my taxes are a mess.",
        {("user", "occupation", "freelance illustrator")},
    ),
    (
        "I'm a data analyst at a small bank and need help with a spreadsheet.",
        {("user", "occupation", "data analyst"), ("user", "employer", "a small bank")},
    ),
    (
        "I'm a 34-year-old teacher trying to get out of debt.",
        {("user", "age", "34"), ("user", "occupation", "teacher")},
    ),
    (
        "I'm Halima, a midwife from Mombasa, and I'd like help with a talk.",
        {("user", "name", "Halima"), ("user", "occupation", "midwife")},
    ),
    ("My job as a bus driver means odd hours.", {("user", "occupation", "bus driver")}),
    ("I earn about $62,000 a year and rent is high.", {("user", "salary", "$62,000 a year")}),
    ("I make 4,200 euros a month before taxes.", {("user", "salary", "4,200 euros a month")}),
    ("I'm 178 cm tall and need a bike.", {("user", "height", "178 cm")}),
    ("I run a small bakery in Utrecht and need a newsletter.", {("user", "business", "small bakery")}),
    ("I work in marketing and need a campaign idea.", {("user", "industry", "marketing")}),
    ("I'm retired and I'd like a gentle workout.", {("user", "occupation", "retired")}),
    (
        "I'm married with three kids and we want to buy a house.",
        {("user", "relationship_status", "married"), ("user", "child", "three kids")},
    ),
    ("I drive a 2017 Skoda Octavia and the brakes squeak.", {("user", "vehicle", "2017 Skoda Octavia")}),
    ("My goal is to swim, cycle and row more.", {("user", "goal", "swim, cycle and row more")}),
    ("我在台中開咖啡店，想請你幫我想幾個飲料的名字。", {("user", "business", "咖啡店")}),
    ("我在嘉義開了一家麵包店，最近生意不好怎麼辦？", {("user", "business", "麵包店")}),
    ("我对花生过敏，可以吃什么零食？", {("user", "allergy", "花生")}),
    ("我住在成都，附近有什么好玩的地方？", {("user", "residence", "成都")}),
    ("我是高中老師，要怎麼跟家長溝通？", {("user", "occupation", "高中老師")}),
    ("我有高血壓，早餐可以吃什麼？", {("user", "medical_condition", "高血壓")}),
    ("我月薪四萬五，想開始理財。", {("user", "salary", "四萬五")}),
    ("我有两个孩子，晚餐要快一点。", {("user", "child", "两个孩子")}),
    ("我是大學生，主修經濟。", {("user", "occupation", "大學生"), ("user", "major", "經濟")}),
    ("我退休了，想找點事做。", {("user", "occupation", "退休")}),
]


@pytest.mark.parametrize(("text", "expected"), IN_PASSING)
def test_a_fact_that_a_request_tells_in_passing_is_found(text: str, expected: set[Fact]) -> None:
    assert facts(text) == expected


NO_STATES = [
    # labels, identifiers, addresses and choices are no tastes
    "I love #7, send me that one.",
    "I like option B more than the others.",
    "I love 3 and 7, drop the rest.",
    "I prefer version v2.1 of the logo.",
    "I prefer sunbakery.io for now.",
    "I like getUserById as the name.",
    "I like /usr/local/bin better.",
    "I like https://example.org best.",
    "I like Serenity for the brand.",
    "I like 'Bluefin' the most.",
    "我喜歡第四個，就用這個。",
    "我喜欢方案B。",
    "我喜歡選項2的標題。",
    "我喜欢sunbakery.io，短一点。",
    "我喜欢用你写的开头。",
    # firms, departments and parts in a scheme are no people, homes and trades
    "Northwind Plumbing is based in Ohio and sells pipes.",
    "Harbor Logistics is from Rotterdam.",
    "Acme is based in Denver, write me a slogan for them.",
    "I'm from Marketing.",
    "I'm definitely the Maker, not the Manager.",
    "I'm definitely the Manager here.",
    "In this quiz I'm the Analyst type.",
    # examples, hypotheses, games
    "In this example, Pia is a nurse and lives in Bonn.",
    "For instance, Karim is a lawyer who owns two dogs.",
    "Take a customer: Petra is an accountant and lives in Graz.",
    "Assume I am 40 and married.",
    "We run a bakery in the game.",
    "Here is my persona. I'm a barista in Leeds.",
    "舉例來說，我是一個工程師，月薪五萬。",
    "比如我住在上海，月薪两万，怎么理财？",
    "如果我有两个孩子，要买什么保险？",
    # words of another, words to work on
    "Make this more formal: I work at Lidl as a cashier.",
    "Fix the grammar:\nI is a nurse and lives in York.",
    "The prompt says: I'm a doctor from Oslo.",
    "The customer wrote: I'm allergic to nuts.",
    "Name: I'm a manager",
    "Q: I live in Rome.",
    "客戶說：我對蝦過敏。",
    "例句：我住在东京。",
    "題目：我是一名老師。",
    # roles of a request and of a user story
    "As a nurse, explain how insulin works.",
    "As a teacher, what would you do?",
    "As a manager, I want to approve requests so that budgets hold.",
    "As a language model, I don't have feelings.",
    "作为用户，我想要登录页面。",
    # a question that checks its statement
    "I live in Paris, don't I?",
    "I'm a nurse, right?",
    "I'm allergic to nuts, is that what I said?",
    "My name is Ana, do you remember?",
    "我住在台北，對吧？",
    "我是老師，對不對？",
    # goals that break off or point elsewhere
    "My goal is to finish by",
    "My goal is to get this done and then",
    "My goal is to parse input.csv and print it.",
    'My dream is to open a "very nice little shop in a far away land of dreams"',
    # words that only contain a verb of change
    "我們改善了流程。",
    "政府公布了旧楼改造方案。",
    "我交換了禮物。",
    "系統切換到備用電源。",
    "我把第一段改成第二段。",
    "我把面条换成了米粉。",
    "我今天換燈泡。",
    # other senses of the new words
    "I make $5 with every sale of the toy.",
    "I run a query every hour.",
    "I work in Excel.",
    "I prefer using pens over pencils.",
    "我想開一家咖啡店，要多少錢？",
    "我開始寫作業。",
    "我有兩個小孩子的玩具要賣。",
]


@pytest.mark.parametrize("text", NO_STATES)
def test_a_request_without_a_fact_gives_no_state(text: str) -> None:
    assert states(text) == []


def test_a_dated_event_before_a_question_is_found_without_the_question() -> None:
    [event] = events("I signed the lease on May 2, can you help me plan the move?")
    assert event.content == "I signed the lease on May 2"


def test_a_name_of_two_words_is_one_person() -> None:
    assert facts("Anna Vermeer lives in Delft.") == {("Anna Vermeer", "residence", "Delft")}


def test_a_relative_clause_tells_no_decision() -> None:
    assert events("The colours we decided on look great.") == []


def test_the_prompt_version_tells_these_rules_from_earlier_ones() -> None:
    assert RulesExtractor.prompt_version == "rules-2"
