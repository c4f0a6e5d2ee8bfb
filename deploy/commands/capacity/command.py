"""``cardlog capacity``: computes the processes and servers for a number of users."""

from collections.abc import Iterator
from dataclasses import asdict
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
    TEXT_BYTES,
)
from deploy.commands.capacity.plan import (
    BUSY,
    Demand,
    Load,
    Plan,
    ScalingStep,
    StagePlan,
    plan,
    scaling_steps,
)
from deploy.options import Answer, Flat, Given, Json, OptionInvalidError
from events.platform.settings import Settings

DEFAULT_LOAD = Load()


def capacity(
    *,
    users: Annotated[int | None, Parameter(metavar="N", help="the number of users")] = None,
    turns_per_day: Annotated[float | None, Parameter(metavar="N", help="the turns of one user a day")] = None,
    load: Flat[Load] = DEFAULT_LOAD,
    vectors: Annotated[
        bool, Parameter(negative="--no-vectors", help="the semantic channel is used (default)")
    ] = True,
    model: Annotated[
        bool,
        Parameter(
            name="--llm",
            negative="--rules",
            help="a language model or rules read the turns (default: rules)",
        ),
    ] = False,
    measures: Annotated[bool, Parameter(help="list the measured numbers behind the result")] = False,
    as_json: Json = False,
    settings: Given[Settings],
) -> Answer:
    """Compute the processes and servers for a number of users.

    Prints the processes of every stage, servers, memory, disk and calls of a model. It also names the resource that
    runs out first, and the remedy. It multiplies numbers that were measured on one machine
    (docs/operating/scaling.md, --measures), and does not look at a running Cardlog.
    """
    if measures:
        told = list(_measures())
        return Answer(told, told)
    if users is None or turns_per_day is None:
        missing = "--users" if users is None else "--turns-per-day"
        raise OptionInvalidError(f"{missing} is missing, such as --users 1000000 --turns-per-day 20")
    demand = Demand(
        users=users,
        turns_per_day=turns_per_day,
        vectors=vectors,
        model=model,
        concurrency=settings.extract_concurrency,
        pool_size=settings.pool_size,
        **asdict(load),
    )
    found, ways = plan(demand), scaling_steps(demand)
    return Answer(_document(found, ways), _lines(found, ways))


def _document(found: Plan, ways: tuple[ScalingStep, ...]) -> dict[str, object]:
    machine = [asdict(limit) | {"share": limit.share} for limit in found.machine()]
    taken = _taken(found, ways)
    more = {
        "cores": found.cores,
        "memory_gib": found.memory_gib,
        "postgres_servers": found.postgres_servers,
        "machine": machine,
    }
    return (
        asdict(found) | more | {"steps": [asdict(way) for way in ways], "step": taken.name if taken else None}
    )


def _taken(found: Plan, ways: tuple[ScalingStep, ...]) -> ScalingStep | None:
    """Returns the simplest scaling step that carries the load, or None."""
    return next((way for way in ways if way.carries_users >= found.demand.users), None)


def _lines(found: Plan, ways: tuple[ScalingStep, ...]) -> Iterator[str]:
    yield from _load(found)
    yield ""
    yield f"Stages, at the peak, each process busy {BUSY:.0%} at most"
    yield f"  {'stage':<11}{'work/s':>10}{'one does':>10}{'processes':>11}{'busy':>7}{'cores':>8}{'GiB':>7}  more of it"
    yield from map(_stage, found.stages)
    if not found.demand.vectors:
        yield "  vectors     none: recall works without its semantic channel"
    yield ""
    yield from _servers(found)
    yield ""
    yield from _disk(found)
    yield ""
    yield from _model(found)
    yield ""
    yield from _machine(found)
    yield ""
    yield from _ways(found, ways)


def _load(found: Plan) -> Iterator[str]:
    demand = found.demand
    a_day = demand.users * demand.turns_per_day
    yield "Load"
    yield f"  {demand.users:,} users, {demand.turns_per_day:g} turns a day each: {a_day:,.0f} turns a day"
    yield (
        f"  {count(demand.mean)} turns/s, {count(demand.peak)} at the peak ({demand.peak_factor:g} times as many); "
        f"{count(found.events_per_second)} events/s and {count(found.recalls_per_second)} recalls/s then"
    )


def _servers(found: Plan) -> Iterator[str]:
    yield "Servers"
    yield (
        f"  Postgres    {count(found.postgres_cores)} cores at the peak, {count(found.postgres_replica_cores)} of them "
        f"for recalls; {count(found.postgres_memory_gib)} GiB beside its cache of pages; "
        f"{found.connections:,} connections"
    )
    if found.postgres_servers > 1:
        yield (
            f"              more than one server holds: {found.postgres_servers:,} of "
            f"{LARGEST['cores'].value:g} cores, {LARGEST['memory_gib'].value:g} GiB and "
            f"{LARGEST['disk_tb'].value:g} TB, users spread over them"
        )
    yield (
        f"  Redis       {count(found.redis_cores)} cores; {size(found.redis_bytes)} of turns when nothing takes them "
        f"for {found.demand.outage_s:,} s of peak"
    )
    copies, days = BYTES["kafka_copies"].value, BYTES["kafka_days"].value
    yield f"  Kafka       {size(found.kafka_bytes)} for {days:g} days in {copies:g} copies, if it is used"


def _disk(found: Plan) -> Iterator[str]:
    disk = found.disk
    yield f"Disk of Postgres, after {found.demand.days:,} days"
    yield (
        f"  log         {size(disk.log_per_day)} a day, {size(disk.log_per_day * 365)} a year, {size(disk.log)} in all"
    )
    yield f"  cards       {count(found.cards)} cards, {size(disk.cards)} with their indexes"
    if found.demand.vectors:
        a_million = BYTES["sign_index"].value * 1e6
        yield (
            f"  vectors     {size(disk.vectors)}; their index of signs needs {size(found.vector_index_bytes)} of "
            f"memory, {size(a_million)} a million vectors"
        )
    yield f"  write-ahead log, in addition: {size(disk.wal_per_day)} a day to a standby or an archive"


def _model(found: Plan) -> Iterator[str]:
    model = found.model
    yield "Language model"
    if not found.demand.model:
        yield "  none: rules read the turns (--llm plans for one)"
        return
    yield (
        f"  calls       {count(model.calls_per_day)} a day; {count(model.calls_per_second)}/s at the peak, "
        f"{count(model.at_once)} at once"
    )
    yield (
        f"  tokens      {count(model.input_tokens_per_day)} asked a day, worth {count(model.weighed_tokens_per_day)} "
        f"where most are cached; {count(model.output_tokens_per_day)} answered"
    )


def _machine(found: Plan) -> Iterator[str]:
    demand = found.demand
    yield f"One machine of {demand.cores} cores, {demand.memory_gib} GiB and {demand.disk_tb:g} TB"
    for limit in found.machine():
        needed = f"{count(limit.need)} of {limit.have:g} {limit.unit}"
        yield f"  {limit.name:<12}{needed:<24}{limit.share:>8.0%}  {limit.moved_by}"
    first = found.machine()[0]
    verb = "is not enough: it runs out of" if first.share > 1 else "is enough; the first to run out would be"
    yield f"  It {verb} {first.name}."


def _ways(found: Plan, ways: tuple[ScalingStep, ...]) -> Iterator[str]:
    yield "Scaling steps, for users like these"
    taken = _taken(found, ways)
    for number, way in enumerate(ways, 1):
        yield f"{'→' if way is taken else ' '} {number}. {way.name}: {way.settings}"
        yield f"       carries {count(way.carries_users)} users; the first to run out is {way.ended_by}"
    if taken is None:
        yield "  No scaling step carries this load."


def _stage(stage: StagePlan) -> str:
    threads = f"×{stage.threads}" if stage.threads > 1 else ""
    over = f" (needs {stage.wanted:,.0f}, and cannot use more)" if stage.busy > BUSY + 1e-9 else ""
    processes = f"{stage.processes:,}{threads}"
    return (
        f"  {stage.name:<11}{count(stage.per_second):>10}{count(stage.one_does):>10}{processes:>11}{stage.busy:>7.0%}"
        f"{count(stage.cores):>8}{count(stage.memory_gib):>7}  {stage.moved_by}{over}"
    )


def _measures() -> Iterator[str]:
    for name, cost in COSTS.items():
        yield (
            f"{name}: {cost.ours_us:g} µs of ours and {cost.ours_per_byte:g} a byte of text, {cost.postgres_us:g} and "
            f"{cost.postgres_per_byte:g} of Postgres, {cost.postgres_per_card:g} of it a card of the user, "
            f"{cost.redis_us:g} of Redis; {cost.memory_mib:g} MiB, "
            f"{cost.connections} connections and {cost.pools} pools a process [{cost.source}]"
        )
    named = {"text": TEXT_BYTES, "events": EVENTS_PER_TURN, "cards": CARDS_PER_TURN, "calls": CALLS_PER_TURN}
    for name, measure in (named | BYTES | MODEL | LARGEST).items():
        yield f"{name}: {measure.value:g} {measure.unit} [{measure.source}]"


def count(number: float) -> str:
    """Returns a number with three digits, and with more digits for whole numbers below a million."""
    for unit, word in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if number >= unit * 0.9995:
            return f"{number / unit:.3g}{word}" if number < unit * 999.5 else f"{number / unit:,.0f}{word}"
    if number >= 99.95:
        return f"{number:,.0f}"
    return f"{number:.3g}" if number >= 0.01 or not number else "<0.01"


def size(amount: float) -> str:
    """Returns bytes as text with a decimal unit (kB, MB, GB, TB, PB)."""
    for unit, word in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if amount >= unit * 0.9995:
            return f"{amount / unit:,.3g} {word}" if amount < unit * 999.5 else f"{amount / unit:,.0f} {word}"
    return f"{amount / 1e3:.3g} kB"
