"""``cardlog parked``: users a projection went on without, and what becomes of their events."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deploy.instance import find
from events.database import connect
from events.log import Connection, announce
from events.settings import Settings
from projectors import parking
from projectors.generations import Projector
from projectors.parking import Queue
from projectors.registry import projectors


def register(subparsers: Any) -> None:
    parked = subparsers.add_parser(
        "parked",
        help="users a projection went on without: list, show, retry, drop",
        description="When a live projection cannot take an event, it parks that event's user: the user's later events "
        "wait behind it, in order, and everybody else goes on. After the cause is gone, retry; where it "
        "never will be, drop the event. A rebuild folds everything anew and stops at what it cannot take.",
    )
    verbs = parked.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="who waits, for what, since when and why")
    listing.set_defaults(run=run_list)
    show = verbs.add_parser("show", help="the same with every waiting event")
    show.set_defaults(run=run_show)
    retry = verbs.add_parser(
        "retry",
        help="fold what waits, in order",
        description="Fold what waits, in order and exactly once, as far as it goes. What fails again keeps waiting "
        "with its new reason, and the exit status is 1. The command folds by itself, so give it the settings "
        "(CARDLOG_*) the workers have.",
    )
    retry.set_defaults(run=run_retry)
    drop = verbs.add_parser(
        "drop",
        help="go without the event in front, and fold what is behind it",
        description="Go without the event each queue stands still at, then fold what is behind it. The event stays in "
        "the log; the decision is kept in log.dropped with its reason, and rebuilt tables go without it too.",
    )
    drop.add_argument("--all", action="store_true", help="every user who waits")
    drop.add_argument(
        "--whole", action="store_true", help="go without everything that waits, not just the first"
    )
    drop.add_argument("--because", default="dropped by hand", metavar="WHY", help="kept on record")
    drop.set_defaults(run=run_drop)
    for parser in (listing, show, retry, drop):
        parser.add_argument("--processor", default=None, help="only of this projection, such as cards")
        parser.add_argument("--user", default=None, help="only this user")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")


def _found(options: argparse.Namespace, settings: Settings, connection: Connection) -> list[Queue]:
    known = [projector.name for projector in projectors(settings)]
    if options.processor not in (None, *known):
        raise ValueError(f"there is no projection {options.processor!r}; there are {', '.join(known)}")
    return parking.queues(connection, options.processor, options.user)


def run_list(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    with connect(settings.database_url, application="parked") as connection:
        queues = _found(options, settings, connection)
    if options.json:
        print(json.dumps([_document(queue) for queue in queues], ensure_ascii=False, default=str))
        return 0
    for queue in queues:
        print(_line(queue))
    _sum_up(queues)
    return 0


def run_show(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    with connect(settings.database_url, application="parked") as connection:
        found = [
            (queue, list(parking.waiting(connection, queue)))
            for queue in _found(options, settings, connection)
        ]
    if options.json:
        documents = [
            {
                **_document(queue),
                "events": [{"place": f"{e.partition}/{e.position}", "type": e.type} for e in events],
            }
            for queue, events in found
        ]
        print(json.dumps(documents, ensure_ascii=False, default=str))
        return 0
    for queue, events in found:
        print(_line(queue))
        for event in events:
            print(
                f"    {event.partition}/{event.position:<10} {event.recorded_at:%Y-%m-%d %H:%M:%S} {event.type}"
            )
    _sum_up([queue for queue, _ in found])
    if found:
        print("see the words of an event: cardlog log show --at PARTITION/POSITION --json")
    return 0


def run_retry(options: argparse.Namespace, settings: Settings) -> int:
    return _go_on(options, settings, None)


def run_drop(options: argparse.Namespace, settings: Settings) -> int:
    if options.all == (options.user is not None):
        raise ValueError("say who: --user NAME as listed by `cardlog parked list`, or --all")
    return _go_on(options, settings, options.because)


def _go_on(options: argparse.Namespace, settings: Settings, because: str | None) -> int:
    settings, _ = find(settings, options.data)
    by_name = {projector.name: projector for projector in projectors(settings)}
    results: list[dict[str, Any]] = []
    with connect(settings.database_url, application="parked") as connection:
        for queue in _found(options, settings, connection):
            outcome = _treat(connection, by_name[queue.processor], queue, because, options)
            results.append({"processor": queue.processor, "user_id": queue.user_id, **asdict(outcome)})
            if not options.json:
                _tell(queue, outcome)
        announce(connection)
    if options.json:
        print(json.dumps(results, ensure_ascii=False))
    elif not results:
        print("nobody is parked")
    return 1 if any(result["reason"] for result in results) else 0


def _treat(
    connection: Connection,
    projector: Projector,
    queue: Queue,
    because: str | None,
    options: argparse.Namespace,
) -> parking.Outcome:
    if because is None:
        return parking.retry(connection, projector, queue.user_id)
    return parking.drop(connection, projector, queue.user_id, because, whole=options.whole)


def _tell(queue: Queue, outcome: parking.Outcome) -> None:
    done = f"{outcome.folded} events folded" + (f", {outcome.dropped} dropped" if outcome.dropped else "")
    print(f"{queue.processor} {queue.user_id}: {done}")
    if outcome.reason is not None:
        print(f"{queue.processor} {queue.user_id} still waits: {outcome.reason}", file=sys.stderr)


def _line(queue: Queue) -> str:
    place = f"{queue.partition}/{queue.position}"
    behind = f", {queue.behind} behind it" if queue.behind else ""
    return (
        f"{queue.processor:<10} {queue.user_id:<12} {place:<10} {queue.type or '?':<18} "
        f"since {queue.parked_at:%Y-%m-%d %H:%M:%S}, tried {queue.attempts} times{behind}: {queue.reason or '?'}"
    )


def _sum_up(queues: list[Queue]) -> None:
    events = sum(1 + queue.behind for queue in queues)
    print(
        f"{events} events of {len({queue.user_id for queue in queues})} users wait"
        if queues
        else "nobody is parked"
    )


def _document(queue: Queue) -> dict[str, Any]:
    document = asdict(queue)
    document["parked_at"] = queue.parked_at.isoformat()
    return document
