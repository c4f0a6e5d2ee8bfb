"""Sealed entries of the turn queue: what the write service pushes waits in Redis without a readable word.

An entry is sealed under a key that the pushing process made. That key is wrapped by the key-encryption key and travels
with each entry, so any recorder with the key-encryption key opens the entry. Queries in Redis look at the user and the
tenant, which stay visible and are bound to the sealed fields.
"""

import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from functools import lru_cache

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from events.sealing import sealer as sealing
from events.sealing.key_encryption import KeyUnavailableError, WrappedKeyError
from events.sealing.sealer import Sealer
from events.types.codec import SEALED
from events.types.queue_entry import PUSHED, pushed_turn
from events.types.turn_contract import TurnInvalidError, text_of

VISIBLE = ("user_id", "tenant")
"""The fields of an entry that are never sealed."""
NAME = "turn_id"
"""The field that a roll-over of the stream adds to the sealed ones: the turn keeps the name that it was given. A
``turn_id`` among the sealed fields wins."""
_CONTEXT = "turn queue"
_NONCE_BYTES = 12
_LENGTH_BYTES = 2
_PUSHERS = 1_024  # Unwrapped keys of pushing processes in memory.


def sealed_entry(fields: Mapping[str, str]) -> dict[str, str]:
    """Returns the entry of a turn for the queue: sealed when this process has a key-encryption key."""
    sealer = sealing.in_use()
    if sealer is None:
        return dict(fields)
    wrapped, cipher = _own_key(sealer)
    visible = {name: fields[name] for name in VISIBLE if name in fields}
    hidden = orjson.dumps({name: value for name, value in fields.items() if name not in visible})
    nonce = os.urandom(_NONCE_BYTES)
    sealed = cipher.encrypt(nonce, hidden, _bound(visible))
    parts = len(wrapped).to_bytes(_LENGTH_BYTES) + wrapped + nonce + sealed
    return {**visible, SEALED: b2a_base64(parts, newline=False).decode()}


def opened_entry(fields: Mapping[bytes, bytes]) -> Mapping[bytes, bytes]:
    """Returns the fields of an entry as an app pushed them. An entry that holds them in the open is returned as it is.

    Raises :class:`TurnInvalidError` for a sealed entry that this process cannot open: the entry becomes a dead letter,
    stays sealed, and can be retried with the right key. Raises it too for a pushed text that is no turn.
    """
    if SEALED.encode() in fields:
        plain, found = _unsealed(fields)
    elif PUSHED.encode() in fields:
        plain, found = _parsed(fields)
    else:
        return fields
    if NAME in plain and not found.get(NAME, "").strip():
        found[NAME] = plain[NAME]
    return {name.encode(): value.encode() for name, value in found.items()}


def _unsealed(fields: Mapping[bytes, bytes]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns (the visible fields of a sealed entry, all fields of its turn)."""
    try:
        plain = {name.decode(): value.decode() for name, value in fields.items() if name != SEALED.encode()}
        visible = {name: value for name, value in plain.items() if name != NAME}
        if not visible.keys() <= set(VISIBLE):
            raise ValueError("further fields")
        parts = a2b_base64(fields[SEALED.encode()], strict_mode=True)
        start = _LENGTH_BYTES + int.from_bytes(parts[:_LENGTH_BYTES])
        sealer = sealing.in_use()
        if sealer is None:
            raise TurnInvalidError(
                SEALED, "the entry is sealed; set CARDLOG_KEK_FILE and retry the dead letter"
            )
        cipher = _key_of(sealer, parts[_LENGTH_BYTES:start])
        hidden = cipher.decrypt(
            parts[start : start + _NONCE_BYTES], parts[start + _NONCE_BYTES :], _bound(visible)
        )
        return plain, {**visible, **orjson.loads(hidden)}
    except KeyUnavailableError as error:
        raise TurnInvalidError(SEALED, str(error)) from None
    except TurnInvalidError:
        raise
    except (InvalidTag, WrappedKeyError, ValueError, AttributeError):
        raise TurnInvalidError(SEALED, "the sealed entry was changed, or belongs to another user") from None


def _parsed(fields: Mapping[bytes, bytes]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns (the plain fields of the entry, the fields of the turn)."""
    found = pushed_turn(fields[PUSHED.encode()])
    plain = {
        text_of("(field name)", name): text_of("(field)", value)
        for name, value in fields.items()
        if name != PUSHED.encode()
    }
    if not plain.keys() <= {"user_id", NAME} or plain.get("user_id", found.get("user_id")) != found.get(
        "user_id"
    ):
        raise TurnInvalidError(PUSHED, "holds a whole turn; leave the other fields out")
    return plain, found


@lru_cache(1)
def _own_key(sealer: Sealer) -> tuple[bytes, AESGCM]:
    """Returns the key of this process for its entries, wrapped and ready for use."""
    key = AESGCM.generate_key(256)
    return sealer.encryption.wrap(key, _CONTEXT), AESGCM(key)


@lru_cache(_PUSHERS)
def _key_of(sealer: Sealer, wrapped: bytes) -> AESGCM:
    return AESGCM(sealer.encryption.unwrap(wrapped, _CONTEXT))


def _bound(visible: Mapping[str, str]) -> bytes:
    return orjson.dumps([_CONTEXT, *(visible.get(name) for name in VISIBLE)])
