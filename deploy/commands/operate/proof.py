"""``cardlog log verify``, ``anchor`` and ``key``: the proof that the log holds what was appended, and by whom."""

import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from deploy.instance import find
from deploy.options import Answer, File, Given, Json
from deploy.progress import Progress
from deploy.security import definitions
from deploy.security.private_files import reading, writing
from events.access import audit_verification
from events.platform.counting import counted
from events.platform.database import Connection, connect, connect_owner, require_proof
from events.platform.settings import Settings, SettingsError
from events.sealing import sealer as sealing
from events.store import anchors, authentication, log
from events.store.authentication import Keyring, fingerprint
from events.store.verification import verify

_PUBLIC_KEY_BYTES = 32


def run_verify(
    *,
    anchor: Annotated[
        tuple[Path, ...],
        Parameter(
            metavar="FILE",
            help="an anchor that the log must agree with; several anchors locate a difference more exactly",
        ),
    ] = (),
    public_key: Annotated[
        str | None,
        Parameter(
            metavar="HEX",
            help="the key that must have signed the anchors (default: the log key in use); `log key show` prints it",
        ),
    ] = None,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> Answer:
    """Find holes, tampering, forgery and disorder.

    Recompute the digest chain of every partition and of the audit log, and compare the functions and triggers that
    guard them with those of the migrations. With the log key (CARDLOG_LOG_KEY_FILE, or the embedded one), find events
    that were appended without the key. With the key-encryption key (CARDLOG_KEK_FILE, or the embedded one), find sealed
    payloads that were changed or swapped. With anchors, find a history that was rewritten or cut together with its
    digests. The command names the first bad position of each partition, and the exit status is then 1.
    """
    keyring = keyring_of(cardlog)
    sealer = sealing.in_use()
    trusted: Keyring | bytes | None = keyring
    if public_key is not None:
        trusted = _public_key(public_key)
    notes = []
    found, faults = anchors_in(anchor, trusted)
    if found and trusted is None:
        signers = sorted({fingerprint(each.public_key) for each in found})
        notes.append(
            f"the signatures of the anchors ({', '.join(signers)}) were not checked: give --public-key or the log key"
        )
    with (
        connect_owner(cardlog, application="log verify") as connection,
        Progress("events") as progress,
    ):
        require_proof(connection)
        total = sum(log.heads(connection).values())
        result = verify(
            connection, lambda done: progress(done, total), keyring=keyring, sealer=sealer, anchors=found
        )
        try:
            faults += definitions.differences(connection)
        except definitions.DefinitionsUnknownError as error:
            notes.append(str(error))
        audit = audit_verification.verify(connection, anchors.audit_witnesses(found))
    faults += (*result.faults, *audit.faults)
    if keyring is None:
        notes.append(
            "there is no log key: events of other programs were not searched; set CARDLOG_LOG_KEY_FILE"
        )
    elif result.before_key:
        notes.append(f"no key authenticates {counted(result.before_key, 'event')} from before the log key")
    if result.erased:
        notes.append(f"{counted(result.erased, 'payload')} erased")
    counts = ("events", "authenticated", "before_key", "sealed", "erased")
    document = {
        "ok": not faults,
        **{name: getattr(result, name) for name in counts},
        "audit_entries": audit.entries,
        "anchors": [each.name for each in found],
        "faults": faults,
        "notes": notes,
    }
    summary = f"{counted(result.events, 'event')} verified, and {audit.entries} audit entries"
    if faults:
        summary = f"{len(faults)} faults; another program changed the log, or the disk is faulty"
        if result.lacks_log_key and len(faults) == len(result.faults):
            summary = (
                f"{len(faults)} faults; the original log.key of these events is missing (name it in "
                "CARDLOG_LOG_KEY_FILE), or somebody appended them with a key of their own"
            )
    return Answer(document, [*faults, *(f"note: {note}" for note in notes), summary], 1 if faults else 0)


def run_anchor(
    file: Annotated[File | None, Parameter(help="the file to write (default: standard output)")] = None,
    /,
    *,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> int:
    """Print the heads of the log, signed.

    Print the position and digest of every partition and of the audit log as one JSON document, signed with the log
    key (Ed25519). Keep
    the anchor where a user who can change the database cannot change it. `log verify --anchor FILE` then finds every
    change of the events and audit entries up to the anchor, also a change by a superuser who computed every digest
    again.
    """
    keyring = keyring_of(cardlog)
    if keyring is None:
        raise SettingsError(
            "an anchor needs the log key: create it with `cardlog log key new FILE`, then set "
            "CARDLOG_LOG_KEY_FILE"
        )
    with writing(file or "-") as out:
        out.write(anchors.make(connection, keyring.current))
    return 0


def run_key(
    what: Literal["new", "rotate", "show"],
    file: Annotated[Path | None, Parameter(metavar="FILE", help="the file (default: the one in use)")] = None,
    /,
    *,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Create, renew or show the key that authenticates appended events.

    The log key proves who appended an event, and signs anchors. Every process that appends needs the key file
    (CARDLOG_LOG_KEY_FILE). The database never sees the key. `new` creates a key; events that are already in the log
    need no authentication. `rotate` adds a new key in front of the keys in the file. `show` prints ids and public
    keys. Restart the processes after `new` and `rotate`. The embedded stack creates its own key, log.key in the data
    folder.
    """
    if what == "new":
        if file is None:
            raise SettingsError("the file of the new key is missing: cardlog log key new FILE")
        settings, _ = find(replace(settings, log_key_file=""), data)
        with connect(settings.database_url, application="log key") as connection:
            keyring = authentication.create(file, anchors.heads_of(connection))
    else:
        path = file
        if path is None:
            path = Path(settings.log_key_file or find(settings, data)[0].log_key_file)
        if path == Path():
            raise SettingsError("no log key is in use here: name its file, or set CARDLOG_LOG_KEY_FILE")
        keyring = authentication.rotate(path) if what == "rotate" else authentication.load(path)
    if what != "show":
        where = file if what == "new" else path
        print(
            f"wrote {where}; restart every process that appends, with CARDLOG_LOG_KEY_FILE naming it, and keep a copy "
            "of it outside the database server",
            file=sys.stderr,
        )
    for number, key in enumerate(keyring.keys):
        state = "in use" if number == 0 else "earlier"
        print(f"{key.id.hex()}  {state:<8} public key {anchors.public_key_of(key).hex()}")
    return 0


def anchors_in(
    paths: Iterable[Path], trusted: Keyring | bytes | None
) -> tuple[list[anchors.Anchor], list[str]]:
    """Returns the anchors in files, and a fault for each file that is no trusted anchor."""
    found, faults = [], []
    for path in paths:
        with reading(str(path)) as file:
            text = file.read(1_000_001)
        try:
            found.append(anchors.read(str(path), text, trusted))
        except anchors.AnchorError as error:
            faults.append(str(error))
    return found, faults


def keyring_of(settings: Settings) -> Keyring | None:
    """Returns the log key in use; None without one."""
    return authentication.load(Path(settings.log_key_file)) if settings.log_key_file else None


def _public_key(text: str) -> bytes:
    if not re.fullmatch(rf"[0-9a-fA-F]{{{2 * _PUBLIC_KEY_BYTES}}}", text):
        raise ValueError(
            f"--public-key {text!r} is not a public key: give the {2 * _PUBLIC_KEY_BYTES} hexadecimal digits that "
            "`cardlog log key show` prints"
        )
    return bytes.fromhex(text)
