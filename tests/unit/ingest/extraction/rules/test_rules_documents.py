"""Documents, exercises, templates and games in a chat with an assistant give no states of its user."""

from __future__ import annotations

import pytest

from tests.support.ingest.rules import facts, states

FILLER = "The committee met in the hall and read the minutes of the last session aloud. " * 8

NOT_OF_THE_SPEAKER = [
    # games and roles
    "Let's play a game. I am a pirate and I live in Tortuga.",
    "Play the part of a waiter. I'm allergic to nuts.",
    "Simulate a job interview. I'm a data scientist at Meta.",
    "Your name is Bolt and you live in Berlin. My name is Captain Reed.",
    "User persona: Tom is a plumber. Tom lives in Bristol.",
    "My villain's name is Dara and she's from Malmö.",
    "My main character, Lena, works at a bakery.",
    "你是我的英文老師，我是一個國中生。",
    "以第一人称写，我是一名护士，我住在武汉。",
    "你的名字是小爱，我的名字是主人。",
    # exercises, stories and reports about people, without a word about the speaker
    "Maria lives in Berlin and works at Siemens. How far does she travel?",
    "Tom is 12 years old and his sister is 8. How old is Tom in 5 years?",
    "Alice has three cats. Bob has two dogs. How many pets are there?",
    "Nora and Max are married. Nora asks Max to buy eggs.",
    "The interest rate is 5%. What is the yield after ten years?",
    "Write the second part of the article. The maximum word count is 150 words.",
    "小明今年12岁。他的妹妹8岁。几年后小明20岁？",
    # templates
    "My name is [Your Name] and I live in [City].",
    "My name is XXX and I'm from XYZ.",
    "我的名字是[姓名]，我住在[城市]。",
    "我叫某某，是一名某某。",
    # pasted text: with a head, a closing, times, years, or the task after it
    "Text:\nI was born in Madrid. I work at a hospital.",
    "Sarah: Hi Jack! I'm a nurse and I live in Cork.",
    "Hi Anna, I hope you are well and rested. I've moved to Berlin and I work at SAP now. Best, Tom",
    "To whom it may concern,\nI live at 5 Elm Street and my rent is 900 euros.",
    "My name is Eva Stern and I am writing to apply for the post. I am a nurse at Mercy.",
    "0:01 Hi, my name is Devin\n0:07 and I'm a nurse\n0:12 I live in Cork",
    "Analyst, Foo Bank, 2012 - 2015\nI work at Bar Bank 2015 - 2019\nI live in Ghent, 2019 - present",
    "I live in Oslo and I work at a bakery.\n\nSummarise the text above.",
    "Translate the following into German. I am a student at Oxford and I live in London.",
    "이 글을 다듬어 주세요. My name is Ravi and I am from Pune.",
    f"{FILLER}I live in Oslo. {FILLER}",
    "甲：我住在台北。",
    "小美：我住在台南。",
    "我的客户是一位医生，住在杭州。",
    # somebody else speaks, or the words are only mentioned
    "Earlier you wrote that I work at Ford.",
    "The sentence I live in Rome is in the present tense.",
    "Replace I'm a teacher with I'm an educator.",
    "Option 1: I live in Rome. Option 2: I live in Paris.",
    "E.g. I'm a dentist.",
    "10 reasons why I love Lisbon",
    "I can't drive until I'm 18.",
    # parts of a text, firms, and values that say too little
    "I'm the author, so leave me out.",
    "We are a cloud reseller, write our slogan.",
    "I work for a company that sells socks.",
    "My code is as below.",
    "My move is 100% legal.",
    "Set the range to 1-5.",
    "My favourite part is the ending.",
    "I like food that uses fresh ingredients.",
    "I like Rigs.",
    "I have a function called dog.",
    # words that only look like a tool, a stage or a firm
    "Build a login form using React.",
    "The deck cannot use Spirit cards.",
    "Bring in a passion for design.",
    "We started with Acme in spring.",
    "We use AI to help people.",
    # the words of a correction that names no right value
    "My editor is Vim. Sorry, I misunderstood.",
]


@pytest.mark.parametrize("text", NOT_OF_THE_SPEAKER)
def test_the_words_of_others_give_no_state(text: str) -> None:
    assert [one for one in states(text) if one.value != "Vim"] == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Background: I'm a strategist in Toronto. Recommend a book.", ("user", "occupation", "strategist")),
        ("im using laravel", ("user", "tech_stack", "laravel")),
        ("Im learning german.", ("user", "learning", "german")),
        ("I'm using Directus and it hangs.", ("user", "tool", "Directus")),
        ("The wifi password is hunter22.", ("user", "wifi_password", "hunter22")),
        ("My sister Nora and I moved. Nora lives in Cork.", ("Nora", "residence", "Cork")),
        ("I'm the head chef at Nobu.", ("user", "occupation", "head chef")),
        ("My name is Hannah, and I teach.", ("user", "name", "Hannah")),
        (f"I live in Oslo. {FILLER}{FILLER}", ("user", "residence", "Oslo")),
        (f"{FILLER}{FILLER}I live in Oslo.", ("user", "residence", "Oslo")),
        ("更新：我住在台南。", ("user", "residence", "台南")),
        ("我的妹妹是老师，住在杭州。", ("妹妹", "residence", "杭州")),
    ],
)
def test_the_words_of_the_speaker_beside_such_words_are_read(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(text)


def test_two_tools_in_one_sentence_keep_their_own_kinds() -> None:
    assert facts("I'm using Typescript and Mongoose.") == {
        ("user", "programming_language", "Typescript"),
        ("user", "tool", "Mongoose"),
    }
