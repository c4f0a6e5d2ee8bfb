"""Which events may answer a question, by its intent and its instant."""

from datetime import datetime, timedelta
from typing import Any

from projectors.cards.card import StoredCard
from retrieval.query.question import understand
from retrieval.query.scope import Scope, scope_of
from tests.support.cards import NOW, card
from tests.support.tables import examples, examples_and

DAY = timedelta(days=1)


def scope(query: str, as_of: datetime | None = None) -> Scope:
    question = understand(query, as_of or NOW)
    return scope_of(question, user_id="ann", projects=None, as_of=as_of)


def event(**more: Any) -> StoredCard:
    """A plan for three days later, told now."""
    usual: dict[str, Any] = {
        "kind": "event", "occurred_at": NOW + 3 * DAY, "event_status": "planned", "stated_status": "planned",
    }  # fmt: skip
    return card(**usual | more)


@examples
def test_a_replaced_event_answers_only_questions_about_how_something_came_about(
    query: str, answers: bool
) -> None:
    replaced = event(superseded_at=NOW - DAY, said_at=NOW - 2 * DAY)
    assert scope(query).admits(replaced) is answers
    assert scope(query).admits(event(superseded_at=NOW + DAY)) is True


@examples_and(
    ({"event_status": "cancelled", "superseded_at": NOW + DAY}, True),
    ({"said_at": NOW + DAY}, False),
    ({"said_at": NOW + DAY, "occurred_at": NOW - DAY}, True),
)
def test_of_the_events_to_come_those_answer_that_were_planned_by_then(
    changed: dict[str, Any], answers: bool
) -> None:
    assert scope("When do we sail?", as_of=NOW).admits(event(**changed)) is answers


def test_the_reason_of_a_refusal_names_the_instant() -> None:
    asked = scope("When do we sail?", as_of=NOW)
    replaced = event(superseded_at=NOW - DAY, said_at=NOW - 2 * DAY)
    assert asked.refuses(replaced) == f"a later event took its place {(NOW - DAY).isoformat()}"
    assert asked.refuses(event(said_at=NOW + DAY)) == f"it is of {(NOW + 3 * DAY).isoformat()}, after as_of"
