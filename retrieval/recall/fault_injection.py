"""Fault injection: tests and drills make a channel down, broken or slow on purpose."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from psycopg import AsyncConnection

from events.platform.database import statement
from events.platform.settings import Settings, SettingsError, variable_of
from retrieval.channels.channel import ChannelDownError

CHANNELS = ("semantic", "tags", "fuzzy", "time", "graph")

_FAULT = re.compile(r"(down|error|slow:(\d{1,6}))")


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of every search of one channel. ``variable`` is the setting that injects the fault."""

    kind: Literal["down", "error", "slow"]
    variable: str
    ms: int = 0

    async def strike(self, connection: AsyncConnection) -> None:
        """Injects the fault. ``slow`` sleeps on the server, so that a deadline has a real query to cancel.

        Raises RuntimeError for ``error`` and ChannelDownError for ``down``.
        """
        if self.kind == "slow":
            await connection.execute(statement("retrieval.recall", "slow"), {"seconds": self.ms / 1000})
        elif self.kind == "error":
            raise RuntimeError(f"made to fail by {self.variable}")
        else:
            raise ChannelDownError(f"made to be down by {self.variable}; unset it to have the channel back")


def faults_of(settings: Settings) -> dict[str, Fault]:
    """Returns the injected faults by channel. In production there are none.

    Raises SettingsError, which names the variable, when a value is not ``down``, ``error`` or ``slow:<ms>``.
    """
    found = {}
    for channel in CHANNELS:
        name = f"fault_{channel}"
        text: str = getattr(settings, name)
        if not text:
            continue
        variable = variable_of(name)
        match = _FAULT.fullmatch(text)
        if match is None:
            raise SettingsError(f"{variable} is {text!r}: use down, error or slow:<milliseconds>")
        kind: Any = match[1].partition(":")[0]
        found[channel] = Fault(kind, variable, int(match[2] or 0))
    return found
