"""The runs of the curator: the fold that makes them of events, and their events at the end of the log."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from events.platform.database import Connection, statement
from events.resources.curator import AskedPair, CuratorAct, CuratorRun
from events.store import asking, log
from events.types.curation import STREAM, CuratorRan, CuratorUndone
from events.types.envelope import Event, Payload
from events.types.insights import InsightDerived
from events.types.people import PersonMergeProposed
from events.types.relations import CardsConnected
from events.types.threads import CardsThreaded, ThreadOpened

_MOST = 10_000
"""The most events of runs that are read of one user, the last first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the curator did at one time, as the event ``ran`` tells it. A run that counts is not undone."""

    run_id: UUID
    at: datetime
    position: int
    ran: CuratorRan
    undone_at: datetime | None = None
    undone_reason: str | None = None


def fold(events: Iterable[Event]) -> dict[UUID, Run]:
    """Returns the runs of a user by id, of the events of one stream in any order. Unreadable events count as none."""
    runs: dict[UUID, Run] = {}
    undone: list[Event] = []
    for event in events:
        payload = event.payload
        if isinstance(payload, CuratorRan):
            run_id = payload.run_id or event.event_id
            runs[run_id] = Run(run_id=run_id, at=event.recorded_at, position=event.position, ran=payload)
        elif isinstance(payload, CuratorUndone):
            undone.append(event)
    for event in undone:
        if event.payload.run_id in runs:
            run = runs[event.payload.run_id]
            runs[run.run_id] = replace(run, undone_at=event.recorded_at, undone_reason=event.payload.reason)
    return runs


def tombstones(events: Iterable[Event]) -> frozenset[str]:
    """Returns the digests that nobody proposes again."""
    return frozenset(
        digest
        for event in events
        if isinstance(event.payload, CuratorUndone)
        for digest in event.payload.digests
    )


def asked_entry(later: UUID, earlier: UUID, digest: str) -> str:
    """Returns how a run keeps a pair of cards that a model was asked about."""
    return f"{later}/{earlier}/{digest}"


def asked_pairs(entries: Iterable[str]) -> dict[str, tuple[UUID, UUID, str]]:
    """Returns the later card, the earlier card and the digest of each entry. A broken entry names no pair."""
    found = {}
    for entry in entries:
        with suppress(ValueError):
            later, earlier, digest = entry.split("/")
            found[entry] = UUID(later), UUID(earlier), digest
    return found


def shown(
    run: Run | None, acts: Iterable[tuple[UUID, Payload]], asked: Iterable[str] | None = None
) -> CuratorRun:
    """Returns a run as a resource. ``acts`` are the events that it added, with their ids. None: it added nothing.

    ``asked`` are the entries of a dry run.
    """
    ran = CuratorRan(position=0) if run is None else run.ran
    pairs = asked_pairs(ran.asked if asked is None else asked).values()
    return CuratorRun(
        acts=acts_in(acts),
        asked=[AskedPair(later=later, earlier=earlier) for later, earlier, _ in pairs],
        model=ran.model,
        tokens=ran.usage.tokens,
        **{name: getattr(run, name, None) for name in ("run_id", "at", "undone_at", "undone_reason")},
    )


def acts_in(events: Iterable[tuple[UUID, Payload]]) -> list[CuratorAct]:
    """Returns the acts that events make. A thread and its first cards are one act. An erased event makes none."""
    found: list[CuratorAct] = []
    opened: dict[UUID, ThreadOpened] = {}
    for event_id, payload in events:
        if isinstance(payload, ThreadOpened):
            opened[event_id] = payload
        elif isinstance(payload, CardsThreaded):
            thread = opened.get(payload.thread_id)
            act, title = ("assign_thread", None) if thread is None else ("create_thread", thread.title)
            found.append(_act(act, payload, payload.card_ids, title=title, thread_id=payload.thread_id))
        elif isinstance(payload, InsightDerived):
            found.append(_act("derive_insight", payload, payload.sources, title=payload.content))
        elif isinstance(payload, PersonMergeProposed):
            found.append(_act("propose_person_merge", payload, (payload.person_id, payload.into_id)))
        elif isinstance(payload, CardsConnected):
            evidence = (payload.from_card, payload.to_card)
            found.append(_act("connect", payload, evidence, predicate=payload.predicate))
    return found


def _act(
    act: str,
    payload: CardsThreaded | InsightDerived | PersonMergeProposed | CardsConnected,
    evidence: Sequence[UUID],
    **more: object,
) -> CuratorAct:
    fields = {"predicate": None, "title": None, "thread_id": None, **more}
    return CuratorAct.made_from(payload, act=act, evidence=evidence, **fields)


def all_keys(run: Run) -> list[str]:
    """Returns the idempotency keys of every event that a run added. A thread comes with the event of its cards."""
    return [key for each in run.ran.keys for key in (each, f"{each}/1")]


def runs(owner: str) -> asking.Asking[list[Event]]:
    """Asks for the events of a user's runs, the last first."""
    return [log.event_if_readable(row) for row in (yield asking.latest(owner, STREAM, limit=_MOST))]


def acts(owner: str, keys: Sequence[str]) -> asking.Asking[list[Event]]:
    """Asks for the events that have some idempotency keys, in order."""
    if not keys:
        return []
    values = {**asking.of_user(owner), "keys": list(keys)}
    rows = yield asking.Query(statement("events", "curator_acts"), values)
    return [log.event_if_readable(row) for row in rows]


def runs_of(connection: Connection, owner: str) -> list[Event]:
    """Returns the events of a user's runs, the last first."""
    return asking.answered(connection, runs(owner))


def acts_of(connection: Connection, owner: str, keys: Sequence[str]) -> list[Event]:
    """Returns the events that have some idempotency keys, in order."""
    return asking.answered(connection, acts(owner, keys))
