"""Questions for everything about the asker, and questions that only look like them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.query.overview import asks_for_overview
from retrieval.query.question import understand

ASKING = """
What do you know about me?
what do you know about me
What do you know about me so far?
What do you already know about me?
So, what do you actually know about me?
Hey, what do you remember about me?
What do you still remember about me?
What all do you know about me?
What else do you know about me?
What have you learned about me?
What have you learnt about me so far?
What have you stored about me?
What have I told you about myself?
What did I tell you about me?
What do you have on me?
What do you have stored about me?
What information do you have about me?
Which facts do you keep about me?
What details have you saved about me?
What's in your memory about me?
What is in my profile?
Tell me about myself.
Tell me about me
Please tell me about myself!
Can you tell me what you know about me?
Could you please tell me everything you know about me?
Tell me everything you remember about me.
Tell me all about me
Tell me something about myself
Give me a summary of what you know about me.
Give me a short overview of me
Summarize everything you know about me
Summarise me.
Describe me
Introduce me to myself
Who am I?
Do you know who I am?
Do you know me?
Do you remember me?
How well do you know me?
How much do you know about me?
Do you know anything about me?
Do you remember anything about me?
Is there anything you know about me?
Everything you know about me
List all the facts you have about me
List everything you've learned about me
Show me my profile
Remind me what you know about me
I wonder what you know about me
你知道我什麼
你知道我什么？
你知道我哪些事？
你知道關於我的什麼
你知道关于我的什么
你知道關於我的哪些事情？
你都知道我什麼
你現在知道我多少？
你對我了解多少？
你对我有什么了解
你對我有什麼印象？
你了解我嗎
你了解我多少
你記得我什麼？
你記得我哪些事情
你还记得关于我的什么？
你還記得我嗎？
你記住了我什麼
你认识我吗
你知道我是誰嗎？
我是谁？
我是一個怎樣的人？
關於我，你知道些什麼？
关于我你都知道什么
關於我你記得哪些
說說你對我的了解
說說我吧
介紹一下我
介绍一下我自己
描述一下我
總結一下我的資料
告訴我關於我的一切
告诉我你知道的关于我的一切
把你知道的關於我的事都告訴我
請告訴我你對我的了解
你的記憶裡有關於我的什麼？
你存了我哪些資料？
您知道我什麼？
What do you remember about me?
What have you learned about me so far?
Describe me.
Everything you know about me, please.
Can you summarise what you know of me?
What facts do you have on me?
Give me a summary of my profile.
Show me everything you've got on me.
What information have you stored about me?
How would you describe me?
List all the things you remember about me.
Do you remember who I am?
你知道我什么
你對我了解多少?
你对我有什么了解?
你記得我哪些事?
你记得我什么?
说说我是谁
我是誰?
你都知道關於我的什麼?
關於我你知道些什麼
告訴我你所知道的關於我的一切
你还记得我吗?
你認識我嗎
我跟你說過哪些關於我的事?
总结一下你对我的了解
列出你記住的所有關於我的資訊
你有我的哪些资料?
你眼中的我是怎樣的人?
请描述一下我
What's known about me?
Can you describe me?
Could you tell me who I am?
give me everything you have stored about me
What do you think you know about me?
Recap everything you know about me.
What are the facts you hold about me?
Let me know what you remember about me
How do you see me?
what have you memorised about me
你瞭解我嗎?
請列出你知道的關於我的事
你记录了我的什么信息
幫我總結一下我自己
我告訴過你什麼關於我的事?
你心中的我是什麼樣的人
請問你記得我是誰嗎
你对我知道多少
跟我說說你對我的印象
把你知道的關於我的都告訴我
""".strip().splitlines()

OTHERWISE = """
What do you know about my sister?
What do you know about Rust?
What do you know about my job?
What do you know about me and Anna?
What do you know about Mei?
What do you know about Me Before You?
What do you know about my trip to Oslo?
Tell me about my trip.
Tell me about the meeting
Tell me about yourself.
What do you know about yourself?
What do you know?
Who am I meeting tomorrow?
Who am I married to?
Who is my boss?
Who are you?
Do you know my name?
Do you remember my birthday?
Do you remember what I said about Rust?
Do you know where I live?
What did you tell me about Lisbon?
What did my sister say about me?
What does Anna think about me?
What do people say about me?
What do you think about me moving to Oslo?
What do you like about me?
What do you know about me that is related to food?
Remind me about the dentist
Describe my house
Summarize my notes from Monday
List my allergies
What have I told you about my parents?
How well do you know Java?
Everything you know about Python
Show me my todo list
What is in my fridge?
What's in the memory of the router?
Tell me a story about me and a dragon
你知道我妹妹什麼
你知道我的狗叫什麼嗎
你知道我喜歡什麼？
你知道我住在哪裡嗎？
你知道我什麼時候生日嗎
你知道什麼是 Rust 嗎
你知道关于 Rust 的什么
你知道關於我妹妹的什麼
你知道關於我工作的什麼
你知道我在哪工作
你記得我媽媽的名字嗎
你记得我说过什么吗
你對台北了解多少
你對我妹妹了解多少
我是誰的學生？
我是什麼時候搬家的
我知道什麼
你是誰
介紹一下你自己
介紹一下台北
告訴我關於我妹妹的一切
說說我的工作
總結一下我的會議
你知道他什麼
我妹妹知道我什麼
你对我的建议是什么
關於我的旅行你知道什麼
What do you know about my dog?
What do you know about cooking?
Tell me about Leeds.
Who is my manager?
What do you know about me and Sarah's wedding?
What should I tell people about me on my CV?
Describe my flat.
Do you remember my name?
What did Ben say about me?
你知道我媽媽的生日嗎?
你知道我住哪嗎?
你知道我什麼時候搬家嗎?
你對咖啡了解多少?
我是誰的學生?
你記得我的狗嗎?
我老闆對我說了什麼?
你知道我什么时候搬家的吗?
你知道我為什麼辭職嗎?
What do you know about me and money?
What did I say about me moving?
How would you describe me to Ben's mother?
Who am I seeing?
你有我的鑰匙嗎?
你有我的電話嗎
我跟你說過哪些餐廳?
你眼中的成功是怎樣的
我告訴你什麼時候開會?
你知道我的狗嗎
""".strip().splitlines()


@pytest.mark.parametrize("question", ASKING)
def test_a_question_about_the_asker_is_taken_for_it(question: str) -> None:
    assert asks_for_overview(question)


@pytest.mark.parametrize("question", OTHERWISE)
def test_a_question_with_a_topic_is_not(question: str) -> None:
    assert not asks_for_overview(question)


def test_an_overview_is_about_the_present_and_has_no_window() -> None:
    now = datetime(2026, 5, 8, 12, tzinfo=UTC)
    for text in (
        "What have you learned about me so far?",
        "What do you know about me today?",
        "你到目前為止知道我什麼",
    ):
        question = understand(text, now)
        assert (question.overview, question.intent, question.times) == (True, "present", ()), text
    assert not understand("What do you know about Rust?", now).overview


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["please ", "so far ", "现在", "请", "关于我", "what do you know about ", "你知道"]
)
def test_a_long_text_of_the_same_words_is_read(piece: str) -> None:
    for length in (150, 199, 100_000):
        assert not asks_for_overview((piece * length)[:length] + "x")
