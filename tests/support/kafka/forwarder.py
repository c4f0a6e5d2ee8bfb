"""A port that stays the same while the server behind it comes and goes."""

import contextlib
import socket
import ssl
import threading

from deploy.embedded.server import free_port


class Forwarder:
    """Carries bytes between the clients of ``port`` and its server. A shut forwarder refuses clients.

    With ``tls`` the clients speak TLS, and the server does not. While ``flowing`` is not set, the server looks
    suspended: its connections stay, and it does not answer.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.flowing = threading.Event()
        self.flowing.set()
        self.port = free_port()
        self._listener: socket.socket | None = None
        self._sockets: set[socket.socket] = set()
        self._thread: threading.Thread | None = None

    def open(self, target: int) -> None:
        """Forwards to the server at that local port from now on."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._thread = threading.Thread(target=self._accept, args=(self._listener, target), daemon=True)
        self._thread.start()

    def shut(self) -> None:
        """Refuses new connections and closes the open ones."""
        if self._listener is None or self._thread is None:
            return
        _end(self._listener)
        self._thread.join()
        self._listener = None
        for each in list(self._sockets):
            _end(each)

    def _accept(self, listener: socket.socket, target: int) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            if self._tls is not None:
                near.settimeout(5)
                try:
                    near = self._tls.wrap_socket(near, server_side=True)
                except OSError:
                    near.close()
                    continue
                near.settimeout(None)
            try:
                far = socket.create_connection(("127.0.0.1", target), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            self._sockets |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.flowing.wait()
                sink.sendall(data)
        for each in (source, sink):
            _end(each)
            self._sockets.discard(each)


def _end(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
