"""A log with a key, and connections of its owner and of the services."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from events.platform.database import Connection
from events.store import authentication, log
from events.types.envelope import NewEvent, partition_of
from tests.support.events import turns

USER, EVENTS = "alex", 10


PARTITION = partition_of(USER)


def turn(text: str, user: str = USER) -> NewEvent:
    return turns.turn(user, text)


@dataclass
class Log:
    """A log of ten events and some of another user, with a role for services, a key and the owner's connection."""

    owner: Connection
    service: Connection
    key: Path
    run: Callable[..., tuple[int, str]]

    def verify(self, *arguments: str) -> list[str]:
        """Returns the faults that `cardlog log verify` finds."""
        status, text = self.run("log", "verify", "--json", *arguments)
        document = json.loads(text)
        assert (status == 0) is document["ok"] is (not document["faults"])
        return list(document["faults"])

    def anchor(self, name: str) -> str:
        path = self.key.with_name(name)
        assert self.run("log", "anchor", str(path))[0] == 0
        return str(path)

    def append(self, *texts: str) -> None:
        """Appends as a process with the key does."""
        authentication.use_file(str(self.key))
        log.append(self.service, [turn(text) for text in texts])
        authentication.use(None)
