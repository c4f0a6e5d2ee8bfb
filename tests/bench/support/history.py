"""A long, made-up history to measure with: many users, two languages, states that change, concepts learned."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from uuid import UUID

import orjson

from events.language.segmentation import build, source
from events.platform.database import Connection
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted, Utterance
from events.types.codec import describe, encode
from events.types.envelope import Payload, partition_of
from events.types.extraction import TurnsExtracted, Usage
from events.types.turns import TurnRecorded

_BEGUN = datetime(2025, 1, 1, tzinfo=UTC)
_COMMON = (
    "the", "a", "to", "of", "and", "in", "it", "i", "you", "that", "is", "was", "for", "on", "with", "my",
    "we", "at", "so", "this", "but", "have", "not", "they", "had", "be", "his", "her", "she", "he", "just",
    "me", "about", "from", "up", "out", "there", "what", "when", "who", "how", "went", "been", "really",
    "could", "would", "because", "after", "before", "then",
)  # fmt: skip
_LINKS = "我们在的时候一起去了还是觉得很想把这个和那个都做完然后再说因为所以今天昨天已经开始准备下个月"
_CITIES = ("Taipei", "Kaohsiung", "Lisbon", "Osaka", "Toronto", "Leipzig", "Tainan", "Nairobi", "Lyon")
_CITIES_ZH = ("台北", "高雄", "里斯本", "大阪", "多伦多", "莱比锡", "台南", "奈洛比", "里昂")
_LIKED = ("Rust", "climbing", "jazz", "ramen", "chess", "pottery", "hiking", "cycling", "tea")

# The server computes the chain, with the functions an append uses.
_STAGE = """
CREATE UNLOGGED TABLE log.staged (
    partition smallint, position bigint, event_id uuid, user_id text COLLATE "C", stream text COLLATE "C",
    version bigint, type text COLLATE "C", schema_version smallint, dedupe_key text COLLATE "C",
    occurred_at timestamptz, recorded_at timestamptz, actor text, causation_id uuid, correlation_id uuid, data json)
"""
_APPEND = """
INSERT INTO log.events
SELECT s.*, log.chain(log.canonical(s.partition, s.position, s.event_id, s.user_id, s.stream, s.version, s.type,
                                    s.schema_version, s.dedupe_key, s.occurred_at, s.recorded_at, s.actor,
                                    s.causation_id, s.correlation_id, s.data), sha256(''))
            OVER (PARTITION BY s.partition ORDER BY s.position)
FROM log.staged s ORDER BY s.recorded_at
"""
_HEADS = """
UPDATE log.heads h SET position = e.position, digest = e.digest, recorded_at = e.recorded_at
FROM (SELECT DISTINCT ON (partition) * FROM log.events ORDER BY partition, position DESC) e
WHERE h.partition = e.partition
"""


@cache
def _chinese_words() -> list[str]:
    """Returns the 6,000 most frequent Chinese words."""
    known = build(orjson.loads(source().read_bytes())["freq"].items())
    return sorted(known, key=lambda word: (-known[word], word))[:6000]


class History:
    """Turns of ``users`` users in turn, what was extracted from each, and the cards it caused.

    The mix is that of real conversations read by the rules: of a hundred events 34 are turns, 27 extractions,
    28 episodes, the rest noted events, states (a third of them changes) and concepts. ``heavy`` is the share of
    one user among them. Deterministic.
    """

    def __init__(self, users: int, *, texts: int = 20_000, seed: int = 7, heavy: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._users = [f"user-{number:05d}" for number in range(users)]
        # The first user speaks as often as the share requires.
        for number in range(round(users * heavy / (1 - heavy))):
            self._users.insert((number * 7919) % (len(self._users) + 1), self._users[0])
        syllables = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "an", "er", "ing")]
        self._words = [
            "".join(self._random.choices(syllables, k=self._random.randint(1, 3))) for _ in range(9000)
        ]
        self._chinese_words = _chinese_words()
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(len(self._words))))
        # A text joins two halves from a pool: various enough, and made quickly.
        self._halves = ([self._english() for _ in range(texts)], [self._chinese() for _ in range(texts // 2)])
        self._positions = [0] * 64
        self._before: dict[str, tuple[Utterance, ...]] = {}
        self._versions: dict[tuple[str, str], int] = {}
        self._count = 0

    def rows(self, events: int) -> Iterator[tuple[object, ...]]:
        """At least ``events`` rows of the log, without their digests."""
        while self._count < events:
            for number, user in enumerate(self._users):
                yield from self._turn(user, chinese=number % 10 < 3)
                if self._count >= events:
                    break

    def _turn(self, user: str, *, chinese: bool) -> Iterator[tuple[object, ...]]:
        roll = self._random.random
        said_at = _BEGUN + timedelta(seconds=self._count * 30)
        halves = self._halves[chinese]
        text = f"{halves[int(roll() * len(halves))]} {halves[int(roll() * len(halves))]}"
        session = f"s{self._count // 50_000}"
        turn_id = f"turn-{self._count}"
        turn = TurnRecorded(
            turn_id=turn_id, text=text, role="user" if roll() < 0.6 else "assistant", said_at=said_at,
            timezone="Asia/Taipei", session_id=session, project_id="default", speaker=user,
        )  # fmt: skip
        yield self._row(user, f"session/default/{session}", turn, said_at, f"turn/{turn_id}", None)
        if roll() > 0.8:
            return
        origin = CardOrigin(
            project_id="default", session_id=session, turn_ids=(turn_id,), said_at=said_at, provenance="user_stated",
            source_span=SourceSpan(turn_id=turn_id, start=0, end=len(text), text=text), speaker=user,
        )  # fmt: skip
        cards = list(self._cards(origin, text, self._before.get(user, ()), chinese=chinese))
        self._before[user] = (Utterance(text, user), *self._before.get(user, ()))[:2]
        extracted = TurnsExtracted(
            extractor="rules", model=None, prompt_version="rules-1", turn_ids=(turn_id,),
            turn_positions=(self._positions[partition_of(user)],), usage=Usage(), cards=len(cards),
        )  # fmt: skip
        stream = f"extraction/default/{session}"
        leader = self._row(user, stream, extracted, said_at, f"extraction/rules-1/{turn_id}", None)
        yield leader
        for card in cards:
            yield self._row(user, stream, card, said_at, None, leader[2])

    def _cards(
        self, origin: CardOrigin, text: str, before: tuple[Utterance, ...], *, chinese: bool
    ) -> Iterator[Payload]:
        roll, choose = self._random.random, self._random.choice
        said_at = origin.said_at
        yield EventNoted(
            content=text, entity="user", tags=(), origin=origin, occurred_at=said_at, episode=True,
            topics=(choose(self._words), choose(self._words)), importance=1 + int(10 * roll()), before=before,
        )  # fmt: skip
        if roll() < 0.12:
            yield EventNoted(
                content=text[: len(text) // 2], entity="user", tags=("outing",), origin=origin, time_resolved=True,
                occurred_at=said_at - timedelta(days=self._random.randint(0, 60)), time_grain="day",
            )  # fmt: skip
        if roll() < 0.08:
            city = choose(_CITIES_ZH if chinese else _CITIES)
            yield StateAsserted(
                content=f"我搬到{city}了" if chinese else f"I moved to {city}", entity="user",
                concept_key="residence", value=city, cardinality="single_value", tags=("home",), origin=origin,
                effective_at=said_at, announced=True,
            )  # fmt: skip
        if roll() < 0.12:
            liked = choose(_LIKED) if roll() < 0.5 else choose(self._words)
            yield StateAsserted(
                content=f"我喜欢{liked}" if chinese else f"I like {liked}", entity="user", concept_key="likes",
                value=liked, cardinality="multi_value", tags=(), origin=origin, effective_at=said_at,
            )  # fmt: skip
        if roll() < 0.04:
            title = choose(self._words)
            yield KnowledgeLearned(
                content=f"{title}: {text}", title=title, definition=text, tags=(), origin=origin,
                aliases=(f"the {title} thing",) if roll() < 0.3 else (),
            )  # fmt: skip

    def _row(
        self, user: str, stream: str, payload: Payload, at: datetime, dedupe_key: str | None, cause: object
    ) -> tuple[object, ...]:
        self._count += 1
        partition = partition_of(user)
        self._positions[partition] += 1
        version = self._versions[user, stream] = self._versions.get((user, stream), 0) + 1
        name, schema_version = describe(payload)
        event_id = UUID(int=self._count << 80 | 0x7000 << 64 | 0b10 << 62 | self._random.getrandbits(62))
        return (
            partition, self._positions[partition], event_id, user, stream, version, name, schema_version, dedupe_key,
            at, _BEGUN + timedelta(microseconds=self._count), "history", cause, cause, encode(payload).decode(),
        )  # fmt: skip

    def _english(self) -> str:
        words = self._random.choices(self._words, cum_weights=self._weights, k=self._random.randint(1, 8))
        common = self._random.choices(_COMMON, k=len(words))
        return " ".join(word for pair in zip(common, words, strict=True) for word in pair).capitalize() + "."

    def _chinese(self) -> str:
        pieces: list[str] = []
        for _ in range(self._random.randint(2, 6)):
            start = self._random.randrange(len(_LINKS) - 2)
            pieces += (
                _LINKS[start : start + 2],
                *self._random.choices(self._chinese_words, cum_weights=self._weights[:6000], k=2),
            )
        return "".join(pieces) + "。"


def fill(connection: Connection, events: int, *, users: int, texts: int = 20_000, heavy: float = 0.0) -> int:
    """Put a history of about ``events`` events into an empty log, with its digests; returns how many there are."""
    with connection.transaction():
        connection.execute(_STAGE)
        with connection.cursor() as cursor:
            with cursor.copy("COPY log.staged FROM STDIN") as copy:
                for row in History(users, texts=texts, heavy=heavy).rows(events):
                    copy.write_row(row)
            cursor.execute(_APPEND)
            count = cursor.rowcount
        connection.execute(_HEADS)
        connection.execute("DROP TABLE log.staged")
    connection.execute("VACUUM ANALYZE log.events, log.heads")
    return count
