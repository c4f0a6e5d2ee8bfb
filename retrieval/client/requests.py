"""Requests and answers without I/O. Both clients use the same functions."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from retrieval.client.errors import CardlogError, RefusedError, UnavailableError
from retrieval.client.types import Turn

_AGAIN = frozenset((429, 502, 503, 504))
_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Every request may be repeated: reads change nothing, and turns and commands have ids."""

    method: str
    url: str
    json: Any = None
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None


def authorization(api_key: str | None) -> dict[str, str]:
    """Returns the header with the API key: the given one, or that of the environment; nothing when there is none.

    Raises OSError when the file that CARDLOG_KEY_FILE names cannot be read.
    """
    if api_key is None:
        api_key = os.environ.get("CARDLOG_API_KEY", "").strip()
        if not api_key and (file := os.environ.get("CARDLOG_KEY_FILE", "").strip()):
            api_key = Path(file).read_text("utf-8").split()[-1]
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def push_request(write_url: str, turns: Turn | Sequence[Turn]) -> Request:
    """Returns the push of one or several turns. A turn without an id gets one."""
    several: list[Mapping[str, Any]] = [turns] if isinstance(turns, Mapping) else list(turns)
    named = [turn if turn.get("turn_id") else {**turn, "turn_id": uuid.uuid4().hex} for turn in several]
    return Request("POST", f"{write_url}/v1/turns", json=named)


def ask_request(read_url: str, what: str, user_id: str, query: str, more: Mapping[str, Any]) -> Request:
    """Returns a recall or a context. Fields that are None are not sent."""
    return Request("POST", f"{read_url}/v1/{what}", json={"user_id": user_id, "query": query, **given(more)})


def cards_request(read_url: str, user_id: str, filters: Mapping[str, Any]) -> Request:
    """Returns the request for a page of a slice. Filters that are None are not sent."""
    return Request("GET", f"{read_url}/v1/cards", params={"user_id": user_id, **given(filters)})


def command(method: str, url: str, body: Mapping[str, Any]) -> Request:
    """Returns a command. It has an idempotency key, so a repeat of it changes nothing and gets the first answer."""
    fields = dict(body)
    key = fields.pop("idempotency_key", None) or uuid.uuid4().hex
    return Request(method, url, json=fields, headers={"idempotency-key": key})


def place(url: str, *names: str) -> str:
    """Returns the URL of a resource. The names may hold any characters."""
    return "/".join((f"{url}/v1", *(quote(name, safe="") for name in names)))


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def waits(retries: int) -> Iterator[float]:
    """Yields the wait before each retry, in seconds."""
    for number in range(retries):
        yield min(_FIRST_WAIT_S * 2**number, _LONGEST_WAIT_S)


def wait_asked_for(error: CardlogError, otherwise: float) -> float:
    """Returns the wait in seconds that the service asked for, at most 5 s, or ``otherwise``."""
    asked = error.problem.get("retry_after")
    return min(float(asked), _LONGEST_WAIT_S) if asked is not None else otherwise


def answer_of(response: httpx2.Response) -> Any:
    """Returns the document of an answer. Raises :class:`RefusedError` or :class:`UnavailableError`."""
    try:
        document = response.json()
    except ValueError:
        document = None
    if response.is_success and document is not None:
        return document
    problem: dict[str, Any] = document if isinstance(document, dict) else {}
    problem = {"status": response.status_code, "title": response.reason_phrase} | problem
    after = response.headers.get("retry-after", "")
    if after.isdecimal():
        problem["retry_after"] = int(after)
    message = str(problem.get("detail") or f"{response.status_code} {response.reason_phrase}")
    if response.status_code in _AGAIN or response.status_code >= 500 or response.is_success:
        raise UnavailableError(message, problem)
    raise RefusedError(message, problem)


def no_answer(error: httpx2.HTTPError, request: Request) -> UnavailableError:
    """Returns the error for a service that did not answer."""
    return UnavailableError(f"{request.url} does not answer: {error or type(error).__name__}")


def unsendable(error: UnicodeEncodeError) -> RefusedError:
    """Returns the error for text that UTF-8 cannot encode."""
    shown = error.object[error.start : error.start + 1]
    return RefusedError(
        f"the request holds a lone surrogate ({shown!r}), which is no character; leave it out"
    )
