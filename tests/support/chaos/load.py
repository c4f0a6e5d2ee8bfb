"""Plans and pushes turns, and keeps a ledger of the acknowledged turns."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from zoneinfo import ZoneInfo

import httpx2
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import OutOfMemoryError, RedisError
from redis.retry import Retry

STREAM = "turns"


@dataclass(frozen=True, slots=True)
class Manner:
    """One way to talk. Every sentence is one statement with one meaning, "today" and "yesterday" included."""

    moved: str
    cities: tuple[str, ...]
    joined: str
    employers: tuple[str, ...]
    bought: str
    zones: tuple[str, ...]


MANNERS = (
    Manner(
        "I moved to {} today.",
        ("Lisbon", "Porto", "Oslo", "Cairo", "Lima", "Quito", "Turin"),
        "I started working at {} today.",
        ("Acme", "Globex", "Initech", "Northwind", "Bluefin"),
        "I bought part number {} yesterday.",
        ("Europe/Lisbon", "America/New_York", "UTC"),
    ),
    Manner(
        "我今天搬到{}了。",
        ("高雄", "台南", "新竹", "花蓮", "台中", "基隆"),
        "我今天跳槽到{}了。",
        ("宏碁", "華碩", "台積電", "聯發科"),
        "我昨天買了編號{}的零件。",
        ("Asia/Taipei",),
    ),
    Manner(
        "我今天搬到{}了。",
        ("上海", "杭州", "南京", "武汉", "广州"),
        "我今天入职{}。",
        ("华为", "小米", "京东"),
        "我昨天买了编号{}的零件。",
        ("Asia/Shanghai",),
    ),
)
# Far enough apart that no rule about changes in quick succession is touched.
DAYS_BETWEEN_CHANGES = (32, 75)
# "Today" is read on the speaker's own clock. The speakers' clocks are decades apart.
FIRST_DAYS = (date(1961, 3, 5), date(1994, 11, 20), date(2003, 6, 1), date(2008, 2, 28), date(2012, 1, 9))


@dataclass(frozen=True, slots=True)
class Fact:
    """The meaning of a turn about its speaker: ``concept`` is ``value`` from that local day on."""

    concept: str
    value: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as it is pushed. A turn without a ``turn_id`` gets the id of its entry as its name."""

    fields: Mapping[str, str]
    fact: Fact | None = None

    @property
    def user(self) -> str:
        return self.fields["user_id"]

    @property
    def text(self) -> str:
        return self.fields["text"]


def plan(chance: random.Random, *, users: int, turns: int, prefix: str = "") -> list[Turn]:
    """Returns turns of many users in random order. An earlier statement may be pushed later."""
    planned: list[Turn] = []
    for number in range(users):
        manner = MANNERS[number % len(MANNERS)]
        user = f"{prefix}user-{number}"
        zone = chance.choice(manner.zones)
        share = turns // users
        facts = [
            *_changes(chance, "residence", manner.moved, manner.cities, zone, share // 8),
            *_changes(chance, "employer", manner.joined, manner.employers, zone, share // 8),
        ]
        spoken: list[tuple[str, Fact | None]] = [*facts]
        spoken += [(manner.bought.format(f"{number}{count:05}"), None) for count in range(share - len(facts))]
        for count, (text, fact) in enumerate(spoken):
            fields = {
                "user_id": user,
                "text": text,
                "timezone": zone,
                "session_id": f"session-{chance.randrange(3)}",
            }
            if fact is not None:
                # Every time of that day is right, because it is the same day on the speaker's clock.
                said = fact.since + timedelta(hours=chance.uniform(4, 20))
                fields["said_at"] = said.astimezone(ZoneInfo(zone)).isoformat(timespec="milliseconds")
            elif chance.random() < 0.8:
                # A turn may not be said more than a day ahead.
                said = datetime(chance.randrange(1901, 2026), 1, 1, tzinfo=UTC) + timedelta(
                    seconds=chance.randrange(30_000_000)
                )
                fields["said_at"] = said.isoformat()
            if fact is not None or chance.random() < 0.9:
                fields["turn_id"] = f"turn-{count}"
            planned.append(Turn(fields, fact))
    chance.shuffle(planned)
    return planned


def _changes(
    chance: random.Random, concept: str, sentence: str, values: Sequence[str], zone: str, count: int
) -> Iterator[tuple[str, Fact]]:
    day = chance.choice(FIRST_DAYS)
    for _ in range(count):
        value = chance.choice(values)  # sometimes the current value, repeated
        # In UTC: a midnight that a change of the clocks skips is equal to no instant of another zone.
        since = datetime.combine(day, clock.min, ZoneInfo(zone)).astimezone(UTC)
        yield sentence.format(value), Fact(concept, value, since)
        day += timedelta(days=chance.randint(*DAYS_BETWEEN_CHANGES))


BAD: tuple[Mapping[str, str | bytes], ...] = (
    {"user_id": "user-0"},
    {"user_id": "user-0", "text": ""},
    {"user_id": "user-1", "text": "no such clock", "timezone": "Mars/Olympus"},
    {"user_id": "user-2", "text": "no offset", "said_at": "2026-05-08T10:00:00"},
    {"user_id": "user-3", "text": b"\xff not UTF-8"},
    {"text": "nobody said this"},
)


class Ledger:
    """The acknowledged turns, kept apart from everything under test. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.acknowledged: dict[tuple[str, str], Turn] = {}
        self.pushes = 0  # answered with an id; repeats of a turn included
        self.refused: Counter[str] = Counter()
        # Turns without an id, by user and text: those acknowledged, and those whose answer was lost.
        self.anonymous: Counter[tuple[str, str]] = Counter()
        self.doubtful: Counter[tuple[str, str]] = Counter()
        self.bad = 0

    def accept(self, turn: Turn, turn_id: str) -> None:
        with self._lock:
            self.acknowledged[turn.user, turn_id] = turn
            self.pushes += 1
            if "turn_id" not in turn.fields:
                self.anonymous[turn.user, turn.text] += 1

    def refuse(self, why: str) -> None:
        with self._lock:
            self.refused[why] += 1

    def doubt(self, turn: Turn) -> None:
        with self._lock:
            self.doubtful[turn.user, turn.text] += 1

    def accept_bad(self) -> None:
        with self._lock:
            self.bad += 1


class UnclearRefusalError(AssertionError):
    """A refusal of a push that names no remedy."""


class Pusher:
    """Pushes turns as an app would. It repeats each push until it is acknowledged, and sometimes once more."""

    def __init__(
        self, where: Callable[[], tuple[str, str, str]], ledger: Ledger, *, patience: float = 120.0
    ) -> None:
        # The URLs of the write service and of Redis, and the API key, now: a restart changes the URLs.
        self._where = where
        self._ledger = ledger
        self._patience = patience
        self._client: tuple[str, Redis] | None = None
        self._http = httpx2.Client(timeout=30)

    def close(self) -> None:
        self._http.close()
        if self._client is not None:
            self._client[1].close()

    def push(self, turn: Turn, *, http: bool = False) -> None:
        """Returns when ``turn`` is acknowledged, or when a turn without an id may be recorded without an answer."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                turn_id = self._post(turn) if http else self._add(turn)
            except OutOfMemoryError as error:
                if "maxmemory" not in str(error):
                    raise UnclearRefusalError(str(error)) from error
                self._ledger.refuse("out of memory")
            except _RefusedError as error:
                self._ledger.refuse(str(error))
                if "turn_id" not in turn.fields:
                    self._ledger.doubt(turn)
                    return
            except (RedisError, httpx2.HTTPError, OSError) as error:
                self._ledger.refuse(type(error).__name__)
                if "turn_id" not in turn.fields:
                    # A push without an id cannot be repeated without the risk of a second copy.
                    self._ledger.doubt(turn)
                    return
            else:
                self._ledger.accept(turn, turn_id)
                return
            assert time.monotonic() < deadline, f"not acknowledged within {self._patience:.0f} s: {turn}"
            time.sleep(0.1)

    def push_bad(self, fields: Mapping[str, str | bytes]) -> None:
        """Pushes one entry that breaks the contract exactly once, so only where its answer cannot get lost."""
        self._redis().xadd(STREAM, dict(fields))  # type: ignore[arg-type]
        self._ledger.accept_bad()

    def _add(self, turn: Turn) -> str:
        entry_id = self._redis().xadd(STREAM, dict(turn.fields))  # type: ignore[arg-type]
        return turn.fields.get("turn_id") or str(entry_id)

    def _post(self, turn: Turn) -> str:
        url, _, key = self._where()
        headers = {"Authorization": f"Bearer {key}"}
        answer = self._http.post(f"{url}/v1/turns", json=dict(turn.fields), headers=headers)
        if answer.status_code == 503 and "detail" in answer.json():
            raise _RefusedError("503")
        if answer.status_code != 202:
            raise UnclearRefusalError(f"{answer.status_code}: {answer.text}")
        [turn_id] = answer.json()["turn_ids"]
        return str(turn_id)

    def _redis(self) -> Redis:
        url = self._where()[1]
        if self._client is None or self._client[0] != url:
            # No retries of the client's own: each attempt must be counted.
            client = Redis.from_url(
                url, decode_responses=True, socket_timeout=10, retry=Retry(NoBackoff(), 0)
            )
            self._client = (url, client)
        return self._client[1]


class _RefusedError(Exception):
    pass
