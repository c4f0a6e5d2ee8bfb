"""The port of every extractor, whether it uses rules or a model."""

from dataclasses import dataclass, field
from typing import Literal, Protocol
from uuid import UUID

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.extraction import Usage
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened
from events.types.turns import TurnRecorded
from ingest.extraction.known_cards import NOTHING, KnownCards
from ingest.extraction.turn_modes import NO_MODES, ModeContext

CardEvent = StateAsserted | EventNoted | KnowledgeLearned
ProblemTold = ProblemOpened | ProblemAttempted | ProblemClosed


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A turn with its user and its position in the log."""

    user_id: str
    position: int
    turn: TurnRecorded


@dataclass(frozen=True, slots=True)
class Ongoing:
    """What goes on for the user, the most urgent first: descriptions of open problems and titles of open threads."""

    problems: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()


NOTHING_ONGOING = Ongoing()


@dataclass(frozen=True, slots=True)
class SessionBatch:
    """Consecutive turns of one session that are extracted together, in log order. A batch is never empty.

    ``preceding`` are earlier turns of the session. They are context only: no card may rest on them.
    ``known`` are the cards that the user already has in the project of the turns. They keep names and values of facts
    stable, and a correction finds there what it corrects. ``modes`` are the modes that the turns may belong to.
    ``ongoing`` are the problems and threads that the turns may go on with.
    """

    turns: tuple[RecordedTurn, ...]
    preceding: tuple[RecordedTurn, ...] = ()
    known: KnownCards = NOTHING
    modes: ModeContext = NO_MODES
    ongoing: Ongoing = NOTHING_ONGOING


Relation = Literal["same_as", "expands"]
"""``"same_as"``: two cards say one thing. ``"expands"``: the new card says more about the known one."""


@dataclass(frozen=True, slots=True)
class CardLink:
    """A relation from the card at index ``card`` of an extraction to the known card ``to_card``."""

    card: int
    to_card: UUID
    predicate: Relation


@dataclass(frozen=True, slots=True)
class Extraction:
    """The cards of a session batch in reading order, the tokens spent, and the number of refused cards and claims.

    A claim is a part of a kept card that was left out: a label that was not shown, words of an earlier event or a
    participant that nobody said. ``reasons`` tell why cards were refused, without words of the turns.
    ``links`` are relations from these cards to known ones. ``problems`` are what the turns tell of problems. ``modes``
    are pairs of a turn id and the mode that the extractor reads in the turn; a turn without a clear mode has none.
    ``modes_version`` is the version of the part of the prompt that is about modes.
    """

    cards: tuple[CardEvent, ...] = ()
    usage: Usage = field(default_factory=Usage)
    refused: int = 0
    links: tuple[CardLink, ...] = ()
    problems: tuple[ProblemTold, ...] = ()
    modes: tuple[tuple[str, str], ...] = ()
    modes_version: str | None = None
    reasons: tuple[str, ...] = ()


class ExtractorUnavailableError(RuntimeError):
    """The extractor can extract no turn now. The message names the remedy. The turns are tried again later.

    ``retry_after`` is the pause in seconds that the server asked for. ``suspect`` is true when these turns may be the
    cause; a success with other turns then shows it. ``usage`` is the cost of the failed calls.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        suspect: bool = False,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.suspect = suspect
        self.usage = usage or Usage()


class TurnsUnreadableError(RuntimeError):
    """The extractor answered, but the answer about these turns is unusable. ``usage`` is the cost of the calls."""

    def __init__(self, message: str, *, usage: Usage | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        self.attempts = attempts


class Extractor(Protocol):
    """Extracts cards from turns. The source span of every card lies in a turn of the session batch.

    Raises :class:`ExtractorUnavailableError` when no turn can be extracted now. The caller then tries the batch again
    later. Any other error blames the batch, and the log gets an ``ExtractionFailed``.
    """

    name: str
    model: str | None
    prompt_version: str

    def extract(self, batch: SessionBatch) -> Extraction: ...


class RemoteExtractor(Extractor, Protocol):
    """An extractor that calls a server. It is slow and thread-safe. The caller closes it."""

    def close(self) -> None: ...
