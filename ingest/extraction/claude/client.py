"""One call of the Messages API, and what its failure means. Keys and what people said are never logged."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from importlib.resources import files
from typing import Any

import anthropic
import httpx2
import orjson

from events.platform.settings import Settings, revealed
from events.types.extraction import Usage
from ingest.extraction.claude import prompt
from ingest.extraction.claude.address import OFFICIAL, address_of
from ingest.extraction.claude.transport import AnswerRefusedError, BoundedTransport, deadline
from ingest.extraction.extractor_port import ExtractorUnavailableError

logger = logging.getLogger(__name__)

# At their debug level these write whole requests: what people said, and to whom.
for _talkative in ("anthropic", "httpx2", "httpcore2"):
    logging.getLogger(_talkative).setLevel(logging.WARNING)

_CONNECT_S = 5.0
# Of one kind in one answer: more than any model takes in. Sums of them stay far within 64 bits.
_MOST_TOKENS = 10_000_000
_LONGEST_WAIT_S = 300.0
_LONGEST_REASON = 200
# What a server says when it has too much to do or is not there: nobody's words are to blame.
_BUSY = frozenset((408, 429, 503, 529))
_REFUSED = {
    401: "refuses the key: set ANTHROPIC_API_KEY to a valid one",
    402: "wants to be paid: see to the account behind ANTHROPIC_API_KEY",
    403: "does not let this key in: give it the right to use the model",
    404: "knows no such address or model: check ANTHROPIC_BASE_URL and CARDLOG_MODEL",
}
_PRICES: dict[str, dict[str, float]] = json.loads(
    files("ingest.extraction.claude").joinpath("prices.json").read_text("utf-8")
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: why it ended, the tool's input where the tool was called, prose, and what it cost.

    ``content`` is the answer as it came, to be shown to the model again when it must mend it.
    """

    stop_reason: str | None
    tool_input: object | None
    tool_use_id: str | None
    prose: str
    content: list[dict[str, Any]]
    usage: Usage


class MessagesClient:
    """Asks one server for one model. Safe to use from any number of threads.

    Tries each call once: when and whether to try again is for those to decide who see all the calls. The whole
    of an answer, from the connection to the last byte, takes no longer than ``extract_timeout_s``. What people
    said goes to the address in the settings and nowhere else: no redirect is followed, and no proxy of the
    environment is used.
    """

    def __init__(self, settings: Settings) -> None:
        self.model = settings.model
        self.address = address_of(settings)
        self._thinking = settings.thinking
        self._prices = _prices(settings.model)
        # A key is always given, so that the SDK never goes looking for credentials elsewhere on this machine.
        self._whole_s = float(settings.extract_timeout_s)
        self._sdk = anthropic.Anthropic(
            api_key=revealed(settings.anthropic_api_key) or "none",
            base_url=settings.anthropic_base_url or OFFICIAL,
            max_retries=0,
            timeout=anthropic.Timeout(self._whole_s, connect=_CONNECT_S),
            http_client=httpx2.Client(
                transport=BoundedTransport(),
                headers={"accept-encoding": "identity"},
                follow_redirects=False,
                trust_env=False,
            ),
        )

    def ask(self, messages: list[dict[str, Any]], max_tokens: int) -> Reply:
        """The answer to ``messages``. Raises :class:`ExtractorUnavailableError` where there is none."""
        began = time.monotonic()
        # A model that thinks cannot be forced to a tool; the prompt asks for it then.
        mode: dict[str, Any] = (
            {"thinking": {"type": "adaptive"}, "tool_choice": {"type": "auto"}}
            if self._thinking
            else {"thinking": {"type": "disabled"}, "tool_choice": {"type": "tool", "name": prompt.TOOL}}
        )
        try:
            with deadline(self._whole_s):
                raw = self._sdk.messages.with_raw_response.create(
                    model=self.model,
                    max_tokens=max_tokens,
                    system=[
                        {"type": "text", "text": prompt.system(), "cache_control": {"type": "ephemeral"}}
                    ],
                    tools=[prompt.tool()],  # type: ignore[list-item]
                    messages=messages,  # type: ignore[arg-type]
                    **mode,
                )
            body = raw.http_response.content
        except anthropic.APIStatusError as error:
            raise self._refused(error) from None
        except anthropic.APITimeoutError:
            waited = time.monotonic() - began
            raise ExtractorUnavailableError(
                f"{self.address} did not answer within {waited:.0f} s", suspect=True
            ) from None
        except anthropic.APIConnectionError as error:
            cause = error.__cause__ or error
            if isinstance(cause, AnswerRefusedError):
                raise self._no_message(str(cause), time.monotonic() - began) from None
            raise ExtractorUnavailableError(
                f"{self.address} cannot be reached ({type(cause).__name__}: {_short(str(cause))})"
            ) from None
        return self._reply(body, time.monotonic() - began)

    def close(self) -> None:
        """Give the connections back."""
        self._sdk.close()

    def _reply(self, body: bytes, seconds: float) -> Reply:
        try:
            message = orjson.loads(body)
            content = [block for block in message["content"] if isinstance(block, dict)]
            stop_reason = message["stop_reason"]
            usage = self._usage(message.get("usage") or {}, seconds)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self._no_message("something that is no message", seconds) from None
        calls = [block for block in content if block.get("type") == "tool_use"]
        prose = "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
        return Reply(
            stop_reason if isinstance(stop_reason, str) else None,
            calls[0].get("input") if calls else None,
            str(calls[0].get("id")) if calls else None,
            prose.strip(),
            content,
            usage,
        )

    def _no_message(self, what: str, seconds: float) -> ExtractorUnavailableError:
        return ExtractorUnavailableError(
            f"{self.address} answers with {what}; check that ANTHROPIC_BASE_URL speaks the Messages API",
            suspect=True,
            usage=Usage(calls=1, latency_ms=round(seconds * 1000), cost_usd=None),
        )

    def priced(
        self, *, fresh: int, answered: int, written: int, read: int, calls: int = 1, seconds: float = 0.0
    ) -> Usage:
        """Tokens with their list price, which is None for a model nobody told the price of."""
        cost = None
        if self._prices is not None:
            tokens = {"input": fresh, "output": answered, "cache_write": written, "cache_read": read}
            cost = round(sum(count * self._prices[kind] for kind, count in tokens.items()) / 1e6, 9)
        return Usage(
            input_tokens=fresh,
            output_tokens=answered,
            cache_read_tokens=read,
            cache_write_tokens=written,
            calls=calls,
            latency_ms=round(seconds * 1000),
            cost_usd=cost,
        )

    def _usage(self, counted: Mapping[str, Any], seconds: float) -> Usage:
        """What the server says it counted. A number that cannot be is left out, and the cost is then not known."""
        names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        tokens = {name: _tokens(counted.get(name)) for name in names}
        doubtful = [name for name, count in tokens.items() if count is None]
        fresh, answered, written, read = (tokens[name] or 0 for name in names)
        usage = self.priced(fresh=fresh, answered=answered, written=written, read=read, seconds=seconds)
        if not doubtful:
            return usage
        logger.warning("%s counts tokens that cannot be: %s", self.address, ", ".join(doubtful))
        return replace(usage, cost_usd=None)

    def _refused(self, error: anthropic.APIStatusError) -> ExtractorUnavailableError:
        status = error.status_code
        if status in _REFUSED:
            return ExtractorUnavailableError(f"{self.address} {_REFUSED[status]} (status {status})")
        if 300 <= status < 400:
            return ExtractorUnavailableError(
                f"{self.address} redirects (status {status}), which is not followed: "
                "set ANTHROPIC_BASE_URL to the address that answers"
            )
        said = _short(error.api_message or "")
        return ExtractorUnavailableError(
            f"{self.address} answers with status {status}" + (f": {said}" if said else ""),
            retry_after=retry_after(error.response.headers),
            suspect=status not in _BUSY,
        )


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The seconds a server asks to be left alone, at most five minutes; None where it does not say."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * scale
        except ValueError:
            try:
                seconds = parsedate_to_datetime(text).timestamp() - (time.time() if now is None else now)
            except (ValueError, TypeError):
                continue
        if not math.isnan(seconds):
            return min(max(seconds, 0.0), _LONGEST_WAIT_S)
    return None


def _prices(model: str) -> dict[str, float] | None:
    """Dollars a million tokens, by the longest name the model's begins with."""
    names = [name for name in _PRICES if model.startswith(name)]
    return _PRICES[max(names, key=len)] if names else None


def _tokens(count: object) -> int | None:
    """A count of tokens, 0 where there is none; None for what is no such count."""
    if count is None:
        return 0
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST_TOKENS:
        return None
    return count


def _short(text: str) -> str:
    """The beginning of what a server wrote, in one line without control characters."""
    start = " ".join(text[: 4 * _LONGEST_REASON].split())[:_LONGEST_REASON]
    return "".join(character if character.isprintable() else "?" for character in start)
