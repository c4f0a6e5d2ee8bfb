"""The fold of insights: what is told, what is stale, and what nobody concludes again."""

from itertools import permutations
from uuid import UUID

from events.insights import fold
from events.types.insights import InsightDerived, InsightRetracted
from tests.support.projectors.statements import event

CARDS = UUID(int=1), UUID(int=2)
DERIVED = event(
    InsightDerived(
        content="x", kind="pattern", theme="climb", project_id="default", sources=CARDS, reason="often"
    ),
    1,
)


def test_an_insight_is_stale_without_one_of_its_sources() -> None:
    assert [each.status for each in fold([DERIVED], {*CARDS}).present] == ["current"]
    assert [each.status for each in fold([DERIVED], {CARDS[0]}).present] == ["stale"]


def test_a_retraction_holds_in_every_order_and_without_the_words_of_the_insight() -> None:
    digest = fold([DERIVED], {*CARDS}).present[0].digest
    retracted = event(
        InsightRetracted(insight_id=DERIVED.event_id, digest=digest, sources=CARDS, reason="no"),
        2,
        position=2,
    )
    other = event(DERIVED.payload, 3, position=3)
    folds = {fold(order, {*CARDS}) for order in permutations((DERIVED, retracted, other))}
    assert len(folds) == 1
    [known] = folds
    assert {each.insight_id: each.status for each in known.present} == {
        DERIVED.event_id: "retracted",
        other.event_id: "current",
    }
    assert fold([retracted], set()).refused_sources(digest) == {*CARDS}
