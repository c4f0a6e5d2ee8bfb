"""The methods of the clients about modes and projects."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from retrieval.client.requests import Request, given, place
from retrieval.client.sender import AsyncSender, Sender
from retrieval.client.types import (
    Accepted,
    DeletedMode,
    Modes,
    Reembedding,
    ReembeddingProgress,
    WrittenMode,
    WrittenProject,
)


def modes_request(read_url: str, user_id: str, project_id: str | None) -> Request:
    """Returns the request for the modes of a user or of a project."""
    return Request("GET", place(read_url, "modes"), params=_whose(user_id, project_id))


def mode_request(
    write_url: str, user_id: str, name: str, fields: Mapping[str, Any], *, rename: bool = False
) -> Request:
    """Returns the declaration of a mode, or its new name. Fields that are None are not sent."""
    url = place(write_url, "modes", name, *(["rename"] if rename else []))
    return Request("POST" if rename else "PUT", url, json={"user_id": user_id, **given(fields)})


def reembed_request(
    write_url: str, user_id: str | None, name: str, project_id: str | None, *, dry_run: bool
) -> Request:
    """Returns the command that embeds the earlier cards of a mode again. Without a user: the mode of everybody."""
    body = {"dry_run": dry_run, **_whose(user_id, project_id)}
    return Request("POST", place(write_url, "modes", name, "reembed"), json=body)


def progress_request(read_url: str, user_id: str | None, name: str, project_id: str | None) -> Request:
    """Returns the request for the progress of a re-embedding."""
    return Request("GET", place(read_url, "modes", name, "reembed"), params=_whose(user_id, project_id))


def deletion_request(write_url: str, user_id: str, name: str, project_id: str | None) -> Request:
    """Returns the deletion of a mode."""
    return Request("DELETE", place(write_url, "modes", name), params=_whose(user_id, project_id))


def project_request(write_url: str, user_id: str, project_id: str, fields: Mapping[str, Any]) -> Request:
    """Returns the settings of a project. A field that is None is sent, because null takes a setting away."""
    return Request("PUT", place(write_url, "projects", project_id), json={"user_id": user_id, **fields})


def card_mode_request(
    write_url: str, user_id: str, card_id: str, mode: str, more: Mapping[str, Any]
) -> Request:
    """Returns the command that gives a card another mode. A repeat of it counts once."""
    body = {"user_id": user_id, "mode": mode, "request_id": uuid.uuid4().hex, **given(more)}
    return Request("POST", place(write_url, "cards", card_id, "mode"), json=body)


def _whose(user_id: str | None, project_id: str | None) -> dict[str, str]:
    return given({"user_id": user_id, "project_id": project_id})


class ModeMethods(Sender):
    """The methods of :class:`~retrieval.client.client.Client` about modes and projects."""

    def modes(self, user_id: str, *, project_id: str | None = None) -> Modes:
        """Returns the modes of a user, or those that a project may use."""
        found: Modes = self._send(modes_request(self._read_url, user_id, project_id))
        return found

    def declare_mode(self, user_id: str, name: str, **fields: Any) -> WrittenMode:
        """Declares a mode, or declares it anew: embedder, description, default_decay, project_id, is_default, …"""
        declared: WrittenMode = self._send(mode_request(self._write_url, user_id, name, fields))
        return declared

    def rename_mode(
        self, user_id: str, name: str, new_name: str, *, project_id: str | None = None
    ) -> WrittenMode:
        """Gives a mode another name. Its cards stay its cards."""
        fields = {"new_name": new_name, "project_id": project_id}
        renamed: WrittenMode = self._send(mode_request(self._write_url, user_id, name, fields, rename=True))
        return renamed

    def delete_mode(self, user_id: str, name: str, *, project_id: str | None = None) -> DeletedMode:
        """Deletes a mode. Its cards stay and belong to the general mode."""
        gone: DeletedMode = self._send(deletion_request(self._write_url, user_id, name, project_id))
        return gone

    def reembed_mode(
        self, user_id: str | None, name: str, *, project_id: str | None = None, dry_run: bool = False
    ) -> Reembedding:
        """Embeds the earlier cards of a mode again, with its present model. A dry run says the cost only.

        ``user_id`` None: everybody's cards of general or of a mode of CARDLOG_MODES. It needs the scope admin.
        """
        asked: Reembedding = self._send(
            reembed_request(self._write_url, user_id, name, project_id, dry_run=dry_run)
        )
        return asked

    def reembedding(
        self, user_id: str | None, name: str, *, project_id: str | None = None
    ) -> ReembeddingProgress:
        """Returns the progress of the last re-embedding of a mode."""
        progress: ReembeddingProgress = self._send(
            progress_request(self._read_url, user_id, name, project_id)
        )
        return progress

    def declare_project(self, user_id: str, project_id: str, **fields: Any) -> WrittenProject:
        """Sets the default_mode and the description of a project. None takes one away."""
        project: WrittenProject = self._send(project_request(self._write_url, user_id, project_id, fields))
        return project

    def reclassify(self, user_id: str, card_id: str, mode: str, **more: Any) -> Accepted:
        """Gives a card another mode. ``more`` are by, reason and request_id."""
        done: Accepted = self._send(card_mode_request(self._write_url, user_id, card_id, mode, more))
        return done


class AsyncModeMethods(AsyncSender):
    """The methods of :class:`~retrieval.client.client.AsyncClient` about modes and projects."""

    async def modes(self, user_id: str, *, project_id: str | None = None) -> Modes:
        """Returns the modes of a user, or those that a project may use."""
        found: Modes = await self._send(modes_request(self._read_url, user_id, project_id))
        return found

    async def declare_mode(self, user_id: str, name: str, **fields: Any) -> WrittenMode:
        """Declares a mode, or declares it anew: embedder, description, default_decay, project_id, is_default, …"""
        declared: WrittenMode = await self._send(mode_request(self._write_url, user_id, name, fields))
        return declared

    async def rename_mode(
        self, user_id: str, name: str, new_name: str, *, project_id: str | None = None
    ) -> WrittenMode:
        """Gives a mode another name. Its cards stay its cards."""
        fields = {"new_name": new_name, "project_id": project_id}
        renamed: WrittenMode = await self._send(
            mode_request(self._write_url, user_id, name, fields, rename=True)
        )
        return renamed

    async def delete_mode(self, user_id: str, name: str, *, project_id: str | None = None) -> DeletedMode:
        """Deletes a mode. Its cards stay and belong to the general mode."""
        gone: DeletedMode = await self._send(deletion_request(self._write_url, user_id, name, project_id))
        return gone

    async def reembed_mode(
        self, user_id: str | None, name: str, *, project_id: str | None = None, dry_run: bool = False
    ) -> Reembedding:
        """Embeds the earlier cards of a mode again, with its present model. A dry run says the cost only.

        ``user_id`` None: everybody's cards of general or of a mode of CARDLOG_MODES. It needs the scope admin.
        """
        asked: Reembedding = await self._send(
            reembed_request(self._write_url, user_id, name, project_id, dry_run=dry_run)
        )
        return asked

    async def reembedding(
        self, user_id: str | None, name: str, *, project_id: str | None = None
    ) -> ReembeddingProgress:
        """Returns the progress of the last re-embedding of a mode."""
        progress: ReembeddingProgress = await self._send(
            progress_request(self._read_url, user_id, name, project_id)
        )
        return progress

    async def declare_project(self, user_id: str, project_id: str, **fields: Any) -> WrittenProject:
        """Sets the default_mode and the description of a project. None takes one away."""
        project: WrittenProject = await self._send(
            project_request(self._write_url, user_id, project_id, fields)
        )
        return project

    async def reclassify(self, user_id: str, card_id: str, mode: str, **more: Any) -> Accepted:
        """Gives a card another mode. ``more`` are by, reason and request_id."""
        done: Accepted = await self._send(card_mode_request(self._write_url, user_id, card_id, mode, more))
        return done
