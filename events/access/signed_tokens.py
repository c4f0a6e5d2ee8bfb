"""JSON Web Tokens of an identity provider, as a credential in addition to API keys."""

import asyncio
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from events.access.key_cache import KeysUnavailableError
from events.access.principal import SCOPES, Principal
from events.platform.failures import in_a_line
from events.platform.settings import Settings, SettingsError
from events.types.tenancy import DEFAULT_TENANT, SEPARATOR, TenantInvalidError, checked_tenant
from events.types.turn_contract import MAX_NAME_BYTES

logger = logging.getLogger(__name__)

LONGEST_TOKEN = 8 * 1024
_LEEWAY_S = 30
"""The clocks of the provider and of the service may differ by this much."""
_FETCH_S = 5.0
_LARGEST_SET = 256 * 1024
_MOST_KEYS = 100
_LEAST_RSA_BITS = 2048
_MOST_USERS = 1000

# Only asymmetric algorithms. With a symmetric one, the public keys of the provider would sign tokens.
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_OF_TYPE: Mapping[str, tuple[str, ...]] = {
    "RSA": _RSA,
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "P-521": ("ES512",),
    "Ed25519": ("EdDSA",),
}


class SignedTokens:
    """Finds the principal of a signed token.

    The public keys come from a file or an https URL. They are read at the first token, then after ``refresh_s``, and
    for an unknown key id at most every ``again_s`` seconds. While their source is away, the keys that were read before
    stay valid.
    """

    def __init__(self, settings: Settings, *, refresh_s: float = 300.0, again_s: float = 10.0) -> None:
        """Raises :class:`SettingsError` when the audience or the issuer is not set."""
        for name in ("jwt_audience", "jwt_issuer"):
            if not getattr(settings, name):
                raise SettingsError(
                    f"CARDLOG_JWT_JWKS is set and CARDLOG_{name.upper()} is not: a token must name both, so set both"
                )
        self._settings = settings
        self._refresh_s, self._again_s = refresh_s, again_s
        self._keys: dict[str, tuple[object, tuple[str, ...]]] = {}
        self._read_at = self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def principal(self, token: str) -> Principal | None:
        """Returns the principal of ``token``; None when the token is invalid, expired, or not for this service.

        Raises :class:`KeysUnavailableError` when no public key could be read yet.
        """
        if len(token) > LONGEST_TOKEN:
            return None
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            return None
        found = await self._key(str(header.get("kid", "")))
        if found is None:
            return None
        key, algorithms = found
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=list(algorithms),
                audience=self._settings.jwt_audience,
                issuer=self._settings.jwt_issuer,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "aud", "iss"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
            return None
        return principal_of(claims, self._settings)

    async def _key(self, key_id: str) -> tuple[Any, tuple[str, ...]] | None:
        now = time.monotonic()
        known = self._known(key_id)
        stale = now - self._read_at >= self._refresh_s
        # A key that the provider took back since then must not open once more. During an outage nobody waits.
        waits = known is None or now - self._tried_at >= self._refresh_s
        if (known is None or stale) and now - self._tried_at >= self._again_s:
            self._tried_at = now
            self._reading = asyncio.create_task(self._read())
        if waits and self._reading is not None and not self._reading.done():
            await asyncio.shield(self._reading)
            known = self._known(key_id)
        if not self._keys:
            raise KeysUnavailableError("the public keys of signed tokens (CARDLOG_JWT_JWKS) cannot be read")
        return known

    def _known(self, key_id: str) -> tuple[object, tuple[str, ...]] | None:
        # A provider with a single key may leave its id out.
        return self._keys.get(key_id) or (
            next(iter(self._keys.values())) if not key_id and len(self._keys) == 1 else None
        )

    async def _read(self) -> None:
        source = self._settings.jwt_jwks
        try:
            data = await _fetched(source) if "://" in source else await asyncio.to_thread(_contents, source)
            self._keys = usable_keys(data)
            self._read_at = time.monotonic()
        except (OSError, ValueError, httpx2.HTTPError, TimeoutError) as error:
            kept = "those read before stay valid" if self._keys else "signed tokens cannot be checked"
            # A timeout has no text of its own.
            reason = in_a_line(str(error)) or type(error).__name__
            logger.warning("the public keys at CARDLOG_JWT_JWKS cannot be read (%s); %s", reason, kept)


def usable_keys(data: bytes) -> dict[str, tuple[object, tuple[str, ...]]]:
    """Returns the public keys of a JSON Web Key Set by id, each with the algorithms that it may verify.

    Symmetric keys, keys for encryption, and RSA keys below 2048 bits are left out. Raises ValueError when no key
    remains.
    """
    if len(data) > _LARGEST_SET:
        raise ValueError(f"the key set has more than {_LARGEST_SET} bytes")
    document = orjson.loads(data)
    listed = document.get("keys") if isinstance(document, dict) else None
    found: dict[str, tuple[object, tuple[str, ...]]] = {}
    for each in listed[:_MOST_KEYS] if isinstance(listed, list) else []:
        if not isinstance(each, dict) or each.get("use", "sig") != "sig" or "d" in each or "k" in each:
            continue
        algorithms = _OF_TYPE.get("RSA" if each.get("kty") == "RSA" else str(each.get("crv")), ())
        if "alg" in each:
            algorithms = tuple(name for name in algorithms if name == each["alg"])
        if not algorithms:
            continue
        try:
            key = jwt.PyJWK(each, algorithm=algorithms[0]).key
        except jwt.PyJWTError:
            continue
        if isinstance(key, RSAPublicKey) and key.key_size < _LEAST_RSA_BITS:
            continue
        found[str(each.get("kid", ""))] = (key, algorithms)
    if not found:
        raise ValueError("the key set has no usable public key")
    return found


def principal_of(claims: Mapping[str, object], settings: Settings) -> Principal | None:
    """Returns the principal that verified claims name; None when a claim that the settings name is missing or unfit."""
    tenant, users = DEFAULT_TENANT, None
    if settings.jwt_tenant_claim:
        try:
            tenant = checked_tenant(str(claims.get(settings.jwt_tenant_claim, "")))
        except TenantInvalidError:
            return None
    if settings.jwt_user_claim != "-":
        named = claims.get(settings.jwt_user_claim)
        listed = named if isinstance(named, list) else [named]
        if not 0 < len(listed) <= _MOST_USERS or not all(map(_is_user, listed)):
            return None
        users = frozenset(listed)
    given = claims.get(settings.jwt_scope_claim, "")
    words = given if isinstance(given, list) else str(given).split()
    return Principal(
        tenant=tenant,
        key_id=f"jwt/{str(claims.get('sub', ''))[:200]}",
        scopes=frozenset(scope for scope in SCOPES if scope in words),
        users=users,
    )


def _is_user(name: object) -> bool:
    return (
        isinstance(name, str)
        and bool(name.strip())
        and SEPARATOR not in name
        and len(name.encode("utf-8", "surrogatepass")) <= MAX_NAME_BYTES
    )


def _contents(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(_LARGEST_SET + 1)


async def _fetched(url: str) -> bytes:
    found = bytearray()
    async with (
        asyncio.timeout(_FETCH_S),
        httpx2.AsyncClient(timeout=_FETCH_S, follow_redirects=False) as client,
        client.stream("GET", url) as answer,
    ):
        if answer.status_code != 200:
            raise ValueError(f"{urlsplit(url).hostname} answered {answer.status_code}")
        async for chunk in answer.aiter_bytes():
            found += chunk
            if len(found) > _LARGEST_SET:
                break
    return bytes(found)
