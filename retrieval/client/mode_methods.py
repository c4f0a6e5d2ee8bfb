"""The methods of the clients about modes and projects."""

from __future__ import annotations

from typing import Any

from retrieval.client.modes import (
    Mode,
    ModeGone,
    Modes,
    Project,
    Reclassified,
    Reembedding,
    ReembeddingProgress,
    card_mode_request,
    deletion_request,
    mode_request,
    modes_request,
    progress_request,
    project_request,
    reembed_request,
)
from retrieval.client.sender import AsyncSender, Sender


class ModeMethods(Sender):
    """The methods of :class:`~retrieval.client.client.Client` about modes and projects."""

    def modes(self, user_id: str, *, project_id: str | None = None) -> Modes:
        """Returns the modes of a user, or those that a project may use."""
        found: Modes = self._send(modes_request(self._read_url, user_id, project_id))
        return found

    def declare_mode(self, user_id: str, name: str, **fields: Any) -> Mode:
        """Declares a mode, or declares it anew: embedder, description, default_decay, project_id, is_default, …"""
        declared: Mode = self._send(mode_request(self._write_url, user_id, name, fields))
        return declared

    def rename_mode(self, user_id: str, name: str, new_name: str, *, project_id: str | None = None) -> Mode:
        """Gives a mode another name. Its cards stay its cards."""
        fields = {"new_name": new_name, "project_id": project_id}
        renamed: Mode = self._send(mode_request(self._write_url, user_id, name, fields, rename=True))
        return renamed

    def delete_mode(self, user_id: str, name: str, *, project_id: str | None = None) -> ModeGone:
        """Deletes a mode. Its cards stay and belong to the general mode."""
        gone: ModeGone = self._send(deletion_request(self._write_url, user_id, name, project_id))
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

    def declare_project(self, user_id: str, project_id: str, **fields: Any) -> Project:
        """Sets the default_mode and the description of a project. None takes one away."""
        project: Project = self._send(project_request(self._write_url, user_id, project_id, fields))
        return project

    def reclassify(self, user_id: str, card_id: str, mode: str, **more: Any) -> Reclassified:
        """Gives a card another mode. ``more`` are by, reason and request_id."""
        done: Reclassified = self._send(card_mode_request(self._write_url, user_id, card_id, mode, more))
        return done


class AsyncModeMethods(AsyncSender):
    """The methods of :class:`~retrieval.client.client.AsyncClient` about modes and projects."""

    async def modes(self, user_id: str, *, project_id: str | None = None) -> Modes:
        """Returns the modes of a user, or those that a project may use."""
        found: Modes = await self._send(modes_request(self._read_url, user_id, project_id))
        return found

    async def declare_mode(self, user_id: str, name: str, **fields: Any) -> Mode:
        """Declares a mode, or declares it anew: embedder, description, default_decay, project_id, is_default, …"""
        declared: Mode = await self._send(mode_request(self._write_url, user_id, name, fields))
        return declared

    async def rename_mode(
        self, user_id: str, name: str, new_name: str, *, project_id: str | None = None
    ) -> Mode:
        """Gives a mode another name. Its cards stay its cards."""
        fields = {"new_name": new_name, "project_id": project_id}
        renamed: Mode = await self._send(mode_request(self._write_url, user_id, name, fields, rename=True))
        return renamed

    async def delete_mode(self, user_id: str, name: str, *, project_id: str | None = None) -> ModeGone:
        """Deletes a mode. Its cards stay and belong to the general mode."""
        gone: ModeGone = await self._send(deletion_request(self._write_url, user_id, name, project_id))
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

    async def declare_project(self, user_id: str, project_id: str, **fields: Any) -> Project:
        """Sets the default_mode and the description of a project. None takes one away."""
        project: Project = await self._send(project_request(self._write_url, user_id, project_id, fields))
        return project

    async def reclassify(self, user_id: str, card_id: str, mode: str, **more: Any) -> Reclassified:
        """Gives a card another mode. ``more`` are by, reason and request_id."""
        done: Reclassified = await self._send(
            card_mode_request(self._write_url, user_id, card_id, mode, more)
        )
        return done
