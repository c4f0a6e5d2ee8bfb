"""The clients, one synchronous and one asynchronous, with the same methods."""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import httpx2

from cardlog_client.errors import UnavailableError
from cardlog_client.operations import AsyncOperations, Operations
from cardlog_client.requests import (
    EXPORT,
    PUSH,
    TURN_EVENTS,
    Operation,
    Request,
    address_of,
    answer_of,
    authorization,
    event_in,
    events_request,
    no_answer,
    push_request,
    request_of,
    unsendable,
    wait_asked_for,
    waits,
)

if TYPE_CHECKING:
    from cardlog_client.types import Pushed, Turn, TurnEvent

T = TypeVar("T")


class Client(Operations):
    """Talks to a write service and a read service. Connections stay open until :meth:`close`.

    Every request is repeated up to ``retries`` times while a service is away. A repeated push or command is safe: a
    turn counts once, and a command has an idempotency key. ``timeout`` is in seconds. The URLs are by default those in
    CARDLOG_WRITE_URL and CARDLOG_READ_URL, or ports 8700 and 8701 of this machine. ``api_key`` is by default the key in
    CARDLOG_API_KEY, or the last word of the file that CARDLOG_KEY_FILE names. ``mounts`` are other ways to
    send requests, by the start of their URLs. Raises :class:`RefusedError`: the request is wrong. Raises
    :class:`UnavailableError`: no retry succeeded.
    """

    def __init__(
        self,
        write_url: str | None = None,
        read_url: str | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 3,
        api_key: str | None = None,
        mounts: Mapping[str, httpx2.BaseTransport] | None = None,
    ) -> None:
        self._urls = {"write": address_of("write", write_url), "read": address_of("read", read_url)}
        self._retries = retries
        self._key = authorization(api_key)
        self._http = httpx2.Client(timeout=timeout, mounts=mounts)

    def push(self, turns: Turn | Sequence[Turn]) -> Pushed:
        """Pushes one turn or a list. The service takes all or none. The turns are safe on return."""
        return self._answer(PUSH, push_request(self._urls["write"], turns))

    def export_user(self, user_id: str) -> Iterator[str]:
        """Yields what is known of a user as lines of JSON. The last has the kind ``end``. Nothing is repeated."""
        request = request_of(self._urls["read"], EXPORT, {"user_id": user_id}, {})
        try:
            with self._http.stream(**request.arguments_with(self._key)) as response:
                if not response.is_success:
                    response.read()
                    answer_of(EXPORT, response)
                yield from response.iter_lines()
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error

    def turn_events(self, user_id: str, turn_id: str, *, within_s: int = 60) -> Iterator[TurnEvent]:
        """Yields what becomes of a turn, stage by stage, for at most ``within_s`` seconds.

        The stage of the last event is ``embedded``, ``dead`` or ``late``. Nothing is repeated: ask again for a stream
        that breaks off.
        """
        request = events_request(self._urls["read"], user_id, turn_id, within_s)
        try:
            with self._http.stream(**request.arguments_with(self._key)) as response:
                if not response.is_success:
                    response.read()
                    answer_of(TURN_EVENTS, response)
                for line in response.iter_lines():
                    if (event := event_in(line)) is not None:
                        yield event
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error

    def with_key(self, api_key: str) -> Self:
        """Returns a client with another API key that shares the connections of this one. Close only this one."""
        other = copy.copy(self)
        other._key = authorization(api_key)
        return other

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, operation: Operation[T], named: Mapping[str, object], more: Mapping[str, object]) -> T:
        return self._answer(operation, request_of(self._urls[operation.service], operation, named, more))

    def _answer(self, operation: Operation[T], request: Request) -> T:
        for wait in waits(self._retries):
            try:
                return self._send_once(operation, request)
            except UnavailableError as error:
                time.sleep(wait_asked_for(error, wait))
        return self._send_once(operation, request)

    def _send_once(self, operation: Operation[T], request: Request) -> T:
        try:
            response = self._http.request(**request.arguments_with(self._key))
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error
        except UnicodeEncodeError as error:
            raise unsendable(error) from error
        return answer_of(operation, response)


class AsyncClient(AsyncOperations):
    """The asynchronous :class:`Client`."""

    def __init__(
        self,
        write_url: str | None = None,
        read_url: str | None = None,
        *,
        timeout: float = 10.0,
        retries: int = 3,
        api_key: str | None = None,
        mounts: Mapping[str, httpx2.AsyncBaseTransport] | None = None,
    ) -> None:
        self._urls = {"write": address_of("write", write_url), "read": address_of("read", read_url)}
        self._retries = retries
        self._key = authorization(api_key)
        self._http = httpx2.AsyncClient(timeout=timeout, mounts=mounts)

    async def push(self, turns: Turn | Sequence[Turn]) -> Pushed:
        """Pushes one turn or a list. The service takes all or none. The turns are safe on return."""
        return await self._answer(PUSH, push_request(self._urls["write"], turns))

    async def export_user(self, user_id: str) -> AsyncIterator[str]:
        """Yields what is known of a user as lines of JSON. The last has the kind ``end``. Nothing is repeated."""
        request = request_of(self._urls["read"], EXPORT, {"user_id": user_id}, {})
        try:
            async with self._http.stream(**request.arguments_with(self._key)) as response:
                if not response.is_success:
                    await response.aread()
                    answer_of(EXPORT, response)
                async for line in response.aiter_lines():
                    yield line
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error

    async def turn_events(
        self, user_id: str, turn_id: str, *, within_s: int = 60
    ) -> AsyncIterator[TurnEvent]:
        """Yields what becomes of a turn, stage by stage, for at most ``within_s`` seconds.

        The stage of the last event is ``embedded``, ``dead`` or ``late``. Nothing is repeated: ask again for a stream
        that breaks off.
        """
        request = events_request(self._urls["read"], user_id, turn_id, within_s)
        try:
            async with self._http.stream(**request.arguments_with(self._key)) as response:
                if not response.is_success:
                    await response.aread()
                    answer_of(TURN_EVENTS, response)
                async for line in response.aiter_lines():
                    if (event := event_in(line)) is not None:
                        yield event
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error

    def with_key(self, api_key: str) -> Self:
        """Returns a client with another API key that shares the connections of this one. Close only this one."""
        other = copy.copy(self)
        other._key = authorization(api_key)
        return other

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(
        self, operation: Operation[T], named: Mapping[str, object], more: Mapping[str, object]
    ) -> T:
        request = request_of(self._urls[operation.service], operation, named, more)
        return await self._answer(operation, request)

    async def _answer(self, operation: Operation[T], request: Request) -> T:
        for wait in waits(self._retries):
            try:
                return await self._send_once(operation, request)
            except UnavailableError as error:
                import asyncio  # noqa: PLC0415 - half of the import time, and only this wait needs it

                await asyncio.sleep(wait_asked_for(error, wait))
        return await self._send_once(operation, request)

    async def _send_once(self, operation: Operation[T], request: Request) -> T:
        try:
            response = await self._http.request(**request.arguments_with(self._key))
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error
        except UnicodeEncodeError as error:
            raise unsendable(error) from error
        return answer_of(operation, response)
