"""The clients, one synchronous and one asynchronous, with the same methods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import httpx2

from retrieval.client.core_methods import AsyncMemoryMethods, MemoryMethods
from retrieval.client.errors import UnavailableError
from retrieval.client.mode_methods import AsyncModeMethods, ModeMethods
from retrieval.client.problem_methods import AsyncProblemMethods, ProblemMethods
from retrieval.client.reference_methods import AsyncReferenceMethods, ReferenceMethods
from retrieval.client.requests import (
    Request,
    answer_of,
    ask_request,
    authorization,
    cards_request,
    no_answer,
    push_request,
    unsendable,
    wait_asked_for,
    waits,
)
from retrieval.client.types import Answer, CardsPage, Prompt, Pushed, Status, Turn

WRITE_URL = "http://127.0.0.1:8700"
READ_URL = "http://127.0.0.1:8701"


class Client(MemoryMethods, ReferenceMethods, ModeMethods, ProblemMethods):
    """Talks to a write service and a read service. Connections stay open until :meth:`close`.

    Every request is repeated up to ``retries`` times while a service is away. A repeated push or command is safe: a
    turn counts once, and a command has an idempotency key. ``timeout`` is in seconds. ``api_key`` is by default the
    key in CARDLOG_API_KEY, or the last word of the file that CARDLOG_KEY_FILE names. Raises :class:`RefusedError`: the
    request is wrong. Raises :class:`UnavailableError`: no retry succeeded.
    """

    def __init__(
        self,
        write_url: str = WRITE_URL,
        read_url: str = READ_URL,
        *,
        timeout: float = 10.0,
        retries: int = 3,
        api_key: str | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._write_url = write_url.rstrip("/")
        self._read_url = read_url.rstrip("/")
        self._retries = retries
        self._http = httpx2.Client(timeout=timeout, transport=transport, headers=authorization(api_key))

    def push(self, turns: Turn | Sequence[Turn]) -> Pushed:
        """Pushes one turn or a list. The service takes all or none. The turns are safe on return."""
        pushed: Pushed = self._send(push_request(self._write_url, turns))
        return pushed

    def recall(self, user_id: str, query: str, **more: Any) -> Answer:
        """Returns the cards that answer. ``more`` are the other fields: k, project_id, kinds, as_of, wait_for, …"""
        answer: Answer = self._send(ask_request(self._read_url, "recall", user_id, query, more))
        return answer

    def context(self, user_id: str, query: str, *, token_budget: int | None = None, **more: Any) -> Prompt:
        """Returns the answer as prompt blocks. ``more`` are the other fields of a recall."""
        more["token_budget"] = token_budget
        prompt: Prompt = self._send(ask_request(self._read_url, "context", user_id, query, more))
        return prompt

    def cards(self, user_id: str, **filters: Any) -> CardsPage:
        """Returns a page of the cards that match all ``filters``, the last recorded first."""
        page: CardsPage = self._send(cards_request(self._read_url, user_id, filters))
        return page

    def status(self) -> Status:
        """Returns the health of every stage. The key must see every user of the default tenant."""
        status: Status = self._send(Request("GET", f"{self._read_url}/v1/status"))
        return status

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, request: Request) -> Any:
        for wait in waits(self._retries):
            try:
                return self._send_once(request)
            except UnavailableError as error:
                time.sleep(wait_asked_for(error, wait))
        return self._send_once(request)

    def _send_once(self, request: Request) -> Any:
        try:
            response = self._http.request(
                request.method,
                request.url,
                json=request.json,
                params=request.params,
                headers=request.headers,
            )
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error
        except UnicodeEncodeError as error:
            raise unsendable(error) from error
        return answer_of(response)


class AsyncClient(AsyncMemoryMethods, AsyncReferenceMethods, AsyncModeMethods, AsyncProblemMethods):
    """The asynchronous :class:`Client`."""

    def __init__(
        self,
        write_url: str = WRITE_URL,
        read_url: str = READ_URL,
        *,
        timeout: float = 10.0,
        retries: int = 3,
        api_key: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._write_url = write_url.rstrip("/")
        self._read_url = read_url.rstrip("/")
        self._retries = retries
        self._http = httpx2.AsyncClient(timeout=timeout, transport=transport, headers=authorization(api_key))

    async def push(self, turns: Turn | Sequence[Turn]) -> Pushed:
        """Pushes one turn or a list. The service takes all or none. The turns are safe on return."""
        pushed: Pushed = await self._send(push_request(self._write_url, turns))
        return pushed

    async def recall(self, user_id: str, query: str, **more: Any) -> Answer:
        """Returns the cards that answer. ``more`` are the other fields: k, project_id, kinds, as_of, wait_for, …"""
        answer: Answer = await self._send(ask_request(self._read_url, "recall", user_id, query, more))
        return answer

    async def context(
        self, user_id: str, query: str, *, token_budget: int | None = None, **more: Any
    ) -> Prompt:
        """Returns the answer as prompt blocks. ``more`` are the other fields of a recall."""
        more["token_budget"] = token_budget
        prompt: Prompt = await self._send(ask_request(self._read_url, "context", user_id, query, more))
        return prompt

    async def cards(self, user_id: str, **filters: Any) -> CardsPage:
        """Returns a page of the cards that match all ``filters``, the last recorded first."""
        page: CardsPage = await self._send(cards_request(self._read_url, user_id, filters))
        return page

    async def status(self) -> Status:
        """Returns the health of every stage. The key must see every user of the default tenant."""
        status: Status = await self._send(Request("GET", f"{self._read_url}/v1/status"))
        return status

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(self, request: Request) -> Any:
        for wait in waits(self._retries):
            try:
                return await self._send_once(request)
            except UnavailableError as error:
                await asyncio.sleep(wait_asked_for(error, wait))
        return await self._send_once(request)

    async def _send_once(self, request: Request) -> Any:
        try:
            response = await self._http.request(
                request.method,
                request.url,
                json=request.json,
                params=request.params,
                headers=request.headers,
            )
        except httpx2.HTTPError as error:
            raise no_answer(error, request) from error
        except UnicodeEncodeError as error:
            raise unsendable(error) from error
        return answer_of(response)
