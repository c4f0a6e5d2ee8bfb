"""``cardlog digest``: prints digests of the live tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import Parameter

from deploy.answer import Answer
from deploy.commands.operate.rebuild import projectors_named
from deploy.options import Given, Json
from events.platform.counting import counted
from events.platform.projections import ProjectionName
from events.platform.settings import Settings
from projectors.generations.digest import live_digest


def digest(
    projection: Annotated[
        ProjectionName | None,
        Parameter(help="only of this projection"),
    ] = None,
    /,
    *,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> Answer:
    """Print digests of the live tables, with their checkpoints.

    Two projections with the same digests hold the same rows. The machine and the order of folding do not matter.
    Compare only projections at the same positions.
    """
    document: dict[str, Any] = {}
    for projector in projectors_named(cardlog, projection):
        found = live_digest(cardlog.database_url, projector)
        if found is not None:
            document[projector.name] = {**asdict(found), "events": found.events}
    return Answer(document, _lines(document))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    for name, fields in document.items():
        yield f"{name}: generation {fields['generation']}, {counted(fields['events'], 'event')} folded"
        for table, each in fields["tables"].items():
            yield f"  {table:<18}{each['rows']:>12,} {'row ' if each['rows'] == 1 else 'rows'}  {each['digest']}"
