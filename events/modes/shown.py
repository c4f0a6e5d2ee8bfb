"""Modes and projects as resources, the same in both services and in the command."""

from __future__ import annotations

from typing import TypeVar

from events.modes.registry import Modes, project_of
from events.resources import modes as resources
from events.types.modes import Mode

_M = TypeVar("_M", bound=resources.Mode)


def shown_mode(shape: type[_M], mode: Mode, modes: Modes, default_model: str, **more: object) -> _M:
    """Returns a mode as a resource, with the fields ``more`` of its shape."""
    registry = modes.registry
    default = (
        registry.default_mode
        if mode.project_id is None
        else project_of(registry, mode.project_id).default_mode
    )
    return shape.made_from(
        mode, embedder=mode.embedder or default_model, is_default=default == mode.name, **more
    )
