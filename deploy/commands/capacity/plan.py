"""Computes the resources for a load from numbers that were measured on one machine. It is pure arithmetic.

A greater load never needs less. The result is an order of magnitude, because your turns, machines and network differ.
``tests/bench/deploy/turn_profile.py`` measures the same numbers on your machine.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Annotated

from cyclopts import Parameter

from deploy.commands.capacity.measures import (
    BYTES,
    CALLS_PER_TURN,
    CARDS_PER_TURN,
    COSTS,
    EVENTS_PER_TURN,
    LARGEST,
    MODEL,
    PARTITIONS,
    TEXT_BYTES,
    WITH_MODEL,
    Cost,
    Measure,
)
from deploy.options import OptionInvalidError

DAY_S = 86_400
GIB = 1024**3
BUSY = 0.6
"""The planned share of a processor at the peak. A higher share makes requests wait."""

_AT_LEAST_ONE = "users days cores memory_gib concurrency pool_size text_bytes peak_factor"
_LEAST = dict.fromkeys(_AT_LEAST_ONE.split(), 1) | dict.fromkeys(("turns_per_day", "disk_tb"), 0.001)
_MOST = {"calls_per_turn": 1}


def _default(default: float, meaning: str) -> Parameter:
    return Parameter(metavar="N", help=f"{meaning} (default: {default:g})")


_TEXT, _CARDS, _CALLS = TEXT_BYTES.value, CARDS_PER_TURN.value, CALLS_PER_TURN.value
_OUTAGE = "seconds of peak load that the queue must hold while no recorder runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The load of one user, and the size of one machine. The annotations are the options of the command."""

    peak_factor: Annotated[float, _default(4, "the peak rate over the mean rate")] = 4.0
    text_bytes: Annotated[float, _default(_TEXT, "bytes of text in a turn")] = _TEXT
    cards_per_turn: Annotated[float, _default(_CARDS, "cards for each turn, its episode included")] = _CARDS
    recalls_per_turn: Annotated[float, _default(0.5, "questions for each pushed turn")] = 0.5
    calls_per_turn: Annotated[float, _default(_CALLS, "calls of a model for each turn, in batches")] = _CALLS
    seconds_per_call: Annotated[float, _default(4, "seconds a model takes to answer")] = 4.0
    days: Annotated[int, _default(365, "days of turns to keep")] = 365
    outage_s: Annotated[int, _default(3600, _OUTAGE)] = 3600
    cores: Annotated[int, _default(16, "cores of one machine")] = 16
    memory_gib: Annotated[int, _default(64, "GiB of memory of one machine")] = 64
    disk_tb: Annotated[float, _default(4, "TB of disk of one machine")] = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand(Load):
    """The load to carry. Raises OptionInvalidError, which names the option, for an impossible value."""

    users: int
    turns_per_day: float
    vectors: bool = True
    model: bool = False
    concurrency: int = 32
    pool_size: int = 8

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            least, most = _LEAST.get(item.name, 0), _MOST.get(item.name, 1e12)
            if not isinstance(value, bool) and not least <= value <= most:  # NaN does not pass either
                option = "--" + item.name.replace("_", "-")
                raise OptionInvalidError(f"{option} {value:g} is out of range: use {least:g} to {most:g}")

    @property
    def mean(self) -> float:
        """Turns a second, as the mean of a day."""
        return self.users * self.turns_per_day / DAY_S

    @property
    def peak(self) -> float:
        """Turns a second at the peak."""
        return self.mean * self.peak_factor


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage at the peak.

    ``one_does`` is the work a second of one fully busy process. ``wanted`` is the needed number of processes, with
    fractions. At most ``most`` processes can work at once; None means no limit. ``busy`` is above :data:`BUSY` only
    when ``wanted`` is above ``most``. ``memory_gib`` is in GiB.
    """

    name: str
    unit: str
    per_second: float
    one_does: float
    processes: int
    threads: int
    busy: float
    cores: float
    memory_gib: float
    connections: int
    wanted: float
    most: int | None
    moved_by: str


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes on Postgres' disk. Fields without ``per_day`` are the totals after ``Demand.days``."""

    log_per_day: float
    log: float
    cards: float
    vectors: float
    wal_per_day: float

    @property
    def total(self) -> float:
        return self.log + self.cards + self.vectors


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """Calls and tokens of a language model. All fields are zero when rules read the turns."""

    calls_per_second: float
    at_once: float
    calls_per_day: float
    input_tokens_per_day: float
    weighed_tokens_per_day: float
    output_tokens_per_day: float


@dataclass(frozen=True, slots=True)
class Limit:
    """The needed and the available amount of one resource."""

    name: str
    need: float
    have: float
    unit: str
    moved_by: str

    @property
    def share(self) -> float:
        return self.need / self.have


@dataclass(frozen=True, slots=True)
class Plan:
    """All resources that a demand needs. ``recall_postgres_us`` is Postgres' part of a recall in microseconds."""

    demand: Demand
    events_per_second: float
    recalls_per_second: float
    recall_postgres_us: float
    stages: tuple[StagePlan, ...]
    postgres_cores: float
    postgres_replica_cores: float
    postgres_memory_gib: float
    connections: int
    redis_cores: float
    redis_bytes: float
    disk: Disk
    cards: float
    vector_index_bytes: float
    kafka_bytes: float
    model: ModelPlan

    @property
    def cores(self) -> float:
        """The cores of all processes and servers at the peak, at the planned share."""
        return sum(stage.cores for stage in self.stages) + self.postgres_cores + self.redis_cores

    @property
    def memory_gib(self) -> float:
        stages = sum(stage.memory_gib for stage in self.stages)
        return stages + self.postgres_memory_gib + self.redis_bytes / GIB

    @property
    def postgres_servers(self) -> int:
        """The number of the largest servers for all data, with users spread over them and replicas for recalls."""
        return ceil(
            max(
                limit.share
                for limit in _server_limits(self, self.postgres_cores - self.postgres_replica_cores)
            )
        )

    def machine(self) -> tuple[Limit, ...]:
        """Returns the use of one machine by resource, the fullest first."""
        demand = self.demand
        limits = (
            Limit("processors", self.cores, demand.cores, "cores", "other machines for work and serve"),
            Limit(
                "memory", self.memory_gib, demand.memory_gib, "GiB", "machines for Postgres and Redis alone"
            ),
            Limit(
                "disk", self.disk.total / 1e12, demand.disk_tb, "TB", "a larger disk; fewer --days of turns"
            ),
        )
        return tuple(sorted(limits, key=lambda limit: -limit.share))


def plan(demand: Demand) -> Plan:
    """Returns the resources that ``demand`` needs."""
    peak, recalls = demand.peak, demand.peak * demand.recalls_per_turn
    rates = {
        "write": peak, "recorder": peak, "extractor": peak, "cards": peak,
        "vectors": peak if demand.vectors else 0.0, "read": recalls,
    }  # fmt: skip
    stages = tuple(_stage(name, rate, demand) for name, rate in rates.items() if rate)
    cards_of_user = demand.turns_per_day * demand.days * demand.cards_per_turn
    postgres_us = {name: _cost(name, demand).postgres(demand.text_bytes, cards_of_user) for name in rates}
    postgres = {name: rate * postgres_us[name] / 1e6 / BUSY for name, rate in rates.items()}
    cards = demand.users * cards_of_user
    vectors = cards * BYTES["vectors_per_card"].value if demand.vectors else 0.0
    turns_per_day = demand.users * demand.turns_per_day
    turns = turns_per_day * demand.days
    signs = vectors * BYTES["sign_index"].value
    connections = sum(stage.connections for stage in stages)
    log = BYTES["log_fixed"].value + BYTES["log_per_text_byte"].value * demand.text_bytes
    wal = BYTES["wal_fixed"].value + BYTES["wal_per_text_byte"].value * demand.text_bytes
    event = BYTES["kafka_event"].value + BYTES["payload_per_text_byte"].value * demand.text_bytes
    return Plan(
        demand=demand,
        events_per_second=peak * EVENTS_PER_TURN.value,
        recalls_per_second=recalls,
        recall_postgres_us=postgres_us["read"],
        stages=stages,
        postgres_cores=sum(postgres.values()),
        postgres_replica_cores=postgres["read"],
        postgres_memory_gib=(signs + connections * BYTES["connection"].value) / GIB + 1.0,
        connections=connections,
        redis_cores=peak * sum(_cost(name, demand).redis_us for name in rates) / 1e6 / BUSY,
        redis_bytes=peak * demand.outage_s * (BYTES["waiting_fixed"].value + demand.text_bytes),
        disk=Disk(
            log_per_day=turns_per_day * log,
            log=turns * log,
            cards=demand.users * BYTES["user"].value
            + cards * (BYTES["card_fixed"].value + BYTES["card_per_text_byte"].value * demand.text_bytes),
            vectors=signs + vectors * (BYTES["vector"].value + BYTES["vector_cache"].value),
            wal_per_day=turns_per_day * wal + vectors / demand.days * BYTES["wal_per_vector"].value,
        ),
        cards=cards,
        vector_index_bytes=signs,
        kafka_bytes=turns_per_day
        * EVENTS_PER_TURN.value
        * event
        * BYTES["kafka_copies"].value
        * BYTES["kafka_days"].value,
        model=_model(demand),
    )


def _cost(name: str, demand: Demand) -> Cost:
    return COSTS[WITH_MODEL if name == "extractor" and demand.model else name]


def _stage(name: str, rate: float, demand: Demand) -> StagePlan:
    cost = _cost(name, demand)
    each = cost.ours(demand.text_bytes)
    needed = rate * each / 1e6 / BUSY
    threads, at_once = 1, 0.0
    if name == "extractor" and demand.model:
        at_once = _model(demand).at_once / demand.concurrency / BUSY
    wanted = max(1, ceil(max(needed, at_once)))
    # One worker at a time has a partition, so more workers than partitions are of no use.
    processes = min(wanted, PARTITIONS) if cost.partitioned else wanted
    if cost.threads:
        threads = ceil(wanted / processes)
    return StagePlan(
        name=name,
        unit="recalls" if name == "read" else "turns",
        per_second=rate,
        one_does=1e6 / each,
        processes=processes,
        threads=threads,
        busy=max(needed, at_once) * BUSY / processes / threads,
        cores=needed,
        memory_gib=processes * cost.memory_mib / 1024,
        connections=processes * (cost.connections + cost.pools * demand.pool_size),
        wanted=max(needed, at_once),
        most=PARTITIONS if cost.partitioned and not cost.threads else None,
        moved_by=cost.moved_by,
    )


def _model(demand: Demand) -> ModelPlan:
    if not demand.model:
        return ModelPlan(0, 0, 0, 0, 0, 0)
    calls = demand.peak * demand.calls_per_turn
    turns_per_day = demand.users * demand.turns_per_day
    return ModelPlan(
        calls_per_second=calls,
        at_once=calls * demand.seconds_per_call,
        calls_per_day=turns_per_day * demand.calls_per_turn,
        input_tokens_per_day=turns_per_day * MODEL["input"].value,
        weighed_tokens_per_day=turns_per_day * MODEL["weighed"].value,
        output_tokens_per_day=turns_per_day * MODEL["output"].value,
    )


def _server_limits(found: Plan, cores: float) -> tuple[Limit, ...]:
    """Returns the use of one Postgres server that needs ``cores``."""
    return (
        _limit_of("Postgres' cores", cores, LARGEST["cores"]),
        _limit_of("Postgres' memory (index of vectors)", found.postgres_memory_gib, LARGEST["memory_gib"]),
        _limit_of("Postgres' disk", found.disk.total / 1e12, LARGEST["disk_tb"]),
        _limit_of("Postgres' connections", found.connections, LARGEST["connections"]),
    )


def _limit_of(name: str, need: float, most: Measure) -> Limit:
    """Returns the limit of a resource that one server has ``most`` of."""
    return Limit(name, need, most.value, most.unit, "")


@dataclass(frozen=True, slots=True)
class ScalingStep:
    """One way to run Cardlog: its settings, the users it carries, and the resource that runs out first."""

    name: str
    settings: str
    carries_users: int
    ended_by: str


_MOST_USERS = 10**12 - 1


def scaling_steps(demand: Demand) -> tuple[ScalingStep, ...]:
    """Returns the scaling steps from the simplest on. Take the first step that carries the users of ``demand``."""
    found = []
    for name, settings, limits in _TOPOLOGIES:

        def fullest(users: int, limits: Callable[[Plan], tuple[Limit, ...]] = limits) -> Limit:
            return max(limits(plan(replace(demand, users=users))), key=lambda limit: limit.share)

        users = bisect_right(range(1, _MOST_USERS), 1.0, key=lambda users: fullest(users).share)
        found.append(ScalingStep(name, settings, users, fullest(users + 1).name))
    return tuple(found)


def _one_of_each(found: Plan) -> tuple[Limit, ...]:
    single = (
        Limit(f"one {stage.name} process", stage.wanted, 1, "processes", stage.moved_by)
        for stage in found.stages
    )
    return (*single, *found.machine())


def _one_server(found: Plan) -> tuple[Limit, ...]:
    return (
        *_server_limits(found, found.postgres_cores),
        _limit_of("Redis' core", found.redis_cores, LARGEST["redis_cores"]),
        _limit_of("Redis' memory", found.redis_bytes / GIB, LARGEST["redis_gib"]),
        *_partitions(found),
    )


def _replicas(found: Plan) -> tuple[Limit, ...]:
    return (*_server_limits(found, found.postgres_cores - found.postgres_replica_cores), *_partitions(found))


def _partitions(found: Plan) -> tuple[Limit, ...]:
    return tuple(
        Limit(
            f"the {stage.most} partitions, for {stage.name}",
            stage.cores,
            stage.most,
            "processes",
            stage.moved_by,
        )
        for stage in found.stages
        if stage.most is not None
    )


_TOPOLOGIES = (
    ("one of each, on one machine", "cardlog up", _one_of_each),
    ("several of each, on that machine", "cardlog work …, cardlog serve …", Plan.machine),
    (
        "machines for the processes; Postgres and Redis on their own",
        "CARDLOG_DATABASE_URL, CARDLOG_REDIS_URL",
        _one_server,
    ),
    (
        "replicas that answer recalls, several streams of turns on a Redis Cluster",
        "CARDLOG_READ_DATABASE_URL, CARDLOG_TURN_STREAMS",
        _replicas,
    ),
    (
        "the log and cards spread over servers by user with Citus, workers fed by Kafka",
        "CARDLOG_KAFKA_BROKERS, cardlog work relay",
        _partitions,
    ),
)
