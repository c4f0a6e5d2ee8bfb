"""Copies a log into an empty log with every payload sealed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import orjson

from events.platform.database import Connection
from events.sealing import keystore
from events.sealing.sealer import PREFIX, Sealer, new_salts
from events.store.archive import ImportSummary, Progress, export_lines, import_lines
from events.store.event_line import EventLine, parse_line
from events.store.log import heads
from events.store.verification import SEED
from events.types.codec import visible_names


class CopyRefusedError(RuntimeError):
    """The log cannot be copied. The message gives the reason and the remedy."""


def seal_log(source: Connection, target: Connection, sealer: Sealer, progress: Progress) -> ImportSummary:
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
        fields: dict[str, Any] = {
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
