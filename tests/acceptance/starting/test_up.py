"""Start and stop: the data stays, leftovers are removed, and an error is one sentence."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest
from rich.cells import cell_len

from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import connect, migrate
from events.sealing.key_encryption import create
from events.store import log
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import DEFAULT_MODEL, HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.generations import ensure_live
from projectors.vectors.projector import VectorsProjector
from tests.acceptance.conftest import LONG
from tests.support.events.guarded_log import turn
from tests.support.forking import forked
from tests.support.stack import COMMAND, Running, clean_environment, start, stop, typed
from tests.support.tables import examples
from tests.support.waiting import eventually

CARDLOG = Path(sys.executable).with_name("cardlog")


def of_an_older_build(data: Path) -> None:
    """Makes the data folder of a build whose superuser did everything. Its events carry no authentication."""
    with EmbeddedPostgres(data) as server, connect(server.url, application="test") as owner:
        migrate(owner)
        log.append(owner, [turn("I live in Bern.")])
        for projector in (CardsProjector(), VectorsProjector(Embedders(HashEmbedder))):
            ensure_live(owner, projector)


def test_data_is_kept_between_runs_even_of_an_older_build_after_a_kill_and_without_a_model_or_the_log_key(
    tmp_path: Path,
) -> None:
    of_an_older_build(tmp_path / "data with a space")
    first = start(tmp_path / "data with a space")
    first.redis.xadd("turns", {"user_id": "u1", "text": "I live in Oslo."})
    first.wait()
    verified = json.loads(first.command("log", "verify", "--json").stdout)
    assert (verified["ok"], verified["before_key"]) == (True, 1)
    port = urlsplit(first.database_url).port
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(240)
    assert first.process.stdout is not None
    first.process.stdout.close()
    screen = tmp_path / "data with a space.log"
    assert "cardlog model fetch" not in screen.read_text()
    for name, setting in (("log.key", "CARDLOG_LOG_KEY_FILE"), ("kek.key", "CARDLOG_KEK_FILE")):
        kept = (first.data / name).rename(tmp_path / name)
        refused = typed("up", "--data", str(first.data), "--port-write", "0", "--port-read", "0")
        assert refused.returncode != 0
        assert f"{first.data / name} is missing" in refused.stderr
        assert setting in refused.stderr
        kept.rename(first.data / name)
    kept = (first.data / "kek.key").rename(tmp_path / "kek.key")
    create(first.data / "kek.key")
    refused = typed("up", "--data", str(first.data), "--port-write", "0", "--port-read", "0")
    assert refused.returncode == 1
    assert f"{first.data / 'kek.key'} is not the key-encryption key of this log" in refused.stderr
    kept.replace(first.data / "kek.key")
    (first.data / "log.key").write_text("")
    nowhere = {"CARDLOG_EMBED_MODEL": DEFAULT_MODEL, "CARDLOG_EMBED_MODEL_PATH": str(tmp_path)}
    second = start(tmp_path / "data with a space", **LONG, **nowhere)
    try:
        assert "questions are answered by words, not by meaning: no embedding model" in screen.read_text()
        assert second.redis_url == first.redis_url, "the port and the password stay"
        assert urlsplit(second.database_url).port == port
        assert second.recall("u1", "where do I live?")["cards"][0]["value"] == "Oslo"
        assert "note: no key authenticates" in second.command("log", "verify").stdout
        third = typed("up", "--data", str(second.data))
        assert third.returncode != 0
        assert "is in use by process" in third.stderr
        assert "Traceback" not in third.stderr
    finally:
        assert stop(second) == 0


def test_two_run_side_by_side_against_the_first_ones_servers(stack: Running, tmp_path: Path) -> None:
    second = start(tmp_path / "other", **stack.servers)
    try:
        assert second.database_url == stack.database_url
        second.redis.xadd("turns", {"user_id": "side", "text": "I live in Bern."})
        second.wait()
        assert stack.recall("side", "where do I live?")["cards"][0]["value"] == "Bern"
    finally:
        assert stop(second) == 0


@examples
def test_errors_are_one_sentence_with_the_remedy(
    arguments: list[str], environment: dict[str, str], said: str
) -> None:
    with tempfile.TemporaryDirectory() as home:
        done = forked(arguments, clean_environment() | {"HOME": home, "CARDLOG_DATA": home} | environment)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(not CARDLOG.exists(), reason="the command is not installed beside this Python")
def test_in_a_folder_with_the_names_of_its_packages_the_demo_answers_without_a_killed_worker_and_fits_the_terminal(
    tmp_path: Path,
) -> None:
    place = tmp_path / "project"
    for name in ("deploy", "events", "ingest", "projectors", "retrieval", "redis"):
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").write_text("raise SystemExit('this package is somebody else’s')\n")
    terminal, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 80))
    environment = clean_environment()
    environment.pop("COLUMNS", None)
    with demo(tmp_path, inner, cwd=place, env=environment) as (running, said):
        os.close(inner)
        worker_of(running, said).kill()
        printed = b""
        try:
            while piece := os.read(terminal, 65536):
                printed += piece
        except OSError:
            pass  # the other end of the terminal is closed
        finally:
            os.close(terminal)
        status = running.wait(240)
        assert status == 0, said.read_text()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", printed.decode())
    assert "10 of 10 questions answered rightly" in shown
    assert max(map(cell_len, shown.splitlines())) <= 80


@pytest.mark.skipif(not CARDLOG.exists(), reason="the command is not installed beside this Python")
def test_ctrl_c_ends_a_demo_that_waits_for_its_cards(tmp_path: Path) -> None:
    with demo(tmp_path, subprocess.PIPE, env=clean_environment()) as (running, said):
        worker_of(running, said).suspend()
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate(timeout=240)
    assert running.returncode == 1
    assert printed == b""
    assert "Traceback" not in said.read_text()


@contextmanager
def demo(folder: Path, output: int, **more: Any) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Runs the demo. Yields its process, and the file with the lines that it says."""
    with (folder / "said").open("w") as said:
        running = subprocess.Popen(
            [CARDLOG, "demo"], stdin=subprocess.DEVNULL, stdout=output, stderr=said, **more
        )
    try:
        yield running, folder / "said"
    finally:
        running.terminate()
        running.wait(240)


def worker_of(running: subprocess.Popen[bytes], said: Path) -> psutil.Process:
    """Returns the projector of a demo that has started and waits for its cards."""
    eventually(lambda: "up after" in said.read_text())
    [projector] = (each for each in psutil.Process(running.pid).children() if each.name() == "projector")
    return projector


def test_both_services_want_the_key_that_the_ready_line_names(stack: Running) -> None:
    turn = {"user_id": "keyless", "text": "I live in Bern."}
    question = {"user_id": "keyless", "query": "where do I live?"}
    for url, body in ((f"{stack.write_url}/v1/turns", turn), (f"{stack.read_url}/v1/recall", question)):
        assert httpx2.post(url, json=body, timeout=30).status_code == 401
        assert httpx2.post(url, json=body, headers=stack.headers, timeout=30).status_code in (200, 202)
    assert Path(stack.key_file).stat().st_mode & 0o777 == 0o600
    [first, *_] = map(json.loads, stack.command("keys", "list", "--json").stdout.splitlines())
    assert first["scopes"] == ["push", "read", "write", "user"]
    assert stack.command("recall", "--user", "keyless", "where do I live?").returncode == 0


def test_without_a_key_the_rules_read_and_the_command_says_so(stack: Running) -> None:
    stack.redis.xadd("turns", {"user_id": "of the rules", "text": "I moved to Oslo."})
    stack.wait()
    shown = stack.command("log", "show", "--json", "--user", "of the rules", "--type", "TurnsExtracted")
    [read] = map(json.loads, shown.stdout.splitlines())
    assert read["data"]["extractor"] == "rules"
    assert "extractor: rules (no language model is used" in (stack.data.parent / "data.log").read_text()


def test_ctrl_c_while_the_database_is_made_ends_the_start_in_silence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with (tmp_path / "up.log").open("w+") as log:
        up = subprocess.Popen(
            [*COMMAND, "up", "--data", str(data), "--port-write", "0", "--port-read", "0"],
            stdout=subprocess.PIPE, stderr=log, text=True, env=clean_environment(), start_new_session=True,
        )  # fmt: skip
        eventually(lambda: any(data.glob("creating-postgres-*")) or up.poll() is not None)
        os.killpg(up.pid, signal.SIGINT)  # as a terminal does
        assert up.communicate(timeout=240)[0] == ""
        log.seek(0)
        said = log.read()
    assert up.returncode == 0, said
    assert "Traceback" not in said
    assert "failed" not in said
    assert "PostgreSQL: starting" in said
