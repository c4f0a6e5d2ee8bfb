"""The fields of a turn on the queue, and the proof of its tenant.

Everybody who reaches the queue may push a turn of the default tenant: such an entry has the fields of the turn contract
and nothing else. A turn of another tenant names its tenant too, with a proof that only the services can make.
"""

import hmac
import json
from collections.abc import Mapping
from hashlib import sha256

import orjson

from events.types.tenancy import DEFAULT_TENANT
from events.types.turn_contract import TurnInvalidError, fields_of, text_of

TENANT = "tenant"
PROOF = "tenant_proof"
PUSHED = "pushed"
"""The field of an entry that holds a whole turn as JSON text: the turn came over the list of the restricted pushers."""


class QueueKey:
    """Proves the tenants of turns with a key that only services and workers have."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.digest(secret, b"cardlog tenant of a turn", sha256)
        self._words_key = hmac.digest(secret, b"cardlog turn of words", sha256)

    def entry_of(self, turn: Mapping[str, str], tenant: str) -> dict[str, str]:
        """Returns the fields of the entry of ``turn``.

        The proof covers all fields. A turn of another tenant needs a ``turn_id``: with it, a copy of the entry counts
        once.
        """
        if tenant == DEFAULT_TENANT:
            return dict(turn)
        return {**turn, TENANT: tenant, PROOF: self._proof(turn, tenant)}

    def opened(self, fields: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """Returns (tenant, fields of the turn) of an entry.

        Raises :class:`TurnInvalidError` for a tenant without its proof.
        """
        turn = {name: value for name, value in fields.items() if name not in (TENANT, PROOF)}
        tenant = fields.get(TENANT, DEFAULT_TENANT)
        if TENANT not in fields and PROOF not in fields:
            return tenant, turn
        if not hmac.compare_digest(fields.get(PROOF, "").encode(), self._proof(turn, tenant).encode()):
            raise unproven()
        return tenant, turn

    def digest_of(self, *words: str) -> str:
        """Returns a keyed digest of ``words``. Nobody without the key can tell what words a digest belongs to."""
        content = json.dumps(words, separators=(",", ":")).encode()
        return hmac.digest(self._words_key, content, sha256)[:16].hex()

    def _proof(self, turn: Mapping[str, str], tenant: str) -> str:
        content = json.dumps([tenant, sorted(turn.items())], separators=(",", ":"))
        return hmac.digest(self._key, content.encode(), sha256).hex()


def pushed_turn(text: bytes) -> dict[str, str]:
    """Returns the fields of a turn that is the text of a JSON object. Raises :class:`TurnInvalidError`."""
    try:
        document = orjson.loads(text_of(PUSHED, text))
    except ValueError as error:
        if isinstance(error, TurnInvalidError):
            raise
        raise TurnInvalidError(PUSHED, f"is not the text of a JSON object: {error}") from None
    if not isinstance(document, dict):
        raise TurnInvalidError(PUSHED, 'must be a JSON object, such as {"user_id": "dana", "text": "…"}')
    return fields_of(document)


def names_tenant(fields: Mapping[str, str] | Mapping[bytes, bytes]) -> bool:
    """True when an entry names a tenant, with or without a proof."""
    return any(name in fields for name in (TENANT, PROOF, TENANT.encode(), PROOF.encode()))


def unproven() -> TurnInvalidError:
    """Returns the error of an entry that names a tenant without a valid proof."""
    return TurnInvalidError(
        TENANT,
        "is not proven; push turns of a tenant over HTTP with a key of that tenant, or leave the field out",
    )
