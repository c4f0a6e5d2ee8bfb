"""``cardlog generations``: what rebuilds made, and what may go."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deploy.instance import find
from deploy.options import Given, Json, at_least
from events.platform.database import connect
from events.platform.settings import Settings
from projectors.generations.generations import GenerationStatus, list_generations
from projectors.generations.generations import drop as drop_generation


def generations(
    projection: Annotated[
        Literal["cards", "vectors"] | None, Parameter(help="only of this projection")
    ] = None,
    /,
    *,
    drop: Annotated[
        int | None,
        Parameter(
            metavar="N", validator=at_least(1), help="drop retired generation N of the projection named"
        ),
    ] = None,
    as_json: Json = False,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """List the generations of every projection, drop old ones.

    Each rebuild makes a generation. One is live; retired ones cost nothing but room.
    """
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="generations") as connection:
        if drop is not None:
            if projection is None:
                raise ValueError("say of which projection: cardlog generations cards --drop N")
            drop_generation(connection, projection, drop)
        found = list_generations(connection, projection)
    if as_json:
        print(json.dumps([_standing(standing) for standing in found]))
        return 0
    print(f"{'projection':<12}{'no':>4}  {'status':<10}{'events':>12}{'behind':>10}{'MB':>10}  live since")
    for standing in found:
        since = "" if standing.live_at is None else f"{standing.live_at:%Y-%m-%d %H:%M:%S}"
        print(
            f"{standing.projection:<12}{standing.number:>4}  {standing.status:<10}{standing.events:>12,}"
            f"{standing.behind:>10,}{standing.bytes / 2**20:>10,.1f}  {since}"
        )
    return 0


def _standing(standing: GenerationStatus) -> dict[str, Any]:
    fields = asdict(standing)
    for name in ("created_at", "live_at"):
        fields[name] = None if fields[name] is None else fields[name].isoformat()
    return {"generation": fields.pop("number"), **fields}
