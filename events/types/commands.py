"""The event of a command that changed nothing."""

from events.types.codec import event_type

STREAM = "answered"


@event_type(version=1)
class CommandAnswered:
    """A command with an idempotency key found what it asks for. The event keeps its key, so a repeat changes nothing.

    ``request`` is the digest of what was sent. ``version`` is that of the stream that the command was about. None: a
    command of this process has no request, and some streams have no version.
    """

    request: str | None = None
    version: int | None = None
