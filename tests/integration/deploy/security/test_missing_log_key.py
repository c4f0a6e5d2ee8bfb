"""A process without the log key of its database says which file it needs."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.commands.operate.doctor import doctor
from deploy.commands.operate.proof import run_verify
from deploy.security.roles import WORKERS_AND_SERVICES, sign_tenants
from events.health.health_status import read_health
from events.platform.database import Connection, DatabaseUnfitError
from events.store import authentication, log
from projectors.cards.projector import CardsProjector
from projectors.runner import Runner
from tests.support.projectors.folding import fold_live, noted, settings_of
from tests.support.roles import roles_for
from tests.support.waiting import eventually, working

SAID = "set CARDLOG_LOG_KEY_FILE to the key file that belongs to this log"


@pytest.fixture
def key(connection: Connection, tmp_path: Path) -> Iterator[Path]:
    """The log key whose proof the database asks for. No process uses the key yet."""
    path = tmp_path / "log.key"
    authentication.create(path, {})
    sign_tenants(connection, path)
    yield path
    authentication.use(None)


def test_a_missing_or_another_log_key_is_named_and_not_taken_for_a_damaged_log(
    key: Path, database: str, connection: Connection, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fold_live(database)
    log.append(connection, [noted("one")])
    authentication.create(key.with_name("other.key"), {})
    stop = threading.Event()
    with (
        roles_for(database, WORKERS_AND_SERVICES) as [url],
        working(Runner(settings_of(url), CardsProjector(), stop.is_set).run, stop),
    ):
        for name in ("", str(key.with_name("other.key"))):
            authentication.use_file(name)
            settings = settings_of(url, redis_url=redis_url, log_key_file=name)
            eventually(lambda: read_health(connection).reader("cards").state == "stuck")
            assert SAID in str(read_health(connection).reader("cards").detail)
            assert doctor(settings=settings, data=None) == 1
            told = capsys.readouterr().out
            assert "FAIL  postgres: the database asks for a proof of its log key" in told
            assert "cardlog log key new" not in told
            with pytest.raises(DatabaseUnfitError, match=SAID):
                run_verify(cardlog=settings)
        authentication.use_file(str(key))
        eventually(lambda: read_health(connection).reader("cards").behind == 0)
