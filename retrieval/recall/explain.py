"""The explanation of an answer: the parsed question, the hits of every channel, and the place of every card."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from events.types.json_values import Json
from projectors.cards.card import Card
from retrieval.query.question import Question
from retrieval.query.scope import Scope
from retrieval.recall.channel_executor import ChannelResult
from retrieval.recall.fusion import Evidence
from retrieval.recall.ranking.candidate import Candidate


def explanation(question: Question, scope: Scope, results: Mapping[str, ChannelResult]) -> dict[str, Json]:
    """Returns the parsed question, its scope, and the candidates of every channel in the order of the channel."""
    return {
        "question": {
            "language": question.language,
            "intent": question.intent,
            "wants": _wants(question),
            "terms": dict(question.weights),
            "parts": len(question.parts),
            "entities": list(question.entities),
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
    }


def _wants(question: Question) -> list[str]:
    """Returns what the form of the question asks for, beside its intent."""
    forms = {
        "all that is known about the asker": question.overview,
        "the latest of several times": question.last,
        "a list or a number of things": question.several,
        "what the assistant said": question.of_assistant,
        "how it was before": question.of_before and not question.last,
        "what belongs to a message that tells several things": question.message,
    }
    return [form for form, asked in forms.items() if asked]


def placings(
    placed: Sequence[Candidate],
    left_out: Mapping[UUID, str],
    cards: Mapping[UUID, Card],
    evidence: Mapping[UUID, Evidence],
    k: int,
) -> list[dict[str, Json]]:
    """Returns every found card, best first: what each feature adds to its score, or why it is left out."""
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
            "content": cards[card_id].content if card_id in cards else None,
            "contributions": {},
            "score": None,
            "left_out": left_out.get(card_id, "too low in every channel to be looked at"),
        }
        for card_id in sorted(evidence, key=lambda card_id: (-evidence[card_id].votes, card_id))
        if card_id not in answering
    ]
