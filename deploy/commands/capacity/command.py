"""``cardlog capacity``: computes the processes and servers for a number of users."""

from collections.abc import Iterator
from dataclasses import asdict

from deploy.commands.capacity.plan import BUSY, DAY_S, GIB, Demand, Plan, most_users, plan
from deploy.options import Answer, Flat, Json


def capacity(*, demand: Flat[Demand], as_json: Json = False) -> Answer:
    """Compute the processes and servers for a number of users.

    Prints the processes of every stage, servers, memory and disk, and the resource of one machine that runs out first,
    with what moves this limit. It multiplies numbers that were measured on one machine (docs/operating/scaling.md),
    and does not look at a running Cardlog.
    """
    found, most = plan(demand), most_users(demand)
    return Answer(
        {"demand": asdict(demand), **asdict(found), "most_users": most}, _lines(demand, found, most)
    )


def _lines(demand: Demand, found: Plan, most: int) -> Iterator[str]:
    a_day = demand.users * demand.turns_per_day
    yield f"{count(a_day)} turns a day: {count(a_day / DAY_S)} a second, and {count(demand.peak)} at the peak"
    yield ""
    yield f"Processes at the peak, each busy {BUSY:.0%} at most"
    yield f"  {'stage':<11}{'work/s':>10}{'one does':>10}{'processes':>11}{'cores':>8}{'GiB':>8}  more of it"
    for stage in found.stages:
        work, cores, memory = map(count, (stage.per_second, stage.cores, stage.memory_gib))
        numbers = f"{work:>10}{count(stage.one_does):>10}{stage.processes:>11,}{cores:>8}{memory:>8}"
        yield f"  {stage.name:<11}{numbers}  {stage.more}"
    yield ""
    yield "Servers"
    yield (
        f"  Postgres   {count(found.postgres_cores)} cores, {count(found.postgres_memory_gib)} GiB beside its cache of "
        f"pages, {found.connections:,} connections"
    )
    yield (
        f"  Redis      {count(found.redis_cores)} cores, {count(found.redis_bytes / GIB)} GiB when nothing takes the "
        "turns of the peak for an hour"
    )
    log, cards, vectors = (
        count(part / 1e9) for part in (found.log_disk, found.cards_disk, found.vectors_disk)
    )
    yield ""
    yield f"Disk of Postgres after {demand.days:,} days, with {count(found.cards)} cards"
    yield f"  {log} GB of log, {cards} GB of cards, {vectors} GB of vectors"
    yield ""
    yield "Limits of one machine, the first to run out first"
    for limit in found.limits:
        needed = f"{count(limit.need)} of {limit.have:,g} {limit.unit}"
        yield f"  {limit.name:<12}{needed:<26}{limit.share:>8.0%}  {limit.moved_by}"
    yield f"  {count(most)} such users fill the first."


def count(number: float) -> str:
    """Returns a number with three digits, and with more digits for whole numbers below a million."""
    for unit, word in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if number >= unit * 0.9995:
            return f"{number / unit:.3g}{word}" if number < unit * 999.5 else f"{number / unit:,.0f}{word}"
    if number >= 99.95:
        return f"{number:,.0f}"
    return f"{number:.3g}" if number >= 0.01 or not number else "<0.01"
