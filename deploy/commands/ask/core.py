"""``cardlog core``: shows, compares, patches and rolls back core documents, and answers patches that wait."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, ParamSpec, TypeVar
from uuid import UUID

from cyclopts import App, Parameter

from cardlog_client import Client, RefusedError
from deploy.answer import Answer
from deploy.commands.ask.verbs import Verbs, argument, every, option
from deploy.options import Flat, Given, OfUser, at_least
from events.types.core import Author
from events.types.json_values import Json

if TYPE_CHECKING:
    from cardlog_client import types

app = App(
    name="core",
    help="The core document of a user: one JSON document of durable facts. Every change is an event of the log.",
)
queue = App(name="queue", help="Patches that did not fit and wait for an answer: list, approve, refuse.")
app.command(queue)
app.command("deploy.commands.operate.migrate:run_migrate", name="migrate")
app.command("deploy.commands.operate.schema_review:run_review", name="review")

verbs, waiting = Verbs(app), Verbs(queue)
_P = ParamSpec("_P")
_T = TypeVar("_T")

Number = Annotated[int | None, Parameter(validator=at_least(0))]
Why = Annotated[str | None, Parameter(help="the reason, which is recorded")]
Reason = Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")]
_WHY = option("rationale", str, "the reason, which is recorded", name="--why")


def _of_document(method: Callable[_P, _T]) -> Callable[_P, _T]:
    """Returns a method of the client that says which user has no document."""

    @wraps(method)
    def asked(*given: _P.args, **named: _P.kwargs) -> _T:
        try:
            return method(*given, **named)
        except RefusedError as error:
            if error.status == 404 and error.field == "user_id":
                raise RuntimeError(f"{given[1]} has no document") from None
            raise

    return asked


def _changed(done: types.MemoryChanged) -> list[str]:
    if done["event_id"] is None:
        return [f"nothing changed; the document is at version {done['version']}"]
    return [f"the document is at version {done['version']} (event {done['event_id']})"]


def _change(each: types.MemoryChange) -> str:
    ops = ", ".join(f"{op['op']} {op['path']}" for op in each["patch"] if op["op"] != "test")
    why = f"  ({each['rationale']})" if each["rationale"] else ""
    at = each["at"][:16].replace("T", " ")
    return f"v{each['version']}  {at}  {each['kind']}  {each['actor']}  {each['event_id']}  {ops}{why}"


def _entry(each: types.QueueEntry) -> Iterator[str]:
    shown = f"expected {_short(each['expected'])}, found {_short(each['actual'])}"
    yield (
        f"{each['queue_id']}  {each['status']}  {each['actor']}  {each['path']}: {each['reason']} ({shown})"
    )


def _candidate(each: types.Candidate) -> Iterator[str]:
    why = ", ".join(f"{one['reason']} {one['count']} (+{one['points']})" for one in each["reasons"])
    yield f"{each['candidate']}  as {each['proposed_name']}  score {each['score']}: {why}"
    for line in each["diff"]["lines"]:
        yield f"  {line}"


def _ops(given: str) -> Json:
    """Returns the JSON that an argument, a file or standard input holds."""
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
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"the patch is not JSON ({error})") from None


def _indented(value: object) -> str:
    return (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    )


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= 80 else text[:80] + " …"


@app.command(name="show", help="show the document, now or at an earlier version, or the values at pointers")
def run_show(
    *paths: Annotated[str, Parameter(metavar="POINTER", help="a JSON Pointer, such as /profile")],
    version: Annotated[Number, Parameter(help="the document at this version")] = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    found = _of_document(Client.memory)(client, options.user, version=version, paths=paths or None)
    snippets = found["snippets"] or []
    if not options.json and (nowhere := next((each for each in snippets if not each["found"]), None)):
        raise RuntimeError(f"there is nothing at {nowhere['path']}")
    values = [each["value"] for each in snippets] if paths else [found["document"]]
    return Answer(snippets if paths else found["document"], map(_indented, values))


@app.command(name="history", help="show every change of the document, the latest first")
def run_history(
    *,
    limit: Annotated[int, Parameter(validator=at_least(1), help="the most changes")] = 50,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    ask = partial(_of_document(Client.memory_history), client)
    changes = every(ask, options.user, items="changes", most=limit)
    return Answer(changes, map(_change, changes))


@app.command(name="diff", help="show what differs between two versions")
def run_diff(
    from_version: Annotated[int, Parameter(validator=at_least(0), help="the earlier version")],
    to_version: Annotated[Number, Parameter(help="the later version; else the present one")] = None,
    /,
    *,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    found = _of_document(Client.memory_diff)(client, options.user, from_version, to=to_version)
    return Answer(found["patch"], found["lines"] or ["nothing differs"])


@app.command(name="patch")
def run_patch(
    patch: Annotated[str, Parameter(metavar="JSON|FILE|-", help="a JSON Patch, a file that holds one, or -")],
    /,
    *,
    actor: Annotated[Author, Parameter(help="who says so")] = "user",
    source: Annotated[str | None, Parameter(help="a turn id, a tool, or user_correction")] = None,
    confidence: Annotated[float | None, Parameter(help="how sure, from 0 to 1")] = None,
    why: Why = None,
    expect: Annotated[Number, Parameter(help="the version that you saw; any other one is refused")] = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    """Apply a JSON Patch. A patch that does not fit waits in the queue, and the document does not change.

    For example: cardlog core patch '[{"op": "add", "path": "/profile/residence", "value": "Lisbon"}]' --user ada
    """
    ops = _ops(patch)
    try:
        done = client.patch_memory(
            options.user, ops, actor, source=source, confidence=confidence, rationale=why,
            expected_version=expect,
        )  # fmt: skip
    except RefusedError as error:
        problem = error.problem
        if "fault" not in problem:
            raise
        place = f"it waits as {problem['queue_id']}" if "queue_id" in problem else "the queue is full"
        reason = f"operation {problem['op']} at {problem['path']!r}: {problem['reason']}"
        raise RuntimeError(f"the patch does not fit: {reason}; {place}") from None
    return Answer(done, _changed(done))


@app.command(name="rollback", help="leave events out of the document, or everything after a version")
def run_rollback(
    *event_ids: Annotated[UUID, Parameter(metavar="EVENT", help="an event of the history")],
    to_version: Annotated[Number, Parameter(help="leave out everything after this version")] = None,
    dry_run: Annotated[bool, Parameter(help="only show what would change")] = False,
    why: Why = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    if bool(event_ids) == (to_version is not None):
        raise RuntimeError("name events, or give --to-version")
    done: Json
    try:
        done = client.roll_back_memory(
            options.user, event_ids=list(map(str, event_ids)) or None, to_version=to_version, rationale=why,
            dry_run=dry_run,
        )  # fmt: skip
    except RefusedError as error:
        done = error.problem
        if "conflicts" not in done:
            raise
    for each in done["conflicts"]:
        fault = f"operation {each['op']} at {each['path']!r}: {each['reason']}"
        print(
            f"conflict: v{each['version']} {each['event_id']} does not fit any more: {fault}", file=sys.stderr
        )
    if done["conflicts"]:
        return Answer((), (), status=1, by_line=True)
    lines = [f"{op['op']} {op['path']}" for op in done["patch"]]
    return Answer(done, lines if dry_run else [*lines, *_changed(done)])


@app.command(name="cherry-pick", help="apply changes again that were left out")
def run_cherry_pick(
    *event_ids: Annotated[UUID, Parameter(metavar="EVENT", help="an event of the history")],
    why: Why = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    if not event_ids:
        raise RuntimeError("name the events to apply again")
    done = client.cherry_pick_memory(options.user, list(map(str, event_ids)), rationale=why)
    return Answer(done, _changed(done))


waiting.pages(
    "list", "list the patches that wait", _of_document(Client.memory_queue),
    option("status", Literal["open", "approved", "refused", "withdrawn", "all"], "which entries", "open"),
    items="entries", lines=_entry, none="no patch waits",
)  # fmt: skip


@queue.command(name="approve", help="apply a waiting patch; the tests of its author do not count")
def run_approve(
    queue_id: UUID,
    /,
    *,
    patch: Annotated[
        str | None, Parameter(metavar="JSON|FILE|-", help="applied in the place of the waiting patch")
    ] = None,
    reason: Reason = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    ops = None if patch is None else _ops(patch)
    by = f"operator for user/{options.user}"
    done = client.approve_patch(options.user, str(queue_id), patch=ops, reason=reason, by=by)
    return Answer(done, _changed(done))


@queue.command(name="refuse", help="refuse a waiting patch")
def run_refuse(
    queue_id: UUID, /, *, reason: Reason = None, options: Flat[OfUser], client: Given[Client]
) -> Answer:
    by = f"operator for user/{options.user}"
    done = client.refuse_patch(options.user, str(queue_id), reason=reason, by=by)
    return Answer(done, _changed(done))


verbs.pages(
    "candidates", "show the topics that recur and may become categories", _of_document(Client.memory_candidates),
    items="candidates", lines=_candidate, none="no topic recurs",
)  # fmt: skip


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
    why: Why = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    """Make a category of a candidate. Its values move in one event, and old pointers keep their meaning.

    For example: cardlog core promote sleep --name sleepHealth --member /uncategorized/note_1=aids --user ada
    """
    members = {}
    for each in member:
        pointer, sign, wanted = each.rpartition("=")
        if not sign:
            raise RuntimeError(f"--member: {each[:100]!r} is not POINTER=NAME")
        members[pointer] = wanted
    done = client.promote_category(
        options.user, candidate, proposed_name=name, members=members, rationale=why, dry_run=dry_run
    )
    would = "would move" if dry_run else "moved"
    lines = [f"{old} {would} to {new}" for old, new in done["moved"].items()]
    return Answer(done, lines if dry_run else [*lines, *_changed(done)])


verbs.call(
    "revert", "take a promoted category back; its values go where they were", Client.revert_category,
    argument("category", str, "a category that was promoted"), _WHY,
    lines=_changed,
)  # fmt: skip
