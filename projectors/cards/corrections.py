"""Corrections: a value that was taken back in the same conversation was never true."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from projectors.cards.statement import Statement

# A session can stay open for months. A correction reaches back one day only.
_REACH = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Correction:
    """The claims of one mistaken value, in the order of saying, and the statement that corrects them."""

    claims: list[Statement]
    made_by: Statement

    @property
    def announced(self) -> bool:
        return any(claim.state.announced for claim in self.claims)


def find_corrections(said: Sequence[Statement]) -> list[Correction]:
    """Returns the corrections among statements, which are given in the order of saying.

    A correction takes back the value it names, if its session claimed that value. It may name its own value when it
    tells another time at which the value began. Otherwise, for a single value, it takes back the last different value
    that its session claimed.
    """
    corrections: list[Correction] = []
    sessions: dict[
        str, dict[str, list[Statement]]
    ] = {}  # the values of each session, in order of their last claim
    for statement in said:
        payload = statement.state
        if payload.statement == "ended":
            continue
        claims = sessions.setdefault(payload.origin.session_id, {})
        if payload.statement == "corrected":
            mistaken = _mistaken(statement, claims)
            if mistaken is not None:
                taken_back = [
                    claim for claim in claims.pop(mistaken) if statement.said_at - claim.said_at <= _REACH
                ]
                if taken_back:
                    corrections.append(Correction(taken_back, statement))
        alike = claims.pop(statement.value_key, [])
        alike.append(statement)
        claims[statement.value_key] = alike
    return corrections


def _mistaken(correction: Statement, claims: dict[str, list[Statement]]) -> str | None:
    replaced = correction.replaces_key
    another = replaced != correction.value_key or correction.state.time_resolved
    if replaced is not None and replaced in claims and another:
        return replaced
    if not correction.single:
        return None
    return next((value for value in reversed(claims) if value != correction.value_key), None)
