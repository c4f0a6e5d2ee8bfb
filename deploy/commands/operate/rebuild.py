"""``cardlog rebuild``, ``rollback`` and ``digest``: tables from the log, the generation before, and digests."""

import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deploy.options import Answer, Count, Flat, Given, Json
from deploy.progress import Progress as Shown
from events.platform.counting import counted
from events.platform.database import Connection, connect, connect_owner, migrate
from events.platform.projections import ProjectionName
from events.platform.settings import Settings
from events.store import archive
from projectors import parking
from projectors.generations.digest import live_digest
from projectors.generations.projector import Projector, ProjectorBlockedError
from projectors.rebuild import swap
from projectors.rebuild.rebuild import Rebuild, RebuildProgress, RebuildResult

_EVERY_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a rebuild."""

    verify: bool = False
    """compare all rows of the live and the rebuilt tables at the same positions, and swap only if they are equal"""
    from_export: Annotated[Path | None, Parameter(metavar="FILE")] = None
    """first import the log from FILE (see `cardlog log export`); existing events stay"""
    workers: Annotated[Count, Parameter(help="processes (default: the number of cores plus one)")] = None
    json: bool = False
    """progress as JSON lines on stderr, the outcome as JSON on stdout"""


def rebuild(
    projection: Annotated[
        Literal[ProjectionName, "all"],
        Parameter(
            help="which projection (default: all; without the embedding model, all leaves out vectors)"
        ),
    ] = "all",
    /,
    *,
    options: Flat[Options] = Options(),
    cardlog: Given[Settings],
) -> Answer:
    """Rebuild a projection from the log, and swap it in.

    Fold the whole log into a new generation beside the live one, catch up with the log, and make the new generation
    live in one transaction. Readers notice nothing, and live folding waits for milliseconds. The old generation is
    kept: `cardlog rollback` returns to it, and `cardlog generations --drop` removes it. A rebuild that is stopped
    changes nothing. An event that cannot be folded ends the rebuild, and the error names it. Exit status: 0 swapped,
    1 failed or unequal.
    """
    from deploy.commands.security.erase import erase_again  # noqa: PLC0415 - the import takes a second

    signal.signal(signal.SIGTERM, interrupt)
    imported: archive.ImportSummary | None = None
    with connect_owner(cardlog, application="rebuild") as connection:
        migrate(connection)
        if options.from_export is not None:
            imported = _import(connection, options.from_export, as_json=options.json)
            print(erase_again(cardlog), file=sys.stderr)
    outcomes: list[RebuildResult] = []
    left_out: dict[str, str] = {}
    printer = ProgressPrinter(as_json=options.json)
    for projector in projectors_named(cardlog, projection):
        try:
            outcomes.append(
                Rebuild(
                    cardlog, projector, workers=options.workers, verify=options.verify, on_progress=printer
                ).run()
            )
        except ProjectorBlockedError as error:
            if projection != "all":
                raise
            left_out[projector.name] = " ".join(str(error).split())
        except KeyboardInterrupt:
            printer.end()
            print("cancelled; the live generation is unchanged", file=sys.stderr)
            raise
        finally:
            printer.end()
    hints = _hints(cardlog, outcomes)
    for name, why in left_out.items():
        print(f"{name} is left out, and its live generation stays: {why}", file=sys.stderr)
    for hint in hints:
        print(hint, file=sys.stderr)
    lines = [line for outcome in outcomes for line in _told(outcome)]
    unequal = any(outcome.equal is False for outcome in outcomes)
    return Answer(_document(outcomes, left_out, hints, imported), lines, int(unequal))


def _import(connection: Connection, path: Path, *, as_json: bool) -> archive.ImportSummary:
    with path.open("rb") as file, Shown("events") as progress:
        done = archive.import_log(connection, file, progress=(lambda *_: None) if as_json else progress)
    if not as_json:
        print(f"imported {counted(done.added, 'event')}, {done.already} existed already", file=sys.stderr)
    return done


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Makes SIGTERM end a rebuild like Ctrl-C. The rebuild then removes the unfinished generation."""
    raise KeyboardInterrupt


def projectors_named(settings: Settings, wanted: str | None) -> list[Projector]:
    from projectors.registry import projectors  # noqa: PLC0415 - the import takes a second

    return [p for p in projectors(settings) if wanted in {None, "all", p.name}]


class ProgressPrinter:
    """Prints progress on stderr: JSON lines, or the bar of every long verb."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._shown = Shown("events", every_s=_EVERY_S)
        self._next = 0.0
        self._stage = ""

    def __call__(self, progress: RebuildProgress) -> None:
        if not self._as_json:
            self._shown.__enter__()  # starts the bar again for the next projection
            doing = f"{progress.projection} generation {progress.generation}: {progress.stage}"
            self._shown(progress.events, progress.total, doing=doing)
            return
        now = time.monotonic()
        if progress.stage == self._stage and now < self._next:
            return
        self._stage, self._next = progress.stage, now + _EVERY_S
        print(json.dumps(asdict(progress)), file=sys.stderr, flush=True)

    def end(self) -> None:
        """Removes the bar, if there is one."""
        self._shown.__exit__()


def _told(outcome: RebuildResult) -> list[str]:
    speed = (
        f"{counted(outcome.events, 'event')} in {outcome.seconds:.1f} s ({outcome.events_per_s:,.0f} events/s, "
        f"{outcome.memory_bytes / 2**20:.0f} MB a process)"
    )
    if outcome.equal is False:
        unequal = f"{outcome.projection}: {speed}; NOT equal to the live tables, and not swapped"
        return [unequal, *(f"  {difference}" for difference in outcome.unequal)]
    compared = "equal to the live tables, " if outcome.equal else ""
    return [
        f"{outcome.projection}: {compared}generation {outcome.generation} is live, {outcome.replaced} is kept",
        f"  {speed}, live folding waited {outcome.swap_ms:.0f} ms",
    ]


def _hints(settings: Settings, outcomes: list[RebuildResult]) -> list[str]:
    hints = []
    for outcome in outcomes:
        if outcome.equal is not False:
            continue
        schema = f"{outcome.projection}_g{outcome.generation}"
        hints.append(f"the rebuilt tables stay in schema {schema} for comparison until the next rebuild")
        with connect(settings.database_url, application="rebuild") as connection:
            parked = len(parking.queues(connection, outcome.projection))
        if parked:
            hints.append(
                f"the live {outcome.projection} lack the events of {parked} parked users: cardlog parked list"
            )
    return hints


def _document(
    outcomes: list[RebuildResult],
    left_out: dict[str, str],
    hints: list[str],
    imported: archive.ImportSummary | None,
) -> dict[str, object]:
    events = sum(outcome.events for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    return {
        "equal": None if any(o.equal is None for o in outcomes) else all(o.equal for o in outcomes),
        "events": events,
        "seconds": round(seconds, 3),
        "events_per_s": round(events / seconds, 1) if seconds else None,
        "imported": None if imported is None else asdict(imported),
        "projections": {outcome.projection: _fields(outcome) for outcome in outcomes},
        "left_out": left_out,
        "hints": hints,
    }


def _fields(outcome: RebuildResult) -> dict[str, object]:
    fields = asdict(outcome) | {
        "seconds": round(outcome.seconds, 3),
        "events_per_s": round(outcome.events_per_s, 1),
        "swapped": outcome.replaced is not None,
        "stages": {stage: round(spent, 3) for stage, spent in outcome.stages.items()},
    }
    del fields["projection"]
    return fields


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
    document: dict[str, object] = {}
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
