"""``cardlog core``: shows, compares, patches and rolls back core documents, and answers patches that wait."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

import orjson
from cyclopts import App, Parameter

from deploy.instance import find
from deploy.options import Flat, Given, OfUser, at_least
from events.core.fold import Present
from events.core.patches import PatchMalformedError, checked
from events.core.pointers import PointerError, split
from events.core.replay import difference
from events.core.state import CoreState
from events.platform.database import connect
from events.platform.settings import Settings
from events.resources.core import MemoryChange, QueueEntry
from events.resources.resource import fields_of
from events.store import log
from events.store.log import Connection
from events.types.core import Author
from ingest.core import patching, review, time_travel
from ingest.core.aggregate import CoreDocument, CoreHistory
from ingest.core.documents import Documents
from ingest.core.review import WaitingPatch
from ingest.decider import Command, Outcome
from projectors.core.documents import documents_of, feed_of
from retrieval.core.reader import DocumentReader
from retrieval.core.sources import snippets, told
from retrieval.pool.connections import open_pool

app = App(
    name="core",
    help="The core document of a user: one JSON document of durable facts. Every change is an event of the log.",
)
queue = App(name="queue", help="Patches that did not fit and wait for an answer: list, approve, refuse.")
app.command(queue)
app.command("deploy.commands.ask.migrate:run_migrate", name="migrate")

_T = TypeVar("_T")
Number = Annotated[int | None, Parameter(validator=at_least(0))]


@app.command(name="show", help="show the document, now or at an earlier version, or the values at pointers")
def run_show(
    *paths: Annotated[str, Parameter(metavar="POINTER", help="a JSON Pointer, such as /profile")],
    version: Annotated[Number, Parameter(help="the document at this version")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    async def look(reader: DocumentReader) -> CoreState:
        return await _at(reader, options, version)

    for path in paths:
        try:
            split(path)
        except PointerError as error:
            raise RuntimeError(f"{path[:100]!r} is no JSON Pointer: {error}") from None
    state = _reading(settings, data, look)
    whole = state.whole()
    if options.json:
        _print_json(snippets(whole, paths) if paths else whole)
        return 0
    for path in paths or ("",):
        [found] = snippets(whole, [path])
        if not found["found"]:
            raise RuntimeError(f"there is nothing at {path}")
        print(_indented(found["value"]))
    return 0


@app.command(name="history", help="show every change of the document, the latest first")
def run_history(
    *,
    limit: Annotated[int, Parameter(validator=at_least(1), help="the most changes")] = 50,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    async def look(reader: DocumentReader) -> list[MemoryChange]:
        present = await _present(reader, options)
        below = present.state.version + 1
        found = await reader.changes(options.owner, present, below=below, limit=limit)
        return [MemoryChange.made_from(each) for each in found]

    changes = _reading(settings, data, look)
    if options.json:
        _print_json(changes)
        return 0
    for each in changes:
        ops = ", ".join(f"{op['op']} {op['path']}" for op in each.patch if op["op"] != "test")
        why = f"  ({each.rationale})" if each.rationale else ""
        at = f"{each.at:%Y-%m-%d %H:%M}"
        print(f"v{each.version}  {at}  {each.kind}  {each.actor}  {each.event_id}  {ops}{why}")
    return 0


@app.command(name="diff", help="show what differs between two versions")
def run_diff(
    from_version: Annotated[int, Parameter(validator=at_least(0), help="the earlier version")],
    to_version: Annotated[Number, Parameter(help="the later version; else the present one")] = None,
    /,
    *,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    async def look(reader: DocumentReader) -> tuple[CoreState, CoreState]:
        return await _at(reader, options, from_version), await _at(reader, options, to_version)

    before, after = _reading(settings, data, look)
    patch = difference(before.document, after.document)
    if options.json:
        _print_json(list(patch))
        return 0
    print("\n".join(told(before.document, patch)) or "nothing differs")
    return 0


@app.command(name="patch")
def run_patch(
    patch: Annotated[str, Parameter(metavar="JSON|FILE|-", help="a JSON Patch, a file that holds one, or -")],
    /,
    *,
    actor: Annotated[Author, Parameter(help="who says so")] = "user",
    source: Annotated[str | None, Parameter(help="a turn id, a tool, or user_correction")] = None,
    confidence: Annotated[float | None, Parameter(help="how sure, from 0 to 1")] = None,
    why: Annotated[str | None, Parameter(help="the reason, which is recorded")] = None,
    expect: Annotated[Number, Parameter(help="the version that you saw; any other one is refused")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Apply a JSON Patch. A patch that does not fit waits in the queue, and the document does not change.

    For example: cardlog core patch '[{"op": "add", "path": "/profile/residence", "value": "Lisbon"}]' --user ada
    """
    ops = _ops(patch)
    if confidence is not None and not 0 <= confidence <= 1:
        raise RuntimeError("--confidence: must be from 0 to 1")
    command = Command(
        by=actor,
        actor=_actor(options),
        at=datetime.now(UTC),
        source=source,
        confidence=confidence,
        rationale=why,
    )
    done = _run(
        settings,
        data,
        lambda c, d: patching.patch(CoreDocument(c, d, options.owner, command), ops, expect),
    )
    if done.queued is not None:
        event = done.outcome.event
        place = f"it waits as {event.event_id}" if event else "the queue is full"
        raise RuntimeError(f"the patch does not fit: {done.queued}; {place}")
    return _told_outcome(done.outcome, options)


@app.command(name="rollback", help="leave events out of the document, or everything after a version")
def run_rollback(
    *event_ids: Annotated[UUID, Parameter(metavar="EVENT", help="an event of the history")],
    to_version: Annotated[Number, Parameter(help="leave out everything after this version")] = None,
    dry_run: Annotated[bool, Parameter(help="only show what would change")] = False,
    why: Annotated[str | None, Parameter(help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    if bool(event_ids) == (to_version is not None):
        raise RuntimeError("name events, or give --to-version")
    command = Command(actor=_actor(options), at=datetime.now(UTC), rationale=why)
    done = _run(
        settings,
        data,
        lambda c, d: time_travel.roll_back(
            CoreHistory(c, d, options.owner, command), event_ids or None, to_version, dry_run=dry_run
        ),
    )
    for each in done.conflicts:
        print(
            f"conflict: v{each.change.version} {each.change.event_id} does not fit any more: {each.error}",
            file=sys.stderr,
        )
    if done.conflicts:
        return 1
    if options.json:
        _print_json({"version": done.outcome.state, "patch": list(done.ops), "dry_run": dry_run})
        return 0
    for op in done.ops:
        print(f"{op['op']} {op['path']}")
    return 0 if dry_run else _told_outcome(done.outcome, options)


@app.command(name="cherry-pick", help="apply changes again that were left out")
def run_cherry_pick(
    *event_ids: Annotated[UUID, Parameter(metavar="EVENT", help="an event of the history")],
    why: Annotated[str | None, Parameter(help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    if not event_ids:
        raise RuntimeError("name the events to apply again")
    command = Command(actor=_actor(options), at=datetime.now(UTC), rationale=why)
    outcome = _run(
        settings,
        data,
        lambda c, d: time_travel.cherry_pick(CoreHistory(c, d, options.owner, command), event_ids),
    )
    return _told_outcome(outcome, options)


@queue.command(name="list", help="list the patches that wait")
def run_queue(
    *,
    status: Annotated[
        Literal["open", "approved", "refused", "withdrawn", "all"], Parameter(help="which entries")
    ] = "open",
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    async def look(reader: DocumentReader) -> list[QueueEntry]:
        present = await reader.present(options.owner)
        found = await reader.queue(options.owner, present, None if status == "all" else status)
        return [QueueEntry.made_from(each) for each in found]

    entries = _reading(settings, data, look)
    if options.json:
        _print_json(entries)
        return 0
    for each in entries:
        shown = f"expected {_short(each.expected)}, found {_short(each.actual)}"
        print(f"{each.queue_id}  {each.status}  {each.actor}  {each.path}: {each.reason} ({shown})")
    if not entries:
        print("no patch waits")
    return 0


@queue.command(name="approve", help="apply a waiting patch; the tests of its author do not count")
def run_approve(
    queue_id: UUID,
    /,
    *,
    patch: Annotated[
        str | None, Parameter(metavar="JSON|FILE|-", help="applied in the place of the waiting patch")
    ] = None,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    ops = None if patch is None else _ops(patch)
    command = Command(actor=_actor(options), at=datetime.now(UTC))
    outcome = _run(
        settings,
        data,
        lambda c, d: review.approve(WaitingPatch(c, d, options.owner, command, queue_id), ops, reason),
    )
    return _told_outcome(outcome, options)


@queue.command(name="refuse", help="refuse a waiting patch")
def run_refuse(
    queue_id: UUID,
    /,
    *,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    command = Command(actor=_actor(options), at=datetime.now(UTC))
    outcome = _run(
        settings,
        data,
        lambda c, d: review.refuse(WaitingPatch(c, d, options.owner, command, queue_id), reason),
    )
    return _told_outcome(outcome, options)


def _actor(options: OfUser) -> str:
    return f"operator for user/{options.user}"


def _reading(settings: Settings, data: Path | None, look: Callable[[DocumentReader], Awaitable[_T]]) -> _T:
    settings, _ = find(settings, data)

    async def run() -> _T:
        pool = open_pool(settings, "core")
        await pool.open()
        try:
            return await look(DocumentReader(pool, feed_of(settings)))
        finally:
            await pool.close()

    return asyncio.run(run())


async def _present(reader: DocumentReader, options: OfUser) -> Present:
    present = await reader.present(options.owner)
    if present.state.version == 0:
        raise RuntimeError(f"{options.user} has no document")
    return present


async def _at(reader: DocumentReader, options: OfUser, version: int | None) -> CoreState:
    present = await _present(reader, options)
    if version is None:
        return present.state
    if version > present.state.version:
        raise RuntimeError(f"version {version} never was; use 0 to {present.state.version}")
    return await reader.at_version(options.owner, version, present)


def _run(settings: Settings, data: Path | None, command: Callable[[Connection, Documents], _T]) -> _T:
    settings, _ = find(settings, data)
    documents = documents_of(settings)
    with connect(settings.database_url, application="core") as connection:
        with connection.transaction():
            outcome = command(connection, documents)
        log.announce(connection)
    return outcome


def _told_outcome(outcome: Outcome[int], options: OfUser) -> int:
    version, event_id = outcome.state, outcome.event and outcome.event.event_id
    if options.json:
        _print_json({"version": version, "event_id": event_id, "duplicate": outcome.repeated})
    elif event_id is None:
        print(f"nothing changed; the document is at version {version}")
    else:
        print(f"the document is at version {version} (event {event_id})")
    return 0


def _ops(given: str) -> list[dict[str, Any]]:
    if given == "-":
        text = sys.stdin.read()
    elif given.lstrip().startswith("["):
        text = given
    else:
        try:
            text = Path(given).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise RuntimeError(
                f"{given[:200]!r} is no JSON Patch and no file that can be read: {error}"
            ) from None
    try:
        return checked(json.loads(text))
    except (ValueError, RecursionError) as error:
        reason = error.reason if isinstance(error, PatchMalformedError) else f"is not JSON ({error})"
        raise RuntimeError(f"the patch {reason}") from None


def _print_json(value: Any) -> None:
    print(orjson.dumps(value, default=fields_of, option=orjson.OPT_SORT_KEYS).decode())


def _indented(value: Any) -> str:
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2).decode()


def _short(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= 80 else text[:80] + " …"
