"""``cardlog core``: shows, compares, patches and rolls back core documents, and answers patches that wait."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar
from uuid import UUID

from cyclopts import App

from cardlog_client import Client, RefusedError
from deploy.commands.ask.verbs import REASON, Verbs, argument, option
from deploy.options import Answer, File, at_least
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
app.command("deploy.commands.ask.migrate:run_migrate", name="migrate")
app.command("deploy.commands.operate.reviews:review_schemas", name="review")

verbs, waiting = Verbs(app), Verbs(queue)
_P = ParamSpec("_P")
_T = TypeVar("_T")

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


def _change(each: types.MemoryChange) -> Iterator[str]:
    ops = ", ".join(f"{op['op']} {op['path']}" for op in each["patch"] if op["op"] != "test")
    why = f"  ({each['rationale']})" if each["rationale"] else ""
    at = each["at"][:16].replace("T", " ")
    yield f"v{each['version']}  {at}  {each['kind']}  {each['actor']}  {each['event_id']}  {ops}{why}"


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


def _show(client: Client, user: str, paths: tuple[str, ...], version: int | None) -> Answer:
    found = _of_document(Client.memory)(client, user, version=version, paths=paths or None)
    if not paths:
        return Answer(found["document"], [_indented(found["document"])])
    snippets = found["snippets"] or []
    return Answer(snippets, _values(snippets))


def _values(snippets: list[types.Snippet]) -> Iterator[str]:
    nowhere = next((each for each in snippets if not each["found"]), None)
    if nowhere:
        raise RuntimeError(f"there is nothing at {nowhere['path']}")
    yield from (_indented(each["value"]) for each in snippets)


def _diff(client: Client, user: str, from_version: int, to_version: int | None) -> Answer:
    found = _of_document(Client.memory_diff)(client, user, from_version, to=to_version)
    return Answer(found["patch"], found["lines"] or ["nothing differs"])


verbs.call(
    "show", "show the document, now or at an earlier version, or the values at pointers", _show,
    argument("paths", str, "a JSON Pointer, such as /profile", many=True, metavar="POINTER"),
    option("version", int, "the document at this version", validator=at_least(0)),
)  # fmt: skip
verbs.pages(
    "history", "show every change of the document, the latest first", _of_document(Client.memory_history),
    option("limit", int, "the most changes", 50, validator=at_least(1)),
    items="changes", lines=_change, none="nothing changed",
)  # fmt: skip
verbs.call(
    "diff", "show what differs between two versions", _diff,
    argument("from_version", int, "the earlier version", validator=at_least(0)),
    argument(
        "to_version", int | None, "the later version; else the present one", default=None, validator=at_least(0)
    ),
)  # fmt: skip


def _patch(client: Client, user: str, patch: str, actor: Author, **more: Any) -> types.MemoryChanged:
    ops = _ops(patch)
    try:
        return client.patch_memory(user, ops, actor, **more)
    except RefusedError as error:
        problem = error.problem
        if "fault" not in problem:
            raise
        place = f"it waits as {problem['queue_id']}" if "queue_id" in problem else "the queue is full"
        reason = f"operation {problem['op']} at {problem['path']!r}: {problem['reason']}"
        raise RuntimeError(f"the patch does not fit: {reason}; {place}") from None


def _roll_back(
    client: Client, user: str, event_ids: tuple[str, ...], to_version: int | None, dry_run: bool, **more: Any
) -> Answer:
    if bool(event_ids) == (to_version is not None):
        raise RuntimeError("name events, or give --to-version")
    done: Json
    try:
        done = client.roll_back_memory(
            user, event_ids=event_ids or None, to_version=to_version, dry_run=dry_run, **more
        )
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


def _cherry_pick(client: Client, user: str, event_ids: tuple[str, ...], **more: Any) -> types.MemoryChanged:
    if not event_ids:
        raise RuntimeError("name the events to apply again")
    return client.cherry_pick_memory(user, event_ids, **more)


_EVENTS = argument("event_ids", UUID, "an event of the history", many=True, metavar="EVENT")

verbs.call(
    "patch",
    "Apply a JSON Patch. A patch that does not fit waits in the queue, and the document does not change.\n\n"
    """For example: cardlog core patch '[{"op": "add", "path": "/profile/residence", "value": "Lisbon"}]' --user ada""",
    _patch,
    argument("patch", File, "a JSON Patch, a file that holds one, or -", metavar="JSON|FILE|-"),
    option("actor", Author, "who says so", "user"),
    option("source", str, "a turn id, a tool, or user_correction"),
    option("confidence", float, "how sure, from 0 to 1"),
    _WHY,
    option(
        "expected_version", int, "the version that you saw; any other one is refused", name="--expect",
        validator=at_least(0),
    ),
    lines=_changed,
)  # fmt: skip
verbs.call(
    "rollback", "leave events out of the document, or everything after a version", _roll_back, _EVENTS,
    option("to_version", int, "leave out everything after this version", validator=at_least(0)),
    option("dry_run", bool, "only show what would change", False),
    _WHY,
)  # fmt: skip
verbs.call(
    "cherry-pick", "apply changes again that were left out", _cherry_pick, _EVENTS, _WHY, lines=_changed
)
waiting.pages(
    "list", "list the patches that wait", _of_document(Client.memory_queue),
    option("status", Literal["open", "approved", "refused", "withdrawn", "all"], "which entries", "open"),
    items="entries", lines=_entry, none="no patch waits",
)  # fmt: skip


def _approve(client: Client, user: str, queue_id: str, patch: str | None, **more: Any) -> types.MemoryChanged:
    ops = None if patch is None else _ops(patch)
    return client.approve_patch(user, queue_id, patch=ops, by=f"operator for user/{user}", **more)


def _refuse(client: Client, user: str, queue_id: str, **more: Any) -> types.MemoryChanged:
    return client.refuse_patch(user, queue_id, by=f"operator for user/{user}", **more)


waiting.call(
    "approve", "apply a waiting patch; the tests of its author do not count", _approve, argument("queue_id", UUID),
    option("patch", File, "applied in the place of the waiting patch", metavar="JSON|FILE|-"),
    REASON, lines=_changed,
)  # fmt: skip
waiting.call("refuse", "refuse a waiting patch", _refuse, argument("queue_id", UUID), REASON, lines=_changed)
verbs.pages(
    "candidates", "show the topics that recur and may become categories", _of_document(Client.memory_candidates),
    items="candidates", lines=_candidate, none="no topic recurs",
)  # fmt: skip


def _promote(
    client: Client, user: str, candidate: str, member: list[str], dry_run: bool, **more: Any
) -> Answer:
    members = {}
    for each in member:
        pointer, sign, wanted = each.rpartition("=")
        if not sign:
            raise RuntimeError(f"--member: {each[:100]!r} is not POINTER=NAME")
        members[pointer] = wanted
    done = client.promote_category(user, candidate, members=members, dry_run=dry_run, **more)
    would = "would move" if dry_run else "moved"
    lines = [f"{old} {would} to {new}" for old, new in done["moved"].items()]
    return Answer(done, lines if dry_run else [*lines, *_changed(done)])


verbs.call(
    "promote",
    "Make a category of a candidate. Its values move in one event, and old pointers keep their meaning.\n\n"
    "For example: cardlog core promote sleep --name sleepHealth --member /uncategorized/note_1=aids --user ada",
    _promote,
    argument("candidate", str, "a candidate, or its proposed name"),
    option("proposed_name", str, "the name of the category; else the proposed one", name="--name"),
    option("member", list[str], "the member that an instance becomes", [], metavar="POINTER=NAME"),
    option("dry_run", bool, "only show what would change", False),
    _WHY,
)  # fmt: skip
verbs.call(
    "revert", "take a promoted category back; its values go where they were", Client.revert_category,
    argument("category", str, "a category that was promoted"), _WHY,
    lines=_changed,
)  # fmt: skip
