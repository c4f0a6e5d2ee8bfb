"""``cardlog audit``: lists, exports and verifies the audit log."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from deploy.commands.operate import proof
from deploy.options import Answer, File, Flat, Given, Json, at_least
from deploy.security.audited import audited
from deploy.security.private_files import writing
from events.access import audit, audit_verification
from events.platform.database import Connection, Row, connect
from events.platform.settings import Settings
from events.store import anchors
from events.types.tenancy import DEFAULT_TENANT, storage_id

app = App(name="audit", help="Show who read or changed whose memory, and verify that record.")

_PAGE = 500


@dataclass(frozen=True, kw_only=True)
class EntryFilter:
    """The filter of the entries."""

    user: Annotated[str | None, Parameter(help="only requests that named this user")] = None
    tenant: Annotated[str | None, Parameter(help="only this tenant's keys, and the tenant of --user")] = None
    key: Annotated[str | None, Parameter(metavar="ID", help="only this API key, or command user")] = None
    operation: Annotated[str | None, Parameter(help="only this operation, such as recall or log-show")] = None
    outcome: Literal["begun", "allowed", "denied", "refused", "failed", "lost"] | None = None
    """only this outcome"""
    since: Annotated[datetime | None, Parameter(metavar="INSTANT")] = None
    """only what was recorded since (ISO 8601)"""
    until: Annotated[datetime | None, Parameter(metavar="INSTANT")] = None
    """only what was recorded before (ISO 8601)"""


@app.command(name="list")
def run_list(
    *,
    limit: Annotated[int, Parameter(validator=at_least(1), help="the most entries to print")] = 100,
    as_json: Json = False,
    options: Flat[EntryFilter] = EntryFilter(),
    connection: Given[Connection],
) -> Answer:
    """Print audit entries, the newest first.

    An entry says who asked (tenant, API key and scopes), what (the operation), whose memory, when, and the outcome.
    It never holds content. A user stands as a keyed hash; --user finds the entries of a user.
    """
    entries = _pages(connection, _filter(connection, options), limit)
    return Answer(entries, map(_line, entries), by_line=True)


@app.command(name="export")
def run_export(
    file: Annotated[File, Parameter(help="the file to write, or - for standard output")],
    /,
    *,
    cardlog: Given[Settings],
) -> int:
    """Write the whole audit log to a file.

    The file holds one JSON object a line, oldest first, with the digest of each entry. The digest after the last line
    is the head that `log anchor` signs.
    """
    with (
        audited(cardlog, "audit-export"),
        connect(cardlog.database_url, application="audit export", autocommit=False) as connection,
        writing(file) as out,
    ):
        out.writelines(json.dumps(entry).encode() + b"\n" for entry in audit.every_entry(connection))
    return 0


@app.command(name="verify")
def run_verify(
    *,
    anchor: Annotated[
        tuple[Path, ...], Parameter(metavar="FILE", help="an anchor that the audit log must agree with")
    ] = (),
    as_json: Json = False,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> Answer:
    """Find holes and changed entries in the audit log.

    Recompute the digest chain. With anchors of `log anchor`, also find a history that was rewritten together with its
    digests. The exit status is 1 when something is wrong. `log verify` includes this check.
    """
    found, faults = proof.anchors_in(anchor, proof.keyring_of(cardlog))
    result = audit_verification.verify(connection, anchors.audit_witnesses(found))
    faults += result.faults
    document = {"ok": not faults, "entries": result.entries, "faults": faults}
    return Answer(document, faults or [f"{result.entries} audit entries verified"], 1 if faults else 0)


def _filter(connection: Connection, options: EntryFilter) -> audit.Filter:
    subject = None
    if options.user is not None:
        user = storage_id(options.tenant or DEFAULT_TENANT, options.user)
        subject = audit.subject_of(audit.subject_key(connection), user)
    return audit.Filter(
        tenant=options.tenant,
        subject=subject,
        key_id=options.key,
        operation=options.operation,
        outcome=options.outcome,
        since=options.since and options.since.astimezone(),
        until=options.until and options.until.astimezone(),
    )


def _pages(connection: Connection, wanted: audit.Filter, limit: int) -> Iterator[dict[str, object]]:
    before = None
    while limit > 0:
        rows = audit.page(connection, wanted, limit=min(limit, _PAGE), before=before)
        yield from rows
        if len(rows) < _PAGE:
            return
        limit, before = limit - len(rows), rows[-1]["position"]


def _line(entry: Row) -> str:
    who = "/".join(each for each in (entry["tenant"], entry["key_id"]) if each) or "nobody"
    whose = ",".join(each[:8] for each in entry["subjects"][:3]) + ("…" if len(entry["subjects"]) > 3 else "")
    times = f" x{entry['requests']}" if entry["requests"] > 1 else ""
    return (
        f"{entry['position']:<8} {entry['at'][:19]} {entry['service']:<7} {who:<24} {entry['operation']:<18} "
        f"{entry['outcome']:<8} {entry['status'] or '':<4} {whose}{times}"
    )
