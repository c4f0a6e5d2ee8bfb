"""Rows of the table ``problems`` as problems, and back."""

from __future__ import annotations

from dataclasses import asdict, fields

import msgspec
import orjson

from events.platform.database import Row
from events.problems.problem import Attempt, Problem
from events.types.records import learned

_ATTEMPTS = learned(tuple[Attempt, ...])
_SAME = tuple(each.name for each in fields(Problem) if each.name not in ("owner", "attempts", "turn_ids"))


def row_of(problem: Problem) -> dict[str, object]:
    """Returns the row of a problem. ``attempts`` is JSON text, with instants in UTC."""
    return {
        "user_id": problem.owner,
        "attempts": orjson.dumps(
            [asdict(each) for each in problem.attempts],
            option=orjson.OPT_SORT_KEYS | orjson.OPT_UTC_Z,
        ).decode(),
        "turn_ids": list(problem.turn_ids),
        **{name: getattr(problem, name) for name in _SAME},
    }


def problem_of(row: Row) -> Problem:
    """Returns the problem of a row. ``attempts`` is JSON text."""
    attempts = msgspec.json.decode(row["attempts"], type=_ATTEMPTS)
    same = {name: row[name] for name in _SAME}
    return Problem(owner=row["user_id"], attempts=attempts, turn_ids=tuple(row["turn_ids"]), **same)
