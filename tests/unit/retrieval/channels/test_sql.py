"""SQL statements as the driver sends them."""

import pytest
from psycopg import _queries

from events.platform.database import statement
from retrieval.channels.channel import CONDITIONS, search_statement


def test_comments_stay_at_home_and_quoted_text_stays_as_it_is() -> None:
    text = statement("retrieval.channels", "tags").as_string(None)
    assert "--" not in text
    assert "\n" not in text
    assert "'general'" in statement("retrieval.channels", "visible_modes").as_string(None)


@pytest.mark.parametrize(
    "name", ["tags", "common_tags", "fuzzy", "graph", "semantic", "semantic_near", "semantic_own"]
)
def test_a_statement_of_every_recall_is_short_enough_for_the_driver_to_remember(name: str) -> None:
    parts = {"vectors": "vectors.card_vectors_1024"} if name.startswith("semantic") else {}
    numbers = {"dimension": 1024} if name in {"semantic_near", "semantic_own"} else {}
    conditions = tuple(each for each in CONDITIONS if each != "spaces" or name.startswith("semantic"))
    text = search_statement(name, conditions, **parts, **numbers).as_string(None)
    assert len(text.encode()) <= _queries.MAX_CACHED_STATEMENT_LENGTH
