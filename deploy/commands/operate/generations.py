"""``cardlog generations``: lists the generations of projections, and drops retired ones."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import Parameter

from deploy.options import Given, Json, at_least
from events.platform.database import Connection
from events.platform.projections import ProjectionName
from projectors.generations.generations import GenerationStatus, list_generations
from projectors.generations.generations import drop as drop_generation


def generations(
    projection: Annotated[
        ProjectionName | None,
        Parameter(help="only of this projection"),
    ] = None,
    /,
    *,
    drop: Annotated[
        int | None,
        Parameter(
            metavar="N", validator=at_least(1), help="drop the retired generation N of the named projection"
        ),
    ] = None,
    as_json: Json = False,
    connection: Given[Connection],
) -> int:
    """List the generations of every projection, drop old ones.

    Each rebuild makes a generation. One generation is live. A retired generation only takes disk space.
    """
    if drop is not None:
        if projection is None:
            raise ValueError("the projection is missing: cardlog generations cards --drop N")
        drop_generation(connection, projection, drop)
    found = list_generations(connection, projection)
    if as_json:
        print(json.dumps([_document(each) for each in found]))
        return 0
    print(f"{'projection':<12}{'no':>4}  {'status':<10}{'events':>12}{'behind':>10}{'MB':>10}  live since")
    for each in found:
        since = "" if each.live_at is None else f"{each.live_at:%Y-%m-%d %H:%M:%S}"
        print(
            f"{each.projection:<12}{each.number:>4}  {each.status:<10}{each.events:>12,}"
            f"{each.behind:>10,}{each.bytes / 2**20:>10,.1f}  {since}"
        )
    return 0


def _document(generation: GenerationStatus) -> dict[str, Any]:
    fields = asdict(generation)
    for name in ("created_at", "live_at"):
        fields[name] = None if fields[name] is None else fields[name].isoformat()
    return {"generation": fields.pop("number"), **fields}
