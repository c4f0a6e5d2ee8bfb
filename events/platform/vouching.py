"""Proofs that this process holds the log key. PostgreSQL believes a session that names a tenant only with its proof."""

from __future__ import annotations

import hmac
from collections.abc import Callable

_BLOCK = 64  # bytes of a block of SHA-256

TOKENS = "/tokens"
"""The words of the claim that opens the key of tokens. No tenant has a name with a slash."""


class _InUse:
    key: Callable[[], bytes | None] = staticmethod(lambda: None)


def use(key: Callable[[], bytes | None]) -> None:
    """Proves the later claims of this process with the key that ``key`` returns; None: they have no proof."""
    _InUse.key = staticmethod(key)


def vouch(words: str) -> str:
    """Returns the claim ``words`` with its proof, as ``log.vouched`` reads it."""
    key = _InUse.key()
    return words if key is None else f"{words} {hmac.digest(key, words.encode(), 'sha256').hex()}"


def pads_of(key: bytes) -> tuple[bytes, bytes]:
    """Returns both halves of the key of an HMAC-SHA-256. They check proofs, and PostgreSQL keeps them."""
    block = key.ljust(_BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)
