"""Modes and projects as resources, the same in both services and in the command."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from events.modes.registry import Modes, project_of
from events.resources import modes as resources
from events.types.modes import Mode

_M = TypeVar("_M", bound=resources.Mode)


DimensionOf = Callable[[str], int]
"""Returns the length of a model's vectors; "" is the default model. Raises ValueError with the remedy for a model that
is not there."""


def shown_mode(
    shape: type[_M],
    mode: Mode,
    modes: Modes,
    default_model: str,
    dimension_of: DimensionOf,
    **more: object,
) -> _M:
    """Returns a mode as a resource, with the fields ``more`` of its shape. Looks for the files of a model at most.

    A model that is not there any more has no dimension.
    """
    registry = modes.registry
    default = (
        registry.default_mode
        if mode.project_id is None
        else project_of(registry, mode.project_id).default_mode
    )
    dimension = mode.dimension
    if dimension is None:
        with suppress(ValueError):
            dimension = dimension_of(mode.embedder or "")
    return shape.made_from(
        mode,
        embedder=mode.embedder or default_model,
        dimension=dimension,
        is_default=default == mode.name,
        **more,
    )
