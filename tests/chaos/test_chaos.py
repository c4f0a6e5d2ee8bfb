"""Faults at any moment lose no acknowledged turn. The log holds each turn once, and the cards follow the turns."""

import json
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from urllib.parse import urlsplit

import psutil
import pytest
from redis.exceptions import OutOfMemoryError

from deploy.instance import find
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import PARTITIONS
from events.types.turns import TurnRecorded
from tests.support.chaos import faults
from tests.support.chaos.faults import IDLE_TIMEOUT_MS, RECLAIM_MS, SECOND, Havoc, Site, Watch, full, stopped
from tests.support.chaos.load import BAD, Ledger, Pusher, Turn, plan
from tests.support.chaos.verdict import Verdict, judge
from tests.support.waiting import eventually
from tests.support.web import WEB

PUSHERS = 3
TURNS_PER_SECOND = 40
USERS = 24
# The next reader notices a lease that ran out. The rest of the time is for a busy machine.
SOON = (IDLE_TIMEOUT_MS + RECLAIM_MS) / 1000 + 20

pytestmark = pytest.mark.timeout(faults.seconds() + 420)


@pytest.fixture
def pusher(site: Site, ledger: Ledger) -> Iterator[Pusher]:
    with closing(Pusher(site.where, ledger)) as pusher:
        yield pusher


@contextmanager
def locked(site: Site, table: str) -> Iterator[None]:
    """Locks ``table`` against writes. A writer waits in the middle of its transaction."""
    with site.connect() as connection, connection.transaction():
        connection.execute(f"LOCK TABLE {table} IN SHARE MODE".encode())
        yield


def waits_for_a_lock(site: Site, application: str) -> list[int]:
    """Returns the backends of ``application`` that wait for a lock."""
    with site.connect() as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = %s AND wait_event_type = 'Lock'",
            (f"cardlog {application}",),
        ).fetchall()
    return [row[0] for row in rows]


def recorded(site: Site, turns: Iterable[Turn]) -> bool:
    find(Settings(), site.running.data)  # the payloads are sealed
    with site.connect() as connection:
        told = {
            (event.user_id, event.payload.turn_id)
            for partition in range(PARTITIONS)
            for event in log.read(connection, partition)
            if isinstance(event.payload, TurnRecorded)
        }
    return told >= {(turn.user, turn.fields["turn_id"]) for turn in turns}


def projected(site: Site, turns: Iterable[Turn]) -> bool:
    return _count(site, turns, "cards.cards WHERE episode AND turn_ids = ARRAY[%s]")


def _count(site: Site, turns: Iterable[Turn], where: str) -> bool:
    with site.connect() as connection:
        return all(
            connection.execute(
                f"SELECT 1 FROM {where} AND user_id = %s LIMIT 1".encode(),
                (turn.fields["turn_id"], turn.user),
            ).fetchone()
            for turn in turns
        )


def turns_of(prefix: str) -> list[Turn]:
    """Returns turns of users of one test's own, all with an id."""
    planned = plan(random.Random(faults.seed()), users=8, turns=160, prefix=prefix)
    return [turn for turn in planned if "turn_id" in turn.fields]


def both(site: Site, kind: str) -> tuple[psutil.Process, psutil.Process]:
    first = eventually(lambda: site.first(kind))
    assert first is not None
    return first, site.second(kind)


def test_a_stopped_recorders_batch_is_taken_over_and_counts_once(
    site: Site, ledger: Ledger, pusher: Pusher
) -> None:
    turns = turns_of("recorder-")
    first, second = both(site, "recorder")
    with ExitStack() as stops:
        with locked(site, "log.events"), stopped(second):
            # The bad turns come first, so they are in the batch that the first recorder holds.
            with stopped(first):
                for fields in BAD:
                    pusher.push_bad(fields)
                for turn in turns:
                    pusher.push(turn)
            [backend] = eventually(lambda: waits_for_a_lock(site, "recorder"))
            stops.enter_context(stopped(first))
            with site.connect() as connection:
                # The server ended its transaction. Only the stopped process still has the batch.
                connection.execute("SELECT pg_terminate_backend(%s, 5000)", (backend,))
        eventually(lambda: recorded(site, turns), within=SOON)
        eventually(lambda: site.redis.xlen("turns:dead") == ledger.bad, within=SOON)
    settle(site, ledger)


def test_an_extractor_stopped_in_a_transaction_stops_nobody_else_for_long(
    site: Site, ledger: Ledger, pusher: Pusher
) -> None:
    turns = turns_of("extractor-")
    first, second = both(site, "extractor")
    with ExitStack() as stops:
        with stopped(second):
            with stopped(first):
                for turn in turns[::2]:
                    pusher.push(turn)
                eventually(lambda: recorded(site, turns[::2]), within=SOON)
                table = stops.enter_context(ExitStack())
                table.enter_context(locked(site, "log.events"))
            eventually(lambda: waits_for_a_lock(site, "extractor"))
            stops.enter_context(stopped(first))
            # The extractor has claimed partitions and locks their heads, so nobody can append to them.
            table.close()
        for turn in turns[1::2]:
            pusher.push(turn)
        eventually(lambda: recorded(site, turns), within=SOON)
        eventually(lambda: projected(site, turns), within=SOON)
    settle(site, ledger)


def test_a_projector_stopped_in_a_transaction_stops_nobody_else_for_long(
    site: Site, ledger: Ledger, pusher: Pusher
) -> None:
    turns = turns_of("projector-")
    first, second = both(site, "projector")
    with ExitStack() as stops:
        with stopped(second), locked(site, "cards.cards"):
            for turn in turns:
                pusher.push(turn)
            eventually(lambda: waits_for_a_lock(site, "cards"), within=SOON)
            stops.enter_context(stopped(first))
        eventually(lambda: projected(site, turns), within=SOON)
    settle(site, ledger)


def test_a_full_redis_refuses_turns_clearly_and_still_gives_away_what_it_holds(
    site: Site, ledger: Ledger, pusher: Pusher
) -> None:
    turns = turns_of("full-")
    with ExitStack() as stops:
        for process in both(site, "recorder"):
            stops.enter_context(stopped(process))
        for turn in turns:
            pusher.push(turn)
        for fields in BAD:
            pusher.push_bad(fields)
        with full(site.redis_operator):
            with pytest.raises(OutOfMemoryError, match="maxmemory"):
                site.redis.xadd("turns", dict(turns[0].fields))  # type: ignore[arg-type]
            answer = WEB.post(
                f"{site.running.write_url}/v1/turns",
                json=dict(turns[0].fields),
                headers=site.running.headers,
                timeout=10,
            )
            assert (answer.status_code, answer.json()["status"]) == (503, 503)
            assert "Redis" in answer.json()["detail"]
            stops.close()
            # The recorders continue, because only they make room.
            eventually(lambda: recorded(site, turns), within=SOON)
            eventually(lambda: site.redis.xpending("turns", "recorders")["pending"] == 0, within=SOON)
    pusher.push(turns[0], http=True)
    settle(site, ledger)


def test_the_write_service_pushes_a_turn_once_however_late_redis_answers(
    site: Site, ledger: Ledger, pusher: Pusher
) -> None:
    [first, second, *_] = [
        turn
        for turn in plan(random.Random(faults.seed()), users=1, turns=100, prefix="late-")
        if not turn.fact
    ]
    nameless = Turn({name: value for name, value in second.fields.items() if name != "turn_id"})
    pusher.push(first, http=True)
    service = eventually(lambda: site.first("write"))
    assert service is not None
    server = site.first("redis")
    assert server is not None
    port = urlsplit(site.running.redis_url).port

    def connections() -> set[int]:
        return {
            each.laddr.port for each in service.net_connections() if each.raddr and each.raddr.port == port
        }

    before = connections()
    with ThreadPoolExecutor(1) as pool:
        with stopped(server):
            pushing = pool.submit(pusher.push, nameless, http=True)
            # The first attempt is in a socket that Redis reads when it continues. The service makes its second attempt,
            # or has given up.
            eventually(lambda: pushing.done() or not before & connections())
        pushing.result()
    settle(site, ledger)


def test_random_faults_lose_nothing_and_duplicate_nothing(
    site: Site, ledger: Ledger, pusher: Pusher, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(faults.seed())
    turns = plan(chance, users=USERS, turns=int(TURNS_PER_SECOND * faults.seconds()))
    watch = Watch(site, tuple((turn.user, turn.text) for turn in chance.sample(turns, min(200, len(turns)))))
    spare = [turn for turn in plan(chance, users=1, turns=200, prefix="spare-") if "turn_id" in turn.fields]
    havoc = Havoc(site, random.Random(chance.random()), pusher, spare)
    try:
        with watch.kept(), ThreadPoolExecutor(PUSHERS) as pool:
            pushing = [
                pool.submit(_push, site, ledger, turns[number::PUSHERS], chance.random())
                for number in range(PUSHERS)
            ]
            havoc.wreak(faults.seconds())
            for each in pushing:
                each.result()
        for fields in BAD:
            pusher.push_bad(fields)
        verdict = settle(site, ledger)
        assert watch.answered
        assert not watch.unexcused
        assert _done(site, "log", "verify") is not None
        rebuilt = json.loads(_done(site, "rebuild", "--verify", "--json"))
        with capsys.disabled():
            print(
                f"\n{len(havoc.history)} faults, {ledger.pushes} pushes acknowledged, refused {dict(ledger.refused)}"
            )
            print(
                f"{watch.answered} recalls answered, {len(watch.unavailable)} times 503 while Postgres was away, "
                f"{watch.unanswered} times nobody was there"
            )
            print(verdict.line(rebuilt["equal"]))
        assert rebuilt["equal"] is True, rebuilt
    except BaseException as error:
        history = "\n".join(havoc.history)
        error.add_note(f"CARDLOG_CHAOS_SEED={faults.seed()}\n{history}\n… {site.log()}")
        raise


def _push(site: Site, ledger: Ledger, turns: Sequence[Turn], luck: float) -> None:
    """Push ``turns`` at an even pace, some over HTTP, and some again, at once or much later."""
    chance = random.Random(luck)
    pace = threading.Event()
    began = time.monotonic()
    with closing(Pusher(site.where, ledger)) as pusher:
        for number, turn in enumerate(turns):
            pace.wait(max(0.0, began + number * PUSHERS / TURNS_PER_SECOND - time.monotonic()))
            pusher.push(turn, http=chance.random() < 0.15)
            if chance.random() < 0.1:
                again = turns[chance.randrange(number + 1)]
                if "turn_id" in again.fields:
                    pusher.push(again, http=chance.random() < 0.15)


def settle(site: Site, ledger: Ledger) -> Verdict:
    """Wait until all is projected; then everything must be as the ledger says, and nothing left over."""
    _done(site, "wait", "--timeout", "240", timeout=300)
    verdict = judge(ledger, site.running.admin_database_url, site.running.data)
    assert not verdict.faults, "\n".join(verdict.faults)
    # `recorded` counts what recorders settled, and `behind` may still be moving by what a projector noted last.
    status = eventually(lambda: _at_rest(site))
    assert status is not None
    assert (status["parked"], status["dead"]) == (0, ledger.bad)
    return verdict


def _at_rest(site: Site) -> dict[str, object] | None:
    # The exit status is 1, because turns that nobody can record are in the dead letters.
    status: dict[str, object] = json.loads(site.running.command("status", "--json").stdout)
    stages = status["stages"]
    assert isinstance(stages, dict)
    assert {"recorder", *SECOND[1:2], "cards", "vectors"} <= set(stages)
    return status if all(stage["behind"] == 0 for stage in stages.values()) else None


def _done(site: Site, *arguments: str, timeout: float = 120) -> str:
    done = site.running.command(*arguments, timeout=timeout)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout
