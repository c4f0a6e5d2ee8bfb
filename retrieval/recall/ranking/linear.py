"""The linear model of the ranking: a coefficient for each feature, read from a file."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

logger = logging.getLogger(__name__)

_MOST_BYTES = 64_000
_Coefficient = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _File(BaseModel):
    version: Literal[3]
    """The version of the features. A file of another version does not fit them."""
    fitted: dict[str, _Coefficient]
    chosen: dict[str, _Coefficient]


@dataclass(frozen=True, slots=True)
class Linear:
    """The coefficients by feature. ``name`` says where they come from."""

    coefficients: Mapping[str, float]
    name: str

    def contributions(self, features: Mapping[str, float]) -> dict[str, float]:
        """Returns what each feature adds to the score. The sum is the score."""
        weights = self.coefficients
        return {name: weights[name] * value for name, value in features.items() if weights.get(name)}


def shipped() -> Linear:
    """Returns the model that comes with Cardlog."""
    return _read(files("retrieval.recall.ranking").joinpath("coefficients.json").read_bytes(), "shipped")


def load(path: str) -> Linear:
    """Returns the model of the file ``path``, or the shipped one when ``path`` is empty.

    A file that is missing, broken or of another version is logged, and the shipped model is returned.
    """
    if not path:
        return shipped()
    try:
        with Path(path).open("rb") as file:
            return _read(file.read(_MOST_BYTES + 1), path)
    except (OSError, ValueError) as error:
        logger.warning("the ranking file %s is not used, and the shipped one is: %s", path, error)
        return shipped()


def _read(data: bytes, name: str) -> Linear:
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
    file = _File.model_validate_json(data)
    return Linear({**file.fitted, **file.chosen}, name)
