"""The events about the names of concepts, and the concepts to keep at hand. A person or an agent causes them."""

from uuid import UUID

from events.types.codec import event_type


@event_type(version=1)
class TagAliased:
    """The tag ``alias`` means ``tag``. Cards keep the tags that they have.

    The latest event of an alias counts. ``tag == alias`` takes the alias back.
    """

    alias: str
    tag: str


@event_type(version=1)
class KnowledgeMerged:
    """``from_title`` and ``into_title`` are one concept, and its name is ``into_title``.

    The event is a rename when no card has the title ``into_title``. The concept keeps the cards of both titles.
    ``mode_id`` is the first name of the mode of the concept. None in earlier events: the concepts of every mode.
    """

    from_title: str
    into_title: str
    reason: str
    project_id: str = "default"
    mode_id: str | None = None


@event_type(version=1)
class ConceptPinned:
    """A concept is in every prompt from now on, or no longer. ``card_id`` may be any statement that it rests on."""

    card_id: UUID
    pinned: bool
