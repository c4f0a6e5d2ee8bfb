"""One call of a model: its reply, its cost, and the classes of its failures, whatever API the server speaks.

Keys and the words of turns are never logged.
"""

import json
import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from importlib.resources import files
from typing import TypedDict

import httpx2
import orjson

from events.platform.settings import Settings
from events.types.extraction import Usage
from ingest.extraction.claude.model_server import server_of
from ingest.extraction.claude.transport import AnswerRefusedError, BoundedTransport
from ingest.extraction.extractor_port import ExtractorUnavailableError

logger = logging.getLogger(__name__)

# At the debug level these loggers write whole requests with the words of turns.
for _library in ("anthropic", "httpx2", "httpcore2"):
    logging.getLogger(_library).setLevel(logging.WARNING)

_CONNECT_S = 5.0
# Tokens of one kind in one answer. No model takes more. Sums stay far below 64 bits.
_MOST_TOKENS = 10_000_000
_LONGEST_WAIT_S = 300.0
_LONGEST_REASON = 200
# The statuses of an overloaded or absent server. The turns are not at fault.
_BUSY = frozenset((408, 429, 503, 529))
_REFUSED = {
    401: "refuses the key: set {key} to a valid one",
    402: "requires payment: check the billing of the account of {key}",
    403: "denies permission: give {key} the right to use the model",
    404: "knows no such address or model: check {url} and CARDLOG_MODEL",
}


class Price(TypedDict):
    """A price line in dollars per million tokens, with its source and the day on which the source was read.

    ``least_to_cache`` is the shortest prefix in tokens that the server of the model caches; None: no source tells it.
    """

    input: float
    output: float
    cache_write: float
    cache_read: float
    source: str
    least_to_cache: int | None
    least_to_cache_source: str
    read_on: str


PRICES: dict[str, Price] = json.loads(
    files("ingest.extraction.claude").joinpath("prices.json").read_text("utf-8")
)
"""By the beginning of the name of the model."""


def dollars(price: Price, *, fresh: int, answered: int, written: int = 0, read: int = 0) -> float:
    """Returns the cost of tokens: input outside the cache, output, and input written to and read from the cache."""
    paid = fresh * price["input"] + answered * price["output"]
    return (paid + written * price["cache_write"] + read * price["cache_read"]) / 1e6


@dataclass(frozen=True, slots=True)
class Prompt:
    """The part of a prompt that is equal in every call: the text, and the one tool whose input is the answer.

    The tool has ``name``, ``description`` and ``input_schema``, as the Messages API writes it.
    """

    text: str
    tool: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of the model: stop reason, input of the tool call if there is one, text outside the call, and cost."""

    stop_reason: str | None
    called: bool
    tool_input: object | None
    prose: str
    usage: Usage

    @property
    def answer(self) -> object:
        """The input of the tool call. Without a call, the JSON object in the prose, or None.

        Models on servers without tools write the object as text.
        """
        if self.called:
            return self.tool_input
        start, end = self.prose.find("{"), self.prose.rfind("}")
        if start < 0 or end < start:
            return None
        try:
            found: object = orjson.loads(self.prose[start : end + 1])
        except ValueError:
            return None
        return found


class ModelClient(ABC):
    """Calls one model on one server. Thread-safe.

    The client tries each call once, because the caller sees all calls and decides about retries. One exchange, from the
    connection to the last byte, takes at most ``extract_timeout_s``. The words of turns go to the address in the
    settings and nowhere else: the client follows no redirect and uses no proxy of the environment.
    """

    def __init__(self, settings: Settings) -> None:
        self._server = server_of(settings)
        self.model = settings.model
        self.address = self._server.address
        self._price = _price_of(settings.model)
        self._exchange_s = float(settings.extract_timeout_s)
        self._http = httpx2.Client(
            transport=BoundedTransport(),
            timeout=httpx2.Timeout(self._exchange_s, connect=_CONNECT_S),
            headers={"accept-encoding": "identity"},
            follow_redirects=False,
            trust_env=False,
        )

    @abstractmethod
    def ask(self, prompt: Prompt, question: str, max_tokens: int) -> Reply:
        """Returns the reply to ``question``. Raises :class:`ExtractorUnavailableError` when there is none."""

    def close(self) -> None:
        self._http.close()

    def _failed(self, cause: BaseException, seconds: float) -> ExtractorUnavailableError:
        """Returns the error of an exchange that ``cause`` ended."""
        if isinstance(cause, httpx2.TimeoutException):
            return ExtractorUnavailableError(
                f"{self.address} did not answer within {seconds:.0f} s", suspect=True
            )
        if isinstance(cause, AnswerRefusedError):
            return self._no_message(str(cause), seconds)
        return ExtractorUnavailableError(
            f"{self.address} cannot be reached ({type(cause).__name__}: {_short(str(cause))})"
        )

    def _no_message(self, what: str, seconds: float) -> ExtractorUnavailableError:
        return ExtractorUnavailableError(
            f"{self.address} answers with {what}; check that {self._server.url_variable} speaks {self._server.api}",
            suspect=True,
            usage=Usage(calls=1, latency_ms=round(seconds * 1000), cost_usd=None),
        )

    def caches(self, tokens: int) -> bool:
        """Returns True unless a prefix of ``tokens`` is known to be too short for the cache of the model's server."""
        return tokens >= self.least_to_cache

    @property
    def least_to_cache(self) -> int:
        """The least tokens of a prefix that the server caches; 0 when that is unknown."""
        return (self._price["least_to_cache"] if self._price else None) or 0

    def priced(
        self, *, fresh: int, answered: int, written: int, read: int, calls: int = 1, seconds: float = 0.0
    ) -> Usage:
        """Returns the tokens with their cost at list price. The cost is None when the price of the model is unknown.

        ``fresh`` are input tokens outside the cache, ``written`` and ``read`` cache tokens, ``answered`` output tokens.
        """
        cost = None
        if self._price is not None:
            cost = round(dollars(self._price, fresh=fresh, answered=answered, written=written, read=read), 9)
        return Usage(
            input_tokens=fresh,
            output_tokens=answered,
            cache_read_tokens=read,
            cache_write_tokens=written,
            calls=calls,
            latency_ms=round(seconds * 1000),
            cost_usd=cost,
        )

    def _usage(self, counted: Mapping[str, object], seconds: float) -> Usage:
        """Returns the usage that the server reports. An impossible number counts as 0, and the cost is then unknown."""
        names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        tokens = {name: tokens_of(counted.get(name)) for name in names}
        impossible = [name for name, count in tokens.items() if count is None]
        fresh, answered, written, read = (tokens[name] or 0 for name in names)
        usage = self.priced(fresh=fresh, answered=answered, written=written, read=read, seconds=seconds)
        if not impossible:
            return usage
        logger.warning("%s reports impossible token counts: %s", self.address, ", ".join(impossible))
        return replace(usage, cost_usd=None)

    def _refused(self, status: int, reason: str, headers: Mapping[str, str]) -> ExtractorUnavailableError:
        """Returns the error of an answer without success. ``reason`` is in the server's words."""
        key, url = self._server.key_variable, self._server.url_variable
        if status in _REFUSED:
            why = _REFUSED[status].format(key=key, url=url)
            return ExtractorUnavailableError(f"{self.address} {why} (status {status})")
        if 300 <= status < 400:
            return ExtractorUnavailableError(
                f"{self.address} redirects (status {status}), and redirects are not followed: "
                f"set {url} to the address that answers"
            )
        reason = _short(reason)
        return ExtractorUnavailableError(
            f"{self.address} answers with status {status}" + (f": {reason}" if reason else ""),
            retry_after=retry_after(headers),
            suspect=status not in _BUSY,
        )


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Returns the pause in seconds that a server asks for, at most five minutes, or None without such a header."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * scale
        except ValueError:
            try:
                seconds = parsedate_to_datetime(text).timestamp() - (time.time() if now is None else now)
            except (ValueError, TypeError, OverflowError):
                continue
        if not math.isnan(seconds):
            return min(max(seconds, 0.0), _LONGEST_WAIT_S)
    return None


def _price_of(model: str) -> Price | None:
    """Returns the price line of ``model``, or None. The longest matching prefix decides."""
    names = [name for name in PRICES if model.startswith(name)]
    return PRICES[max(names, key=len)] if names else None


def tokens_of(count: object) -> int | None:
    """Returns a count of tokens: 0 when it is absent, None when it is impossible."""
    if count is None:
        return 0
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST_TOKENS:
        return None
    return count


def _short(text: str) -> str:
    """Returns the beginning of a server's text as one line without control characters."""
    start = " ".join(text[: 4 * _LONGEST_REASON].split())[:_LONGEST_REASON]
    return "".join(character if character.isprintable() else "?" for character in start)
