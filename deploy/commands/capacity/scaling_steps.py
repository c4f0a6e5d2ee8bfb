"""The scaling steps of Cardlog, from the simplest on, with the number of users that each step carries."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from deploy.commands.capacity.measures import LARGEST
from deploy.commands.capacity.plan import GIB, Demand, Limit, Plan, limit_of, plan, server_limits


@dataclass(frozen=True, slots=True)
class ScalingStep:
    """One way to run Cardlog: its settings, the users it carries, and the resource that runs out first."""

    name: str
    settings: str
    carries_users: int
    ended_by: str


@dataclass(frozen=True, slots=True)
class _Topology:
    name: str
    settings: str
    limits: Callable[[Plan], tuple[Limit, ...]]


def scaling_steps(demand: Demand) -> tuple[ScalingStep, ...]:
    """Returns the scaling steps from the simplest on. Take the first step that carries the users of ``demand``."""
    found = []
    for way in _TOPOLOGIES:
        users = _most(lambda users, way=way: _fits(way, demand, users))  # type: ignore[misc]
        beyond = max(way.limits(plan(replace(demand, users=users + 1))), key=lambda limit: limit.share)
        found.append(ScalingStep(way.name, way.settings, users, beyond.name))
    return tuple(found)


_MOST_USERS = 10**12 - 1


def _most(fits: Callable[[int], bool]) -> int:
    """Returns the largest number of users that fits, and 0 when not even one user fits."""
    least, most = 0, 1
    while most < _MOST_USERS and fits(most):
        least, most = most, min(most * 2, _MOST_USERS)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(middle) else (least, middle)
    return least


def _fits(way: _Topology, demand: Demand, users: int) -> bool:
    return all(limit.share <= 1 for limit in way.limits(plan(replace(demand, users=users))))


def _one_of_each(found: Plan) -> tuple[Limit, ...]:
    single = (
        Limit(f"one {stage.name} process", stage.wanted, 1, "processes", stage.moved_by)
        for stage in found.stages
    )
    return (*single, *found.machine())


def _one_server(found: Plan) -> tuple[Limit, ...]:
    return (
        *server_limits(found, found.postgres_cores),
        limit_of("Redis' core", found.redis_cores, LARGEST["redis_cores"]),
        limit_of("Redis' memory", found.redis_bytes / GIB, LARGEST["redis_gib"]),
        *_partitions(found),
    )


def _replicas(found: Plan) -> tuple[Limit, ...]:
    return (*server_limits(found, found.postgres_cores - found.postgres_replica_cores), *_partitions(found))


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
    _Topology("one of each, on one machine", "cardlog up", _one_of_each),
    _Topology("several of each, on that machine", "cardlog work …, cardlog serve …", Plan.machine),
    _Topology(
        "machines for the processes; Postgres and Redis on their own",
        "CARDLOG_DATABASE_URL, CARDLOG_REDIS_URL",
        _one_server,
    ),
    _Topology(
        "replicas that answer recalls, several streams of turns on a Redis Cluster",
        "CARDLOG_READ_DATABASE_URL, CARDLOG_TURN_STREAMS",
        _replicas,
    ),
    _Topology(
        "the log and cards spread over servers by user with Citus, workers fed by Kafka",
        "CARDLOG_KAFKA_BROKERS, cardlog work relay",
        _partitions,
    ),
)
