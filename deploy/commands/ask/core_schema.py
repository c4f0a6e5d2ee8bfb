"""``cardlog core candidates``, ``promote`` and ``revert``: topics of a document that recur become categories."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.commands.ask.core import (
    _actor,
    _present,
    _print_json,
    _reading,
    _run,
    _told_outcome,
    app,
)
from deploy.options import Flat, Given, OfUser
from events.platform.settings import Settings
from events.resources.core import Candidate
from ingest.core import evolution
from ingest.core.aggregate import CoreHistory
from ingest.decider import Command
from retrieval.core.reader import DocumentReader
from retrieval.http.schema_routes import candidates_for, shown

__all__ = ["app"]


@app.command(name="candidates", help="show the topics that recur and may become categories")
def run_candidates(
    *,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    async def look(reader: DocumentReader) -> list[Candidate]:
        present = await _present(reader, options)
        found = await candidates_for(reader, options.owner, present)
        return [shown(present.state.document, each) for each in found]

    found = _reading(settings, data, look)
    if options.json:
        _print_json(found)
        return 0
    for each in found:
        why = ", ".join(f"{one.reason} {one.count} (+{one.points})" for one in each.reasons)
        print(f"{each.candidate}  as {each.name}  score {each.score}: {why}")
        for line in each.diff.lines:
            print(f"  {line}")
    if not found:
        print("no topic recurs")
    return 0


@app.command(name="promote")
def run_promote(
    candidate: Annotated[str, Parameter(help="a candidate, or its proposed name")],
    /,
    *,
    name: Annotated[str | None, Parameter(help="the name of the category; else the proposed one")] = None,
    member: Annotated[
        list[str], Parameter(metavar="POINTER=NAME", help="the member that an instance becomes")
    ] = [],  # noqa: B006 - cyclopts reads the default, and nothing changes it
    dry_run: Annotated[bool, Parameter(help="only show what would change")] = False,
    why: Annotated[str | None, Parameter(help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Make a category of a candidate. Its values move in one event, and old pointers keep their meaning.

    For example: cardlog core promote sleep --name sleepHealth --member /uncategorized/note_1=aids --user ada
    """
    members = {}
    for each in member:
        pointer, sign, wanted = each.rpartition("=")
        if not sign:
            raise RuntimeError(f"--member: {each[:100]!r} is not POINTER=NAME")
        members[pointer] = wanted
    command = Command(actor=_actor(options), at=datetime.now(UTC), rationale=why)
    done = _run(
        settings,
        data,
        lambda c, d: evolution.promote(
            CoreHistory(c, d, options.owner, command), candidate, name, members, dry_run=dry_run
        ),
    )
    if options.json:
        outcome = done.outcome
        event_id = outcome.event and outcome.event.event_id
        _print_json(
            {
                "version": outcome.state, "event_id": event_id, "name": done.name, "moved": dict(done.moved),
                "schema": dict(done.schema), "dry_run": dry_run,
            }
        )  # fmt: skip
        return 0
    for old, new in done.moved.items():
        print(f"{old} moved to {new}" if not dry_run else f"{old} would move to {new}")
    return 0 if dry_run else _told_outcome(done.outcome, options)


@app.command(name="revert", help="take a promoted category back; its values go where they were")
def run_revert(
    category: Annotated[str, Parameter(help="a category that was promoted")],
    /,
    *,
    why: Annotated[str | None, Parameter(help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    command = Command(actor=_actor(options), at=datetime.now(UTC), rationale=why)
    outcome, _ = _run(
        settings, data, lambda c, d: evolution.revert(CoreHistory(c, d, options.owner, command), category)
    )
    return _told_outcome(outcome, options)
