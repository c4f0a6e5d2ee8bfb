"""``cardlog wait``: waits until everything pushed so far is projected."""

import sys
import threading
from typing import Annotated

from cyclopts import Parameter

from deploy.catch_up import CatchingUp, StillBehindError
from deploy.options import Given, Seconds
from events.platform.settings import Settings

_GRACE_S = 0.5


def wait(
    *,
    timeout: Annotated[Seconds, Parameter(help="seconds before giving up (default: 600)")] = 600.0,
    cardlog: Given[Settings],
) -> int:
    """Wait until everything pushed so far is projected. After the timeout the exit status is 1."""
    ended: list[Exception | None] = []

    def follow() -> None:
        try:
            CatchingUp(cardlog, timeout).run(_note)
        except Exception as error:
            ended.append(error)
        else:
            ended.append(None)

    # A server that accepts a connection and stays silent blocks its client, so the look is in a thread of its own.
    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    thread.join(timeout + _GRACE_S)
    error = ended[0] if ended else StillBehindError(f"after {timeout:.0f} s, a server does not answer")
    if error is None:
        return 0
    if not isinstance(error, StillBehindError):
        raise error
    print(f"cardlog wait: {error}", file=sys.stderr)
    return 1


def _note(text: str) -> None:
    print(text, file=sys.stderr)
