"""Receipts: signed statements of what an erasure removed. A receipt holds counts, digests and times, and no words."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from uuid import UUID

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from events.access.principal import Principal
from events.platform.database import Connection, rows_of, statement
from events.platform.key_file import Key
from events.store import authentication, log
from events.store.authentication import Keyring, fingerprint
from events.types.envelope import Event
from events.types.json_values import Json, JsonObject
from events.types.tenancy import tenant_of, user_of
from events.types.tombstones import SubjectErased, digest_of
from ingest.erasure.selection import events_of, is_readable

_KIND = "cardlog erasure receipt"
_FORMAT = 1
_LARGEST = 10_000_000


class ReceiptError(ValueError):
    """The receipt proves nothing. The message says why."""


def receipt_of(connection: Connection, erasure_id: UUID) -> dict[str, Json] | None:
    """Returns the receipt of an erasure as of now, signed with the log key if there is one.

    Returns None when the database knows no such erasure.
    """
    rows = rows_of(connection, statement("ingest.erasure", "tombstones_of"), {"erasure_id": erasure_id})
    if not rows:
        return None
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row["counts"])
    steps = {
        step: None if any(row[column] is None for row in rows) else _time(max(row[column] for row in rows))
        for step, column in (("erased", "erased_at"), ("queue", "queue_at"), ("scrubbed", "scrubbed_at"))
    }
    document = {
        "erasure_id": str(erasure_id),
        "erased": rows[0]["kind"],
        "subject": rows[0]["subject"],
        "by": rows[0]["erased_by"],
        "reason": rows[0]["reason"],
        "began_at": _time(min(row["began_at"] for row in rows)),
        "steps": steps,
        "users": len(rows),
        "counts": {name: number for name, number in counts.items() if number},
        "log": [
            {
                "partition": row["partition"],
                "position": row["position"],
                "head_before": bytes(row["before"]).hex(),
                "head_after": bytes(row["after"]).hex(),
            }
            for row in rows
        ],
    }
    keyring = authentication.in_use()
    return signed(document, None if keyring is None else keyring.current)


def reaches(connection: Connection, erasure_id: UUID, caller: Principal) -> bool:
    """True when an erasure is about the caller's tenant alone, and about nobody but the users of the caller's key."""
    rows = connection.execute(
        statement("ingest.erasure", "erased_users"), {"erasure_id": erasure_id}
    ).fetchall()
    users = caller.users
    mine = {digest_of("user", caller.storage_id(user_id)) for user_id in users or ()}
    return all(
        tenant_of(storage_id) == caller.tenant
        and (users is None or user_of(storage_id) in users or (kind == "user" and subject in mine))
        for storage_id, kind, subject in rows
    )


def signed(document: Mapping[str, object], key: Key | None) -> dict[str, object]:
    """Returns ``document`` as a receipt, signed with ``key`` (Ed25519). Without a key the signature is None."""
    receipt: dict[str, object] = {
        "kind": _KIND,
        "format": _FORMAT,
        **document,
        "public_key": None,
        "signature": None,
    }
    if key is not None:
        signer = _signer(key)
        receipt["public_key"] = signer.public_key().public_bytes_raw().hex()
        receipt["signature"] = signer.sign(_covered(receipt)).hex()
    return receipt


def read(text: bytes, trusted: Keyring | None) -> dict[str, object]:
    """Returns the receipt in ``text``.

    Raises :class:`ReceiptError` for a text that is no receipt, for one without a valid signature, and for the
    signature of a key that is not ``trusted``. None trusts every key.
    """
    try:
        receipt: dict[str, Json] = orjson.loads(text[: _LARGEST + 1])
        if receipt["kind"] != _KIND or receipt["format"] != _FORMAT:
            raise ValueError("kind or format")
        public, signature = receipt["public_key"], receipt["signature"]
        if public is None or signature is None:
            raise ReceiptError(
                "the receipt is not signed: set CARDLOG_LOG_KEY_FILE for the service or the command that erases"
            )
        verifier = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        verifier.verify(bytes.fromhex(signature), _covered(receipt))
    except InvalidSignature:
        raise ReceiptError("the signature does not fit; the receipt was changed") from None
    except ReceiptError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise ReceiptError("this is no receipt of an erasure") from error
    if trusted is not None:
        own = [_signer(key).public_key().public_bytes_raw() for key in trusted.keys]
        if bytes.fromhex(public) not in own:
            raise ReceiptError(
                f"the receipt was signed with another key ({fingerprint(bytes.fromhex(public))}) than the log key"
            )
    return receipt


def _signer(key: Key) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(key.derived(b"cardlog erasure receipts"))


def _covered(receipt: JsonObject) -> bytes:
    """Returns the bytes that a signature covers: all fields but the signature, in sorted order, without spaces."""
    rest = {name: value for name, value in receipt.items() if name != "signature"}
    return _KIND.encode() + b"\n" + orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def faults(connection: Connection, receipt: dict[str, object]) -> list[str]:
    """Returns the reasons why ``receipt`` does not hold for this log. An empty list means that it holds."""
    return list(_faults(connection, receipt))


def _faults(connection: Connection, receipt: dict[str, Json]) -> Iterator[str]:
    erasure_id = UUID(receipt["erasure_id"])
    rows = rows_of(connection, statement("ingest.erasure", "tombstones_of"), {"erasure_id": erasure_id})
    if not rows:
        yield (
            "this database does not know the erasure: an older backup was restored, or the log is another one; run "
            "`cardlog erase --replay` with the CARDLOG_TOMBSTONES_FILE that lists the erasure. If that erases nothing, "
            "this database has none of its words"
        )
        return
    places = {(row["partition"], row["position"]) for row in rows}
    for place in receipt["log"]:
        where = f"partition {place['partition']}, position {place['position']}"
        row = connection.execute(
            statement("events.store", "digest_at"),
            {"partition": place["partition"], "position": place["position"]},
        ).fetchone()
        if (place["partition"], place["position"]) not in places:
            yield (
                f"{where}: is not the place of the erasure, which was repeated after a restore; "
                f"GET /v1/erasures/{erasure_id} gives its receipt of now"
            )
        elif row is None or bytes(row[0]).hex() != place["head_after"]:
            yield f"{where}: has another digest than the receipt; this is another log"
        elif (found := _at(connection, place["partition"], place["position"])) is None or not _is_of(
            found, erasure_id
        ):
            yield f"{where}: is not the event of this erasure"
    if len(rows) != receipt["users"]:
        yield f"this database knows the erasure for {len(rows)} of {receipt['users']} users"
    for row in rows:
        named = None if row["events"] is None else set(row["events"])
        readable = sum(
            is_readable(event)
            for event in events_of(connection, row["user_id"])
            if (event.position < row["position"] if named is None else event.event_id in named)
        )
        if readable:
            yield f"{readable} erased events can be read; run `cardlog erase --replay`"


def _at(connection: Connection, partition: int, position: int) -> Event | None:
    found = log.read(connection, partition, after=position - 1, limit=1)
    return found[0] if found and found[0].position == position else None


def _is_of(event: Event, erasure_id: UUID) -> bool:
    return not is_readable(event) or (
        isinstance(event.payload, SubjectErased) and event.payload.erasure_id == erasure_id
    )
