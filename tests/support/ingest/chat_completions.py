"""A loopback server that speaks chat completions, with the model and the troubles of the Messages API beside it."""

import json
from typing import Any

from events.platform.settings import Settings
from tests.support.ingest.messages_api import MessagesApi

_FINISH_REASONS = {
    "end_turn": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_COUNTS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}


class ChatCompletions(MessagesApi):
    """The server. A ``content`` of the Messages API is told as a choice, in text where the request has no tools."""

    path = "/v1/chat/completions"

    @property
    def settings(self) -> Settings:
        return Settings(openai_base_url=f"{self.url}/v1", openai_api_key="key-of-the-test")

    def message(
        self, body: dict[str, Any], content: list[dict[str, Any]], stop_reason: str, usage: object
    ) -> dict[str, Any]:
        calls = [block for block in content if block["type"] == "tool_use"]
        said = "\n".join(block["text"] for block in content if block["type"] == "text")
        message: dict[str, Any] = {"role": "assistant", "content": said or None}
        if "tools" not in body:
            message["content"] = said or "".join(json.dumps(block["input"]) for block in calls)
            stop_reason = "end_turn" if stop_reason == "tool_use" else stop_reason
        elif calls:
            message["tool_calls"] = [
                {
                    "id": block["id"],
                    "type": "function",
                    "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
                }
                for block in calls
            ]
        if isinstance(usage, dict):
            usage = {_COUNTS.get(name, name): count for name, count in usage.items()}
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "model": body["model"],
            "choices": [
                {
                    "index": 0, "message": message,
                    "finish_reason": _FINISH_REASONS.get(stop_reason, stop_reason),
                }
            ],
            "usage": self.usage(body, content) if usage is None else usage,
        }  # fmt: skip

    def usage(self, body: dict[str, Any], content: object) -> dict[str, Any]:
        system, *rest = body["messages"]
        counted = super().usage(
            {"tools": body.get("tools"), "messages": rest, "system": [system | {"cache_control": {}}]},
            content,
        )
        read = counted["cache_read_input_tokens"]
        return {
            "prompt_tokens": counted["input_tokens"] + counted["cache_creation_input_tokens"] + read,
            "completion_tokens": counted["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": read},
        }


SERVERS = (MessagesApi, ChatCompletions)
