"""The known memory of an extractor: what the log tells of the users whose turns it extracts."""

import logging
from collections.abc import Iterable, Sequence
from uuid import UUID

from cachetools import LRUCache

from events import threads
from events.platform.database import Connection, rows_of, statement
from events.platform.isolation import is_the_datas_fault
from events.problems import problem
from events.store import log
from events.types.cards import EventNoted, StateAsserted
from events.types.envelope import Event, NewEvent
from events.types.extraction import CardsWithdrawn, TurnsExtracted
from events.types.problems import PROBLEM_EVENTS
from events.types.threads import CardsThreaded, CardsUnthreaded, ThreadClosed, ThreadOpened, ThreadRenamed
from ingest.extraction.conversation import recorded
from ingest.extraction.event_linking import linked, wants_target
from ingest.extraction.extractor_port import Ongoing, RecordedTurn
from ingest.extraction.known_cards import KnownCards, KnownEvent, KnownFact, fold_known, known_card

logger = logging.getLogger(__name__)

_DEPTH = 2_000
"""Cards of one user that are kept, the latest."""
_EVENTS_A_CARD = 4
"""Events that are read back for each card: its extraction, and the episodes of its turns."""
_GOING_ON = 1_000
"""Events of problems and threads of one user that are kept, the latest."""
_OPEN = 40
"""Open problems, and open threads, of one project that a reading sees."""
_CARDS = 100_000
"""Cards of all users in memory, about 180 MB. The users that were asked for last stay."""
_FOLLOWED = 20_000
"""Positions that a user is followed through. A user who is further behind is read anew."""
_ONGOING = (
    *PROBLEM_EVENTS, ThreadOpened, ThreadRenamed, ThreadClosed, CardsThreaded, CardsUnthreaded,
)  # fmt: skip
_TYPES = [cls.__name__ for cls in (StateAsserted, EventNoted, CardsWithdrawn, TurnsExtracted, *_ONGOING)]


class KnownMemory:
    """What is known of users, as of now or as of a turn. Not thread-safe.

    Every answer of :meth:`of` holds all cards that the connection sees in the log, so it never lags behind a projection
    or another writer. What was withdrawn is left out. The memory is bounded for each user and for all users together.
    """

    def __init__(self, *, depth: int = _DEPTH, cards: int = _CARDS) -> None:
        self._depth = min(depth, cards - 1)
        self._users: LRUCache[tuple[int, str], _UserCards] = LRUCache(cards, getsizeof=_UserCards.size)

    def of(
        self, connection: Connection, partition: int, turns: Sequence[RecordedTurn], *, before: bool = False
    ) -> KnownCards:
        """Returns the known cards of the user of ``turns`` in their project at the last of them.

        ``turns`` are turns of one session in the order of the log. With ``before``, only cards of turns before the
        first of them count: what was known when it was said.
        """
        user_id, project_id = turns[0].user_id, turns[0].turn.project_id
        head = log.heads(connection).get(partition, 0)
        known = self._users.pop((partition, user_id), None)
        if known is None or not known.position <= head <= known.position + _FOLLOWED:
            known = _UserCards(self._depth)
            name, after = "cards_of_user", 0
        else:
            name, after = "cards_of_user_since", known.position
        if head > after:
            values = {
                "partition": partition, "user_id": user_id, "after": after, "head": head,
                "events": self._depth * _EVENTS_A_CARD, "types": _TYPES,
            }  # fmt: skip
            rows = rows_of(connection, statement("ingest.extraction", name), values)
            if any(row["type"] == "SubjectErased" for row in rows):
                # What is in memory may be erased.
                known = _UserCards(self._depth)
                rows = rows_of(connection, statement("ingest.extraction", "cards_of_user"), values)
            known.add(map(log.event_if_readable, rows))
        known.position = head
        self._users[partition, user_id] = known
        cards = known.cards(turns[0].position if before else None)
        return fold_known(cards, project_id, turns[-1].turn.said_at)

    def ongoing(self, partition: int, turns: Sequence[RecordedTurn]) -> Ongoing:
        """Returns what went on when the first of ``turns`` was said, as far as the last call of :meth:`of` read."""
        known = self._users.get((partition, turns[0].user_id))
        return ongoing([] if known is None else list(known.ongoing.values()), turns)

    def forget(self) -> None:
        """Forgets everything. A caller whose transaction is rolled back has seen events that do not exist."""
        self._users.clear()


def with_targets(
    connection: Connection,
    memory: KnownMemory,
    turns: Sequence[Event],
    events: Sequence[NewEvent],
    earlier: Iterable[NewEvent],
) -> list[NewEvent]:
    """Returns ``events``, the events of ``turns``, with the earlier events that they replace.

    The log counts up to now, and so do ``earlier``: events of the same user that are not appended yet. The log is read
    only when an event replaces something. Data of the user that cannot be read leave the events as they are. Raises the
    error of the server when the server is away.
    """
    if not wants_target(events):
        return [*events]
    said = [recorded(turn) for turn in turns]
    try:
        with connection.transaction():
            known = memory.of(connection, turns[0].partition, said)
    except Exception as error:
        if not is_the_datas_fault(error):
            raise
        logger.warning("earlier events of a user cannot be read: %s", log.reason_of(error))
        return [*events]
    return linked(events, known.with_events(earlier, said[-1].turn.said_at))


class _UserCards:
    """The cards of one user up to a position of the log, each with the position of its first turn.

    ``ongoing`` are the events of the user's problems and threads.
    """

    def __init__(self, depth: int) -> None:
        self.position = 0
        self._depth = depth
        self._cards: dict[UUID, tuple[int, KnownFact | KnownEvent]] = {}
        self.ongoing: dict[UUID, Event] = {}

    def size(self) -> int:
        return 1 + len(self._cards) + len(self.ongoing)

    def add(self, events: Iterable[Event]) -> None:
        """Takes events in the order of the log. A cause precedes its cards in the same append."""
        turns: dict[UUID | None, int] = {}
        for event in events:
            payload = event.payload
            if isinstance(payload, TurnsExtracted):
                turns[event.event_id] = min(payload.turn_positions, default=event.position)
            elif isinstance(payload, CardsWithdrawn):
                for gone in payload.event_ids:
                    self._cards.pop(gone, None)
                    self.ongoing.pop(gone, None)
            elif isinstance(payload, _ONGOING):
                self.ongoing[event.event_id] = event
            elif (card := known_card(event)) is not None:
                self._cards[event.event_id] = turns.get(event.causation_id, event.position), card
        while len(self._cards) > self._depth:
            del self._cards[next(iter(self._cards))]
        while len(self.ongoing) > _GOING_ON:
            del self.ongoing[next(iter(self.ongoing))]

    def cards(self, before: int | None) -> list[KnownFact | KnownEvent]:
        """Returns the cards of the turns below ``before``, or all cards, in the order of their turns."""
        chosen = [pair for pair in self._cards.values() if before is None or pair[0] < before]
        return [card for _, card in sorted(chosen, key=lambda pair: pair[0])]


def ongoing(events: Sequence[Event], turns: Sequence[RecordedTurn]) -> Ongoing:
    """Returns what is open in the project of ``turns`` when the first of them was said, the most urgent first.

    ``events`` are those of the user's problems and threads, in the order of the log. ``turns`` are those of one session
    batch. At most 40 problems and 40 threads are returned. What the turns themselves told of problems is left out, so
    turns that are extracted again see the same.
    """
    first = turns[0].turn
    own = {each.turn.turn_id for each in turns}
    told = [
        each
        for each in events
        if isinstance(each.payload, PROBLEM_EVENTS) and own.isdisjoint(each.payload.origin.turn_ids)
    ]
    problems = problem.fold(problem.until(told, first.said_at)).by_id.values()
    topics = threads.fold(each for each in events if each.occurred_at <= first.said_at).values()
    return Ongoing(
        tuple(
            each.description
            for each in problem.in_order(problems)
            if each.status == "active" and each.project_id == first.project_id
        )[:_OPEN],
        tuple(
            each.title
            for each in threads.in_order(topics)
            if each.status == "open" and each.project_id == first.project_id
        )[:_OPEN],
    )
