"""What goes on for a user: the open problems and the open threads, which a later turn may go on with."""

from __future__ import annotations

from collections.abc import Sequence

from events.platform.database import Connection
from events.problems import problem_log
from events.problems.problem import fold, in_order, until
from events.threads.thread import in_order as latest_first
from events.threads.thread_log import threads_of
from events.types.extraction import CardsWithdrawn
from ingest.extraction.extractor_port import NOTHING_ONGOING, Ongoing, RecordedTurn

_MOST = 40


def ongoing(connection: Connection, turns: Sequence[RecordedTurn]) -> Ongoing:
    """Returns what is open in the project of ``turns`` before the first of them was said, the most urgent first.

    ``turns`` are those of one session batch. At most 40 problems and 40 threads are returned. What the turns
    themselves told of problems is left out, so turns that are extracted again see the same.
    """
    first = turns[0]
    said_at, project_id = first.turn.said_at, first.turn.project_id
    own = {each.turn.turn_id for each in turns}
    events = [
        each
        for each in until(problem_log.entries(connection, first.user_id), said_at, None)
        if isinstance(each.payload, CardsWithdrawn) or own.isdisjoint(each.payload.origin.turn_ids)
    ]
    problems = [
        each
        for each in in_order(fold(events).by_id.values())
        if each.status == "active" and each.project_id == project_id
    ]
    threads = [
        each
        for each in latest_first(threads_of(connection, first.user_id).values())
        if each.status == "open" and each.project_id == project_id
    ]
    if not problems and not threads:
        return NOTHING_ONGOING
    return Ongoing(
        tuple(each.description for each in problems[:_MOST]), tuple(each.title for each in threads[:_MOST])
    )
