"""Runs workers as processes by their commands, and stops, kills and restarts them by name."""

import signal
import subprocess
from pathlib import Path

from tests.support.stack import COMMAND, clean_environment

QUICK = {
    # Batches are small and the interval is short, so the effects of a fault show within seconds.
    "CARDLOG_BATCH_EVENTS": "16",
    "CARDLOG_KAFKA_FALLBACK_S": "2",
    "CARDLOG_EMBED_THREADS": "1",
}


class Workers:
    """The workers of one Cardlog. The remaining ones are killed at the end."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._log = folder / "workers.log"
        self._environment = QUICK | environment
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, kind: str, **environment: str) -> None:
        """``cardlog work`` of that kind; ``name`` is this process's."""
        with self._log.open("a") as log:
            self._running[name] = subprocess.Popen(
                [*COMMAND, "work", kind, "--name", name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=clean_environment() | self._environment | {"CARDLOG_PROCESS": name} | environment,
            )

    def kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def stop(self, name: str, *, within: float = 240) -> int:
        process = self._running.pop(name)
        process.terminate()
        return process.wait(within)

    def signal(self, name: str, number: int) -> None:
        self._running[name].send_signal(number)

    def alive(self, name: str) -> bool:
        return self._running[name].poll() is None

    def close(self) -> None:
        for process in self._running.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
        for process in self._running.values():
            process.wait()
        self._running.clear()

    def log(self, name: str = "") -> str:
        """Returns the end of the logs of all workers, or the whole log of one worker."""
        lines = self._log.read_text(errors="replace").splitlines()
        return "\n".join([line for line in lines if f" {name}: " in line] if name else lines[-60:])
