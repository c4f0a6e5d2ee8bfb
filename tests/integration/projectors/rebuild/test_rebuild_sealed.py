"""A rebuild of a sealed log gives the same tables, and an erased event is as if it had never been said."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from events.platform.database import Connection
from events.sealing import keystore
from events.sealing import sealer as sealing
from events.sealing.key_encryption import create
from events.sealing.sealer import Sealer
from events.store import log
from projectors.cards.projector import CardsProjector
from projectors.generations.digest import digest_of
from projectors.rebuild.fail_fast_fold import FoldFailedError
from tests.support.projectors.folding import count, fold_live, moved, noted, rebuild


@pytest.fixture(autouse=True)
def sealer(tmp_path: Path) -> Iterator[Sealer]:
    made = Sealer(create(tmp_path / "kek.key"))
    sealing.use(made)
    yield made
    sealing.use(None)


def test_the_tables_of_all_others_are_the_same_after_an_erasure_and_the_erased_have_none(
    connection: Connection,
) -> None:
    kept = [
        noted("Bought a lamp", "bob"),
        replace(moved("Taipei", 1), user_id="bob"),
        replace(moved("Tainan", 3), user_id="bob"),
    ]
    gone = [noted("Saw a doctor", "ada"), replace(moved("Oslo", 1), user_id="ada")]
    log.append(connection, [*kept, *gone])
    fold_live(connection)
    assert count(connection, "cards.cards WHERE user_id = 'ada'") > 0
    assert rebuild(connection, verify=True).equal
    others = "SELECT md5(string_agg(c::text, ',' ORDER BY card_id)) FROM cards.cards c WHERE user_id = 'bob'"
    before = connection.execute(others).fetchone()
    keystore.destroy_subject(connection, "ada")
    rebuild(connection)
    assert connection.execute(others).fetchone() == before
    for table in ("cards.cards", "cards.statements", "cards.words"):
        assert count(connection, f"{table} WHERE user_id = 'ada'") == 0


def test_live_folding_passes_an_erased_event_and_equals_a_rebuild(connection: Connection) -> None:
    first, erased, later = moved("Oslo", 1), moved("Rome", 2), moved("Cairo", 3)
    log.append(connection, [first, erased])
    keystore.destroy_events(connection, erased.user_id, [erased.event_id])
    log.append(connection, [later])
    fold_live(connection)
    assert count(connection, "log.parked") == 0
    live = digest_of(connection, CardsProjector(), "cards")
    values = connection.execute(
        "SELECT value FROM cards.cards WHERE kind = 'state' ORDER BY effective_at"
    ).fetchall()
    assert values == [("Oslo",), ("Cairo",)]
    assert rebuild(connection, verify=True).equal
    assert digest_of(connection, CardsProjector(), "cards") == live


def test_a_later_statement_folds_beside_an_erased_one(connection: Connection) -> None:
    """The projector reads the earlier statements of an identity from the log. One of them is erased by then."""
    first, erased = moved("Oslo", 1), moved("Rome", 2)
    log.append(connection, [first, erased])
    fold_live(connection)
    keystore.destroy_events(connection, erased.user_id, [erased.event_id])
    log.append(connection, [moved("Cairo", 3)])
    fold_live(connection)
    assert count(connection, "log.parked") == 0
    assert count(connection, "cards.cards WHERE value = 'Cairo'") == 1


def test_a_changed_payload_fails_a_rebuild_by_name_and_parks_its_user_live(connection: Connection) -> None:
    log.append(connection, [noted("Bought a lamp", "ada"), noted("Bought a chair", "bob")])
    fold_live(connection)
    connection.execute(
        "UPDATE sealing.salts SET salt = decode(repeat('00', 16), 'hex') WHERE user_id = 'ada'"
    )
    with pytest.raises(FoldFailedError, match=r"position 1\).*the sealed payload does not fit"):
        rebuild(connection)
    log.append(connection, [noted("Bought a table", "ada"), noted("Bought a bed", "bob")])
    connection.execute(
        "UPDATE sealing.salts SET salt = decode(repeat('00', 16), 'hex') WHERE user_id = 'ada' AND position > 1"
    )
    fold_live(connection)
    assert connection.execute("SELECT DISTINCT user_id FROM log.parked").fetchall() == [("ada",)]
    assert count(connection, "cards.cards WHERE kind = 'event' AND user_id = 'bob'") == 2
