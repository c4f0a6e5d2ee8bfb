"""Two statements of the user that cannot both be true come with a recall that finds both."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from events.platform.database import Connection
from events.store import log
from tests.support.projectors.folding import ORIGIN, event, fold_live
from tests.support.retrieval.channels import noted, recall


def test_two_statements_that_differ_are_shown_with_the_newer_one_last(
    database: str, connection: Connection
) -> None:
    first, second, other = (
        noted(content)
        for content in ("The regatta is on Saturday.", "The regatta is on Sunday.", "帆船賽在星期一。")
    )
    later = ORIGIN.said_at + timedelta(days=2)
    second = replace(second, origin=replace(ORIGIN, turn_ids=("later",), said_at=later))
    log.append(connection, [event(first), event(second), event(other)])
    fold_live(database)
    answer = recall(database, "When is the regatta?", as_of=(later + timedelta(days=1)).isoformat())
    [alert] = answer["contradictions"]
    assert [side["content"] for side in alert["cards"]] == [first.content, second.content]
    assert later.date().isoformat() in alert["reason"]
