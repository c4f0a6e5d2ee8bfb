"""The methods of the clients about references and proposals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrieval.client.requests import Request, command, given, place
from retrieval.client.sender import AsyncSender, Sender
from retrieval.client.types import (
    ProposalsPage,
    Reference,
    ReferenceHistory,
    ReferencesPage,
    RefusedProposal,
    RetractedCard,
    WrittenReference,
)


def create_request(write_url: str, user_id: str, kind: str, key: str, more: Mapping[str, Any]) -> Request:
    """Returns the creation of a reference."""
    return command(
        "POST", place(write_url, "references", kind), {"user_id": user_id, "key": key, **given(more)}
    )


def change_request(
    write_url: str, user_id: str, kind: str, key: str, op: Mapping[str, Any], more: Mapping[str, Any]
) -> Request:
    """Returns an op on a reference. An argument of the op that is None is sent, because an op may set null."""
    return command(
        "PATCH", place(write_url, "references", kind, key), {"user_id": user_id, **op, **given(more)}
    )


def command_request(
    write_url: str, user_id: str, kind: str, key: str, what: str, more: Mapping[str, Any]
) -> Request:
    """Returns the command ``what`` about a whole reference: archive or restore."""
    url = place(write_url, "references", kind, key, what)
    return command("POST", url, {"user_id": user_id, **given(more)})


def reference_request(
    read_url: str, user_id: str, kind: str, key: str, more: Mapping[str, Any], *, history: bool = False
) -> Request:
    """Returns the request for a reference, or for its history."""
    url = place(read_url, "references", kind, key, *(["history"] if history else []))
    return Request("GET", url, params={"user_id": user_id, **given(more)})


def list_request(read_url: str, what: str, user_id: str, filters: Mapping[str, Any]) -> Request:
    """Returns the request for a page of references or proposals."""
    return Request("GET", f"{read_url}/v1/{what}", params={"user_id": user_id, **given(filters)})


def proposal_request(
    write_url: str, user_id: str, proposal_id: str, answer: str, reason: str | None
) -> Request:
    """Returns the answer to a proposal: accept or refuse."""
    url = place(write_url, "proposals", proposal_id, answer)
    return Request("POST", url, json={"user_id": user_id, **given({"reason": reason})})


class ReferenceMethods(Sender):
    """The methods of :class:`~retrieval.client.client.Client` about references and proposals."""

    def create_reference(self, user_id: str, kind: str, key: str, **more: Any) -> WrittenReference:
        """Creates a reference. ``more`` are the other fields: data, tier, project_id, team_id, idempotency_key, …"""
        created: WrittenReference = self._send(create_request(self._write_url, user_id, kind, key, more))
        return created

    def change_reference(
        self, user_id: str, kind: str, key: str, op: Mapping[str, Any], **more: Any
    ) -> WrittenReference:
        """Applies an op with its arguments, such as ``{"op": "add", "text": "buy milk"}``.

        ``more`` are the other fields: expected_version, turn_ids, project_id, team_id, idempotency_key, …
        """
        changed: WrittenReference = self._send(change_request(self._write_url, user_id, kind, key, op, more))
        return changed

    def archive_reference(self, user_id: str, kind: str, key: str, **more: Any) -> WrittenReference:
        """Puts a reference away. ``more`` are the other fields: reason, project_id, team_id, …"""
        archived: WrittenReference = self._send(
            command_request(self._write_url, user_id, kind, key, "archive", more)
        )
        return archived

    def restore_reference(
        self, user_id: str, kind: str, key: str, version: int | None = None, **more: Any
    ) -> WrittenReference:
        """Brings back the value of a version. Without ``version``, it brings back an archived reference."""
        more["version"] = version
        restored: WrittenReference = self._send(
            command_request(self._write_url, user_id, kind, key, "restore", more)
        )
        return restored

    def reference(self, user_id: str, kind: str, key: str, **more: Any) -> Reference:
        """Returns a reference now, or then: ``more`` are as_of or version, project_id, team_id."""
        found: Reference = self._send(reference_request(self._read_url, user_id, kind, key, more))
        return found

    def reference_history(self, user_id: str, kind: str, key: str, **more: Any) -> ReferenceHistory:
        """Returns the versions of a reference, the latest first. ``values=True`` adds the data before and after."""
        found: ReferenceHistory = self._send(
            reference_request(self._read_url, user_id, kind, key, more, history=True)
        )
        return found

    def references(self, user_id: str, **filters: Any) -> ReferencesPage:
        """Returns a page of the references of a user and the user's teams."""
        page: ReferencesPage = self._send(list_request(self._read_url, "references", user_id, filters))
        return page

    def proposals(self, user_id: str, **filters: Any) -> ProposalsPage:
        """Returns a page of the ops that prose asked for, the waiting ones unless ``status`` says otherwise."""
        page: ProposalsPage = self._send(list_request(self._read_url, "proposals", user_id, filters))
        return page

    def accept_proposal(self, user_id: str, proposal_id: str) -> Reference | RetractedCard:
        """Applies a waiting proposal. A retry after a lost answer may be refused with 409: it has an answer."""
        changed: Reference | RetractedCard = self._send(
            proposal_request(self._write_url, user_id, proposal_id, "accept", None)
        )
        return changed

    def refuse_proposal(self, user_id: str, proposal_id: str, reason: str | None = None) -> RefusedProposal:
        """Refuses a waiting proposal."""
        refused: RefusedProposal = self._send(
            proposal_request(self._write_url, user_id, proposal_id, "refuse", reason)
        )
        return refused


class AsyncReferenceMethods(AsyncSender):
    """The methods of :class:`~retrieval.client.client.AsyncClient` about references and proposals."""

    async def create_reference(self, user_id: str, kind: str, key: str, **more: Any) -> WrittenReference:
        """Creates a reference. ``more`` are the other fields: data, tier, project_id, team_id, idempotency_key, …"""
        created: WrittenReference = await self._send(
            create_request(self._write_url, user_id, kind, key, more)
        )
        return created

    async def change_reference(
        self, user_id: str, kind: str, key: str, op: Mapping[str, Any], **more: Any
    ) -> WrittenReference:
        """Applies an op with its arguments, such as ``{"op": "add", "text": "buy milk"}``.

        ``more`` are the other fields: expected_version, turn_ids, project_id, team_id, idempotency_key, …
        """
        changed: WrittenReference = await self._send(
            change_request(self._write_url, user_id, kind, key, op, more)
        )
        return changed

    async def archive_reference(self, user_id: str, kind: str, key: str, **more: Any) -> WrittenReference:
        """Puts a reference away. ``more`` are the other fields: reason, project_id, team_id, …"""
        archived: WrittenReference = await self._send(
            command_request(self._write_url, user_id, kind, key, "archive", more)
        )
        return archived

    async def restore_reference(
        self, user_id: str, kind: str, key: str, version: int | None = None, **more: Any
    ) -> WrittenReference:
        """Brings back the value of a version. Without ``version``, it brings back an archived reference."""
        more["version"] = version
        restored: WrittenReference = await self._send(
            command_request(self._write_url, user_id, kind, key, "restore", more)
        )
        return restored

    async def reference(self, user_id: str, kind: str, key: str, **more: Any) -> Reference:
        """Returns a reference now, or then: ``more`` are as_of or version, project_id, team_id."""
        found: Reference = await self._send(reference_request(self._read_url, user_id, kind, key, more))
        return found

    async def reference_history(self, user_id: str, kind: str, key: str, **more: Any) -> ReferenceHistory:
        """Returns the versions of a reference, the latest first. ``values=True`` adds the data before and after."""
        found: ReferenceHistory = await self._send(
            reference_request(self._read_url, user_id, kind, key, more, history=True)
        )
        return found

    async def references(self, user_id: str, **filters: Any) -> ReferencesPage:
        """Returns a page of the references of a user and the user's teams."""
        page: ReferencesPage = await self._send(list_request(self._read_url, "references", user_id, filters))
        return page

    async def proposals(self, user_id: str, **filters: Any) -> ProposalsPage:
        """Returns a page of the ops that prose asked for, the waiting ones unless ``status`` says otherwise."""
        page: ProposalsPage = await self._send(list_request(self._read_url, "proposals", user_id, filters))
        return page

    async def accept_proposal(self, user_id: str, proposal_id: str) -> Reference | RetractedCard:
        """Applies a waiting proposal. A retry after a lost answer may be refused with 409: it has an answer."""
        changed: Reference | RetractedCard = await self._send(
            proposal_request(self._write_url, user_id, proposal_id, "accept", None)
        )
        return changed

    async def refuse_proposal(
        self, user_id: str, proposal_id: str, reason: str | None = None
    ) -> RefusedProposal:
        """Refuses a waiting proposal."""
        refused: RefusedProposal = await self._send(
            proposal_request(self._write_url, user_id, proposal_id, "refuse", reason)
        )
        return refused
