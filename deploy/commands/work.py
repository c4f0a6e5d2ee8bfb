"""``cardlog work`` and ``cardlog serve``: one process of the stack."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from deploy.alive import PORTS
from events import authentication
from events.database import connect_patiently, migrate
from events.feed import Feed
from events.pace import pause
from events.settings import Settings, SettingsError
from ingest.choice import Worker

logger = logging.getLogger(__name__)

_BEFORE_ANEW_S = 1.0
_NICENESS = 10
WORKERS = ("recorder", "extractor", "projector", "vectors", "relay")


class Stop:
    """Becomes true at SIGINT or SIGTERM; the worker then finishes what it has in hand."""

    def __init__(self) -> None:
        self._stopped = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def __call__(self) -> bool:
        return self._stopped

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._stopped = True


def register(subparsers: Any) -> None:
    work = subparsers.add_parser(
        "work", help="run one worker: recorder, extractor, projector, vectors or relay"
    )
    work.add_argument("worker", choices=WORKERS)
    work.add_argument("--name", default=None, help="name of this worker (default: its kind and host)")
    work.set_defaults(run=run_worker)
    serve = subparsers.add_parser("serve", help="run one service: write or read")
    serve.add_argument("service", choices=("write", "read"))
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument(
        "--port", type=int, default=None, help="port (default: 8700 for write, 8701 for read; 0: any)"
    )
    serve.add_argument("--fd", type=int, default=None, help=argparse.SUPPRESS)
    serve.set_defaults(run=run_service)


def run_worker(options: argparse.Namespace, settings: Settings) -> int:
    stop = Stop()
    _require(settings, queue=options.worker == "recorder")
    authentication.in_use()  # a key that cannot be read is said now, not with the first turn
    if options.worker == "relay" or (settings.kafka_brokers and options.worker != "recorder"):
        from projectors.kafka.topic import require_kafka  # noqa: PLC0415 - as below

        require_kafka(settings)
    name = options.name or f"{options.worker}-{socket.gethostname()}"
    if not _migrated(settings, options.worker, stop):
        return 0
    if options.worker == "vectors":
        # Where cores are short, questions go first: words find a card until its vector is there.
        os.nice(max(0, _NICENESS - os.nice(0)))  # one that starts anew is nice already
    worker = _worker(options.worker, settings, name, stop)
    if settings.kafka_brokers and options.worker not in {"recorder", "relay"}:
        _listen(worker, name, stop)
    else:
        worker.run()
    return 0


def _listen(worker: Worker, name: str, stop: Callable[[], bool]) -> None:
    """Run a worker that Kafka feeds. Where Faust gives up, the process becomes a new one: only that can start it again,
    and nobody else may be watching."""
    from projectors.kafka.app import StreamLostError  # noqa: PLC0415 - as below

    try:
        worker.run()
    except StreamLostError as error:
        logger.warning("%s lost Kafka and starts anew: %s", name, error)
        pause(_BEFORE_ANEW_S, stop)
        if not stop():
            logging.shutdown()
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - it is this very program


def _worker(kind: str, settings: Settings, name: str, stop: Callable[[], bool]) -> Worker:
    # Imported here: each worker is a process, and none should load what only another needs.
    if kind == "recorder":
        from ingest.recorder import Recorder  # noqa: PLC0415

        return Recorder(settings, name, stop)
    if kind == "relay":
        from projectors.kafka.relay import Relay  # noqa: PLC0415

        return Relay(settings, stop, name)
    if not settings.kafka_brokers:
        return _reader(kind, settings, name, stop, None)
    from projectors.kafka.worker import StreamWorker  # noqa: PLC0415

    reader = {"projector": "cards"}.get(kind, kind)
    return StreamWorker(
        settings, reader, lambda feed, stopping: _reader(kind, settings, name, stopping, feed), stop
    )


def _reader(kind: str, settings: Settings, name: str, stop: Callable[[], bool], feed: Feed | None) -> Worker:
    """The worker of a processor, fed by the log itself where no feed is given."""
    if kind == "extractor":
        from ingest.choice import worker_of  # noqa: PLC0415

        return worker_of(settings, stop, name, feed)
    from projectors.registry import projectors  # noqa: PLC0415
    from projectors.runner import Runner  # noqa: PLC0415

    wanted = "cards" if kind == "projector" else "vectors"
    projector = next(projector for projector in projectors(settings) if projector.name == wanted)
    return Runner(settings, projector, stop, name, feed)


def run_service(options: argparse.Namespace, settings: Settings) -> int:
    import uvicorn  # noqa: PLC0415 - only services need it

    _require(settings, queue=options.service == "write")
    authentication.in_use()
    if options.service == "write":
        from ingest.write_api import create_app  # noqa: PLC0415
    else:
        from retrieval.read_api import create_app  # noqa: PLC0415
    from events.http.connections import bounded  # noqa: PLC0415 - as above

    port = options.port if options.port is not None else PORTS[options.service]
    config = uvicorn.Config(
        create_app(settings),
        host=options.host,
        port=port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        lifespan="on",
        http=bounded(settings),
        ws="none",
        timeout_keep_alive=settings.idle_timeout_s,
    )
    server = uvicorn.Server(config)
    if options.fd is None:
        server.run()
    else:
        server.run(sockets=[socket.socket(fileno=options.fd)])
    return 0


def _require(settings: Settings, *, queue: bool) -> None:
    if not settings.database_url:
        raise SettingsError(
            "CARDLOG_DATABASE_URL is not set: a single worker needs to be told where Postgres is"
        )
    if queue and not settings.redis_url:
        raise SettingsError("CARDLOG_REDIS_URL is not set: a single worker needs to be told where Redis is")


def _migrated(settings: Settings, worker: str, stop: Callable[[], bool]) -> bool:
    url = settings.admin_database_url or settings.database_url
    connection = connect_patiently(url, application=worker, stopping=stop)
    if connection is None:
        return False
    with connection:
        migrate(connection)
    return True
