"""The stored rows and the COPY statements name the same columns in the same order."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from events.platform.sql import statement
from projectors.cards.card import StoredCard
from projectors.cards.related_rows import StoredArbitration, StoredRelation, StoredUpdate


@pytest.mark.parametrize(
    ("table", "row_class"),
    [
        ("cards", StoredCard),
        ("relations", StoredRelation),
        ("arbitrations", StoredArbitration),
        ("updates", StoredUpdate),
    ],
)
def test_copy_names_the_fields_of_a_stored_row_in_their_order(table: str, row_class: Any) -> None:
    text = statement("projectors.cards", f"copy_{table}").as_string(None)
    listed = re.search(r"\((.*?)\)", text, re.DOTALL)
    assert listed is not None
    assert re.split(r",\s*", listed[1].strip()) == [field.name for field in fields(row_class)]
