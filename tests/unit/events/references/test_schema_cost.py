"""A declared schema reads each part of the data a bounded number of times."""

from __future__ import annotations

from typing import Any

import pytest

from events.references.kinds.kind import ReferenceInvalidError
from ingest.references.schema_cost import check_cost

SELF = {"$ref": "#"}


def chain(length: int, keyword: str, times: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"a{number}": {keyword: [{"$ref": f"#/$defs/a{number + 1}"}] * times} for number in range(length)
    }
    return {"$defs": defs | {f"a{length}": {"type": "object"}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize(
    "schema",
    [
        chain(60, "allOf", 2),
        chain(60, "anyOf", 2),
        chain(2000, "oneOf", 1),
        {"properties": {"a": {"allOf": [SELF, SELF]}}},
        {"properties": {"a": {"if": SELF, "then": SELF}}},
        {"properties": {"a": SELF}, "patternProperties": {"a": SELF}},
        {"allOf": [{"properties": {"a": SELF}}, {"properties": {"a": SELF}}]},
        {"$anchor": "n", "items": {"anyOf": [{"$ref": "#n"}, {"$dynamicRef": "#n"}]}},
        {
            "$defs": {"b": {"properties": {"a": {"allOf": [SELF, {"$ref": "#/%24defs/b"}]}}}},
            "$ref": "#/$defs/b",
        },
    ],
    ids=lambda schema: str(schema)[:40],
)
def test_a_schema_that_reads_a_member_again_and_again_is_refused(schema: Any) -> None:
    with pytest.raises(ReferenceInvalidError) as caught:
        check_cost(schema)
    assert caught.value.field == "schema"


@pytest.mark.parametrize(
    "schema",
    [
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {}},
        },
        {"properties": {"left": SELF, "right": SELF}},
        {"anyOf": [{"type": "string"}, {"items": SELF}, {"additionalProperties": SELF}]},
        {"oneOf": [{"properties": {"and": {"items": SELF}}}, {"properties": {"not": SELF}}]},
        {"properties": {"properties": {"allOf": [{"type": "object"}]}, "allOf": {"type": "string"}}},
        {"$ref": "#/$defs/unknown/99999999999"},
        {"$ref": "#"},
        chain(5, "allOf", 2),
    ],
    ids=lambda schema: str(schema)[:40],
)
def test_an_ordinary_schema_is_accepted(schema: Any) -> None:
    check_cost(schema)
