"""Times the way of a turn, from XADD to a card that recall can see, and the recall itself.

Floors in the same run: turns/s of XADD alone, and of appending the same turns straight to the log.
"""

import argparse
import random
import threading
import time
from datetime import UTC, datetime, timedelta

import httpx2
import psycopg
from redis import Redis

from events.platform.database import connect
from events.store import log
from events.types.envelope import NewEvent, uuid7
from events.types.turn_contract import parse_turn
from tests.bench.support.stack import measured_stack, new_database
from tests.bench.support.timing import told
from tests.support.stack import Running

_PLACES = ["Lisbon", "Porto", "Oslo", "Cairo", "Kyoto", "Bergen", "Turin", "Ghent", "Malmo", "Izmir"]
_THINGS = ["bicycle", "lamp", "novel", "guitar", "kettle", "ticket", "jacket", "camera", "carpet", "violin"]
_PEOPLE = ["Ann", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jon"]
_PATTERNS = (
    "I moved to {place} last month.",
    "Yesterday I bought a {thing} with {person} near the old market in {place}.",
    "{person} told me that the {thing} from {place} arrived broken, so we sent it back.",
    "We decided to use the {thing} for the spring exhibition in {place}.",
    "I really like walking along the river in {place} after work, it clears my head.",
    "我上週跟朋友去{place}買了一個新的{thing}。",
    "我喜歡在{place}的咖啡店看書，週末常常去。",
    "Could you remind me what {person} said about the {thing}?",
)


def turns(count: int, users: int, seed: int = 7) -> list[dict[str, str]]:
    """Made-up turns of ``users`` people over a year, one in four of them a fact, two in eight Chinese."""
    chance = random.Random(seed)
    first = datetime(2025, 1, 1, tzinfo=UTC)
    made = []
    for number in range(count):
        text = chance.choice(_PATTERNS).format(
            place=chance.choice(_PLACES), thing=chance.choice(_THINGS), person=chance.choice(_PEOPLE)
        )
        made.append(
            {
                "user_id": f"user{number % users}",
                "text": f"{text} ({number})",
                "turn_id": str(number),
                "session_id": f"s{number // (users * 20)}",
                "said_at": (first + timedelta(seconds=number * 31_536_000 / count)).isoformat(),
            }
        )
    return made


def xadd(redis: Redis, some: list[dict[str, str]]) -> float:
    began = time.perf_counter()
    pipe = redis.pipeline(transaction=False)
    for turn in some:
        pipe.xadd("turns", turn)  # type: ignore[arg-type]
    pipe.execute()
    return time.perf_counter() - began


def behind(connection: psycopg.Connection, projector: str) -> int:
    """Returns the number of events that wait for a processor; -1 when it has not begun."""
    row = connection.execute(
        "SELECT sum(h.position - c.position) FROM log.heads h JOIN log.checkpoints c USING (partition) "
        "WHERE c.processor = %s",
        (projector,),
    ).fetchone()
    assert row is not None
    return -1 if row[0] is None else int(row[0])


def pending(connection: psycopg.Connection) -> int:
    """Returns the number of texts that wait for the embedder. The checkpoint of the vectors is ahead of them."""
    row = connection.execute("SELECT count(*) FROM vectors.pending_vectors WHERE failure IS NULL").fetchone()
    assert row is not None
    return int(row[0])


def until_visible(running: Running, expected: int, projector: str) -> None:
    """Returns when every pushed turn is projected. For "vectors", every text also has its vector."""
    with psycopg.connect(running.admin_database_url, autocommit=True) as connection:
        while True:
            row = connection.execute("SELECT count(*) FROM log.events WHERE type = 'TurnRecorded'").fetchone()
            assert row is not None
            if (
                row[0] >= expected
                and behind(connection, "extractor") == 0
                and behind(connection, "cards") == 0
                and behind(connection, projector) == 0
                and (projector != "vectors" or pending(connection) == 0)
            ):
                return
            time.sleep(0.02)


def throughput(running: Running, count: int, projector: str) -> tuple[float, float]:
    """(turns/s from first XADD to last card visible, turns/s of XADD alone)."""
    made = turns(count, 50, seed=count)
    began = time.perf_counter()
    alone = xadd(running.redis, made)
    until_visible(running, count, projector)
    return count / (time.perf_counter() - began), count / alone


def append_alone(running: Running, count: int) -> float:
    """Turns/s appended straight to the log by one writer, 500 at a time."""
    events = [_event(fields) for fields in turns(count, 50)]
    with connect(new_database(running.admin_database_url, "bare"), application="bench") as connection:
        began = time.perf_counter()
        for start in range(0, count, 500):
            log.append(connection, events[start : start + 500])
        return count / (time.perf_counter() - began)


def _event(fields: dict[str, str]) -> NewEvent:
    user, turn = parse_turn(fields, entry_time=datetime.now(UTC), entry_id="0-0")
    return NewEvent(
        event_id=uuid7(), user_id=user, stream=f"session/{turn.session_id}", payload=turn, occurred_at=turn.said_at,
        actor="bench", dedupe_key=f"turn/{turn.turn_id}",
    )  # fmt: skip


def latencies(running: Running, rate: int, seconds: int) -> list[float]:
    """Milliseconds from XADD to visible in the card table, each of ``rate`` turns a second."""
    redis = running.redis
    pushed: dict[str, float] = {}
    seen: dict[str, float] = {}
    total = rate * seconds
    done = threading.Event()

    def watch() -> None:
        with psycopg.connect(running.admin_database_url, autocommit=True) as connection:
            while len(seen) < total and not done.is_set():
                rows = connection.execute(
                    "SELECT turn_ids[1] FROM cards.cards WHERE user_id = 'paced' AND episode "
                    "AND NOT turn_ids[1] = ANY (%s)",
                    (list(seen),),
                ).fetchall()
                now = time.perf_counter()
                seen.update({row[0]: now for row in rows})
                time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    for number in range(total):
        due = began + number / rate
        time.sleep(max(0.0, due - time.perf_counter()))
        pushed[f"p{number}"] = time.perf_counter()
        redis.xadd(
            "turns",
            {"user_id": "paced", "turn_id": f"p{number}", "text": f"Bought {number} pears in Turin today."},
        )
    watcher.join(30)
    done.set()
    return [(seen[name] - at) * 1000 for name, at in pushed.items() if name in seen]


def question(chance: random.Random) -> str:
    """Returns a question to users with such turns."""
    place, thing, person = chance.choice(_PLACES), chance.choice(_THINGS), chance.choice(_PEOPLE)
    return chance.choice(
        (
            f"what did {person} say about the {thing}?",
            f"when did I buy a {thing} in {place}?",
            "where do I live now?",
            f"我在{place}喜歡做什麼？",
            f"what happened with the {thing} last March?",
        )
    )


def recalls(running: Running, user: str, count: int) -> tuple[list[float], dict[str, str]]:
    """Milliseconds of ``count`` recalls over HTTP after a warm-up, and the channels' last statuses."""
    chance = random.Random(3)
    spent = []
    statuses: dict[str, str] = {}
    with httpx2.Client(timeout=30, headers=running.headers) as client:
        for number in range(count + 20):
            query = question(chance)
            began = time.perf_counter()
            answer = client.post(f"{running.read_url}/v1/recall", json={"user_id": user, "query": query})
            if number >= 20:
                spent.append((time.perf_counter() - began) * 1000)
            statuses = {name: report["status"] for name, report in answer.json()["channels"].items()}
    return spent, statuses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    options = parser.parse_args()
    with measured_stack(CARDLOG_EMBED_MODEL_PATH="/nonexistent") as running:
        rate, alone = throughput(running, options.turns, "cards")
        appended = append_alone(running, options.turns)
        print(
            f"without vectors: {rate:.0f} turns/s from XADD to card visible; {rate / appended:.2f} x appending to "
            f"the log alone ({appended:.0f}/s), {rate / alone:.2f} x XADD alone ({alone:.0f}/s)"
        )
        paced = latencies(running, 50, 20)
        told("XADD to visible, 50 turns/s, no vectors", paced)
    with measured_stack() as running:
        rate, _ = throughput(running, options.turns // 4, "vectors")
        print(f"with vectors: {rate:.0f} turns/s from XADD to vector stored")
        paced = latencies(running, 50, 20)
        told("XADD to visible, 50 turns/s, with vectors", paced)
    with measured_stack() as running:
        made = [turn | {"user_id": "one"} for turn in turns(8_000, 1)]
        xadd(running.redis, made)
        until_visible(running, len(made), "vectors")
        with psycopg.connect(running.admin_database_url) as connection:
            row = connection.execute("SELECT count(*) FROM cards.cards").fetchone()
            assert row is not None
        spent, statuses = recalls(running, "one", 300)
        told(f"recall with embedding, {row[0]} cards of one user", spent)
        print(statuses)


if __name__ == "__main__":
    main()
