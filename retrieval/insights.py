"""Reads the insights of a user from the log, their status from the live cards, and chooses those about a question."""

from functools import lru_cache

from events.insights import Insight, Insights, insights
from events.language.chinese_script import has_cjk, to_simplified
from events.language.terms import analyse
from retrieval.pool import Pool, answered
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_MOST = 5
_LEAST_SHARED = 1.0  # the weight of one word of a question


async def read_insights(pool: Pool, owner: str) -> Insights:
    """Returns the insights of a user. Raises psycopg.Error."""
    return await answered(pool, owner, insights(owner))


def may_answer(wanted: bool, scope: Scope) -> bool:
    """True when insights may answer. They are those of today, and have neither a layer nor metadata."""
    today = scope.until is None and scope.known_at is None
    return wanted and today and scope.layers is None and scope.metadata is None


def about(known: Insights, question: Question, scope: Scope) -> list[Insight]:
    """Returns at most five current insights of a scope that share a word with the question, the nearest first.

    An overview gets the last ones.
    """
    shared = {
        each.insight_id: sum(question.weights.get(term, 0.0) for term in terms_of(each))
        for each in known.present
        if each.status == "current" and _inside(each, scope)
    }
    found = [
        each
        for each in known.present
        if each.insight_id in shared and (question.overview or shared[each.insight_id] >= _LEAST_SHARED)
    ]
    return sorted(found, key=lambda each: -shared[each.insight_id])[:_MOST]


def terms_of(insight: Insight) -> frozenset[str]:
    """Returns the search terms of an insight without single Chinese characters, which many names have."""
    return _terms_in(insight.content)


@lru_cache(maxsize=16_384)
def _terms_in(content: str) -> frozenset[str]:
    # Every question is compared with all insights of its user.
    terms = analyse(to_simplified(content))
    return frozenset(term for term in terms if len(term) > 1 or not has_cjk(term))


def _inside(each: Insight, scope: Scope) -> bool:
    if scope.projects is not None and each.project_id not in scope.projects:
        return False
    return scope.modes is None or scope.known_modes.belonging(each.project_id, each.mode) in scope.modes
