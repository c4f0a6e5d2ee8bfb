"""The methods of the clients about active problems and episodes."""

from __future__ import annotations

from typing import Any

from retrieval.client.problems import EpisodesPage, Problem, ProblemsPage, memory_request, problem_request
from retrieval.client.sender import AsyncSender, Sender


class ProblemMethods(Sender):
    """The methods of :class:`~retrieval.client.client.Client` about problems."""

    def open_problem(self, user_id: str, description: str, **more: Any) -> Problem:
        """Opens a problem. ``more`` are the other fields: priority, project_id, turn_ids, idempotency_key, …"""
        opened: Problem = self._send(
            problem_request(self._write_url, user_id, (), {"description": description}, more)
        )
        return opened

    def attempt_problem(self, user_id: str, problem_id: str, approach: str, **more: Any) -> Problem:
        """Records what was tried. ``more`` are the other fields: outcome, successful, date, turn_ids, …"""
        tried: Problem = self._send(
            problem_request(self._write_url, user_id, (problem_id, "attempt"), {"approach": approach}, more)
        )
        return tried

    def close_problem(
        self, user_id: str, problem_id: str, resolution: str | None = None, **more: Any
    ) -> Problem:
        """Closes a problem. ``resolution`` says how it ended."""
        closed: Problem = self._send(
            problem_request(self._write_url, user_id, (problem_id, "close"), {"resolution": resolution}, more)
        )
        return closed

    def reopen_problem(
        self, user_id: str, problem_id: str, reason: str | None = None, **more: Any
    ) -> Problem:
        """Opens a closed problem again."""
        opened: Problem = self._send(
            problem_request(self._write_url, user_id, (problem_id, "reopen"), {"reason": reason}, more)
        )
        return opened

    def prioritize_problem(self, user_id: str, problem_id: str, priority: int, **more: Any) -> Problem:
        """Gives a problem another priority, 1 to 10."""
        changed: Problem = self._send(
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

    def problem(self, user_id: str, problem_id: str) -> Problem:
        """Returns a problem with its history."""
        found: Problem = self._send(memory_request(self._read_url, user_id, ("problems", problem_id)))
        return found


class AsyncProblemMethods(AsyncSender):
    """The methods of :class:`~retrieval.client.client.AsyncClient` about problems."""

    async def open_problem(self, user_id: str, description: str, **more: Any) -> Problem:
        """Opens a problem. ``more`` are the other fields: priority, project_id, turn_ids, idempotency_key, …"""
        opened: Problem = await self._send(
            problem_request(self._write_url, user_id, (), {"description": description}, more)
        )
        return opened

    async def attempt_problem(self, user_id: str, problem_id: str, approach: str, **more: Any) -> Problem:
        """Records what was tried. ``more`` are the other fields: outcome, successful, date, turn_ids, …"""
        tried: Problem = await self._send(
            problem_request(self._write_url, user_id, (problem_id, "attempt"), {"approach": approach}, more)
        )
        return tried

    async def close_problem(
        self, user_id: str, problem_id: str, resolution: str | None = None, **more: Any
    ) -> Problem:
        """Closes a problem. ``resolution`` says how it ended."""
        closed: Problem = await self._send(
            problem_request(self._write_url, user_id, (problem_id, "close"), {"resolution": resolution}, more)
        )
        return closed

    async def reopen_problem(
        self, user_id: str, problem_id: str, reason: str | None = None, **more: Any
    ) -> Problem:
        """Opens a closed problem again."""
        opened: Problem = await self._send(
            problem_request(self._write_url, user_id, (problem_id, "reopen"), {"reason": reason}, more)
        )
        return opened

    async def prioritize_problem(self, user_id: str, problem_id: str, priority: int, **more: Any) -> Problem:
        """Gives a problem another priority, 1 to 10."""
        changed: Problem = await self._send(
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

    async def problem(self, user_id: str, problem_id: str) -> Problem:
        """Returns a problem with its history."""
        found: Problem = await self._send(memory_request(self._read_url, user_id, ("problems", problem_id)))
        return found
