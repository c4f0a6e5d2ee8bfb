"""UUIDs in a request: 32 hexadecimal digits in the five groups of RFC 9562, as every answer writes them."""

from __future__ import annotations

import re
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator

_FORM = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def _as_documented(value: object) -> object:
    # UUID() also reads braces, "urn:uuid:" and text without hyphens. The format `uuid` of JSON Schema has none of them.
    if isinstance(value, str) and not _FORM.fullmatch(value):
        raise ValueError("must be a UUID, such as 0198c0de-6a2f-7c1d-9a54-1f2e3d4c5b6a")
    return value


Uuid = Annotated[UUID, BeforeValidator(_as_documented)]
