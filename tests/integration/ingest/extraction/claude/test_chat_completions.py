"""A server that speaks chat completions gets the same prompt and schema, and its answers become the same cards."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from events.platform.settings import Settings
from ingest.extraction.choosing import create_extractor
from ingest.extraction.claude import prompt
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.extractor_port import ExtractorUnavailableError, SessionBatch, TurnsUnreadableError
from tests.support.ingest.chat_completions import ChatCompletions
from tests.support.ingest.claude import answering, said, state, states
from tests.support.ingest.messages_api import Trouble, calls, status

BATCH = SessionBatch((said("I moved to Lisbon, then."),))
CARDS = {"states": [state("I moved to Lisbon", "Lisbon")], "events": [], "knowledge": []}


@pytest.fixture
def api() -> Iterator[ChatCompletions]:
    with ChatCompletions() as server:
        yield server


@pytest.fixture
def extractor(api: ChatCompletions) -> Iterator[ClaudeExtractor]:
    with_tool = ClaudeExtractor(replace(api.settings, model="a-local-model"))
    yield with_tool
    with_tool.close()


def choice(message: dict[str, Any], finish_reason: object = "stop", **more: Any) -> Trouble:
    """A completion with one choice."""
    answer = {"choices": [{"message": message, "finish_reason": finish_reason}], **more}
    return Trouble(body=json.dumps(answer).encode())


def function(arguments: object, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": "record_cards", "arguments": arguments}, **more}]}


def test_the_prompt_and_the_schema_are_sent_as_one_forced_tool(
    api: ChatCompletions, extractor: ClaudeExtractor
) -> None:
    [card] = states(extractor.extract(BATCH))
    assert card.value == "Lisbon"
    [request] = api.requests
    system, question = request.body["messages"]
    assert system == {"role": "system", "content": prompt.system()}
    assert question == {"role": "user", "content": prompt.question(BATCH)}
    [tool] = request.body["tools"]
    wanted = prompt.tool()
    assert tool["function"] == {
        "name": wanted["name"],
        "description": wanted["description"],
        "parameters": wanted["input_schema"],
    }
    assert request.body["tool_choice"] == "required"
    assert (request.body["model"], request.body["max_tokens"]) == ("a-local-model", 4_096)
    assert request.key == "key-of-the-test"
    assert extractor.prompt_version == prompt.version()


def test_a_model_without_tools_answers_with_a_json_object(api: ChatCompletions) -> None:
    extractor = create_extractor(Settings(openai_base_url=f"{api.url}/v1/", openai_output="schema"))
    assert isinstance(extractor, ClaudeExtractor)
    [card] = states(extractor.extract(BATCH))
    extractor.close()
    [request] = api.requests
    assert card.value == "Lisbon"
    assert "tools" not in request.body
    assert request.body["response_format"]["json_schema"]["schema"] == prompt.tool()["input_schema"]
    # No server shows the model the schema of an answer.
    system = request.body["messages"][0]["content"]
    assert system.startswith(prompt.system())
    assert '"concept_key"' in system[len(prompt.system()) :]
    assert request.key is None


def test_the_tokens_are_counted_and_a_cached_one_counts_once(
    api: ChatCompletions, extractor: ClaudeExtractor
) -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    api.trouble = lambda _: calls(CARDS, usage=usage)
    spent = extractor.extract(BATCH).usage
    assert (spent.input_tokens, spent.cache_read_tokens, spent.output_tokens) == (40, 60, 7)
    assert (spent.calls, spent.cost_usd) == (1, None)


@pytest.mark.parametrize(
    "answer",
    [
        choice(function(json.dumps(CARDS)), "tool_calls"),
        choice(function(json.dumps(CARDS), id="")),
        choice(function(CARDS, id="call_1"), None),
        choice(function(json.dumps(CARDS)), "eos"),
        choice({"content": f"Here: ```json\n{json.dumps(CARDS)}```"}, "stop", usage=None),
    ],
    ids=["usual", "no id", "an object", "unknown end", "text"],
)
def test_answers_of_servers_that_differ_in_small_things_are_read(
    api: ChatCompletions, extractor: ClaudeExtractor, answer: Trouble
) -> None:
    api.next.append(answer)
    assert [card.value for card in states(extractor.extract(BATCH))] == ["Lisbon"]
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (choice(function('{"states": [')), "An earlier answer cannot be used"),
        (choice({"content": None}), "the answer is empty"),
        (choice({"content": "Ana moved."}), "prose and calls no tool"),
        (choice(function(json.dumps({"states": "Lisbon"}), id="c1"), "tool_calls"), "states"),
    ],
    ids=["malformed", "empty", "prose", "wrong shape"],
)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more(
    api: ChatCompletions, extractor: ClaudeExtractor, answer: Trouble, fault: str
) -> None:
    api.next.append(answer)
    assert [card.value for card in states(extractor.extract(BATCH))] == ["Lisbon"]
    first, second = api.requests
    assert second.question.startswith(first.question)
    assert fault in second.question.removeprefix(first.question)


@pytest.mark.parametrize(
    "answer", [choice({"content": ""}, "content_filter"), choice({"refusal": "I will not", "content": None})]
)
def test_a_refusal_is_not_argued_with(
    api: ChatCompletions, extractor: ClaudeExtractor, answer: Trouble
) -> None:
    api.trouble = lambda _: answer
    with pytest.raises(TurnsUnreadableError, match="refuses"):
        extractor.extract(BATCH)
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("answer", "words", "suspect"),
    [
        (status(401), "refuses the key: set CARDLOG_OPENAI_API_KEY", False),
        (status(404), "check CARDLOG_OPENAI_BASE_URL and CARDLOG_MODEL", False),
        (status(307, location="http://127.0.0.1:1/"), "set CARDLOG_OPENAI_BASE_URL to the address", False),
        (status(503), "status 503: trouble", False),
        (status(400), "status 400: trouble", True),
        (
            Trouble(body=b'{"error": {"message": "x"}}'),
            "CARDLOG_OPENAI_BASE_URL speaks chat completions",
            True,
        ),
    ],
    ids=["key", "model", "redirect", "busy", "refused", "no completion"],
)
def test_a_failure_names_the_setting_or_the_words_of_the_server(
    api: ChatCompletions, extractor: ClaudeExtractor, answer: Trouble, words: str, suspect: bool
) -> None:
    api.trouble = lambda _: answer
    with pytest.raises(ExtractorUnavailableError) as failed:
        extractor.extract(BATCH)
    assert words in str(failed.value)
    assert failed.value.suspect is suspect


def test_a_server_of_chat_completions_is_asked_in_the_place_of_the_messages_api(api: ChatCompletions) -> None:
    settings = replace(api.settings, anthropic_base_url="http://127.0.0.1:9", anthropic_api_key="another")
    extractor = ClaudeExtractor(settings)
    answering(api, **CARDS)
    assert states(extractor.extract(BATCH))
    extractor.close()
