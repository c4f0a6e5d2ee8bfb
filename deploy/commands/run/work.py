"""``cardlog work``: runs one worker of the stack."""

import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Annotated, Literal, get_args

from cyclopts import Parameter

from deploy.commands.run.serve import collect_again, require_servers
from deploy.options import Given
from events.health.log_worker import Worker
from events.platform.database import connect_with_retry, migrate
from events.platform.linger import pause
from events.platform.projections import PROJECTIONS
from events.platform.settings import Settings
from events.sealing import sealer
from events.store import authentication
from events.store.feed import Feed

logger = logging.getLogger(__name__)

_BEFORE_ANEW_S = 1.0
_NICENESS = 10
_IDLE_S = 60.0
WorkerName = Literal["recorder", "extractor", "projector", "vectors", "relay", "curator", "webhooks"]
WORKERS: tuple[WorkerName, ...] = get_args(WorkerName)
_WITHOUT_KAFKA = frozenset(("recorder", "curator", "webhooks"))


class Stop:
    """Becomes true at SIGINT or SIGTERM. The worker then finishes its current batch and ends."""

    def __init__(self) -> None:
        self._stopped = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def __call__(self) -> bool:
        return self._stopped

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._stopped = True


def work(
    worker: Annotated[WorkerName, Parameter(help="which")],
    /,
    *,
    name: Annotated[str | None, Parameter(help="name of this worker (default: its kind and host)")] = None,
    settings: Given[Settings],
) -> int:
    """Run one worker: recorder, extractor, projector, vectors, relay, curator or webhooks."""
    gc.disable()  # collecting takes a tenth of a start, and the objects of a start stay
    authentication.in_use()  # an unreadable key fails now, and not with the first turn
    sealer.in_use()
    stop = Stop()
    require_servers(settings, queue=worker == "recorder")
    if worker == "relay" or (settings.kafka_brokers and worker not in _WITHOUT_KAFKA):
        from projectors.kafka.broker import require_kafka  # noqa: PLC0415 - as below

        require_kafka(settings)
    name = name or f"{worker}-{socket.gethostname()}"
    if not _migrated(settings, worker, stop):
        return 0
    if worker in ("vectors", "curator"):
        # Questions have priority over vectors and relations, because other channels find a card without them.
        os.nice(max(0, _NICENESS - os.nice(0)))  # a restarted worker already has this niceness
    running = _worker(worker, settings, name, stop)
    collect_again()
    if settings.kafka_brokers and worker not in {*_WITHOUT_KAFKA, "relay"}:
        _listen(running, name, stop)
    else:
        running.run()
    return 0


def _listen(worker: Worker, name: str, stop: Callable[[], bool]) -> None:
    """Runs a worker that Kafka feeds. After Faust gives up, the process replaces itself.

    Faust can only start again in a new process, and perhaps no supervisor restarts this one.
    """
    from projectors.kafka.worker import StreamLostError  # noqa: PLC0415 - as below

    try:
        worker.run()
    except StreamLostError as error:
        logger.warning("%s lost Kafka and starts again: %s", name, error)
        pause(_BEFORE_ANEW_S, stop)
        if not stop():
            logging.shutdown()
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - it is this very program


_ALONE = {
    "recorder": "ingest.recording.recorder:Recorder",
    "relay": "projectors.kafka.relay:Relay",
    "curator": "ingest.curator.worker:Curator",
    "webhooks": "ingest.webhooks.worker:Webhooks",
}


def _worker(kind: str, settings: Settings, name: str, stop: Callable[[], bool]) -> Worker:
    # The imports are here, because each worker is a process and should load only its own modules.
    if kind == "curator" and not settings.curator:
        return _Off(stop)
    if kind in _ALONE:
        module, cls = _ALONE[kind].split(":")
        named = (name, stop) if kind == "recorder" else (stop, name)
        made: Worker = getattr(import_module(module), cls)(settings, *named)
        return made
    if not settings.kafka_brokers:
        return _reader(kind, settings, name, stop, None)
    from projectors.kafka.worker import StreamWorker  # noqa: PLC0415

    reader = {"projector": "cards"}.get(kind, kind)
    return StreamWorker(
        settings, reader, lambda feed, stopping: _reader(kind, settings, name, stopping, feed), stop
    )


def _reader(kind: str, settings: Settings, name: str, stop: Callable[[], bool], feed: Feed | None) -> Worker:
    """Returns the worker of a processor. Without a feed it reads the log itself."""
    if kind == "extractor":
        from ingest.extraction.choosing import create_extractor_worker  # noqa: PLC0415

        extractor = create_extractor_worker(settings, stop, name, feed)
        if not (settings.reference_proposals or settings.forget_proposals):
            return extractor
        from ingest.references.proposer import Proposer  # noqa: PLC0415

        return _Together(extractor, Proposer(settings, stop, name))
    from projectors.rebuild.operation_worker import OperationWorker  # noqa: PLC0415
    from projectors.registry import projectors  # noqa: PLC0415
    from projectors.runner import Runner  # noqa: PLC0415

    by_name = {projector.name: projector for projector in projectors(settings)}
    own = [each for each in by_name.values() if (each.name == "vectors") == (kind == "vectors")]
    operating = [OperationWorker(settings, own, each, stop) for each in ("generations", "parked users")]
    if kind == "vectors":
        return _Together(Runner(settings, by_name["vectors"], stop, name, feed), *operating)
    # References, problems and documents change rarely, so their projectors are threads of the projector of cards. They
    # read the log themselves.
    beside = [
        Runner(settings, by_name[each], stop, name)
        for each in PROJECTIONS
        if each not in ("cards", "vectors")
    ]
    return _Together(Runner(settings, by_name["cards"], stop, name, feed), *beside, *operating)


class _Off:
    """A worker that a setting turns off. It waits until it is told to stop, so no supervisor starts it again."""

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop

    def run(self) -> None:
        logger.info("CARDLOG_CURATOR is off, so this worker does nothing")
        while not self._stop():
            pause(_IDLE_S, self._stop)


class _Together:
    """Runs a worker, and others in threads beside it, until all are told to stop."""

    def __init__(self, worker: Worker, *beside: Worker) -> None:
        self._worker = worker
        self._beside = beside

    def run(self) -> None:
        threads = [threading.Thread(target=each.run, name="beside", daemon=True) for each in self._beside]
        for thread in threads:
            thread.start()
        self._worker.run()
        for thread in threads:
            thread.join()


def _migrated(settings: Settings, worker: str, stop: Callable[[], bool]) -> bool:
    url = settings.admin_database_url or settings.database_url
    connection = connect_with_retry(url, application=worker, stopping=stop)
    if connection is None:
        return False
    with connection:
        migrate(connection)
    return True
