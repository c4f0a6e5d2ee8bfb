"""Grounds what a model says of problems: only the user's own, and only in words that were said."""

from __future__ import annotations

from events.language.concepts import normalise_entity
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from ingest.extraction.claude.grounding.quotes import QuoteInContext, TurnWords
from ingest.extraction.claude.grounding.spoken import origin_of
from ingest.extraction.claude.schema import ProblemFound
from ingest.extraction.extractor_port import ProblemTold

_ASKS = ("?", "？")


def ground_problem(found: ProblemFound, quote: QuoteInContext, heard: list[TurnWords]) -> ProblemTold | None:
    """Returns the event of a problem, or None.

    It is refused when another speaker or an assistant says it, when its sentence asks, and when the words of the
    problem, the approach or the outcome are in no turn of the user. ``heard`` are the turns up to that of the quote.
    """
    turn = quote.turn
    if turn.role != "user" or normalise_entity(turn.speaker or "user") != "user":
        return None
    if quote.sentence.rstrip().endswith(_ASKS):
        return None
    own = [each for each in heard if each.turn.role == "user"]
    if not any(each.says(found.problem) for each in own):
        return None
    origin = origin_of(turn, quote.span)
    if found.step == "opened":
        return ProblemOpened(description=found.problem.strip(), origin=origin)
    if found.step == "closed":
        return ProblemClosed(problem=found.problem.strip(), origin=origin)
    if found.approach is None or not any(each.says(found.approach) for each in own):
        return None
    said = found.outcome is not None and quote.words.says(found.outcome)
    return ProblemAttempted(
        approach=found.approach.strip(),
        problem=found.problem.strip(),
        outcome=found.outcome.strip() if said and found.outcome is not None else None,
        successful=found.worked,
        tried_at=turn.said_at,
        origin=origin,
    )
