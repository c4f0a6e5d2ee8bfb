"""Requests and answers without I/O. Both clients use the same functions."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx2

from cardlog_client.errors import CardlogError, RefusedError, UnavailableError

if TYPE_CHECKING:
    from cardlog_client.types import Pushed, Turn, TurnEvent

_AGAIN = frozenset((429, 502, 503, 504))
_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 5.0
_ADDRESSES = {"write": "http://127.0.0.1:8700", "read": "http://127.0.0.1:8701"}
_NAMES = re.compile(r"\{(\w+)\}")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Operation(Generic[T_co]):
    """An operation of a service. The names in braces in ``path`` are parts of the address.

    ``once`` is the header or the field that makes a repeat of the request count once. ``nulls``: a field that is None
    is sent, because null is a value here.
    """

    service: Literal["write", "read"]
    method: str
    path: str
    once: Literal["idempotency_key", "request_id"] | None = None
    nulls: bool = False


PUSH: Operation[Pushed] = Operation("write", "POST", "/v1/turns")
EXPORT: Operation[None] = Operation("read", "GET", "/v1/users/{user_id}/export")
TURN_EVENTS: Operation[None] = Operation("read", "GET", "/v1/turns/{turn_id}/events")


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Every request may be repeated: reads change nothing, and turns and commands have ids."""

    method: str
    url: str
    json: object = None
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None

    def arguments_with(self, key: Mapping[str, str]) -> dict[str, Any]:
        """Returns the request as arguments of httpx2, with the header of an API key. Raises :class:`RefusedError`."""
        names = ("method", "url", "json", "params")
        found = {name: _told(value) for name in names if (value := getattr(self, name)) is not None}
        return found | {"headers": {**key, **(self.headers or {})}}


def request_of(
    url: str, operation: Operation[object], named: Mapping[str, object], more: Mapping[str, object]
) -> Request:
    """Returns the request of an operation. ``named`` holds the parts of the address and the required fields.

    A command has an idempotency key, so a repeat of it changes nothing and gets the first answer.
    """
    parts = {name: in_path(str(named[name])) for name in _NAMES.findall(operation.path)}
    fields = dict(more) | {name: value for name, value in named.items() if name not in parts}
    once = {operation.once: fields.pop(operation.once, None) or uuid.uuid4().hex} if operation.once else {}
    if not operation.nulls:
        fields = {name: value for name, value in fields.items() if value is not None}
    address = url + operation.path.format(**parts)
    if operation.method in ("GET", "DELETE"):
        return Request(operation.method, address, params=fields)
    if operation.once == "request_id":
        return Request(operation.method, address, json=fields | once)
    headers = {name.replace("_", "-"): str(value) for name, value in once.items()}
    return Request(operation.method, address, json=fields, headers=headers)


def _told(value: Any, field: str = "") -> Any:
    """Returns a value with its times and days as text. Raises :class:`RefusedError` for a time without an offset."""
    if isinstance(value, Mapping):
        return {name: _told(each, str(name)) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_told(each, field) for each in value]
    if isinstance(value, datetime) and value.utcoffset() is None:
        raise RefusedError(
            f"{field}: {value.isoformat()} has no offset; give an aware datetime, such as datetime.now(UTC)",
            {"field": field},
        )
    return value.isoformat() if isinstance(value, date) else value


def in_path(text: str) -> str:
    """Returns ``text`` as one part of a path. The dots of "." and ".." are encoded, or they would be steps."""
    part = quote(text, safe="")
    return part.replace(".", "%2E") if text in {".", ".."} else part


def address_of(service: str, given: str | None) -> str:
    """Returns the URL of a service: the given one, that of CARDLOG_WRITE_URL or CARDLOG_READ_URL, or the default.

    Raises :class:`RefusedError` for a URL without http:// or https://.
    """
    name = f"CARDLOG_{service.upper()}_URL"
    url = given or os.environ.get(name, "").strip() or _ADDRESSES[service]
    if not url.startswith(("http://", "https://")):
        raise RefusedError(
            f"{service}_url is {url!r}; give a URL such as {_ADDRESSES[service]}, or set {name} to one"
        )
    return url.rstrip("/")


def authorization(api_key: str | None) -> dict[str, str]:
    """Returns the header with the API key: the given one, or that of the environment; nothing when there is none.

    Raises :class:`RefusedError` when the file that CARDLOG_KEY_FILE names cannot be read or holds no key.
    """
    if api_key is None:
        api_key = os.environ.get("CARDLOG_API_KEY", "").strip()
        if not api_key and (file := os.environ.get("CARDLOG_KEY_FILE", "").strip()):
            try:
                api_key = Path(file).read_text("utf-8").split()[-1]
            except (OSError, UnicodeError, IndexError) as error:
                raise RefusedError(f"CARDLOG_KEY_FILE names {file!r}, which holds no key: {error}") from None
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def push_request(write_url: str, turns: Turn | Sequence[Turn]) -> Request:
    """Returns the push of one or several turns. A turn without an id gets one. Raises :class:`RefusedError`."""
    alone = isinstance(turns, Mapping | str) or not isinstance(turns, Iterable)
    several: list[Any] = [turns] if alone else list(turns)
    for turn in several:
        if not isinstance(turn, Mapping):
            raise RefusedError(
                f"turns: {turn!r:.40} is no turn; give a dict or a list of dicts, such as "
                '{"user_id": "dana", "text": "I live in Lisbon."}'
            )
    named = [turn if turn.get("turn_id") else {**turn, "turn_id": uuid.uuid4().hex} for turn in several]
    return Request("POST", f"{write_url}/v1/turns", json=named)


def events_request(read_url: str, user_id: str, turn_id: str, within_s: int) -> Request:
    """Returns the request for the events of a turn."""
    return request_of(read_url, TURN_EVENTS, {"user_id": user_id, "turn_id": turn_id}, {"within_s": within_s})


def event_in(line: str) -> TurnEvent | None:
    """Returns the event in a line of a stream. None: the line has no data, such as a comment."""
    if not line.startswith("data: "):
        return None
    event: TurnEvent = json.loads(line.removeprefix("data: "))
    return event


def waits(retries: int) -> Iterator[float]:
    """Yields the wait before each retry, in seconds."""
    for number in range(retries):
        yield min(_FIRST_WAIT_S * 2**number, _LONGEST_WAIT_S)


def wait_asked_for(error: CardlogError, otherwise: float) -> float:
    """Returns the wait in seconds that the service asked for, at most 5 s, or ``otherwise``."""
    asked = error.problem.get("retry_after")
    return min(float(asked), _LONGEST_WAIT_S) if asked is not None else otherwise


def answer_of(operation: Operation[T], response: httpx2.Response) -> T:
    """Returns the document of an answer. Raises :class:`RefusedError` or :class:`UnavailableError`."""
    try:
        document = response.json()
    except ValueError:
        document = None
    if response.is_success and document is not None:
        answer: T = document
        return answer
    problem: dict[str, Any] = document if isinstance(document, dict) else {}
    problem = {"status": response.status_code, "title": response.reason_phrase} | problem
    after = response.headers.get("retry-after", "")
    if after.isdecimal():
        problem["retry_after"] = int(after)
    message = str(problem.get("detail") or f"{response.status_code} {response.reason_phrase}")
    if response.status_code == 401:
        message = (
            "the service got no valid API key; give api_key, or set CARDLOG_API_KEY to a key or CARDLOG_KEY_FILE to a "
            "file that holds one (`cardlog keys create` makes a key)"
        )
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
