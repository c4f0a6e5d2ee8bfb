"""A service collects garbage after its start, although the start itself does without."""

import os
import subprocess
import sys

import pytest

from tests.support.stack import WITHOUT_MODEL

PROGRAM = """
import sys, weakref
import uvicorn
from deploy.command_line import run

class Node:
    pass

def serve(self, sockets=None):
    node = Node()
    node.itself = node
    seen = weakref.ref(node)
    del node
    kept = [[] for _ in range(200_000)]
    print("collected" if seen() is None else "kept")

uvicorn.Server.run = serve
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("service", ["write", "read"])
def test_a_service_that_serves_collects_garbage(database: str, redis_url: str, service: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "serve", service, "--insecure-no-auth"],
        env=os.environ | WITHOUT_MODEL | {"CARDLOG_DATABASE_URL": database, "CARDLOG_REDIS_URL": redis_url},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout.split() == ["collected"], done.stderr
