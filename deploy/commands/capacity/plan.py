"""Computes the resources for a load from numbers that were measured on one machine. It is pure arithmetic.

A greater load never needs less. The result is an order of magnitude, because your turns, machines and network differ.
``tests/bench/deploy/turn_profile.py`` measures the same numbers on your machine.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated

from cyclopts import Parameter

from deploy.commands.capacity import measures
from deploy.commands.capacity.measures import COSTS, PARTITIONS
from deploy.options import between

DAY_S = 86_400
GIB = 1024**3
BUSY = 0.6
"""The planned share of a processor at the peak. A higher share makes requests wait."""

_MOST_USERS = 10**12


def _number(meaning: str, least: float = 1) -> Parameter:
    return Parameter(metavar="N", help=meaning, validator=between(least, _MOST_USERS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The load to carry, and the machine to carry it. The annotations are the options of the command."""

    users: Annotated[int, _number("the number of users")]
    turns_per_day: Annotated[float, _number("the turns of one user a day", 0.001)]
    text_bytes: Annotated[float, _number("bytes of text in a turn")] = measures.TEXT_BYTES
    days: Annotated[int, _number("days of turns to keep")] = 365
    vectors: Annotated[
        bool, Parameter(negative="--no-vectors", help="the semantic channel is used (default)")
    ] = True
    cores: Annotated[int, _number("cores of the machine")] = 16
    memory_gib: Annotated[int, _number("GiB of memory of the machine")] = 64
    disk_tb: Annotated[float, _number("TB of disk of the machine", 0.001)] = 4.0

    @property
    def peak(self) -> float:
        """Turns in the busiest second."""
        return self.users * self.turns_per_day / DAY_S * measures.PEAK_FACTOR


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage at the peak. ``one_does`` is the work a second of one fully busy process."""

    name: str
    per_second: float
    one_does: float
    processes: int
    cores: float
    memory_gib: float
    more: str


@dataclass(frozen=True, slots=True)
class Limit:
    """The needed and the available amount of one resource, and what moves the limit."""

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
    """All resources that a demand needs. ``limits`` has the fullest resource first. Disk is in bytes."""

    stages: tuple[StagePlan, ...]
    postgres_cores: float
    postgres_memory_gib: float
    connections: int
    recall_postgres_us: float
    redis_cores: float
    redis_bytes: float
    cards: float
    log_disk: float
    cards_disk: float
    vectors_disk: float
    limits: tuple[Limit, ...]


def plan(demand: Demand) -> Plan:
    """Returns the resources that ``demand`` needs."""
    peak, text = demand.peak, demand.text_bytes
    rates = dict.fromkeys(COSTS, peak) | {"read": peak * measures.RECALLS_PER_TURN}
    if not demand.vectors:
        del rates["vectors"]
    stages = tuple(_stage(name, rate, text) for name, rate in rates.items())
    turns = demand.turns_per_day * demand.days
    cards = demand.users * turns * measures.CARDS_PER_TURN
    vectors = cards if demand.vectors else 0.0
    of_user = min(turns * measures.CARDS_PER_TURN, measures.COMPARED)
    postgres_us = {name: COSTS[name].postgres(text) for name in rates}
    postgres_us["read"] += measures.READ_PER_CARD_US * of_user
    connections = sum(stage.processes * COSTS[stage.name].connections for stage in stages)
    signs = vectors * measures.SIGNS_BYTES
    found = Plan(
        stages=stages,
        postgres_cores=sum(rate * postgres_us[name] for name, rate in rates.items()) / 1e6 / BUSY,
        postgres_memory_gib=signs / GIB + connections * measures.CONNECTION_MIB / 1024 + 1,
        connections=connections,
        recall_postgres_us=postgres_us["read"],
        redis_cores=peak * sum(COSTS[name].redis_us for name in rates) / 1e6 / BUSY,
        redis_bytes=peak * measures.OUTAGE_S * (measures.WAITING_BYTES + text),
        cards=cards,
        log_disk=demand.users * turns * (measures.LOG_BYTES + measures.LOG_PER_TEXT_BYTE * text),
        cards_disk=demand.users * measures.USER_BYTES
        + cards * (measures.CARD_BYTES + measures.CARD_PER_TEXT_BYTE * text),
        vectors_disk=signs + vectors * (measures.VECTOR_BYTES + measures.CACHED_VECTOR_BYTES),
        limits=(),
    )
    return replace(found, limits=tuple(sorted(_limits(found, demand), key=lambda limit: -limit.share)))


def most_users(demand: Demand) -> int:
    """Returns how many such users fill the first limit. No number of them is more than planned for."""
    users = range(1, _MOST_USERS)
    return bisect_right(users, 1.0, key=lambda users: plan(replace(demand, users=users)).limits[0].share)


def _stage(name: str, rate: float, text_bytes: float) -> StagePlan:
    cost = COSTS[name]
    each = cost.ours(text_bytes)
    cores = rate * each / 1e6 / BUSY
    processes = max(1, ceil(cores))
    return StagePlan(name, rate, 1e6 / each, processes, cores, processes * cost.memory_mib / 1024, cost.more)


def _limits(found: Plan, demand: Demand) -> list[Limit]:
    cores = sum(stage.cores for stage in found.stages) + found.postgres_cores + found.redis_cores
    memory = sum(stage.memory_gib for stage in found.stages)
    memory += found.postgres_memory_gib + found.redis_bytes / GIB
    disk = (found.log_disk + found.cards_disk + found.vectors_disk) / 1e12
    own = "a machine for Postgres: CARDLOG_DATABASE_URL"
    return [
        Limit(
            "processors", cores, demand.cores, "cores", "machines for work and serve: CARDLOG_DATABASE_URL"
        ),
        Limit("memory", memory, demand.memory_gib, "GiB", f"{own}; --no-vectors" if demand.vectors else own),
        Limit("disk", disk, demand.disk_tb, "TB", "a larger disk; fewer --days"),
        Limit("connections", found.connections, measures.CONNECTIONS, "", "CARDLOG_POOL_SIZE"),
        *(
            Limit(stage.name, stage.cores, PARTITIONS, "workers", COSTS[stage.name].beyond)
            for stage in found.stages
            if COSTS[stage.name].beyond
        ),
    ]
