"""The events of the curator's runs. What a run adds are events of other types, which the run caused."""

from dataclasses import field
from uuid import UUID

from events.types.codec import event_type
from events.types.extraction import Usage

STREAM = "curator"
ACTOR = "curator"
"""The actor of all events that a run adds."""


@event_type(version=1, visible=("usage",))
class CuratorRan:
    """The curator read the memory of a user up to ``position`` and added something, or asked a model.

    The id of the event is the id of the run, and the cause of every event that the run added. ``keys`` are the
    idempotency keys of these events, and ``digests`` what each of them says, without ids. ``refused`` counts the
    proposals that a check refused. ``asked`` are the pairs that
    a model was asked about, each as later card, earlier card and digest of the words, so it is not asked again.
    ``prompt_version`` is that of the question. ``run_id`` is the run that an erasure says again without erased words.
    """

    position: int
    keys: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    refused: int = 0
    model: str | None = None
    asked: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    prompt_version: str | None = None
    run_id: UUID | None = None


@event_type(version=1)
class CuratorUndone:
    """A run was undone. Nobody proposes again what has one of the ``digests``. Withdrawals are in the same append."""

    run_id: UUID
    digests: tuple[str, ...]
    reason: str
