"""A batch of a processor: claim partitions, read their next events, do the work and move the checkpoints."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from events.platform.database import Connection
from events.store.checkpoints import Claim, Page, Processor, past, read_claimed
from events.store.feed import Feed
from events.types.envelope import PARTITIONS

Batches = Sequence[Page]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The result of one round of a worker.

    ``passed``: events that the checkpoints moved past. ``done``: events for the rate in the heartbeat; None means
    ``passed``. ``more``: the worker knows of work, so the next round begins at once. ``wait_s``: the longest wait for
    news; None means the feed's own. ``note``: a remark for the operator. ``stalled``: the reason why nothing moves.
    ``resting``: the reason why no work is due yet, which is no error.
    """

    passed: int = 0
    done: int | None = None
    more: bool = False
    wait_s: float | None = None
    note: str | None = None
    stalled: str | None = None
    resting: str | None = None


class BatchLimit:
    """The most partitions of one batch: half as many after a failure, and twice as many after a success.

    The server ends a transaction that does nothing for too long. A batch that computes for longer than that would
    otherwise be repeated in the same size for ever.
    """

    def __init__(self) -> None:
        self._partitions = PARTITIONS

    def __enter__(self) -> int:
        return self._partitions

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        more = self._partitions * 2 if error is None else self._partitions // 2
        self._partitions = min(max(more, 1), PARTITIONS)


def handle_batch(
    connection: Connection,
    processor: Processor,
    feed: Feed,
    work: Callable[[Batches], object],
    *,
    events: int,
    types: Collection[str] | None = None,
    partitions: int | None = None,
    admit: Callable[[list[Claim]], list[Claim]] = lambda claims: claims,
    own: Mapping[int, Collection[int]] | None = None,
) -> RoundResult:
    """Claims partitions, reads their next events, calls ``work`` with them and moves the checkpoints past them.

    Everything happens in the transaction of the caller: the work and the checkpoints commit together or not at all.
    ``work`` gets the events of ``types`` among the next ``events`` of each partition, in order; None means all types.
    ``partitions`` limits the claims. ``admit`` may leave claims out. ``work`` may fill ``own`` with the positions, by
    partition, of what it appended and need not read: the checkpoints move past these, too. Returns ``passed`` and
    ``more`` of the round.

    Raises :class:`CheckpointMovedError`, :class:`events.store.checkpoints.LogHoleError` and what ``work`` raises.
    """
    claims = processor.claim(
        connection, limit=partitions or PARTITIONS, partitions=feed.sought(connection, processor)
    )
    if not claims or not (claims := admit(claims)):
        return RoundResult()
    batches = read_claimed(connection, claims, limit=events, types=types)
    work(batches)
    moves = [(page.claim, past(page.last, (own or {}).get(page.claim.partition, ()))) for page in batches]
    processor.advance(connection, moves)
    # A batch that reached every head leaves nothing to find. New events are announced.
    more = len(claims) == partitions or any(page.last < page.claim.head for page in batches)
    return RoundResult(passed=sum(position - claim.position for claim, position in moves), more=more)
