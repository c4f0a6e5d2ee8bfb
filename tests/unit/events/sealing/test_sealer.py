"""Sealing is the inverse of opening, and nothing that a seal binds can change unnoticed."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.platform.key_file import new_key
from events.sealing.key_encryption import KeyUnavailableError, LocalKeyEncryption, WrappedKeyError
from events.sealing.sealer import SALT_BYTES, SealBrokenError, Sealer
from events.types.tombstones import Erased
from tests.support.tables import examples_and

SEALER = Sealer(LocalKeyEncryption([new_key()]))
IDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
SALTS = st.binary(min_size=SALT_BYTES, max_size=SALT_BYTES)


def readable(sealed: bytes, salt: bytes, wrapped: bytes) -> str:
    """Returns the text as ``sealing.readable`` returns it."""
    return f"{sealed.decode()}\n{salt.hex()}\n{wrapped.hex()}"


@given(st.binary(max_size=200), SALTS, IDS, st.uuids(), IDS, st.integers(1, 99))
def test_opening_returns_what_was_sealed(
    plain: bytes, salt: bytes, user: str, event: UUID, kind: str, version: int
) -> None:
    wrapped = SEALER.new_key(user)
    sealed = SEALER.seal(wrapped, salt, user, event, kind, version, plain, b'{"episode":true}')
    assert b'"episode":true' in sealed
    assert SEALER.open(readable(sealed, salt, wrapped), user, event, kind, version) == plain


@given(st.data(), st.binary(max_size=60), SALTS)
def test_any_changed_character_of_the_stored_payload_is_noticed(
    data: st.DataObject, plain: bytes, salt: bytes
) -> None:
    event, wrapped = UUID(int=1), SEALER.new_key("ada")
    sealed = SEALER.seal(wrapped, salt, "ada", event, "TurnRecorded", 1, plain, b'{"usage":1}')
    place = data.draw(st.integers(len('{"sealed":"'), len(sealed) - 1))
    changed = bytearray(sealed)
    changed[place] ^= 1 << data.draw(st.integers(0, 6))
    if changed[place] in b"\n":
        return
    with pytest.raises(SealBrokenError):
        SEALER.open(readable(bytes(changed), salt, wrapped), "ada", event, "TurnRecorded", 1)


@examples_and(
    {"event_id": UUID(int=2)},
)
def test_a_payload_opens_only_for_its_own_subject_event_type_and_version(other: dict[str, object]) -> None:
    own = {"user_id": "ada", "event_id": UUID(int=1), "kind": "TurnRecorded", "schema_version": 1}
    wrapped, salt = SEALER.new_key("ada"), bytes(SALT_BYTES)
    sealed = SEALER.seal(wrapped, salt, plain=b"{}", **own)  # type: ignore[arg-type]
    text = readable(sealed, salt, wrapped)
    assert SEALER.open(text, **own) == b"{}"  # type: ignore[arg-type]
    with pytest.raises(SealBrokenError):
        SEALER.open(text, **(own | other))  # type: ignore[arg-type]


def test_each_of_salt_and_key_is_needed_and_its_absence_is_an_erasure() -> None:
    event, salt, wrapped = UUID(int=1), bytes(SALT_BYTES), SEALER.new_key("ada")
    stored = SEALER.seal(wrapped, salt, "ada", event, "T", 1, b"{}").decode()
    for text in (f"{stored}\n\n{wrapped.hex()}", f"{stored}\n{salt.hex()}\n", f"{stored}\n\n"):
        assert isinstance(SEALER.open(text, "ada", event, "T", 1), Erased)
    with pytest.raises(SealBrokenError, match="without its salt and key"):
        SEALER.open(stored, "ada", event, "T", 1)
    with pytest.raises(SealBrokenError):
        SEALER.open(f"{stored}\n{(b'x' * SALT_BYTES).hex()}\n{wrapped.hex()}", "ada", event, "T", 1)


def test_a_wrapped_key_belongs_to_one_subject_and_one_key_encryption_key() -> None:
    encryption, key = LocalKeyEncryption([new_key()]), bytes(32)
    wrapped = encryption.wrap(key, "subject ada")
    assert encryption.unwrap(wrapped, "subject ada") == key
    assert encryption.wrap(key, "subject ada") != wrapped
    with pytest.raises(WrappedKeyError):
        encryption.unwrap(wrapped, "subject bob")
    with pytest.raises(WrappedKeyError):
        encryption.unwrap(wrapped[:-1] + bytes([wrapped[-1] ^ 1]), "subject ada")
    with pytest.raises(KeyUnavailableError, match="CARDLOG_KEK_FILE"):
        LocalKeyEncryption([new_key()]).unwrap(wrapped, "subject ada")
