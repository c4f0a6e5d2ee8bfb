"""The methods of the clients about active problems and episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retrieval.client.requests import Request, command, given, place
from retrieval.client.sender import AsyncSender, Sender
from retrieval.client.types import EpisodesPage, ProblemHistory, ProblemsPage, WrittenProblem


def problem_request(
    write_url: str, user_id: str, what: Sequence[str], body: Mapping[str, Any], more: Mapping[str, Any]
) -> Request:
    """Returns a command about problems. It has an idempotency key, so a repeat gets the first answer."""
    url = place(write_url, "memory", user_id, "problems", *what)
    return command("POST", url, given({**body, **more}))


def memory_request(
    read_url: str, user_id: str, what: Sequence[str], filters: Mapping[str, Any] | None = None
) -> Request:
    """Returns a read of problems or episodes."""
    params = given(filters or {}) or None
    return Request("GET", place(read_url, "memory", user_id, *what), params=params)


class ProblemMethods(Sender):
    """The methods of :class:`~retrieval.client.client.Client` about problems."""

    def open_problem(self, user_id: str, description: str, **more: Any) -> WrittenProblem:
        """Opens a problem. ``more`` are the other fields: priority, project_id, turn_ids, idempotency_key, …"""
        opened: WrittenProblem = self._send(
            problem_request(self._write_url, user_id, (), {"description": description}, more)
        )
        return opened

    def attempt_problem(self, user_id: str, problem_id: str, approach: str, **more: Any) -> WrittenProblem:
        """Records what was tried. ``more`` are the other fields: outcome, successful, date, turn_ids, …"""
        tried: WrittenProblem = self._send(
            problem_request(self._write_url, user_id, (problem_id, "attempt"), {"approach": approach}, more)
        )
        return tried

    def close_problem(
        self, user_id: str, problem_id: str, resolution: str | None = None, **more: Any
    ) -> WrittenProblem:
        """Closes a problem. ``resolution`` says how it ended."""
        closed: WrittenProblem = self._send(
            problem_request(self._write_url, user_id, (problem_id, "close"), {"resolution": resolution}, more)
        )
        return closed

    def reopen_problem(
        self, user_id: str, problem_id: str, reason: str | None = None, **more: Any
    ) -> WrittenProblem:
        """Opens a closed problem again."""
        opened: WrittenProblem = self._send(
            problem_request(self._write_url, user_id, (problem_id, "reopen"), {"reason": reason}, more)
        )
        return opened

    def prioritize_problem(self, user_id: str, problem_id: str, priority: int, **more: Any) -> WrittenProblem:
        """Gives a problem another priority, 1 to 10."""
        changed: WrittenProblem = self._send(
            problem_request(self._write_url, user_id, (problem_id, "priority"), {"priority": priority}, more)
        )
        return changed

    def problems(self, user_id: str, **filters: Any) -> ProblemsPage:
        """Returns the open problems of a user. ``filters`` are status, project_id and limit."""
        page: ProblemsPage = self._send(memory_request(self._read_url, user_id, ("problems",), filters))
        return page

    def episodes(self, user_id: str, **filters: Any) -> EpisodesPage:
        """Returns the words of turns with the best scores. ``filters`` are topics, paths, k and project_id."""
        page: EpisodesPage = self._send(memory_request(self._read_url, user_id, ("episodes",), filters))
        return page

    def problem(self, user_id: str, problem_id: str) -> ProblemHistory:
        """Returns a problem with its history."""
        found: ProblemHistory = self._send(memory_request(self._read_url, user_id, ("problems", problem_id)))
        return found


class AsyncProblemMethods(AsyncSender):
    """The methods of :class:`~retrieval.client.client.AsyncClient` about problems."""

    async def open_problem(self, user_id: str, description: str, **more: Any) -> WrittenProblem:
        """Opens a problem. ``more`` are the other fields: priority, project_id, turn_ids, idempotency_key, …"""
        opened: WrittenProblem = await self._send(
            problem_request(self._write_url, user_id, (), {"description": description}, more)
        )
        return opened

    async def attempt_problem(
        self, user_id: str, problem_id: str, approach: str, **more: Any
    ) -> WrittenProblem:
        """Records what was tried. ``more`` are the other fields: outcome, successful, date, turn_ids, …"""
        tried: WrittenProblem = await self._send(
            problem_request(self._write_url, user_id, (problem_id, "attempt"), {"approach": approach}, more)
        )
        return tried

    async def close_problem(
        self, user_id: str, problem_id: str, resolution: str | None = None, **more: Any
    ) -> WrittenProblem:
        """Closes a problem. ``resolution`` says how it ended."""
        closed: WrittenProblem = await self._send(
            problem_request(self._write_url, user_id, (problem_id, "close"), {"resolution": resolution}, more)
        )
        return closed

    async def reopen_problem(
        self, user_id: str, problem_id: str, reason: str | None = None, **more: Any
    ) -> WrittenProblem:
        """Opens a closed problem again."""
        opened: WrittenProblem = await self._send(
            problem_request(self._write_url, user_id, (problem_id, "reopen"), {"reason": reason}, more)
        )
        return opened

    async def prioritize_problem(
        self, user_id: str, problem_id: str, priority: int, **more: Any
    ) -> WrittenProblem:
        """Gives a problem another priority, 1 to 10."""
        changed: WrittenProblem = await self._send(
            problem_request(self._write_url, user_id, (problem_id, "priority"), {"priority": priority}, more)
        )
        return changed

    async def problems(self, user_id: str, **filters: Any) -> ProblemsPage:
        """Returns the open problems of a user. ``filters`` are status, project_id and limit."""
        page: ProblemsPage = await self._send(memory_request(self._read_url, user_id, ("problems",), filters))
        return page

    async def episodes(self, user_id: str, **filters: Any) -> EpisodesPage:
        """Returns the words of turns with the best scores. ``filters`` are topics, paths, k and project_id."""
        page: EpisodesPage = await self._send(memory_request(self._read_url, user_id, ("episodes",), filters))
        return page

    async def problem(self, user_id: str, problem_id: str) -> ProblemHistory:
        """Returns a problem with its history."""
        found: ProblemHistory = await self._send(
            memory_request(self._read_url, user_id, ("problems", problem_id))
        )
        return found
