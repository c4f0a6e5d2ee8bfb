"""The JSON Schemas of the built-in kinds, one file each."""

from __future__ import annotations

from importlib.resources import files

import orjson

from events.types.json_values import Json


def schema_of(kind: str) -> Json:
    return orjson.loads(files(__package__).joinpath(f"{kind}.json").read_bytes())
