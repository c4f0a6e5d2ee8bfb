"""The names of the projections, for everything that names one without loading it."""

from typing import Literal, get_args

ProjectionName = Literal["cards", "vectors", "references", "problems", "people", "core"]
"""A projection. `projectors.registry` has the projector of each, in the same order."""

PROJECTIONS: tuple[ProjectionName, ...] = get_args(ProjectionName)
READERS = ("extractor", *PROJECTIONS)
"""The processors of the log, in the order in which people see them."""
