"""The numbers behind ``deploy/commands/capacity/plan.py``, with units and sources."""

import json
from dataclasses import dataclass
from pathlib import Path

FOOTPRINT = (
    "tests/bench/deploy/turn_profile.py, 2026-11-22, 2 cores, "
    "Python 3.11, PostgreSQL 18.1, Redis 6.2, LoCoMo's turns"
)
EXTRACTION = "docs/benchmarks.md, Extraction with a model, 2026-11-22"
ASSUMED = "assumed"

SCALE_FILE = Path(__file__).with_name("scale.json")
SCALE = json.loads(SCALE_FILE.read_text())
"""Bytes of cards, users and vectors. ``tests/bench/retrieval/scale.py --fit`` writes the file."""

PARTITIONS = 64
"""The partitions of the log. At most this many workers of a stage can work at once."""

COMPARED = 10_000
"""A recall compares all vectors of a user with at most this many cards."""

WITH_MODEL = "extractor with a model"


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with its unit and its source."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one turn (or recall) at a stage in microseconds of one core, and the needs of one process.

    ``…_per_byte`` are additional microseconds for each byte of a turn's text. ``partitioned`` stages share the log's
    partitions. ``postgres_per_card`` are additional microseconds for each card of the asking user, up to
    :data:`COMPARED` cards. ``threads``: one process can use several cores. ``pools`` is the number of connection
    pools of ``CARDLOG_POOL_SIZE`` in a process, beside its ``connections``. Memory is resident memory, with the
    Chinese dictionary.
    """

    ours_us: float
    postgres_us: float
    memory_mib: float
    connections: int
    moved_by: str
    ours_per_byte: float = 0.0
    postgres_per_byte: float = 0.0
    postgres_per_card: float = 0.0
    redis_us: float = 0.0
    pools: int = 0
    partitioned: bool = False
    threads: bool = False
    source: str = FOOTPRINT

    def ours(self, text_bytes: float) -> float:
        """Returns microseconds of a Cardlog process for a turn with ``text_bytes`` of text."""
        return self.ours_us + self.ours_per_byte * text_bytes

    def postgres(self, text_bytes: float, cards: float) -> float:
        """Returns microseconds of Postgres for a turn with ``text_bytes`` of text, of a user with ``cards`` cards."""
        by_card = self.postgres_per_card * min(cards, COMPARED)
        return self.postgres_us + self.postgres_per_byte * text_bytes + by_card


COSTS = {
    "write": Cost(
        ours_us=2500, postgres_us=100, redis_us=4, memory_mib=98, connections=1, pools=2,
        moved_by="more `cardlog serve write`; lists of turns in a request, or XADD",
        source=f"{FOOTPRINT}; a turn a request, load 10; Postgres' part is assumed",
    ),
    "recorder": Cost(
        ours_us=125, ours_per_byte=0.07, postgres_us=57, redis_us=11, memory_mib=85, connections=2,
        moved_by="more `cardlog work recorder`",
    ),
    "extractor": Cost(
        ours_us=270, ours_per_byte=0.67, postgres_us=60, postgres_per_byte=0.25, memory_mib=170, connections=3,
        partitioned=True, moved_by="more `cardlog work extractor`",
    ),
    WITH_MODEL: Cost(
        ours_us=1350, postgres_us=60, postgres_per_byte=0.25, memory_mib=170, connections=3, partitioned=True,
        moved_by="CARDLOG_EXTRACT_CONCURRENCY; more `cardlog work extractor`",
        source=f"{EXTRACTION}: 740 turns/s on two cores, provider included, so an upper bound; Postgres: {FOOTPRINT}",
    ),
    "cards": Cost(
        ours_us=270, ours_per_byte=0.39, postgres_us=115, postgres_per_byte=0.16, memory_mib=175, connections=17,
        partitioned=True, moved_by="more `cardlog work projector`",
    ),
    "vectors": Cost(
        ours_us=0, ours_per_byte=115, postgres_us=795, postgres_per_byte=2.3, memory_mib=328, connections=6,
        partitioned=True, threads=True, moved_by="more `cardlog work vectors`; beyond 64, CARDLOG_EMBED_THREADS",
        source=f"{FOOTPRINT}; load 10",
    ),
    "read": Cost(
        ours_us=15_500, postgres_us=7550, postgres_per_card=2.08, memory_mib=395, connections=1, pools=2,
        moved_by="more `cardlog serve read`; a replica of Postgres for its part",
        source=f"{FOOTPRINT}; load 10; Postgres: docs/benchmarks.md, Speed of recall, users of 214 and 8,851 cards",
    ),
}  # fmt: skip

TEXT_BYTES = Measure(139, "bytes of text in a turn", FOOTPRINT)
EVENTS_PER_TURN = Measure(2.12, "events for each turn, the turn itself included", FOOTPRINT)
CARDS_PER_TURN = Measure(1.06, "cards for each turn, its episode included", FOOTPRINT)
CALLS_PER_TURN = Measure(0.11, "calls of the model for each turn, read in batches", EXTRACTION)

_A_CARD_BYTE = 1.6
BYTES = {
    "waiting_fixed": Measure(85, "bytes of a waiting turn in Redis, beside its text", FOOTPRINT),
    "log_fixed": Measure(2150, "bytes of the log a turn, with indexes, beside its text", FOOTPRINT),
    "log_per_text_byte": Measure(4, "bytes of the log for a byte of text, uncompressed", FOOTPRINT),
    "wal_fixed": Measure(
        6500, "bytes of write-ahead log a turn, without vectors and beside its text", FOOTPRINT
    ),
    "wal_per_text_byte": Measure(3.6, "bytes of write-ahead log for a byte of text", FOOTPRINT),
    "wal_per_vector": Measure(6300, "bytes of write-ahead log a vector", FOOTPRINT),
    "user": Measure(SCALE["user"], "bytes of a user beside the cards", SCALE["source"]),
    "card_fixed": Measure(
        SCALE["card"] - _A_CARD_BYTE * SCALE["text_bytes"],
        "bytes of a card with indexes, words and people, beside its turn's text",
        SCALE["source"],
    ),
    "card_per_text_byte": Measure(_A_CARD_BYTE, "bytes of a card for a byte of its turn's text", FOOTPRINT),
    "vectors_per_card": Measure(1.0, "vectors a card", FOOTPRINT),
    "vector": Measure(
        SCALE["vector"], "bytes of a vector of 384 numbers with its user's index", SCALE["source"]
    ),
    "vector_cache": Measure(2270, "bytes of a vector in the cache of texts", FOOTPRINT),
    "sign_index": Measure(SCALE["sign_index"], "bytes of a vector in the index of signs", SCALE["source"]),
    "connection": Measure(10 * 1024**2, "bytes a connection takes in Postgres", ASSUMED),
    "kafka_event": Measure(
        800, "bytes of an event in Kafka, uncompressed, beside text", f"{FOOTPRINT}; envelope 250 assumed"
    ),
    "payload_per_text_byte": Measure(1.9, "bytes of an event's payload for a byte of text", FOOTPRINT),
    "kafka_copies": Measure(3, "copies of the topic", ASSUMED),
    "kafka_days": Measure(3, "days Kafka keeps events; the log keeps them permanently", ASSUMED),
}

MODEL = {
    "input": Measure(682, "tokens asked a turn", EXTRACTION),
    "weighed": Measure(145, "tokens asked a turn, cached ones weighed by their price", EXTRACTION),
    "output": Measure(60, "tokens answered a turn", ASSUMED),
}

LARGEST = {
    "cores": Measure(64, "cores of the largest server for Postgres", ASSUMED),
    "memory_gib": Measure(512, "GiB of the largest server for Postgres", ASSUMED),
    "disk_tb": Measure(30, "TB of the largest disk for Postgres", ASSUMED),
    "connections": Measure(1000, "connections one Postgres serves well", ASSUMED),
    "redis_gib": Measure(64, "GiB of one Redis", ASSUMED),
    "redis_cores": Measure(1, "cores one Redis uses", ASSUMED),
}
