"""A whole Cardlog as a user starts it: the command, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from redis import Redis

from deploy.catch_up import CatchingUp
from deploy.command import main
from deploy.instance import READY_FILE, find
from events.access.principal import SCOPES
from events.platform.settings import Settings, variable_of
from events.sealing import sealer
from events.store import authentication
from tests.support.forking import forked
from tests.support.waiting import eventually
from tests.support.web import WEB

COMMAND = [sys.executable, "-m", "deploy.command"]
WITHOUT_MODEL = {variable_of("embed_model"): "hash"}
"""No process loads a model, so that the tests do not depend on the models of the machine."""


@dataclass
class Running:
    """A started stack, with the clients of its users."""

    process: subprocess.Popen[str]
    data: Path
    write_url: str
    read_url: str
    redis_url: str
    key_file: str
    explorer_url: str

    @property
    def key(self) -> str:
        """The first API key: the last word of the file that the ready line names."""
        return Path(self.key_file).read_text("utf-8").split()[-1]

    @property
    def headers(self) -> dict[str, str]:
        """The header with the first API key."""
        return {"Authorization": f"Bearer {self.key}"}

    @cached_property
    def redis(self) -> Redis:
        return Redis.from_url(self.redis_url, decode_responses=True)

    @cached_property
    def redis_operator(self) -> Redis:
        """A client of the embedded Redis with the rights of an operator."""
        password = (self.data / "redis.operator.password").read_text().strip()
        server = urlsplit(self.redis_url)
        url = server._replace(netloc=f"operator:{password}@{server.hostname}:{server.port}").geturl()
        return Redis.from_url(url, decode_responses=True)

    def ready(self, field: str) -> str:
        """A field of the ready file."""
        value: str = json.loads((self.data / READY_FILE).read_text())[field]
        return value

    @property
    def admin_database_url(self) -> str:
        """The URL of the owner of the embedded PostgreSQL."""
        return self.ready("admin_database_url")

    @property
    def database_url(self) -> str:
        """The URL of the role of workers and services. It sees rows of users only with a proof of the log key."""
        return self.ready("database_url")

    @property
    def servers(self) -> dict[str, str]:
        """The variables with which another process works on the same servers and the same authenticated log."""
        return {
            "CARDLOG_DATABASE_URL": self.database_url,
            "CARDLOG_REDIS_URL": self.redis_url,
            "CARDLOG_LOG_KEY_FILE": self.ready("log_key_file"),
            "CARDLOG_KEK_FILE": self.ready("kek_file"),
        }

    @cached_property
    def administrator(self) -> dict[str, str]:
        """The header with a key of every scope."""
        scopes = [word for scope in SCOPES if scope != "user" for word in ("--scope", scope)]
        made = self.command("keys", "create", "--name", "tests", *scopes, "--acts-as", "user", "--json")
        return {"Authorization": f"Bearer {json.loads(made.stdout)['key']}"}

    def command(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs the command on this Cardlog, in a fork of this process."""
        return forked([*arguments, "--data", str(self.data)], clean_environment() | WITHOUT_MODEL, **options)

    def told(self, *words: str, status: int = 0) -> Any:
        """Returns the JSON that a verb of the command prints."""
        done = self.command(*words, "--json")
        assert (done.returncode, done.stdout != "") == (status, True), done.stderr
        return json.loads(done.stdout)

    def push(self, *turns: Mapping[str, Any]) -> dict[str, Any]:
        """Pushes turns over HTTP. Returns the answer."""
        body = [dict(turn) for turn in turns]
        answer = WEB.post(f"{self.write_url}/v1/turns", json=body, headers=self.headers)
        assert answer.status_code == 202, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def recall(self, user: str, query: str, **more: Any) -> dict[str, Any]:
        answer = WEB.post(
            f"{self.read_url}/v1/recall",
            json={"user_id": user, "query": query, **more},
            headers=self.headers,
            timeout=120,
        )
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def wait(self, *, within_s: int = 240) -> None:
        """Does in this process what ``cardlog wait`` does."""
        CatchingUp(find(Settings(), self.data)[0], within_s).run(print)
        # The keys of the stack are no keys of the tests that follow in this process.
        authentication.use(None)
        sealer.use(None)

    def kill(self, name: str) -> None:
        """Kills the process ``name`` of the stack with SIGKILL, and waits until another one has its place."""
        # The server's main process is the one that is no child of another server process.
        own = partial(self.workers, name, recursive=False)
        [process, *_] = eventually(own)
        process.kill()
        eventually(lambda: any(each.pid != process.pid for each in own()))

    def workers(self, name: str, *, recursive: bool = True) -> list[psutil.Process]:
        """The live processes of the stack whose command line names ``name``: its children, or all below it."""
        found = []
        for child in psutil.Process(self.process.pid).children(recursive=recursive):
            try:
                if name in child.cmdline() or name in child.name():
                    found.append(child)
            except psutil.Error:
                continue
        return found


def clean_environment() -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CARDLOG_", "ANTHROPIC_"))
    }
    if model := os.environ.get("CARDLOG_EMBED_MODEL_PATH"):
        kept["CARDLOG_EMBED_MODEL_PATH"] = model
    return kept


def typed(
    *words: str, given: Mapping[str, str] | None = None, cwd: Path | None = None, timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    """Runs the command with ``words`` in a process without any setting but those of ``given``."""
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, capture_output=True, text=True, timeout=timeout,
        env=clean_environment() | dict(given or {}),
    )  # fmt: skip


def typed_here(capsys: pytest.CaptureFixture[str], *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command with ``words`` in this process, with the settings of its environment."""
    capsys.readouterr()
    try:
        status = main(words)
    except SystemExit as error:
        status = int(error.code or 0)
    printed = capsys.readouterr()
    return subprocess.CompletedProcess(words, status, printed.out, printed.err)


def start(data: Path, **environment: str) -> Running:
    with (data.parent / f"{data.name}.log").open("a") as log:
        process = subprocess.Popen(
            [*COMMAND, "up", "--data", str(data), "--port-write", "0", "--port-read", "0"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=clean_environment() | WITHOUT_MODEL | {"CARDLOG_CURATOR": "off"} | environment,
        )
    assert process.stdout is not None
    return started(process, process.stdout.readline(), data)


def started(process: subprocess.Popen[str], line: str, data: Path) -> Running:
    """Returns the stack that a process of the command announced in its ready line."""
    assert line, (data.parent / f"{data.name}.log").read_text()[-4000:]
    ready = json.loads(line)
    assert ready.pop("ready") is True
    return Running(process, data, **ready)


def stop(running: Running) -> int:
    if running.process.poll() is None:
        running.process.send_signal(signal.SIGTERM)
    code = running.process.wait(240)
    assert running.process.stdout is not None
    running.process.stdout.close()
    return code
