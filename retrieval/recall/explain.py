"""The explanation of an answer: the parsed question, the hits of every channel, and the place of every card."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from events.insights import Insight
from events.types.json_values import Json
from projectors.cards.card import Card
from retrieval.insights import terms_of
from retrieval.query.question import Question
from retrieval.query.scope import Scope
from retrieval.recall.channel_executor import ChannelResult
from retrieval.recall.fusion import Evidence
from retrieval.recall.judging import CardResolution
from retrieval.recall.ranking.places import Ranking


def explanation(
    question: Question, scope: Scope, results: Mapping[str, ChannelResult], insights: Sequence[Insight]
) -> dict[str, Json]:
    """Returns the parsed question, its scope, the candidates of every channel in its order, and the insights."""
    return {
        "question": {
            "language": question.language,
            "intent": question.intent,
            "wants": [form for form, asked in _forms(question).items() if asked],
            "terms": dict(question.weights),
            "parts": len(question.parts),
            "concepts": list(question.concepts),
            "times": [{"from": window.start, "to": window.end} for window in question.times],
        },
        "scope": {
            name: value for name, value in scope.parameters().items() if name not in ("user_id", "named")
        },
        "channels": {
            name: {
                "status": result.report.status,
                "candidates": [
                    {"rank": rank, "card_id": hit.card_id, "score": round(hit.score, 4)}
                    for rank, hit in enumerate(result.hits, 1)
                ],
            }
            for name, result in results.items()
        },
        "insights": [
            {
                "insight_id": each.insight_id,
                "content": each.content,
                "sources": each.sources,
                "terms": sorted(question.weights.keys() & terms_of(each)),
            }
            for each in insights
        ],
    }


def _forms(question: Question) -> dict[str, bool]:
    """Returns what the form of a question can ask for, beside its intent."""
    return {
        "all that is known about the asker": question.overview,
        "the latest of several times": question.last,
        "a list or a number of things": question.several,
        "what the assistant said": question.of_assistant,
        "how it was before": question.of_before and not question.last,
        "what belongs to a message that tells several things": question.message,
        f"what {question.outcome}": question.outcome is not None,
    }


def placings(
    ranking: Ranking,
    resolution: CardResolution,
    cards: Mapping[UUID, Card],
    evidence: Mapping[UUID, Evidence],
    k: int,
) -> list[dict[str, Json]]:
    """Returns every found card, best first: what each feature adds to its score, or why it is left out."""
    placed, known = ranking.placed, {**resolution.found, **cards}
    left_out = {
        **resolution.left_out,
        **{each: f"it says the same as {kept}" for each, kept in ranking.same.items()},
        **{
            each: f"it stands beside {lead}, of the same turn"
            for lead, others in ranking.beside.items()
            for each in others
        },
    }
    answering = {each.card_id for each in placed}
    ranked = [
        {
            "place": place,
            "card_id": each.card_id,
            "content": each.card.content,
            "contributions": {name: round(amount, 4) for name, amount in each.contributions.items()},
            "score": round(each.score, 4),
            "left_out": None if place <= k else f"only the best {k} were asked for",
        }
        for place, each in enumerate(placed, 1)
    ]
    return ranked + [
        {
            "place": None,
            "card_id": card_id,
            "content": known[card_id].content if card_id in known else None,
            "contributions": {},
            "score": None,
            "left_out": left_out.get(card_id, "too low in every channel to be looked at"),
        }
        for card_id in sorted(evidence, key=lambda card_id: (-evidence[card_id].votes, card_id))
        if card_id not in answering
    ]
