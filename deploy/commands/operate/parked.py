"""``cardlog parked``: lists, retries and drops the parked events of users."""

import sys
from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import App, Parameter

from deploy.options import Answer, Flat, Given, Json, OnlyTenant, OptionInvalidError, wanted_user
from events.platform.counting import counted
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store.log import announce
from events.types.envelope import Event
from events.types.tenancy import shown_user, tenant_of, user_of
from projectors import parking
from projectors.parking import ParkedQueue
from projectors.registry import projectors

app = App(
    name="parked",
    help="When a live projection cannot fold an event, it parks the event. The later events of the same user "
    "wait behind it, in order, and all other users continue. Retry after the cause is removed. Drop the "
    "event if the cause stays. A rebuild folds everything again and stops at an event that it cannot fold.",
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The filter of the parked queues."""

    processor: Annotated[str | None, Parameter(help="only of this projection, such as cards")] = None
    user: Annotated[str | None, Parameter(help="only this user")] = None
    tenant: OnlyTenant = None
    json: Json = False


def _found(options: Options, settings: Settings, connection: Connection) -> list[ParkedQueue]:
    known = [projector.name for projector in projectors(settings)]
    if options.processor not in (None, *known):
        raise ValueError(f"there is no projection {options.processor!r}; use one of {', '.join(known)}")
    queues = parking.queues(connection, options.processor, wanted_user(options.user, options.tenant))
    return [queue for queue in queues if options.tenant in (None, tenant_of(queue.user_id))]


@app.command(name="list", help="list the waiting users with event, time and reason")
def run_list(
    *, options: Flat[Options] = Options(), cardlog: Given[Settings], connection: Given[Connection]
) -> Answer:
    queues = _found(options, cardlog, connection)
    return Answer([_document(queue) for queue in queues], [*map(_line, queues), _summary(queues)])


@app.command(name="show", help="show the list with every waiting event")
def run_show(
    *, options: Flat[Options] = Options(), cardlog: Given[Settings], connection: Given[Connection]
) -> Answer:
    found = [
        (queue, list(parking.waiting(connection, queue))) for queue in _found(options, cardlog, connection)
    ]
    documents = [
        {
            **_document(queue),
            "events": [{"place": f"{each.partition}/{each.position}", "type": each.type} for each in events],
        }
        for queue, events in found
    ]
    lines = [line for queue, events in found for line in (_line(queue), *map(_event, events))]
    lines.append(_summary([queue for queue, _ in found]))
    if found:
        lines.append("show the content of an event: cardlog log show --at PARTITION/POSITION --json")
    return Answer(documents, lines)


@app.command(name="retry")
def run_retry(*, options: Flat[Options] = Options(), cardlog: Given[Settings]) -> Answer:
    """Fold the waiting events, in order and exactly once, as far as possible.

    An event that fails again still waits, with its new reason, and the exit status is 1. The command itself folds,
    so give it the same settings (CARDLOG_*) as the workers.
    """
    return _settle_queues(options, cardlog, None)


@app.command(name="drop")
def run_drop(
    *,
    all_: Annotated[bool, Parameter(name="--all", help="every waiting user")] = False,
    whole: Annotated[bool, Parameter(help="drop all waiting events, not only the first")] = False,
    because: Annotated[
        str, Parameter(metavar="WHY", help="the reason, which is recorded")
    ] = "dropped by hand",
    yes: Annotated[bool, Parameter(help="with --all: drop; without it the command only lists")] = False,
    options: Flat[Options] = Options(),
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> Answer:
    """Drop the first event of each queue, then fold the events behind it.

    With --all and without --yes it only lists the queues. The event stays in the log. The decision and its reason are
    kept in log.dropped, and rebuilds also skip the event.
    """
    if all_ == (options.user is not None):
        raise OptionInvalidError(
            "the user is missing: give --user NAME as listed by `cardlog parked list`, or --all"
        )
    if all_ and not yes:
        listed = run_list(options=options, cardlog=cardlog, connection=connection)
        hint = ["nothing was dropped: add --yes to drop this"] if listed.document else []
        return Answer(listed.document, [*listed.lines, *hint])
    return _settle_queues(options, cardlog, because, whole=whole)


def _settle_queues(
    options: Options, settings: Settings, because: str | None, *, whole: bool = False
) -> Answer:
    by_name = {projector.name: projector for projector in projectors(settings)}
    documents: list[dict[str, object]] = []
    lines = []
    with connect(settings.database_url, application="parked") as connection:
        for queue in _found(options, settings, connection):
            projector, user = by_name[queue.processor], queue.user_id
            if because is None:
                outcome = parking.retry(connection, projector, user)
            else:
                outcome = parking.drop(connection, projector, user, because, whole=whole)
            whose = {"processor": queue.processor, "tenant": tenant_of(user), "user_id": user_of(user)}
            documents.append(whose | asdict(outcome))
            dropped = f", {outcome.dropped} dropped" if outcome.dropped else ""
            name = f"{queue.processor} {shown_user(user)}"
            lines.append(f"{name}: {counted(outcome.folded, 'event')} folded{dropped}")
            if outcome.reason is not None and not options.json:
                print(f"{name} still waits: {outcome.reason}", file=sys.stderr)
        announce(connection)
    status = 1 if any(each["reason"] for each in documents) else 0
    return Answer(documents, lines or ["nobody is parked"], status)


def _line(queue: ParkedQueue) -> str:
    place = f"{queue.partition}/{queue.position}"
    behind = f", {queue.behind} behind it" if queue.behind else ""
    return (
        f"{queue.processor:<10} {shown_user(queue.user_id):<12} {place:<10} {queue.type or '?':<18} "
        f"since {queue.parked_at:%Y-%m-%d %H:%M:%S}, tried {queue.attempts} times{behind}: {queue.reason or '?'}"
    )


def _event(event: Event) -> str:
    return f"    {event.partition}/{event.position:<10} {event.recorded_at:%Y-%m-%d %H:%M:%S} {event.type}"


def _summary(queues: list[ParkedQueue]) -> str:
    events = sum(1 + queue.behind for queue in queues)
    users = len({queue.user_id for queue in queues})
    waiting = f"{counted(events, 'event')} of {counted(users, 'user')} {'waits' if events == 1 else 'wait'}"
    return waiting if queues else "nobody is parked"


def _document(queue: ParkedQueue) -> dict[str, object]:
    document = asdict(queue)
    document = {"tenant": tenant_of(queue.user_id), **document, "user_id": user_of(queue.user_id)}
    document["parked_at"] = queue.parked_at.isoformat()
    return document
