"""``cardlog log seal`` and ``kek``: the sealed copy of a log, and the key-encryption key."""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

import orjson
from cyclopts import Parameter

from deploy.instance import find
from deploy.options import Given
from deploy.progress import Progress
from events.platform.chains import SEED
from events.platform.counting import counted
from events.platform.database import Connection, connect, connect_owner, migrate
from events.platform.settings import Settings, SettingsError
from events.sealing import key_encryption, keystore
from events.sealing import sealer as sealing
from events.sealing.sealer import PREFIX, Sealer, new_salts
from events.store import archive, log
from events.store.archive import ImportSummary, export_lines, import_lines
from events.store.event_line import EventLine, parse_line
from events.store.log import heads
from events.store.verification import verify
from events.types.codec import visible_names
from events.types.json_values import Json


class CopyRefusedError(RuntimeError):
    """The log cannot be copied. The message gives the reason and the remedy."""


def seal_log(
    source: Connection, target: Connection, sealer: Sealer, progress: archive.Progress
) -> ImportSummary:
    """Copies every event of ``source`` to ``target``, with the same ids, positions and times and a sealed payload.

    The digests of the copy are new, because they cover the sealed payloads. The copy carries no HMAC of a log key: make
    a new log key for it. Erased events stay erased. ``source`` does not change. Raises :class:`CopyRefusedError` when
    ``target`` holds events, and the errors of an import.
    """
    if any(heads(target).values()):
        raise CopyRefusedError("the target holds events already: name an empty database")
    return import_lines(target, _Sealing(source, sealer).lines(), progress=progress)


class _Sealing:
    """Turns the lines of an archive into lines with sealed payloads and a chain of their own."""

    def __init__(self, source: Connection, sealer: Sealer) -> None:
        self._source = source
        self._sealer = sealer
        self._keys: dict[str, str] = {}
        self._partition = -1
        self._digest = SEED

    def lines(self) -> Iterator[bytes]:
        checksum, count = sha256(), -1
        for line in export_lines(self._source, with_keys=True):
            made = line if count < 0 else self._sealed(parse_line(line))
            count += 1
            checksum.update(made)
            yield made
        yield orjson.dumps({"events": count, "sha256": checksum.hexdigest()}) + b"\n"

    def _sealed(self, line: EventLine) -> bytes:
        fields: dict[str, Json] = {
            name: value for name, value in line.fields.items() if name not in ("text", "mac")
        }
        user_id = str(fields["user_id"])
        payload = line.payload
        if not payload.startswith(PREFIX):
            key = self._keys.get(user_id) or self._key_of(user_id)
            [salt] = new_salts(1)
            payload = self._sealer.seal(
                bytes.fromhex(key), salt, user_id, line.event_id, fields["type"], fields["schema_version"],
                payload.encode(), _visible(fields["type"], payload),
            ).decode()  # fmt: skip
            fields |= {"salt": salt.hex(), "subject_key": key}
        if fields["partition"] != self._partition:
            self._partition, self._digest = fields["partition"], SEED
        self._digest = EventLine(fields, payload).digest_after(self._digest)
        fields["digest"] = self._digest.hex()
        return orjson.dumps(fields)[:-1] + b',"data":' + payload.encode() + b"}\n"

    def _key_of(self, user_id: str) -> str:
        """Returns the wrapped key of a user: the key that the log has already, or a new one."""
        known = keystore.wrapped_keys(self._source, [user_id]).get(user_id)
        self._keys[user_id] = (known or self._sealer.new_key(user_id)).hex()
        return self._keys[user_id]


def _visible(kind: str, payload: str) -> bytes:
    names = visible_names(kind)
    if not names:
        return b"{}"
    values = orjson.loads(payload)
    return orjson.dumps({name: values[name] for name in names if name in values})


def run_kek(
    what: Literal["new", "rotate", "show"],
    file: Annotated[Path | None, Parameter(metavar="FILE", help="the file (default: the one in use)")] = None,
    /,
    *,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Create, renew or show the key-encryption key that payloads are sealed under.

    Every payload is sealed under a data key of its user, and the key-encryption key wraps the data keys. Every
    process needs the file (CARDLOG_KEK_FILE). The database never sees the key. Without the file nobody can read
    sealed payloads, so keep a copy apart from the database. `new` creates a key. `rotate` puts a new key in front of
    the keys in the file and wraps every data key again; no payload changes. Running processes read the file again
    when they meet the new key. `show` prints the id of each key and the number of users whose data key it wraps. An
    old key may leave the file when that number is 0 and the turn queue is empty. The embedded stack creates its own
    key, kek.key in the data folder.
    """
    if what == "new":
        if file is None:
            raise SettingsError("the file of the new key is missing: cardlog log kek new FILE")
        key_encryption.create(file)
        print(f"created {file}; set CARDLOG_KEK_FILE to it in every process, and keep a copy of it")
        return 0
    settings, _ = find(settings, data)
    path = file or Path(settings.kek_file)
    if path == Path():
        raise SettingsError("no key-encryption key is in use here: name its file, or set CARDLOG_KEK_FILE")
    with connect_owner(settings, application="log kek") as connection:
        if what == "rotate":
            sealer = Sealer(key_encryption.rotate(path))
            with Progress("keys") as progress:
                changed = keystore.rewrap(connection, sealer, lambda done: progress(done, None))
            print(f"wrapped {changed} data keys again", file=sys.stderr)
        wrapped = keystore.keys_by_wrapper(connection)
    keys, _ = key_encryption.KEY_FILE.read(path)
    for number, key in enumerate(keys):
        state = "in use" if number == 0 else "earlier"
        print(f"{key.id.hex()}  {state:<8} {counted(wrapped.pop(key.id.hex(), 0), 'user')}")
    for missing, users in sorted(wrapped.items()):
        print(f"{missing}  missing  {counted(users, 'user')}")
    return 1 if wrapped else 0


def run_seal(
    to: Annotated[
        str, Parameter(name="--to", metavar="URL", help="an empty PostgreSQL database for the sealed copy")
    ],
    *,
    cardlog: Given[Settings],
) -> int:
    """Copy the log into an empty database with every payload sealed, and verify the copy.

    Stop the apps and the workers first: later events are not copied. The log itself does not change. Afterwards set
    CARDLOG_DATABASE_URL to the copy, create a log key for it with `cardlog log key new FILE`, start again, and destroy
    the unsealed database and its backups.
    """
    sealer = sealing.in_use()
    if sealer is None:
        raise SettingsError(
            "there is no key-encryption key: create one with `cardlog log kek new FILE`, then set "
            "CARDLOG_KEK_FILE"
        )
    with (
        connect(cardlog.database_url, application="log seal") as source,
        connect(to, application="log seal") as target,
    ):
        migrate(target)
        with Progress("events") as progress:
            done = seal_log(source, target, sealer, progress)
        total = sum(log.heads(target).values())
        with Progress("events verified") as progress:
            result = verify(target, lambda count: progress(count, total), sealer=sealer)
    for fault in result.faults:
        print(fault)
    if result.faults:
        return 1
    print(f"copied {counted(done.added, 'event')}: {result.sealed} are sealed, {result.erased} are erased")
    return 0
