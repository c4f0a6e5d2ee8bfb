"""What the methods of the clients stand on: the addresses of both services, and the way of a request."""

from __future__ import annotations

from typing import Any

from retrieval.client.requests import Request


class Sender:
    """Sends requests and waits for the answers."""

    _write_url: str
    _read_url: str

    def _send(self, request: Request) -> Any:
        """Returns the answer. Raises :class:`RefusedError` and :class:`UnavailableError`."""
        raise NotImplementedError


class AsyncSender:
    """The asynchronous :class:`Sender`."""

    _write_url: str
    _read_url: str

    async def _send(self, request: Request) -> Any:
        """Returns the answer. Raises :class:`RefusedError` and :class:`UnavailableError`."""
        raise NotImplementedError
