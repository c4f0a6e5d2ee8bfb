"""A declared schema reads each part of the data a bounded number of times."""

from typing import Any

import pytest

from events.references.kinds.kind import ReferenceInvalidError
from ingest.references.declarations import check_cost
from tests.support.tables import examples_and


def chain(length: int, keyword: str, times: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"a{number}": {keyword: [{"$ref": f"#/$defs/a{number + 1}"}] * times} for number in range(length)
    }
    return {"$defs": defs | {f"a{length}": {"type": "object"}}, "$ref": "#/$defs/a0"}


@examples_and(
    chain(60, "allOf", 2),
    chain(60, "anyOf", 2),
    chain(2000, "oneOf", 1),
)
def test_a_schema_that_reads_a_member_again_and_again_is_refused(schema: Any) -> None:
    with pytest.raises(ReferenceInvalidError) as caught:
        check_cost(schema)
    assert caught.value.field == "schema"


@examples_and(
    chain(5, "allOf", 2),
)
def test_an_ordinary_schema_is_accepted(schema: Any) -> None:
    check_cost(schema)
