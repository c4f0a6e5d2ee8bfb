"""Makes one call of chat completions, which Ollama, vLLM, llama.cpp, LM Studio and many gateways speak.

Prompt, schema and the judgement of answers are those of the Messages API. This module translates both ways.
"""

import time
from collections.abc import Mapping
from contextlib import suppress

import httpx2
import orjson

from events.platform.settings import Settings, revealed
from events.types.json_values import Json, JsonObject
from ingest.extraction.claude.model_client import ModelClient, Prompt, Reply, tokens_of
from ingest.extraction.claude.transport import deadline

# An unknown reason stays as it is, and the content of the answer decides.
_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_AS_TEXT = (
    "{name} is called by writing its input, one JSON object of this schema, and nothing else. {description}"
)


class ChatClient(ModelClient):
    """Calls a model through ``POST {base}/chat/completions``.

    ``openai_output`` is ``tool``: the answer is the forced call of one tool; or ``schema``: the answer is a JSON object
    of the tool's schema, for models and servers without tools.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._with_tool = settings.openai_output == "tool"
        self._url = f"{self._server.url.rstrip('/')}/chat/completions"
        if key := revealed(self._server.key):
            self._http.headers["authorization"] = f"Bearer {key}"

    def ask(self, prompt: Prompt, messages: list[dict[str, object]], max_tokens: int) -> Reply:
        shape, more = self._shape(prompt.tool)
        asked = [{"role": "system", "content": prompt.text + more}, *_translated(messages)]
        body = {"model": self.model, "max_tokens": max_tokens, "messages": asked, **shape}
        began = time.monotonic()
        try:
            with deadline(self._exchange_s):
                answer = self._http.post(
                    self._url, content=orjson.dumps(body), headers={"content-type": "application/json"}
                )
        except httpx2.TransportError as error:
            raise self._failed(error, time.monotonic() - began) from None
        if not answer.is_success:
            raise self._refused(answer.status_code, _reason(answer.content), answer.headers)
        return self._reply(answer.content, time.monotonic() - began)

    def _shape(self, tool: Mapping[str, object]) -> tuple[dict[str, object], str]:
        """Returns the fields that shape the answer, and what the system message needs beside the prompt.

        The choice is ``required`` and not the tool's name, because LM Studio refuses the name. A server renders tools
        into the prompt of the model, but no schema of an answer. The system message therefore holds the schema.
        """
        name, description, schema = tool["name"], tool["description"], tool["input_schema"]
        if self._with_tool:
            function = {"name": name, "description": description, "parameters": schema}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": "required"}, ""
        form = {"name": name, "description": description, "schema": schema}
        told = _AS_TEXT.format(name=name, description=description)
        text = orjson.dumps(schema).decode()
        return (
            {"response_format": {"type": "json_schema", "json_schema": form}},
            f"\n<answer>\n{told}\n{text}\n</answer>",
        )

    def _reply(self, body: bytes, seconds: float) -> Reply:
        try:
            completion = orjson.loads(body)
            choice = completion["choices"][0]
            message = choice["message"]
            calls = [
                _call(call, number)
                for number, call in enumerate(message.get("tool_calls") or ())
                if isinstance(call.get("function"), dict)
            ]
            reason = "content_filter" if message.get("refusal") else choice.get("finish_reason")
            said = message.get("content")
            usage = self._usage(_counted(completion.get("usage") or {}), seconds)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            raise self._no_message("a body that is no completion", seconds) from None
        prose = said.strip() if isinstance(said, str) else ""
        blocks: list[dict[str, object]] = [{"type": "text", "text": prose}] if prose else []
        return Reply(
            _STOP_REASONS.get(reason, reason) if isinstance(reason, str) else None,
            calls[0]["input"] if calls else None,
            calls[0]["id"] if calls else None,
            prose,
            blocks + calls,
            usage,
        )


def _call(call: JsonObject, number: int) -> dict[str, Json]:
    """Returns a call as a block of the Messages API. Arguments that are no JSON stay the text that they are."""
    function = call["function"]
    given = function.get("arguments")
    if isinstance(given, str):
        with suppress(ValueError):
            given = orjson.loads(given)
    return {
        "type": "tool_use",
        "id": str(call.get("id") or f"call_{number}"),
        "name": function.get("name"),
        "input": given,
    }


def _counted(usage: JsonObject) -> dict[str, object]:
    """Returns the counts by their names in the Messages API, where cached tokens are no input tokens."""
    asked = usage.get("prompt_tokens")
    read = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    whole, cached = tokens_of(asked), tokens_of(read)
    return {
        "input_tokens": asked if whole is None or cached is None else max(0, whole - cached),
        "output_tokens": usage.get("completion_tokens"),
        "cache_read_input_tokens": read,
    }


def _translated(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    """Returns messages of the Messages API as those of chat completions."""
    found: list[dict[str, object]] = []
    for message in messages:
        content = message["content"]
        if not isinstance(content, list):
            found.append(message)
            continue
        results = [block for block in content if block["type"] == "tool_result"]
        for block in results:
            found.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]})
        if results:
            continue
        said: dict[str, object] = {
            "role": message["role"],
            "content": "\n".join(block["text"] for block in content if block["type"] == "text"),
        }
        calls = [
            {
                "id": block["id"],
                "type": "function",
                "function": {"name": block["name"], "arguments": orjson.dumps(block["input"]).decode()},
            }
            for block in content
            if block["type"] == "tool_use"
        ]
        found.append(said | ({"tool_calls": calls} if calls else {}))
    return found


def _reason(body: bytes) -> str:
    """Returns the server's words about a failure, or an empty text."""
    try:
        found = orjson.loads(body)
        error = found.get("error", found)
        return str(error if isinstance(error, str) else error.get("message") or "")
    except (ValueError, AttributeError):
        return ""
