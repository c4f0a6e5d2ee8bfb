"""Makes one call of the Messages API with the SDK of Anthropic."""

import time
from typing import Any

import anthropic
import orjson

from events.platform.settings import Settings, revealed
from ingest.extraction.claude.model_client import ModelClient, Prompt, Reply
from ingest.extraction.claude.transport import deadline


class MessagesClient(ModelClient):
    """Calls a model through the Messages API."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._thinking = settings.thinking
        # The key is never empty, so the SDK does not search this machine for credentials.
        self._sdk = anthropic.Anthropic(
            api_key=revealed(self._server.key) or "none",
            base_url=self._server.url,
            max_retries=0,
            timeout=self._http.timeout,
            http_client=self._http,
        )

    def ask(self, prompt: Prompt, question: str, max_tokens: int) -> Reply:
        began = time.monotonic()
        # The API does not force a tool on a model with thinking. The prompt then asks for the tool.
        mode: dict[str, Any] = (
            {"thinking": {"type": "adaptive"}, "tool_choice": {"type": "auto"}}
            if self._thinking
            else {
                "thinking": {"type": "disabled"},
                "tool_choice": {"type": "tool", "name": prompt.tool["name"]},
            }
        )
        try:
            with deadline(self._exchange_s):
                raw = self._sdk.messages.with_raw_response.create(
                    model=self.model,
                    max_tokens=max_tokens,
                    system=[{"type": "text", "text": prompt.text, "cache_control": {"type": "ephemeral"}}],
                    tools=[prompt.tool],  # type: ignore[list-item]
                    messages=[{"role": "user", "content": question}],
                    **mode,
                )
            body = raw.http_response.content
        except anthropic.APIStatusError as error:
            raise self._refused(error.status_code, error.api_message or "", error.response.headers) from None
        except anthropic.APIConnectionError as error:
            raise self._failed(error.__cause__ or error, time.monotonic() - began) from None
        return self._reply(body, time.monotonic() - began)

    def _reply(self, body: bytes, seconds: float) -> Reply:
        try:
            message = orjson.loads(body)
            content = [block for block in message["content"] if isinstance(block, dict)]
            stop_reason = message["stop_reason"]
            usage = self._usage(message.get("usage") or {}, seconds)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self._no_message("a body that is no message", seconds) from None
        calls = [block for block in content if block.get("type") == "tool_use"]
        prose = "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
        return Reply(
            stop_reason if isinstance(stop_reason, str) else None,
            bool(calls),
            calls[0].get("input") if calls else None,
            prose.strip(),
            usage,
        )
