"""``cardlog rollback``: makes the generation that was live before live again."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from deploy.answer import Answer
from deploy.commands.operate.rebuild import projectors_named
from deploy.options import Given, Json
from events.platform.database import Connection
from events.platform.projections import ProjectionName
from events.platform.settings import Settings
from projectors.rebuild import swap


def rollback(
    projection: Annotated[
        ProjectionName,
        Parameter(help="which tables (default: cards)"),
    ] = "cards",
    /,
    *,
    as_json: Json = False,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> Answer:
    """Return to the generation that was live before.

    Catch up that generation with the log and swap it in. The replaced generation is kept, so a second rollback undoes
    the first.
    """
    [projector] = projectors_named(cardlog, projection)
    live, retired = swap.rollback(connection, projector)
    return Answer(
        {"projection": live.projection, "live": live.number, "retired": retired.number},
        [f"{live.projection}: generation {live.number} is live again, {retired.number} is kept"],
    )
