"""Runs the passes over one user's memory and appends what they propose: all of it in one append, or nothing.

A proposal is appended at most once for a user, because its idempotency key is made of what it names. What was undone is
not proposed again under another id, because the digest of its words is a tombstone. A run that adds nothing writes
nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import psycopg

from events.curator import acts_of, asked_pairs, fold, runs_of, tombstones
from events.insights import insights_of
from events.people.people_log import told_of
from events.platform.database import Connection, Row, rows_of, see_tenant_of, statement, tuples_of
from events.store import asking, log
from events.threads import threads_of
from events.types.curation import ACTOR, STREAM, CuratorRan
from events.types.envelope import NewEvent, partition_of, uuid7
from events.types.people import PersonMergeProposed
from events.types.threads import STREAM as THREADS
from events.types.threads import ThreadOpened
from ingest.curator.asking import MOST_PAIRS, Asked, Asker, undecided, unsure_people, version
from ingest.curator.connect import connect
from ingest.curator.memory import Memory, MemoryCard, Pass, Proposal, merge_digest, person_merge
from ingest.curator.passes import consolidate, patterns, threads


def conclude(memory: Memory) -> list[Proposal]:
    """Returns the insights to derive: what recurs, and statements of the episodes that no pattern has."""
    recurring = patterns(memory)
    return [*recurring, *consolidate(memory, recurring)]


def merges(memory: Memory) -> list[Proposal]:
    """Returns a proposal for each pair of people whose evidence is below the threshold of a merge."""
    return [
        person_merge(
            PersonMergeProposed(
                person_id=each.person_id,
                into_id=each.into_id,
                reason=each.evidence[0],
                digest=merge_digest(memory, each.person_id, each.into_id),
                confidence=each.score,
                evidence=each.evidence[1:],
            ),
            "words",
        )
        for each in memory.people.proposals[:MOST_WAITING]
    ]


PASSES: tuple[Pass, ...] = (connect, threads, conclude, merges)
MOST_CARDS = 20_000
"""The most cards of a user that a run compares, the last ones of the log."""
MOST_WAITING = 100
"""The most merges of people that wait for one user, the most probable first."""
MOST_ACTS = 500
"""The most acts of one run. The rest follows in the next one."""
_MOST_THREADS = 500
_PACKAGE = "ingest.curator"


class BehindError(RuntimeError):
    """The projections do not have the last events of the user yet. The caller tries again."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a run. ``events`` are those appended, or those that would be appended in a dry run."""

    events: tuple[NewEvent, ...]
    proposals: tuple[Proposal, ...]
    asked: tuple[str, ...] = ()
    more: bool = False


@contextmanager
def _folded() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.UndefinedTable as error:
        raise BehindError("no worker folded the cards yet") from error


def memory_of(connection: Connection, owner: str) -> Memory:
    """Returns the memory of a user in the live tables, from one snapshot.

    The caller runs no transaction. Raises :class:`BehindError` while the tables lack events of the user.
    """
    names = {"partition": partition_of(owner), "user_id": owner}
    with _folded(), connection.transaction():
        connection.execute(statement(_PACKAGE, "one_snapshot"))
        see_tenant_of(connection, owner)
        [(position,)] = tuples_of(connection, statement(_PACKAGE, "last_change"), names)
        [(behind,)] = tuples_of(connection, statement(_PACKAGE, "behind"), names | {"position": position})
        if behind:
            raise BehindError("the projections do not have the last events of the user yet")
        cards = rows_of(connection, statement(_PACKAGE, "memory_cards"), names | {"limit": MOST_CARDS})
        related = tuples_of(connection, statement(_PACKAGE, "related_cards"), names)
        people = told_of(connection, owner).people()
        topics = threads_of(connection, owner)
        concluded = insights_of(connection, owner)
        runs = runs_of(connection, owner)
    known = tuple(map(_card, cards))
    return Memory(
        user_id=owner,
        position=position,
        now=max((card.said_at for card in known), default=datetime.min.replace(tzinfo=UTC)),
        cards=known,
        related=frozenset(map(frozenset, related)),
        people=people,
        threads=tuple(topics.values()),
        insights=concluded,
        tombstones=tombstones(runs),
        asked=frozenset(
            digest for run in fold(runs).values() for _, _, digest in asked_pairs(run.ran.asked).values()
        ),
    )


def _card(row: Row) -> MemoryCard:
    values: Row = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return MemoryCard(**values)


def proposed(memory: Memory) -> list[Proposal]:
    """Returns what the passes propose, without tombstones and without repeats, in a fixed order."""
    return _new(memory, [proposal for run_pass in PASSES for proposal in run_pass(memory)])


def _new(memory: Memory, proposals: Sequence[Proposal]) -> list[Proposal]:
    found: dict[str, Proposal] = {}
    for proposal in proposals:
        if proposal.digest not in memory.tombstones:
            found.setdefault(proposal.key, proposal)
    return list(found.values())


def curate(connection: Connection, owner: str, *, dry_run: bool = False, asker: Asker | None = None) -> Ran:
    """Runs the passes over the memory of a user and appends what is new. With ``dry_run`` it appends nothing.

    ``asker`` asks a model about the pairs that the passes leave open; in a dry run the answer tells only the pairs.
    ``connection`` is in autocommit mode. Raises :class:`BehindError`, and psycopg.Error when Postgres is away.
    """
    if asker is None:
        return _curate(connection, owner, None, dry_run=dry_run)
    with asker.alone(connection, owner) as alone:
        return _curate(connection, owner, asker if alone else None, dry_run=dry_run)


def _curate(connection: Connection, owner: str, asker: Asker | None, *, dry_run: bool) -> Ran:
    memory = memory_of(connection, owner)
    proposals = proposed(memory)
    asked = Asked()
    if asker is not None:
        people = unsure_people(memory)
        pairs = [*people, *undecided(memory, proposals)[: MOST_PAIRS - len(people)]]
        if asker.affords(connection, owner, pairs):
            asked = Asked(pairs=tuple(pairs)) if dry_run else asker.ask(owner, pairs)
            proposals = _new(memory, [*proposals, *asked.proposals])
    if not proposals and asked == Asked():
        return Ran((), ())
    with connection.transaction():
        see_tenant_of(connection, owner)
        for stream in (STREAM, THREADS):
            asking.lock(connection, owner, stream)
        keys = [proposal.key for proposal in proposals]
        known = {act.dedupe_key for act in acts_of(connection, owner, keys)}
        new = [proposal for proposal in proposals if proposal.key not in known]
        room = max(0, _MOST_THREADS - len(memory.threads))
        without_room = [each for each in new if isinstance(each.payload, ThreadOpened)][room:]
        new = [each for each in new if each not in without_room]
        acts = new[:MOST_ACTS]
        events = _events(memory, acts, asked)
        if events and not dry_run:
            log.append(connection, events, only_adds=True)
    if events and not dry_run:
        log.announce(connection, events)
    return Ran(tuple(events), tuple(acts), asked.entries, more=len(new) > len(acts))


def _events(memory: Memory, acts: Sequence[Proposal], asked: Asked) -> list[NewEvent]:
    """Returns the event of the run and the events that it causes. Without acts and without a call there are none."""
    if not acts and not asked.usage.calls:
        return []
    run_id, at = uuid7(), memory.now
    ran = CuratorRan(
        position=memory.position,
        keys=tuple(act.key for act in acts),
        digests=tuple(act.digest for act in acts),
        refused=len(asked.refused),
        model=asked.model,
        asked=asked.entries,
        usage=asked.usage,
        prompt_version=None if asked.model is None else version(),
    )
    events = [
        NewEvent(
            event_id=run_id, user_id=memory.user_id, stream=STREAM, payload=ran, occurred_at=at, actor=ACTOR
        )
    ]
    for act in acts:
        event_id = uuid7()
        for number, payload in enumerate(act.payloads(event_id)):
            events.append(
                NewEvent(
                    event_id=uuid7() if number else event_id,
                    user_id=memory.user_id,
                    stream=act.stream,
                    payload=payload,
                    occurred_at=at,
                    actor=ACTOR,
                    dedupe_key=f"{act.key}/{number}" if number else act.key,
                    causation_id=run_id,
                )
            )
    return events
