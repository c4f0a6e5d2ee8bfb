"""The methods of the clients about core documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retrieval.client.requests import Request, command, given, place
from retrieval.client.sender import AsyncSender, Sender
from retrieval.client.types import (
    Memory,
    MemoryCandidates,
    MemoryChanged,
    MemoryDiff,
    MemoryHistory,
    MemoryMigration,
    MemoryPromoted,
    MemoryQueue,
    MemoryReverted,
    MemoryRolledBack,
)


def memory_request(read_url: str, user_id: str, what: str, params: Mapping[str, Any]) -> Request:
    """Returns the request for a document, or for its history, its queue or a difference."""
    return Request("GET", _place(read_url, user_id, what), params=given(params))


def memory_command(write_url: str, user_id: str, what: str, body: Mapping[str, Any]) -> Request:
    """Returns a command about a document."""
    return command("POST", _place(write_url, user_id, what), given(body))


def patch_body(patch: Sequence[Mapping[str, Any]], actor: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body of a patch."""
    return {"patch": [dict(op) for op in patch], "actor": actor, **more}


def _place(url: str, user_id: str, what: str) -> str:
    return place(url, "memory", user_id) + (f"/{what}" if what else "")


class MemoryMethods(Sender):
    """The methods of :class:`~retrieval.client.client.Client` about core documents."""

    def memory(self, user_id: str, **query: Any) -> Memory:
        """Returns the core document now, or then: ``query`` are version or as_of, paths, explain."""
        found: Memory = self._send(memory_request(self._read_url, user_id, "", query))
        return found

    def patch_memory(
        self, user_id: str, patch: Sequence[Mapping[str, Any]], *, actor: str = "agent", **more: Any
    ) -> MemoryChanged:
        """Applies a JSON Patch. ``more`` are source, confidence, rationale, expected_version, turn_ids, …

        Raises :class:`RefusedError` with status 409 or 422 when the patch does not fit and waits in the queue.
        """
        found: MemoryChanged = self._send(
            memory_command(self._write_url, user_id, "events", patch_body(patch, actor, more))
        )
        return found

    def roll_back_memory(self, user_id: str, **more: Any) -> MemoryRolledBack:
        """Leaves events out of the document: ``more`` are event_ids or to_version, dry_run, rationale, …"""
        found: MemoryRolledBack = self._send(memory_command(self._write_url, user_id, "rollback", more))
        return found

    def cherry_pick_memory(self, user_id: str, event_ids: Sequence[str], **more: Any) -> MemoryChanged:
        """Applies changes again that were left out."""
        found: MemoryChanged = self._send(
            memory_command(self._write_url, user_id, "cherry-pick", {"event_ids": list(event_ids), **more})
        )
        return found

    def migrate_memory(self, user_id: str, **body: Any) -> MemoryMigration:
        """Migrates another memory: ``body`` has text or messages, format, said_at, apply_from, dry_run, wait_s, …"""
        found: MemoryMigration = self._send(memory_command(self._write_url, user_id, "migrate", body))
        return found

    def memory_history(self, user_id: str, **page: Any) -> MemoryHistory:
        """Returns the changes of the document, the latest first."""
        found: MemoryHistory = self._send(memory_request(self._read_url, user_id, "history", page))
        return found

    def memory_diff(self, user_id: str, from_version: int, to_version: int | None = None) -> MemoryDiff:
        """Returns what differs between two versions."""
        found: MemoryDiff = self._send(
            memory_request(self._read_url, user_id, "diff", {"from": from_version, "to": to_version})
        )
        return found

    def memory_queue(self, user_id: str, **filters: Any) -> MemoryQueue:
        """Returns the patches that wait. ``status="*"`` gives all."""
        found: MemoryQueue = self._send(memory_request(self._read_url, user_id, "queue", filters))
        return found

    def memory_candidates(self, user_id: str) -> MemoryCandidates:
        """Returns the topics of the document that recur and may become categories."""
        found: MemoryCandidates = self._send(memory_request(self._read_url, user_id, "schema/candidates", {}))
        return found

    def promote_category(self, user_id: str, candidate: str, **more: Any) -> MemoryPromoted:
        """Makes a category of a candidate: ``more`` are proposedName, members, rationale, dry_run, …"""
        found: MemoryPromoted = self._send(
            memory_command(self._write_url, user_id, "schema/promote", {"candidate": candidate, **more})
        )
        return found

    def revert_category(self, user_id: str, category: str, **more: Any) -> MemoryReverted:
        """Takes a promoted category back: its values go where they were."""
        found: MemoryReverted = self._send(
            memory_command(self._write_url, user_id, "schema/revert", {"category": category, **more})
        )
        return found

    def answer_patch(self, user_id: str, queue_id: str, answer: str, **more: Any) -> MemoryChanged:
        """Approves or refuses a waiting patch: ``answer`` is ``"approve"`` or ``"refuse"``."""
        found: MemoryChanged = self._send(
            memory_command(self._write_url, user_id, f"queue/{queue_id}/{answer}", more)
        )
        return found


class AsyncMemoryMethods(AsyncSender):
    """The methods of :class:`~retrieval.client.client.AsyncClient` about core documents."""

    async def memory(self, user_id: str, **query: Any) -> Memory:
        """Returns the core document now, or then: ``query`` are version or as_of, paths, explain."""
        found: Memory = await self._send(memory_request(self._read_url, user_id, "", query))
        return found

    async def patch_memory(
        self, user_id: str, patch: Sequence[Mapping[str, Any]], *, actor: str = "agent", **more: Any
    ) -> MemoryChanged:
        """Applies a JSON Patch. ``more`` are source, confidence, rationale, expected_version, turn_ids, …

        Raises :class:`RefusedError` with status 409 or 422 when the patch does not fit and waits in the queue.
        """
        found: MemoryChanged = await self._send(
            memory_command(self._write_url, user_id, "events", patch_body(patch, actor, more))
        )
        return found

    async def roll_back_memory(self, user_id: str, **more: Any) -> MemoryRolledBack:
        """Leaves events out of the document: ``more`` are event_ids or to_version, dry_run, rationale, …"""
        found: MemoryRolledBack = await self._send(memory_command(self._write_url, user_id, "rollback", more))
        return found

    async def cherry_pick_memory(self, user_id: str, event_ids: Sequence[str], **more: Any) -> MemoryChanged:
        """Applies changes again that were left out."""
        found: MemoryChanged = await self._send(
            memory_command(self._write_url, user_id, "cherry-pick", {"event_ids": list(event_ids), **more})
        )
        return found

    async def migrate_memory(self, user_id: str, **body: Any) -> MemoryMigration:
        """Migrates another memory: ``body`` has text or messages, format, said_at, apply_from, dry_run, wait_s, …"""
        found: MemoryMigration = await self._send(memory_command(self._write_url, user_id, "migrate", body))
        return found

    async def memory_history(self, user_id: str, **page: Any) -> MemoryHistory:
        """Returns the changes of the document, the latest first."""
        found: MemoryHistory = await self._send(memory_request(self._read_url, user_id, "history", page))
        return found

    async def memory_diff(self, user_id: str, from_version: int, to_version: int | None = None) -> MemoryDiff:
        """Returns what differs between two versions."""
        found: MemoryDiff = await self._send(
            memory_request(self._read_url, user_id, "diff", {"from": from_version, "to": to_version})
        )
        return found

    async def memory_queue(self, user_id: str, **filters: Any) -> MemoryQueue:
        """Returns the patches that wait. ``status="*"`` gives all."""
        found: MemoryQueue = await self._send(memory_request(self._read_url, user_id, "queue", filters))
        return found

    async def memory_candidates(self, user_id: str) -> MemoryCandidates:
        """Returns the topics of the document that recur and may become categories."""
        found: MemoryCandidates = await self._send(
            memory_request(self._read_url, user_id, "schema/candidates", {})
        )
        return found

    async def promote_category(self, user_id: str, candidate: str, **more: Any) -> MemoryPromoted:
        """Makes a category of a candidate: ``more`` are proposedName, members, rationale, dry_run, …"""
        found: MemoryPromoted = await self._send(
            memory_command(self._write_url, user_id, "schema/promote", {"candidate": candidate, **more})
        )
        return found

    async def revert_category(self, user_id: str, category: str, **more: Any) -> MemoryReverted:
        """Takes a promoted category back: its values go where they were."""
        found: MemoryReverted = await self._send(
            memory_command(self._write_url, user_id, "schema/revert", {"category": category, **more})
        )
        return found

    async def answer_patch(self, user_id: str, queue_id: str, answer: str, **more: Any) -> MemoryChanged:
        """Approves or refuses a waiting patch: ``answer`` is ``"approve"`` or ``"refuse"``."""
        found: MemoryChanged = await self._send(
            memory_command(self._write_url, user_id, f"queue/{queue_id}/{answer}", more)
        )
        return found
