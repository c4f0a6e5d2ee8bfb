"""``cardlog erase``: erases users, persons, turns and old turns, and checks receipts."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.instance import find
from deploy.options import Answer, File, Flat, Given, Json, OptionInvalidError, instant_of
from deploy.security.private_files import reading, writing
from events.platform.counting import counted
from events.platform.database import Connection, connect, connect_owner, migrate
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY
from events.store import authentication
from events.types.tenancy import DEFAULT_TENANT, checked_tenant, storage_id
from ingest.erasure import receipts, subjects, tombstones
from ingest.erasure.erasure import Eraser, Terms, users_of
from ingest.erasure.receipts import faults
from ingest.erasure.subjects import Outcome
from projectors.registry import derived
from projectors.scrubbing import scrub

BY = "cardlog erase"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to erase."""

    user: str | None = None
    """erase this user; with --person, --turn or --before: only in this user's memory"""
    person: str | None = None
    """erase a person who is spoken of, by name or by the id of `cardlog people`: every turn that names the person"""
    alias: tuple[str, ...] = ()
    """another name of the person; may be given several times"""
    turn: Annotated[str | None, Parameter(help="erase the turn with this id; needs --user")] = None
    before: Annotated[str | None, Parameter(metavar="DATE")] = None
    """erase turns that were said before this date (ISO 8601)"""
    mode: Annotated[str | None, Parameter(help="with --before: only turns of this mode")] = None
    tenant: Annotated[str, Parameter(help="the tenant (default: default)")] = DEFAULT_TENANT
    dry_run: Annotated[bool, Parameter(help="erase nothing, and count what would go; the default")] = False
    yes: Annotated[bool, Parameter(help="erase")] = False
    derived_only: bool = False
    """leave the words in a log that is not sealed, and delete what was made of them"""
    receipt: Annotated[File | None, Parameter(help="write the receipt to this file")] = None
    scrub: bool = False
    """afterwards remove the bytes of everything erased from the files of the servers"""
    replay: bool = False
    """erase again what CARDLOG_TOMBSTONES_FILE lists and a restored backup brought back"""
    verify: Annotated[File | None, Parameter(help="check a receipt against this log")] = None
    json: Json = False


def erase(
    *, options: Flat[Options] = Options(), settings: Given[Settings], data: Given[Path | None]
) -> Answer:
    """Erase a user, a person, a turn or old turns.

    Without --yes it only counts what would go. The words are erased by destroying their keys, and everything that was
    made of them is deleted, in one transaction for each user. The log itself stays as it is, so `cardlog log verify`
    passes. A receipt says what was done; it is signed with the log key. --scrub then removes the bytes from the files.
    An erasure that is interrupted can be repeated. Exit status: 0 done, 1 refused, the subject is unknown, or the
    receipt does not hold.
    """
    _check(options)
    settings, _ = find(settings, data)
    with connect_owner(settings, application="erase") as owner:
        migrate(owner)
    with connect(settings.database_url, application="erase") as connection:
        if options.verify is not None:
            return _verify(connection, options.verify)
        eraser = Eraser(settings, derived(settings))
        if options.replay:
            again = _replay(eraser, connection, settings)
            return Answer({"erased_again": again}, [f"erased again: {counted(again, 'user')}"])
        answers = [_erase(eraser, connection, options)] if _named(options) else []
        if options.scrub and (options.yes or not answers):
            answers.append(_scrub(eraser, connection, settings))
    lines = [line for each in answers for line in each.lines]
    return Answer(
        [each.document for each in answers], lines, max(each.status for each in answers), by_line=True
    )


def _named(options: Options) -> bool:
    return any(each is not None for each in (options.user, options.person, options.turn, options.before))


def _check(options: Options) -> None:
    others = (options.replay, options.verify is not None, options.scrub)
    if not _named(options) and not any(others):
        raise OptionInvalidError("what to erase is missing: give --user, --person, --turn or --before")
    if sum(each is not None for each in (options.person, options.turn, options.before)) > 1:
        raise OptionInvalidError("give one of --person, --turn and --before")
    if options.turn is not None and options.user is None:
        raise OptionInvalidError("--turn needs --user: a turn id is unique only within a user")
    if options.alias and options.person is None:
        raise OptionInvalidError("--alias needs --person")
    if options.mode is not None and options.before is None:
        raise OptionInvalidError("--mode needs --before")
    if options.receipt is not None and (options.derived_only or not options.yes):
        raise OptionInvalidError("--receipt needs --yes, and an erasure with --derived-only has no receipt")
    if options.yes and options.dry_run:
        raise OptionInvalidError("give --yes or --dry-run, not both")


def _erase(eraser: Eraser, connection: Connection, options: Options) -> Answer:
    """Erases, or counts. The status is 1 for a user, a person or a turn that nobody knows."""
    tenant = checked_tenant(options.tenant)
    terms = Terms(by=BY, dry_run=not options.yes, derived_only=options.derived_only)
    only = None if options.user is None else storage_id(tenant, options.user)
    users: Sequence[str] = [only] if only is not None else users_of(connection, tenant)
    if options.person is not None:
        names = [options.person, *options.alias]
        outcome = subjects.erase_person(eraser, connection, names, users, terms)
    elif options.before is not None:
        before = instant_of("--before", options.before, "2026-05-08")
        if before.tzinfo is None:
            before = before.replace(tzinfo=UTC)
        outcome = subjects.erase_before(eraser, connection, before, users, terms, mode=options.mode)
    elif options.turn is not None:
        outcome = subjects.erase_turn(eraser, connection, users[0], options.turn, terms)
    else:
        outcome = subjects.erase_user(eraser, connection, users[0], terms)
    receipt = receipts.receipt_of(connection, outcome.erasure_id) if options.yes else None
    if receipt is not None and options.receipt is not None:
        with writing(options.receipt) as file:
            file.write(json.dumps(receipt, ensure_ascii=False, indent=2).encode() + b"\n")
    unknown = not outcome.users and options.before is None
    if unknown and not options.json:
        print("cardlog erase: there is nothing of this name to erase", file=sys.stderr)
    document = receipt or outcome.document() | {"dry_run": not options.yes}
    return Answer(document, _lines(outcome, receipt, options), int(unknown))


def _lines(outcome: Outcome, receipt: dict[str, object] | None, options: Options) -> Iterator[str]:
    for name in outcome.names:
        yield f"looked for the name {name}"
    for name, people in outcome.shared.items():
        yield f"{name} is a name of several people; to erase one, give its id:"
        for person_id, person in people.items():
            ties = f" ({', '.join(person.kinship)})" if person.kinship else ""
            yield f"  {person_id}  {person.name}{ties}"
    for name, number in sorted(outcome.counts.items()):
        yield f"{number:>10} {name}"
    memories = f"in the memory of {counted(len(outcome.users), 'user')}"
    if outcome.users and not options.yes:
        yield f"{memories}; nothing was erased: add --yes to erase this"
    elif outcome.users:
        yield f"erased {memories}" + ("" if receipt is None else f"; receipt {receipt['erasure_id']}")
    elif options.before is not None:
        yield "there is nothing to erase"


def _verify(connection: Connection, name: str) -> Answer:
    with reading(name) as file:
        text = file.read()
    try:
        found = faults(connection, receipts.read(text, authentication.in_use()))
    except receipts.ReceiptError as error:
        found = [str(error)]
    told = [f"{name}: {fault}" for fault in found] or [f"{name} holds: what it names is erased in this log"]
    return Answer({"holds": not found, "faults": found}, told, 1 if found else 0)


def erase_again(settings: Settings) -> str:
    """Erases again what an imported log brought back. Returns a sentence for the operator.

    Without CARDLOG_TOMBSTONES_FILE nothing is erased, and the sentence says so.
    """
    if not settings.tombstones_file:
        return (
            "what was erased after the export, if anything, is back: set CARDLOG_TOMBSTONES_FILE to the list of "
            "erasures, and run: cardlog erase --replay"
        )
    with connect(settings.database_url, application="erase") as connection:
        again = _replay(Eraser(settings, derived(settings)), connection, settings)
    return f"erased again after {settings.tombstones_file}: {counted(again, 'user')}"


def _replay(eraser: Eraser, connection: Connection, settings: Settings) -> int:
    if not settings.tombstones_file:
        raise ValueError("CARDLOG_TOMBSTONES_FILE is not set: name the file with the list of erasures")
    outcomes = subjects.replay(eraser, connection, tombstones.read(Path(settings.tombstones_file)))
    again = sum(len(outcome.users) for outcome in outcomes)
    eraser.keep_tombstones(connection)
    return again


def _scrub(eraser: Eraser, connection: Connection, settings: Settings) -> Answer:
    try:
        eraser.resume(connection)
    except REDIS_AWAY as error:
        print(f"redis is away, so turns may wait there: {error}", file=sys.stderr)
    done = scrub(settings)
    return Answer(done.document(), done.lines())
