"""Rows of the table ``objects`` as references, and back."""

from __future__ import annotations

from dataclasses import fields

import orjson

from events.platform.database import Row
from events.references.reference import Reference
from events.types.json_values import json_text
from events.types.references import ReferenceName

_SAME = tuple(each.name for each in fields(Reference) if each.name not in ("owner", "name", "data"))


def reference_of(row: Row) -> Reference:
    """Returns the reference of a row. ``data`` is JSON text."""
    return Reference(
        owner=row["user_id"],
        name=ReferenceName(
            kind=row["kind"], key=row["key"], project_id=row["project_id"], team_id=row["team_id"]
        ),
        data=orjson.loads(row["data"]),
        **{name: row[name] for name in _SAME},
    )


def row_of(reference: Reference) -> Row:
    name = reference.name
    return {
        "user_id": reference.owner,
        "kind": name.kind,
        "key": name.key,
        "project_id": name.project_id,
        "team_id": name.team_id,
        "data": json_text(reference.data),
        **{each: getattr(reference, each) for each in _SAME},
    }
