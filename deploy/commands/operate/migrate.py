"""``cardlog core migrate``: takes the memory of another system from a file."""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar

import orjson
from cyclopts import Parameter

from deploy.instance import find
from deploy.options import File, Flat, Given, OfUser
from deploy.progress import Progress
from deploy.security.private_files import reading
from events.http.tokens import read_queue_key
from events.platform.counting import counted
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.resources.resource import plain
from events.store import log
from events.types.instants import InstantInvalidError, day_or_instant_of
from events.types.migrations import APPLY_FROM
from events.types.tenancy import storage_id
from ingest.api.turn_publisher import PublishFailedError, TurnPublisher
from ingest.decider import Command
from ingest.extraction.choosing import create_extractor
from ingest.extraction.extractor_port import ExtractorUnavailableError
from ingest.migration.memories import Memories, TextInvalidError, told_name
from ingest.migration.reading import Format, decoded, read
from ingest.migration.rehearsal import MOST, rehearse
from ingest.migration.report import Follower, Report
from ingest.migration.turns import Migration, Terms, begin, check, migration_of
from projectors.core.documents import documents_of

_T = TypeVar("_T")
MAX_BYTES = 32 * 1024 * 1024
_PAGE = 500
_AHEAD = 2_000
"""The most sentences that wait for their extraction before more are taken."""
_LOOK_EVERY_S = 0.2
_SHOWN = 20


def run_migrate(
    file: Annotated[
        File, Parameter(help="mem0 JSON, saved memories of ChatGPT, or notes; - for standard input")
    ],
    /,
    *,
    form: Annotated[
        Format, Parameter(name="--format", help="the form of the file; auto tells it by the text")
    ] = "auto",
    source: Annotated[str | None, Parameter(help="where the memory comes from; else its form")] = None,
    user_name: Annotated[
        str | None, Parameter(help="what the file calls the user; else the name that the file tells")
    ] = None,
    said_at: Annotated[
        str | None, Parameter(metavar="INSTANT", help="when undated sentences were true; else now")
    ] = None,
    apply_from: Annotated[
        float, Parameter(help="values below this confidence wait for an approval")
    ] = APPLY_FROM,
    dry_run: Annotated[bool, Parameter(help="only show what would happen")] = False,
    timeout: Annotated[
        float, Parameter(metavar="SECONDS", help="give up after so long without progress")
    ] = 60.0,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Take the memory of another system: facts into the document, unsure ones into the queue, sentences as episodes.

    The file is read and checked as a whole first. A sentence counts once, so the same command again continues after an
    interruption, and adds nothing when everything is there. Exit status 1: sentences are left that have no extraction.

    For example: cardlog core migrate memories.json --user ada --dry-run
    """
    if not 0 <= apply_from <= 1:
        raise RuntimeError("--apply-from: must be from 0 to 1")
    found = _read(file, form)
    now = datetime.now(UTC)
    settings, _ = find(settings, data)
    key = read_queue_key(settings)
    terms = Terms(
        user_id=options.user,
        owner=storage_id(options.tenant, options.user),
        source=source or found.format,
        said_at=now if said_at is None else _instant(said_at),
        apply_from=apply_from,
        user_name=user_name or told_name(found.memories),
    )
    migration = migration_of(found.memories, terms, key)
    for remark in found.remarks:
        print(f"note: {remark}", file=sys.stderr)
    with connect(settings.database_url, application="core migrate") as connection:
        try:
            check(migration, now)
            follower = Follower(terms.owner, migration)
            if dry_run:
                taken, report = _rehearsed(connection, settings, migration, follower, now)
            else:
                _noted(connection, migration, options, now)
                taken = asyncio.run(_taken(connection, settings, follower, options, timeout))
                report = _in(connection, lambda c: follower.report(c, documents_of(settings)))
        except ExtractorUnavailableError as error:
            raise RuntimeError(f"the extractor is away: {error}; try again later") from None
    _print(options, found, migration, report, taken, dry_run=dry_run)
    return 1 if report.pending or report.failed else 0


def _read(file: str, form: Format) -> Memories:
    with reading(file) as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RuntimeError(f"{file} is larger than {MAX_BYTES >> 20} MiB; split it, and migrate the parts")
    try:
        return read(decoded(data), form)
    except TextInvalidError as error:
        raise RuntimeError(f"{file}: {error}") from None


def _instant(text: str) -> datetime:
    try:
        return day_or_instant_of(text, datetime.now(UTC))
    except InstantInvalidError as error:
        raise RuntimeError(f"--said-at: {error}") from None


def _rehearsed(
    connection: Connection, settings: Settings, migration: Migration, follower: Follower, now: datetime
) -> tuple[int, Report]:
    fresh = migration.turns.keys() - _in(connection, follower.known)
    if len(migration.turns) > MOST:
        print(f"note: only the first {MOST} sentences are looked at in detail", file=sys.stderr)
        migration = migration.part(list(migration.turns)[:MOST])
    documents, extractor = documents_of(settings), create_extractor(settings)
    return len(fresh), _in(connection, lambda c: rehearse(c, documents, extractor, migration, now))


def _noted(connection: Connection, migration: Migration, options: OfUser, now: datetime) -> None:
    command = Command(actor=f"operator for user/{options.user}", at=now)
    _in(connection, lambda c: begin(c, migration, command))
    log.announce(connection)


async def _taken(
    connection: Connection, settings: Settings, follower: Follower, options: OfUser, timeout: float
) -> int:
    """Pushes the sentences that are not in the log, a page at a time, and waits for their extraction.

    Returns the number of sentences that were pushed. Raises RuntimeError when nothing moves any more.
    """
    migration = follower.migration
    known = _in(connection, follower.known)
    fresh = [each for each in migration.turns if each not in known]
    key = read_queue_key(settings)
    publisher = TurnPublisher(settings)
    pushed = 0
    pending: Sequence[str] = _in(connection, follower.pending)
    moved = time.monotonic()
    try:
        with Progress("sentences") as progress:
            while pending:
                while pushed < len(fresh) and len(pending) - (len(fresh) - pushed) < _AHEAD:
                    page = [migration.turns[each] for each in fresh[pushed : pushed + _PAGE]]
                    await publisher.push(page, tenant=options.tenant, key=key)
                    pushed += len(page)
                await asyncio.sleep(_LOOK_EVERY_S)
                left = _in(connection, follower.pending)
                moved = moved if len(left) == len(pending) else time.monotonic()
                pending = left
                progress(len(migration.turns) - len(pending), len(migration.turns))
                if time.monotonic() - moved > timeout:
                    break
    except PublishFailedError as error:
        raise RuntimeError(f"Redis cannot take turns: {error}; run the command again to continue") from None
    finally:
        await publisher.close()
    return pushed


def _in(connection: Connection, work: Callable[[Connection], _T]) -> _T:
    with connection.transaction():
        return work(connection)


def _print(
    options: OfUser, found: Memories, migration: Migration, report: Report, taken: int, *, dry_run: bool
) -> None:
    if options.json:
        document: dict[str, object] = {
            "format": found.format,
            "dry_run": dry_run,
            "sentences": len(migration.turns),
            "taken": taken,
            "remarks": found.remarks,
            **plain(report.resource()),
        }
        print(orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode())
        return
    would = "would be " if dry_run else ""
    print(
        f"{counted(len(migration.turns), 'sentence')} ({found.format}): {taken} {would}taken, "
        f"{len(report.kept)} {would}kept as episodes, {counted(len(report.applied), 'change')} {would}applied, "
        f"{len(report.queued)} {would}waiting for an approval"
    )
    changes = [(each.ops, each.confidence) for each in report.applied]
    for name, rows in (
        ("applied", changes),
        ("waits", [(each.patch, each.confidence) for each in report.queued]),
    ):
        for ops, confidence in rows[:_SHOWN]:
            for op in ops:
                if "value" in op and op["op"] != "test":
                    sure = 1.0 if confidence is None else confidence
                    print(f"  {name}: {op['path']} = {orjson.dumps(op['value']).decode()[:80]} ({sure:g})")
        if len(rows) > _SHOWN:
            print(f"  {name}: {len(rows) - _SHOWN} more")
    if report.queued and not dry_run:
        print(f"answer what waits: cardlog core queue list --user {options.user}")
    if report.pending:
        print(f"{len(report.pending)} sentences wait for their extraction; run the command again to continue")
    for each in report.failed:
        print(f"the extractor gave up {each}: {migration.turns[each]['text'][:60]!r}", file=sys.stderr)
