"""Times ``cardlog import chat``: messages/s that are read from an export of WhatsApp, and that the service takes."""

import argparse
import io
import os
import time
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.migration.chats import people
from ingest.migration.chats.message import ChatTerms, LeftOut
from tests.bench.deploy.way import turns
from tests.bench.support.stack import measured_stack
from tests.support.stack import Running

_FIRST = datetime(2025, 1, 1)


def chat(count: int) -> str:
    """Returns an export with ``count`` messages of two people, 5 minutes apart."""
    lines = []
    for number, turn in enumerate(turns(count, 1)):
        at = (_FIRST + timedelta(minutes=5 * number)).strftime("%d/%m/%Y, %H:%M")
        lines.append(f"{at} - {('Ada', 'Bea')[number % 2]}: {turn['text']}")
    return "\n".join(lines)


def _processor_s(running: Running) -> tuple[float, float]:
    """Returns the processor time of ended commands, and of the write service, in seconds."""
    ended = os.times()
    spent = [each.cpu_times() for each in running.workers("write")]
    return ended.children_user + ended.children_system, sum(each.user + each.system for each in spent)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--messages", type=int, default=20_000)
    count = arguments.parse_args().messages
    data = chat(count).encode()
    began = time.perf_counter()
    file = io.BufferedReader(io.BytesIO(data))
    read = sum(1 for _ in people.read(file, ChatTerms(me=("Ada",)), LeftOut(), lambda _: None))
    print(f"read alone: {read / (time.perf_counter() - began):,.0f} messages/s")
    with measured_stack() as running, TemporaryDirectory() as folder:
        export = Path(folder, "_chat.txt")
        export.write_bytes(data)
        for what in ("new", "known"):
            used = _processor_s(running)
            began = time.perf_counter()
            done = running.command("import", "chat", str(export), "--user", "ada", "--me", "Ada", timeout=600)
            rate = count / (time.perf_counter() - began)
            print(f"imported, {what}: {rate:,.0f} messages/s")
            print(done.stdout.strip() or done.stderr)
            taken, served = _processor_s(running)
            print(
                f"processor time a message: command {1e6 * (taken - used[0]) / count:.0f} µs, "
                f"write service {1e6 * (served - used[1]) / count:.0f} µs"
            )
            running.wait(within_s=600)


if __name__ == "__main__":
    main()
