"""``cardlog core migrate``: takes the memory of another system from a file, in parts that the service takes at once."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

from cyclopts import Parameter

from cardlog_client import Client
from deploy.options import Answer, File, Flat, Given, OfUser
from deploy.progress import Progress
from deploy.security.private_files import reading
from events.platform.counting import counted
from events.types.json_values import JsonObject
from events.types.migrations import APPLY_FROM
from ingest.migration.texts import Format, Memories, Memory, TextInvalidError, decoded, read, told_name

if TYPE_CHECKING:
    from cardlog_client import types

MAX_BYTES = 32 * 1024 * 1024
_PART_CHARACTERS = 32 * 1024
_REHEARSED = 200
_SHOWN = 20
_LISTS = ("failed", "erased", "applied", "queued", "kept")


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
    client: Given[Client],
) -> Answer:
    """Take the memory of another system: facts into the document, unsure ones into the queue, sentences as episodes.

    The file is read and checked as a whole first. A sentence counts once, so the same command again continues after an
    interruption, and adds nothing when everything is there. A dry run looks at the first 200 sentences. Exit status 1:
    sentences are left that have no extraction.

    For example: cardlog core migrate memories.json --user ada --dry-run
    """
    found = _read(file, form)
    for remark in found.remarks:
        print(f"note: {remark}", file=sys.stderr)
    # The service compares the sentences of one request only.
    once = list({(each.at, *each.text.split()): each for each in found.memories}.values())
    memories = once[:_REHEARSED] if dry_run else once
    if len(memories) < len(once):
        print(f"note: only the first {len(memories)} sentences are looked at", file=sys.stderr)
    # The service extracts a dry run while the request waits, and a model takes seconds for twenty sentences.
    parts = [(each, uuid4().hex) for each in _parts(memories, 20 if dry_run else 200)]

    def ask(part: list[Memory], key: str, *, wait_s: int) -> types.MemoryMigration:
        given = [{"memory": each.text, "updated_at": each.at and each.at.isoformat()} for each in part]
        return client.migrate_memory(
            options.user, text=json.dumps(given, ensure_ascii=False), format="mem0", apply_from=apply_from,
            source=source or found.format, user_name=name,
            said_at=said_at or now, dry_run=dry_run, wait_s=wait_s, idempotency_key=key,
        )  # fmt: skip

    now, name = datetime.now(UTC).isoformat(), user_name or told_name(found.memories)
    with Progress("sentences") as progress:
        reports = [ask(*part, wait_s=0) for part in parts]
        taken = sum(each["taken"] for each in reports)
        moved = time.monotonic()
        while (left := _pending(reports)) and not dry_run and time.monotonic() - moved < timeout:
            at = next(number for number, each in enumerate(reports) if each["pending"])
            reports[at] = ask(*parts[at], wait_s=1)
            moved = moved if _pending(reports) == left else time.monotonic()
            progress(len(once) - _pending(reports), len(once))
    document: JsonObject = {
        "format": found.format,
        "dry_run": dry_run,
        "sentences": sum(each["sentences"] for each in reports),
        "taken": taken,
        "remarks": found.remarks,
        "pending": _pending(reports),
        **{name: [one for each in reports for one in each[name]] for name in _LISTS},  # type: ignore[literal-required]
        "version": reports[-1]["version"],
    }
    for each in document["failed"]:
        print(f"the extractor gave up {each}", file=sys.stderr)
    status = 1 if document["pending"] or document["failed"] else 0
    return Answer(document, _lines(document, options.user), status)


def _read(file: str, form: Format) -> Memories:
    with reading(file) as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RuntimeError(f"{file} is larger than {MAX_BYTES >> 20} MiB; split it, and migrate the parts")
    try:
        return read(decoded(data), form)
    except TextInvalidError as error:
        raise RuntimeError(f"{file}: {error}") from None


def _parts(memories: list[Memory], most: int) -> Iterator[list[Memory]]:
    """Yields the sentences in lists that one request takes."""
    part: list[Memory] = []
    for each in memories:
        if part and (len(part) == most or sum(len(one.text) for one in (*part, each)) > _PART_CHARACTERS):
            yield part
            part = []
        part.append(each)
    yield part


def _pending(reports: list[types.MemoryMigration]) -> int:
    return sum(each["pending"] for each in reports)


def _lines(found: JsonObject, user: str) -> Iterator[str]:
    would = "would be " if found["dry_run"] else ""
    yield (
        f"{counted(found['sentences'], 'sentence')} ({found['format']}): {found['taken']} {would}taken, "
        f"{len(found['kept'])} {would}kept as episodes, {counted(len(found['applied']), 'change')} {would}applied, "
        f"{len(found['queued'])} {would}waiting for an approval"
    )
    for name, rows in (("applied", found["applied"]), ("waits", found["queued"])):
        for row in rows[:_SHOWN]:
            for op in row["patch"]:
                if "value" in op and op["op"] != "test":
                    sure = 1.0 if row["confidence"] is None else row["confidence"]
                    value = json.dumps(op["value"], ensure_ascii=False, separators=(",", ":"))
                    yield f"  {name}: {op['path']} = {value[:80]} ({sure:g})"
        if len(rows) > _SHOWN:
            yield f"  {name}: {len(rows) - _SHOWN} more"
    if found["queued"] and not found["dry_run"]:
        yield f"answer what waits: cardlog core queue list --user {user}"
    if found["pending"]:
        yield f"{found['pending']} sentences wait for their extraction; run the command again to continue"
