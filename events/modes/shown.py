"""Modes and projects as JSON documents, the same in both services and in the command."""

from __future__ import annotations

from typing import Any

from events.modes.registry import Modes, project_of
from events.types.modes import Mode, ModeRegistry


def mode_document(mode: Mode, modes: Modes, default_model: str) -> dict[str, Any]:
    """Returns a mode as JSON. ``embedder`` is a model's name, also for the default model."""
    registry = modes.registry
    default = (
        registry.default_mode
        if mode.project_id is None
        else project_of(registry, mode.project_id).default_mode
    )
    return {
        "name": mode.name,
        "project_id": mode.project_id,
        "embedder": mode.embedder or default_model,
        "dimension": mode.dimension,
        "description": mode.description,
        "default_decay": mode.default_decay,
        "prompt_overrides": dict(mode.prompt_overrides),
        "is_default": default == mode.name,
        "declared_at": mode.declared_at,
    }


def project_document(registry: ModeRegistry, project_id: str) -> dict[str, Any]:
    """Returns the settings of a project as JSON."""
    project = project_of(registry, project_id)
    return {
        "project_id": project.project_id,
        "default_mode": project.default_mode,
        "description": project.description,
    }
