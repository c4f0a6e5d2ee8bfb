"""What goes on for a user: the open problems and the open threads, which a later turn may go on with."""

from __future__ import annotations

from collections.abc import Sequence

from events.problems import problem
from events.threads import thread
from events.types.envelope import Event
from events.types.problems import PROBLEM_EVENTS
from ingest.extraction.extractor_port import Ongoing, RecordedTurn

_MOST = 40


def ongoing(events: Sequence[Event], turns: Sequence[RecordedTurn]) -> Ongoing:
    """Returns what is open in the project of ``turns`` when the first of them was said, the most urgent first.

    ``events`` are those of the user's problems and threads, in the order of the log. ``turns`` are those of one session
    batch. At most 40 problems and 40 threads are returned. What the turns themselves told of problems is left out, so
    turns that are extracted again see the same.
    """
    first = turns[0].turn
    own = {each.turn.turn_id for each in turns}
    told = [
        each
        for each in events
        if isinstance(each.payload, PROBLEM_EVENTS) and own.isdisjoint(each.payload.origin.turn_ids)
    ]
    problems = problem.fold(problem.until(told, first.said_at, None)).by_id.values()
    threads = thread.fold(each for each in events if each.occurred_at <= first.said_at).values()
    return Ongoing(
        tuple(
            each.description
            for each in problem.in_order(problems)
            if each.status == "active" and each.project_id == first.project_id
        )[:_MOST],
        tuple(
            each.title
            for each in thread.in_order(threads)
            if each.status == "open" and each.project_id == first.project_id
        )[:_MOST],
    )
