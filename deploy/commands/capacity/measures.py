"""The numbers behind ``deploy/commands/capacity/plan.py``.

Measured with tests/bench/deploy/turn_profile.py on 2026-11-22 at load 10: 2 cores, Python 3.11, PostgreSQL 18.1,
Redis 6.2, LoCoMo's turns. A number from elsewhere has its source beside it. docs/operating/scaling.md has the tables.
"""

import json
from dataclasses import dataclass
from pathlib import Path

SCALE_FILE = Path(__file__).with_name("scale.json")
SCALE = json.loads(SCALE_FILE.read_text())
"""Bytes of cards, users and vectors. ``tests/bench/retrieval/scale.py --fit`` writes the file."""

PARTITIONS = 64
"""The partitions of the log. At most this many workers of a stage can work at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one turn (or recall) at a stage in microseconds of one core, and the needs of one process.

    ``…_per_byte`` are additional microseconds for each byte of a turn's text. Memory is resident memory, with the
    Chinese dictionary. ``beyond`` says what helps when as many workers as partitions are not enough.
    """

    ours_us: float
    postgres_us: float
    memory_mib: float
    connections: int
    more: str
    ours_per_byte: float = 0.0
    postgres_per_byte: float = 0.0
    redis_us: float = 0.0
    beyond: str = ""

    def ours(self, text_bytes: float) -> float:
        """Returns microseconds of a Cardlog process for a turn with ``text_bytes`` of text."""
        return self.ours_us + self.ours_per_byte * text_bytes

    def postgres(self, text_bytes: float) -> float:
        """Returns microseconds of Postgres for a turn with ``text_bytes`` of text."""
        return self.postgres_us + self.postgres_per_byte * text_bytes


COSTS = {
    "write": Cost(  # a turn a request; Postgres' part is assumed
        ours_us=2500, postgres_us=100, redis_us=4, memory_mib=98, connections=17,
        more="`cardlog serve write`; lists of turns in a request, or XADD",
    ),
    "recorder": Cost(
        ours_us=125, ours_per_byte=0.07, postgres_us=57, redis_us=11, memory_mib=85, connections=2,
        more="`cardlog work recorder`",
    ),
    "extractor": Cost(
        ours_us=270, ours_per_byte=0.67, postgres_us=60, postgres_per_byte=0.25, memory_mib=170, connections=3,
        more="`cardlog work extractor`", beyond="more partitions, which is not a setting",
    ),
    "cards": Cost(
        ours_us=270, ours_per_byte=0.39, postgres_us=115, postgres_per_byte=0.16, memory_mib=175, connections=17,
        more="`cardlog work projector`", beyond="more partitions, which is not a setting",
    ),
    "vectors": Cost(
        ours_us=0, ours_per_byte=115, postgres_us=795, postgres_per_byte=2.3, memory_mib=328, connections=6,
        more="`cardlog work vectors`", beyond="CARDLOG_EMBED_THREADS; a smaller CARDLOG_EMBED_MODEL",
    ),
    "read": Cost(  # Postgres: docs/benchmarks.md, Speed of recall, users of 214 and 8,851 cards
        ours_us=15_500, postgres_us=7550, memory_mib=395, connections=17,
        more="`cardlog serve read`; for Postgres' part, CARDLOG_READ_DATABASE_URL",
    ),
}  # fmt: skip

READ_PER_CARD_US = 2.08
"""Microseconds of Postgres that a recall takes for each card of its user, up to ``COMPARED`` cards."""
COMPARED = 10_000

TEXT_BYTES = 139.0
CARDS_PER_TURN = 1.06  # its episode included, and a vector each
WAITING_BYTES = 85  # a waiting turn in Redis, beside its text
LOG_BYTES, LOG_PER_TEXT_BYTE = 2150, 4.0  # a turn in the log with its events and indexes
USER_BYTES = SCALE["user"]
CARD_PER_TEXT_BYTE = 1.6
CARD_BYTES = SCALE["card"] - CARD_PER_TEXT_BYTE * SCALE["text_bytes"]  # with indexes, words and people
VECTOR_BYTES, CACHED_VECTOR_BYTES = SCALE["vector"], 2270  # with its user's index; in the cache of texts
SIGNS_BYTES = SCALE["sign_index"]  # a vector in the index of signs, which must fit into memory

# Assumed.
PEAK_FACTOR = 4.0  # the busiest second over the mean
RECALLS_PER_TURN = 0.5
OUTAGE_S = 3600  # of the peak, which Redis holds while no recorder runs
CONNECTION_MIB = 10
CONNECTIONS = 1000  # that one Postgres serves well
