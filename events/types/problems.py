"""The events of active problems: what troubles a user, what the user tried against it, and how it ended.

``problem_id`` is the event id of the ``ProblemOpened`` that began the problem. An event that was read from a turn does
not know it: ``problem`` then holds the words that name the problem, and the fold finds it
(:mod:`events.problems.problem`). ``origin`` tells the project, the turns and the words.
"""

from datetime import datetime
from uuid import UUID

from events.types.cards import CardOrigin
from events.types.codec import event_type


@event_type(version=1)
class ProblemOpened:
    """The user has a problem. ``priority`` is 1 (a trifle) to 10 (urgent); None when nobody said it.

    A second opening of a problem that is open is a mention of it. An opening of a closed problem reopens it.
    """

    description: str
    origin: CardOrigin
    priority: int | None = None


@event_type(version=1)
class ProblemAttempted:
    """The user tried ``approach`` at ``tried_at``. ``successful`` is None while nobody knows.

    The same approach again is the same attempt, with a newer outcome.
    """

    approach: str
    tried_at: datetime
    origin: CardOrigin
    problem_id: UUID | None = None
    problem: str | None = None
    outcome: str | None = None
    successful: bool | None = None


@event_type(version=1)
class ProblemClosed:
    """The problem is over. ``resolution`` says how."""

    origin: CardOrigin
    problem_id: UUID | None = None
    problem: str | None = None
    resolution: str | None = None


@event_type(version=1)
class ProblemReopened:
    """A closed problem is back."""

    problem_id: UUID
    origin: CardOrigin
    reason: str | None = None


@event_type(version=1)
class ProblemPrioritized:
    """The problem has another priority, 1 to 10."""

    problem_id: UUID
    priority: int
    origin: CardOrigin
    reason: str | None = None


ProblemEvent = ProblemOpened | ProblemAttempted | ProblemClosed | ProblemReopened | ProblemPrioritized
PROBLEM_EVENTS = (ProblemOpened, ProblemAttempted, ProblemClosed, ProblemReopened, ProblemPrioritized)
