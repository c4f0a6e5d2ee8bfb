"""Anchors: signed records of all heads of the log and of the audit log. Operators keep anchors outside the database."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from events.access import audit_verification
from events.platform.chains import Head
from events.platform.database import Connection, statement
from events.platform.key_file import Key
from events.store.authentication import Heads, Keyring, fingerprint
from events.types.envelope import PARTITIONS
from events.types.json_values import Json, JsonObject

_KIND = "cardlog log anchor"
_FORMAT = 1
_DIGEST_BYTES = 32
_LARGEST = 1_000_000


class AnchorError(ValueError):
    """The anchor proves nothing. The message says why."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The head of every partition at ``at``. The digest of a head covers every event up to the head.

    ``name`` is the file of the anchor. ``at`` is an ISO time. ``public_key`` are 32 bytes of Ed25519. ``audit`` is the
    head of the audit log; None in a database without one.
    """

    name: str
    at: str
    heads: Heads
    public_key: bytes
    audit: Head | None = None


def public_key_of(key: Key) -> bytes:
    """Returns the public key that checks the anchors of ``key``: 32 bytes of Ed25519."""
    return _signer(key).public_key().public_bytes_raw()


def make(connection: Connection, key: Key) -> bytes:
    """Returns the heads of all partitions and of the audit log, as a JSON document signed with ``key`` (Ed25519).

    The heads of the partitions are from one snapshot.
    """
    signer = _signer(key)
    heads, audit = heads_of(connection), audit_verification.head_of(connection)
    document = {
        "kind": _KIND,
        "format": _FORMAT,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "heads": [
            [partition, position, digest.hex()] for partition, (position, digest) in sorted(heads.items())
        ],
        "audit": None if audit is None else [audit[0], audit[1].hex()],
        "public_key": public_key_of(key).hex(),
    }
    document["signature"] = signer.sign(_signed(document)).hex()
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def read(name: str, text: bytes, trusted: Keyring | bytes | None) -> Anchor:
    """Returns the anchor in ``text``. ``name`` is the name of its file.

    ``trusted`` names the keys whose signature counts: a keyring, or one public key. None accepts every valid
    signature. Raises :class:`AnchorError` for a document that is no anchor, for an invalid signature, and for the
    signature of another key.
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
        audit = _audit_head(document["audit"])
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
    return Anchor(name, at, heads, public, audit)


def audit_witnesses(anchors: Iterable[Anchor]) -> list[tuple[str, Head]]:
    """Returns name and head of the audit log in each anchor that has it."""
    return [(f"anchor {each.name} of {each.at}", each.audit) for each in anchors if each.audit is not None]


def heads_of(connection: Connection) -> dict[int, tuple[int, bytes]]:
    """Returns the head of every partition from one snapshot: its last position and the digest there."""
    rows = connection.execute(statement("events.store", "head_digests")).fetchall()
    return {partition: (position, bytes(digest)) for partition, position, digest in rows}


def _audit_head(given: Json) -> Head | None:
    """Returns the head of the audit log in an anchor. Raises ValueError or TypeError for a malformed one."""
    if given is None:
        return None
    position, digest = given
    head = int(position), bytes.fromhex(digest)
    if head[0] < 0 or len(head[1]) != _DIGEST_BYTES:
        raise ValueError("audit")
    return head


def _signer(key: Key) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(key.derived(b"cardlog anchors"))


def _signed(document: JsonObject) -> bytes:
    """Returns the bytes that a signature covers: all fields but the signature, in sorted order, without spaces."""
    rest = {name: value for name, value in document.items() if name != "signature"}
    return _KIND.encode() + b"\n" + orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)
