"""``cardlog generations``: lists the generations of projections, and drops retired ones."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from deploy.options import Answer, Given, Json, OptionInvalidError, at_least
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
) -> Answer:
    """List the generations of every projection, drop old ones.

    Each rebuild makes a generation. One generation is live. A retired generation only takes disk space.
    """
    if drop is not None:
        if projection is None:
            raise OptionInvalidError("the projection is missing: cardlog generations cards --drop N")
        drop_generation(connection, projection, drop)
    found = list_generations(connection, projection)
    head = f"{'projection':<12}{'no':>4}  {'status':<10}{'events':>12}{'behind':>10}{'MB':>10}  live since"
    return Answer([_document(each) for each in found], [head, *map(_line, found)])


def _line(generation: GenerationStatus) -> str:
    since = "" if generation.live_at is None else f"{generation.live_at:%Y-%m-%d %H:%M:%S}"
    return (
        f"{generation.projection:<12}{generation.number:>4}  {generation.status:<10}{generation.events:>12,}"
        f"{generation.behind:>10,}{generation.bytes / 2**20:>10,.1f}  {since}"
    )


def _document(generation: GenerationStatus) -> dict[str, object]:
    fields = asdict(generation)
    for name in ("created_at", "live_at"):
        fields[name] = None if fields[name] is None else fields[name].isoformat()
    return {"generation": fields.pop("number"), **fields}
