"""Entries of the turn queue are sealed with a key-encryption key, and a sealed entry cannot be changed."""

from collections.abc import Iterator

import pytest

from events.platform.key_file import new_key
from events.sealing import sealer as sealing
from events.sealing.entries import opened_entry, sealed_entry
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from events.types.turn_contract import TurnInvalidError
from tests.support.tables import examples

TURN = {"user_id": "ada", "tenant": "acme", "text": "the code word is marzipan", "speaker": "Ada"}


@pytest.fixture(autouse=True)
def _sealer() -> Iterator[None]:
    sealing.use(Sealer(LocalKeyEncryption([new_key()])))
    yield
    sealing.use(None)


def raw(fields: dict[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in fields.items()}


def test_an_entry_hides_everything_but_user_and_tenant_and_opens_again() -> None:
    entry = sealed_entry(TURN)
    assert entry.keys() == {"user_id", "tenant", "sealed"}
    assert "marzipan" not in str(entry)
    assert opened_entry(raw(entry)) == raw(TURN)
    assert sealed_entry(TURN) != entry, "two entries with equal words look different"


def test_without_a_key_entries_stay_as_they_are() -> None:
    sealing.use(None)
    assert sealed_entry(TURN) == TURN
    assert opened_entry(raw(TURN)) == raw(TURN)


@examples
def test_a_changed_entry_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(TurnInvalidError, match="was changed"):
        opened_entry(raw(sealed_entry(TURN) | change))


def test_an_entry_that_cannot_be_opened_names_the_remedy() -> None:
    entry = raw(sealed_entry(TURN))
    for other in (None, Sealer(LocalKeyEncryption([new_key()]))):
        sealing.use(other)
        with pytest.raises(TurnInvalidError, match="CARDLOG_KEK_FILE"):
            opened_entry(entry)
