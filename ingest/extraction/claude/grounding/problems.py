"""Grounds what a model says of problems: only the speaker's own, and only in words that were said."""

from __future__ import annotations

from events.language.chinese_script import has_cjk
from events.language.concepts import normalise_entity
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from ingest.extraction.claude.grounding.quotes import QuoteInContext, TurnWords, same_speaker
from ingest.extraction.claude.grounding.spoken import origin_of
from ingest.extraction.claude.schema import ProblemFound
from ingest.extraction.extractor_port import ProblemTold

_ASKS = ("?", "？")


def ground_problem(found: ProblemFound, quote: QuoteInContext, heard: list[TurnWords]) -> ProblemTold | None:
    """Returns the event of a problem, or None.

    It is refused when an assistant says it, when its sentence asks, and when the words of the problem or the approach
    are in no turn of the speaker. ``heard`` are the turns up to that of the quote. A speaker with a name is named in
    the problem ("Nora's insomnia"), so each speaker has problems of their own.
    """
    turn = quote.turn
    if turn.role != "user" or quote.sentence.rstrip().endswith(_ASKS):
        return None
    own = [each for each in heard if same_speaker(each.turn, turn)]
    problem = found.problem.strip()
    if not any(each.says(problem) for each in own):
        return None
    if turn.speaker and normalise_entity(turn.speaker) != "user":
        problem = f"{turn.speaker}的{problem}" if has_cjk(problem) else f"{turn.speaker}'s {problem}"
    origin = origin_of(turn, quote.span)
    if found.step == "opened":
        return ProblemOpened(description=problem, origin=origin)
    if found.step == "closed":
        return ProblemClosed(problem=problem, origin=origin)
    if found.approach is None or not any(each.says(found.approach) for each in own):
        return None
    said = found.outcome is not None and quote.words.says(found.outcome)
    return ProblemAttempted(
        approach=found.approach.strip(),
        problem=problem,
        outcome=found.outcome.strip() if said and found.outcome is not None else None,
        successful=found.worked,
        tried_at=turn.said_at,
        origin=origin,
    )
