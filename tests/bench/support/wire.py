"""Counts what goes over the wire to a server: round trips and bytes."""

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class Wire:
    """``round_trips``: how often the client spoke after the server had. Bytes count in both directions."""

    url: str
    round_trips: int = 0
    sent: int = 0
    received: int = 0

    def row(self, name: str, count: int, unit: str) -> str:
        return (
            f"{name:<12} {self.round_trips / count:6.2f} round trips a {unit}, {self.sent / count:8.0f} bytes sent, "
            f"{self.received / count:8.0f} received"
        )

    def clear(self) -> None:
        self.round_trips = self.sent = self.received = 0


@contextmanager
def counted(url: str) -> Iterator[Wire]:
    """Gives the address of a relay in front of the server at ``url``. Its own work disturbs measurements of time."""
    server = urlsplit(url)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        credentials, _, _ = server.netloc.rpartition("@")
        wire = Wire(server._replace(netloc=f"{credentials}@127.0.0.1:{port}").geturl())

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    other = socket.create_connection((server.hostname or "", server.port or 5432))
                    threading.Thread(target=_relay, args=(wire, client, other), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield wire


def _relay(wire: Wire, client: socket.socket, server: socket.socket) -> None:
    last = server
    with client, server, suppress(OSError):
        while True:
            for source in select.select([client, server], [], [])[0]:
                data = source.recv(65536)
                if not data:
                    return
                if source is client:
                    wire.round_trips += last is server
                    wire.sent += len(data)
                    server.sendall(data)
                else:
                    wire.received += len(data)
                    client.sendall(data)
                last = source
