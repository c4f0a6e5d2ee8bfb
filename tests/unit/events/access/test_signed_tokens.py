"""Which signed tokens open the services, and for whom."""

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from events.access.key_cache import KeysUnavailableError
from events.access.principal import Principal
from events.access.signed_tokens import SignedTokens, usable_keys
from events.platform.settings import Settings, SettingsError

pytestmark = pytest.mark.anyio

OURS, STRANGER = generate_private_key(SECP256R1()), generate_private_key(SECP256R1())
AUDIENCE, ISSUER = "https://memory.example", "https://login.example"


def jwk(key: Any, kid: str = "one", **more: Any) -> dict[str, Any]:
    algorithm = jwt.algorithms.ECAlgorithm if hasattr(key, "curve") else jwt.algorithms.RSAAlgorithm
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": kid, **more}


def token(key: Any = OURS, *, kid: str = "one", algorithm: str = "ES256", **claims: Any) -> str:
    usual = {
        "aud": AUDIENCE,
        "iss": ISSUER,
        "exp": time.time() + 600,
        "sub": "ada",
        "scope": "read push openid",
    }
    given = {name: value for name, value in (usual | claims).items() if value is not None}
    return jwt.encode(given, key, algorithm=algorithm, headers={"kid": kid})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps({"keys": [jwk(OURS)]}))
    return Settings(jwt_jwks=str(file), jwt_audience=AUDIENCE, jwt_issuer=ISSUER)


def principal(settings: Settings, text: str) -> Principal | None:
    return asyncio.run(SignedTokens(settings).principal(text))


def test_a_token_gives_its_user_the_scopes_it_names(settings: Settings) -> None:
    assert principal(settings, token()) == Principal(
        key_id="jwt/ada", scopes=frozenset({"read", "push"}), users=frozenset({"ada"})
    )


def test_the_settings_name_the_claims_of_tenant_user_and_scope(settings: Settings) -> None:
    named = replace(settings, jwt_tenant_claim="org", jwt_user_claim="members", jwt_scope_claim="permissions")
    text = token(org="acme", members=["ada", "bea"], permissions=["write"])
    assert principal(named, text) == Principal(
        tenant="acme", key_id="jwt/ada", scopes=frozenset({"write"}), users=frozenset({"ada", "bea"})
    )
    unlimited = principal(replace(settings, jwt_user_claim="-"), token())
    assert unlimited is not None
    assert unlimited.users is None
    for unfit in ({"org": None}, {"org": "Not A Tenant"}, {"members": None}, {"members": ["ada", 3]}):
        assert principal(named, token(**({"org": "acme", "members": "ada"} | unfit))) is None


@pytest.mark.parametrize(
    "text",
    [
        token(STRANGER),
        token(aud="https://other.example"),
        token(aud=None),
        token(iss="https://other.example"),
        token(iss=None),
        token(exp=None),
        token(exp=time.time() - 3600),
        token(nbf=time.time() + 3600),
        token(sub=None),
        token(sub="  "),
        token(sub="other\x1fada"),
        token(kid="two"),
        token()[:-4] + "AAAA",
        token(padding="x" * 9000),
        "a.b.c",
        "",
    ],
    ids=[
        "another key", "another audience", "no audience", "another issuer", "no issuer", "no expiry", "expired",
        "not yet valid", "no user", "a blank user", "a forged storage id", "an unknown key id", "a changed signature",
        "too long", "no token", "empty",
    ],
)  # fmt: skip
def test_a_token_that_is_not_for_this_service_opens_nothing(settings: Settings, text: str) -> None:
    assert principal(settings, text) is None


def test_only_asymmetric_algorithms_count(settings: Settings) -> None:
    header = jwt.utils.base64url_encode(json.dumps({"alg": "HS256", "kid": "one"}).encode())
    body = token().split(".")[1].encode()
    public = OURS.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
        header + b"." + body, public
    )
    forged = b".".join((header, body, jwt.utils.base64url_encode(signed))).decode()
    assert principal(settings, forged) is None
    unsigned = jwt.utils.base64url_encode(json.dumps({"alg": "none", "kid": "one"}).encode())
    assert principal(settings, f"{unsigned.decode()}.{body.decode()}.") is None


def test_clocks_may_differ_a_little(settings: Settings) -> None:
    assert principal(settings, token(exp=time.time() - 5)) is not None


def test_secret_small_and_encryption_keys_are_left_out() -> None:
    small = generate_rsa_key(65537, 1024)
    large = generate_rsa_key(65537, 2048)
    listed = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "symmetric"},
        jwk(small, "small"),
        jwk(large, "large"),
        jwk(OURS, "for encryption", use="enc"),
        jwk(OURS, "of another algorithm", alg="HS256"),
        "no key",
    ]
    assert {name: algorithms[0] for name, (_, algorithms) in usable_keys(_set(listed)).items()} == {
        "large": "RS256"
    }
    with pytest.raises(ValueError, match="no usable public key"):
        usable_keys(_set(listed[:2]))
    for broken in (b"[]", b"{}", b"nothing", b'{"keys": 3}', b" " * 300_000):
        with pytest.raises(ValueError, match=r"key set|unexpected|line 1"):
            usable_keys(broken)


async def test_keys_that_were_read_stay_while_their_source_is_away(settings: Settings) -> None:
    tokens = SignedTokens(settings, refresh_s=0, again_s=0)
    file = Path(settings.jwt_jwks)
    assert await tokens.principal(token()) is not None
    file.write_text(json.dumps({"keys": [jwk(OURS), jwk(STRANGER, "two")]}))
    assert await tokens.principal(token(STRANGER, kid="two")) is not None, "an unknown key id reads again"
    file.unlink()
    assert await tokens.principal(token(STRANGER, kid="three")) is None
    assert await tokens.principal(token()) is not None


async def test_an_unknown_key_id_reads_again_only_now_and_then(settings: Settings) -> None:
    tokens = SignedTokens(settings)
    assert await tokens.principal(token()) is not None
    Path(settings.jwt_jwks).write_text(json.dumps({"keys": [jwk(STRANGER, "two")]}))
    assert await tokens.principal(token(STRANGER, kid="two")) is None


def test_without_any_key_nothing_can_be_checked(settings: Settings) -> None:
    with pytest.raises(KeysUnavailableError, match="CARDLOG_JWT_JWKS"):
        principal(replace(settings, jwt_jwks=f"{settings.jwt_jwks}.missing"), token())


def test_audience_and_issuer_must_be_set(settings: Settings) -> None:
    for unfit, name in (
        (replace(settings, jwt_audience=""), "CARDLOG_JWT_AUDIENCE"),
        (replace(settings, jwt_issuer=""), "CARDLOG_JWT_ISSUER"),
    ):
        with pytest.raises(SettingsError, match=f"{name} is not"):
            SignedTokens(unfit)


def _set(listed: list[Any]) -> bytes:
    return json.dumps({"keys": listed}).encode()


async def test_a_key_that_was_taken_back_opens_nothing_after_a_quiet_time(settings: Settings) -> None:
    tokens = SignedTokens(settings, refresh_s=0, again_s=0)
    assert await tokens.principal(token()) is not None
    Path(settings.jwt_jwks).write_text(json.dumps({"keys": [jwk(STRANGER, "two")]}))
    assert await tokens.principal(token()) is None


def test_a_key_of_an_odd_curve_hides_no_other(settings: Settings) -> None:
    odd = {"kty": "EC", "crv": ["P-256"], "kid": "odd"}
    assert list(usable_keys(_set([odd, jwk(OURS)]))) == ["one"]
