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

    def ask(self, prompt: Prompt, question: str, max_tokens: int) -> Reply:
        shape, more = self._shape(prompt.tool)
        asked = [{"role": "system", "content": prompt.text + more}, {"role": "user", "content": question}]
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
                _input(call)
                for call in message.get("tool_calls") or ()
                if isinstance(call.get("function"), dict)
            ]
            reason = "content_filter" if message.get("refusal") else choice.get("finish_reason")
            said = message.get("content")
            usage = self._usage(_counted(completion.get("usage") or {}), seconds)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            raise self._no_message("a body that is no completion", seconds) from None
        return Reply(
            _STOP_REASONS.get(reason, reason) if isinstance(reason, str) else None,
            bool(calls),
            calls[0] if calls else None,
            said.strip() if isinstance(said, str) else "",
            usage,
        )


def _input(call: JsonObject) -> Json:
    """Returns the input of a call. Arguments that are no JSON stay the text that they are."""
    given = call["function"].get("arguments")
    if isinstance(given, str):
        with suppress(ValueError):
            given = orjson.loads(given)
    return given


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


def _reason(body: bytes) -> str:
    """Returns the server's words about a failure, or an empty text."""
    try:
        found = orjson.loads(body)
        error = found.get("error", found)
        return str(error if isinstance(error, str) else error.get("message") or "")
    except (ValueError, AttributeError):
        return ""
