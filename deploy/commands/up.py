"""``cardlog up``: everything, in one command."""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from pathlib import Path
from typing import Any

from deploy.commands.work import Stop
from deploy.instance import default_data
from deploy.stack import Stack
from events.settings import Settings
from ingest.choice import in_a_sentence

logger = logging.getLogger(__name__)


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "up",
        help="run everything: servers, workers, both services",
        description="Run everything. PostgreSQL and Redis are started too, unless CARDLOG_DATABASE_URL and "
        "CARDLOG_REDIS_URL name others. Prints one JSON line when ready; stops cleanly on SIGINT or SIGTERM.",
    )
    parser.add_argument(
        "--data", type=Path, default=default_data(), help="folder that keeps the data (default: %(default)s)"
    )
    parser.add_argument(
        "--port-write", type=int, default=8700, help="port of the write API; 0: any (default: %(default)s)"
    )
    parser.add_argument(
        "--port-read", type=int, default=8701, help="port of the read API; 0: any (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, settings: Settings) -> int:
    stop = Stop()
    os.umask(0o077)  # whatever any process of the stack writes is its owner's alone
    stack = Stack(
        settings, options.data, port_write=options.port_write, port_read=options.port_read, stopping=stop
    )
    try:
        instance = stack.start()
        if instance is None:
            return 0
        logger.info("extractor: %s", in_a_sentence(settings))
        line = {
            "ready": True,
            "write_url": instance.write_url,
            "read_url": instance.read_url,
            "redis_url": instance.redis_url,
            "database_url": instance.database_url,
        }
        print(json.dumps(line), flush=True)
        while not stop():
            stack.watch()
            time.sleep(0.2)
    finally:
        stack.stop()
    return 0
