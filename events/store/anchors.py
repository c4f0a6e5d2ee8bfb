"""Anchors: signed notes of where the log stood, kept away from the database that could be rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from events.platform.sql import statement
from events.store.authentication import Heads, Key, Keyring, fingerprint
from events.store.log import Connection
from events.types.envelope import PARTITIONS

_KIND = "cardlog log anchor"
_FORMAT = 1
_DIGEST_BYTES = 32
_LARGEST = 1_000_000


class AnchorError(ValueError):
    """The anchor proves nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where every partition stood at ``at``; a digest covers every event up to its own."""

    name: str
    at: str
    heads: Heads
    public_key: bytes


def public_key_of(key: Key) -> bytes:
    """What anyone may have, to check anchors made with ``key``."""
    return _signer(key).public_key().public_bytes_raw()


def make(connection: Connection, key: Key) -> bytes:
    """Where the log stands now, as a JSON document signed with ``key`` (Ed25519); one moment for all partitions."""
    signer = _signer(key)
    heads = heads_of(connection)
    document = {
        "kind": _KIND,
        "format": _FORMAT,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "heads": [
            [partition, position, digest.hex()] for partition, (position, digest) in sorted(heads.items())
        ],
        "public_key": public_key_of(key).hex(),
    }
    document["signature"] = signer.sign(_signed(document)).hex()
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def read(name: str, text: bytes, trusted: Keyring | bytes | None) -> Anchor:
    """The anchor in ``text``, which came from the file ``name``.

    ``trusted`` says whose signature counts: of the keys of a keyring, or of one public key; with None, any that fits.
    Raises :class:`AnchorError` for a document that is none, a signature that does not fit, or another's key.
    """
    try:
        document = orjson.loads(text[: _LARGEST + 1])
        if document["kind"] != _KIND or document["format"] != _FORMAT:
            raise ValueError("kind or format")
        public = bytes.fromhex(document["public_key"])
        signature = bytes.fromhex(document["signature"])
        heads = {int(each[0]): (int(each[1]), bytes.fromhex(each[2])) for each in document["heads"]}
        if set(heads) != set(range(PARTITIONS)) or len(document["heads"]) != PARTITIONS:
            raise ValueError("heads")
        if any(position < 0 or len(digest) != _DIGEST_BYTES for position, digest in heads.values()):
            raise ValueError("heads")
        verifier = Ed25519PublicKey.from_public_bytes(public)
        at = str(document["at"])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise AnchorError(f"{name} is no anchor: write one with cardlog log anchor") from error
    try:
        verifier.verify(signature, _signed(document))
    except InvalidSignature:
        raise AnchorError(f"{name}: its signature does not fit; the anchor was changed") from None
    if trusted is not None:
        own = [trusted] if isinstance(trusted, bytes) else [public_key_of(key) for key in trusted.keys]
        if public not in own:
            raise AnchorError(
                f"{name}: was signed with another key ({fingerprint(public)}) than the one trusted "
                f"({', '.join(fingerprint(each) for each in own)})"
            )
    return Anchor(name, at, heads, public)


def heads_of(connection: Connection) -> dict[int, tuple[int, bytes]]:
    """Of every partition, its last position and the digest there, at one moment."""
    rows = connection.execute(statement("events.store", "head_digests")).fetchall()
    return {partition: (position, bytes(digest)) for partition, position, digest in rows}


def _signer(key: Key) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(key.derived(b"cardlog anchors"))


def _signed(document: Mapping[str, Any]) -> bytes:
    """The bytes a signature covers: everything but itself, whatever the spaces and the order in the file."""
    rest = {name: value for name, value in document.items() if name != "signature"}
    return _KIND.encode() + b"\n" + orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)
