"""``cardlog up``: runs everything in one command."""

import json
import logging
import os
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.commands.run.serve import with_auth
from deploy.commands.run.work import Stop
from deploy.environment import data_folder
from deploy.options import Given, NoAuth, between
from deploy.security.first_key import sign_in_url
from deploy.stack import Stack
from events.platform.settings import Settings
from ingest.extraction.choosing import describe
from projectors.embedding.embedders import missing_model

logger = logging.getLogger(__name__)


Port = Annotated[int, Parameter(metavar="PORT", validator=between(0, 65535))]


def up(
    *,
    port_write: Annotated[Port, Parameter(help="port of the write API; 0: any (default: 8700)")] = 8700,
    port_read: Annotated[Port, Parameter(help="port of the read API; 0: any (default: 8701)")] = 8701,
    port_redis: Annotated[
        Port | None,
        Parameter(
            help="port of the embedded Redis; 0: any (default: the port of the last start, at first any)"
        ),
    ] = None,
    port_postgres: Annotated[
        Port | None,
        Parameter(
            help="port of the embedded PostgreSQL; 0: any (default: the port of the last start, at first any)"
        ),
    ] = None,
    insecure_no_auth: NoAuth = False,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Run everything.

    It also starts PostgreSQL and Redis, unless CARDLOG_DATABASE_URL and CARDLOG_REDIS_URL are set. The data are in
    the folder --data (default: data, or CARDLOG_DATA). It prints one JSON line when it is ready, and stops cleanly on
    SIGINT or SIGTERM. Both services want an API key. `key_file` in the line names the file with the first key.
    """
    stop = Stop()
    settings = with_auth(settings, insecure_no_auth)
    os.umask(0o077)  # only the owner may read files of the stack's processes
    stack = Stack(
        settings,
        data or data_folder(),
        port_write=port_write,
        port_read=port_read,
        port_redis=port_redis,
        port_postgres=port_postgres,
        stopping=stop,
    )
    try:
        instance = stack.start()
        if instance is None:
            return 0
        logger.info("extractor: %s", describe(settings))
        if (missing := missing_model(settings)) is not None:
            logger.warning("questions are answered by words, not by meaning: %s", missing)
        logger.info("explorer: %s", sign_in_url(settings, instance))
        line = {
            "ready": True,
            "write_url": instance.write_url,
            "read_url": instance.read_url,
            "redis_url": instance.redis_url,
            "key_file": instance.key_file,
            "explorer_url": instance.explorer_url,
        }
        print(json.dumps(line), flush=True)
        while not stop():
            stack.watch()
            time.sleep(0.2)
    finally:
        stack.stop()
    return 0
