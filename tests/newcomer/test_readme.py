"""The steps of README and CONTRIBUTING work as they are written."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from events.platform.settings import variable_of
from tests.support.stack import clean_environment
from tests.support.waiting import PATIENT, eventually

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
_COPIED = (
    "Makefile",
    "README.md",
    "pyproject.toml",
    "requirements-dev.lock",
    "clients",
    "examples",
    "deploy",
    "scripts",
)


def blocks(heading: str) -> list[str]:
    """Returns the shell blocks of one section of the README."""
    section = (ROOT / "README.md").read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Newcomer:
    """Somebody with a copy of the project in ``folder``."""

    folder: Path
    prefix: tuple[str, ...]
    environment: dict[str, str]

    def start(self, script: str, output: Path) -> subprocess.Popen[bytes]:
        with output.open("wb") as log:
            return subprocess.Popen(
                [*self.prefix, "/bin/bash", "-ec", script], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def run(self, script: str) -> str:
        """Returns what the script printed. A command of it that fails fails the test."""
        done = subprocess.run(
            [*self.prefix, "/bin/bash", "-ec", script], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@pytest.fixture(scope="module", params=["an ordinary user", "root"])
def newcomer(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Newcomer]:
    """A newcomer after the first block of "Use it": Cardlog runs in another terminal."""
    as_root = request.param == "root"
    if as_root and os.geteuid() != 0:
        pytest.skip("this run is not root's")
    locked = ROOT / ".venv" / ".locked"
    if not locked.exists():
        pytest.skip("the tests do not run in the environment of `make setup`")
    if not all(map(_is_free, (8700, 8701))):
        pytest.skip("the ports 8700 and 8701 of the README are in use")
    place = tmp_path_factory.mktemp("newcomer")
    folder, home = place / "cardlog", place / "home"
    home.mkdir()
    folder.mkdir()
    for name in _COPIED:
        if (ROOT / name).is_dir():
            left_out = shutil.ignore_patterns("__pycache__", "node_modules", "dist")
            shutil.copytree(ROOT / name, folder / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, folder / name)
            stamp = locked.stat().st_mtime - 1  # the environment is the one of these lock files
            os.utime(folder / name, (stamp, stamp))
    (folder / ".venv").symlink_to(ROOT / ".venv")
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0 and not as_root:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("setpriv is not installed, so root cannot become an ordinary user")
        # The account may read this environment wherever root keeps it, and has no other right of root.
        may_read = ("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search")
        prefix = (setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *may_read)
        for each in (folder, home):
            shutil.chown(each, NOBODY, NOBODY)
        for parent in (place, *place.parents):
            if parent.stat().st_uid == 0 and parent not in (Path("/"), Path("/tmp")):
                parent.chmod(parent.stat().st_mode | 0o011)
    patience = {variable_of(name): str(value) for name, value in PATIENT.items() if name.endswith("_ms")}
    environment = clean_environment() | patience | {"HOME": str(home), "npm_config_cache": str(home / "npm")}
    environment.pop("XDG_CACHE_HOME", None)
    someone = Newcomer(folder, prefix, environment)
    output = place / "up.log"
    process = someone.start(blocks("Use it")[0], output)
    try:
        eventually(lambda: _is_ready(output, process), within=200)
        yield someone
    finally:
        os.killpg(process.pid, signal.SIGINT)  # Ctrl-C
        process.wait(60)
    said = output.read_text("utf-8", "replace")
    assert "Traceback" not in said, said
    assert not (folder / "data" / "ready.json").exists()


def _is_ready(output: Path, process: subprocess.Popen[bytes]) -> bool:
    said = output.read_text("utf-8", "replace")
    assert process.poll() is None, said
    lines = [line for line in said.splitlines() if line.startswith('{"ready"')]
    return bool(lines) and json.loads(lines[0])["ready"] is True


def test_what_the_readme_pushes_is_what_it_finds(newcomer: Newcomer) -> None:
    script = "\n".join(block for block in blocks("Use it")[1:] if not block.startswith("npm "))
    said = newcomer.run(script)
    assert "Lisbon" in said, "the answer of `cardlog recall`"
    assert "麻糬" in said, "the answer of curl"
    activate = ". .venv/bin/activate\n"
    asked = f"{activate}cardlog wait\ncardlog recall --user u1 'what is my dog called?'\n"
    asked += "cardlog recall --user u1 'where do I work?'\n"
    said = newcomer.run(asked)
    assert "Rex" in said, "pushed from Python"
    assert "bakery" in said, "pushed with `cardlog push`"
    newcomer.run(activate + "".join(blocks("Run it for others")))


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_push_from_node_works_as_pasted(newcomer: Newcomer) -> None:
    [block] = [block for block in blocks("Use it") if block.startswith("npm ")]
    install, _, rest = block.partition("\n")
    try:
        newcomer.run(install)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"the npm registry does not give the package: {str(error)[-200:]}")
    newcomer.run(rest)
    activate = ". .venv/bin/activate\ncardlog wait\n"
    assert "green" in newcomer.run(f"{activate}cardlog recall --user u1 'what is my favourite colour?'")


PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_WRITTEN = re.compile(r"(Write|Append)\b[^`]*`(\S+)`")


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def follow(folder: Path, heading: str) -> str:
    """Follows the steps of a section in ``folder``, and returns the output of its commands.

    The first path of a step that begins with "Write" or "Append" gets the block below it. A diff changes the one place
    that its lines without a plus show. The commands run one after the other, and each has to succeed.
    """
    said, steps, done = [], section(heading), 0
    for block in _BLOCK.finditer(steps):
        language, body = block[2], dedent(block[3])
        prose, done = steps[done : block.start()], block.end()
        if language == "sh":
            said.append(_run(folder, body))
        elif language == "diff":
            for change in re.split(r"^--- ", body, flags=re.MULTILINE)[1:]:
                path, _, lines = change.partition("\n")
                _change(folder / path, lines.splitlines())
        else:
            [(verb, path)] = _WRITTEN.findall(prose)[:1]
            file = folder / path
            assert file.exists() == (verb == "Append"), path
            file.write_text((file.read_text("utf-8") if verb == "Append" else "") + body, "utf-8")
    return "".join(said)


def _change(file: Path, lines: list[str]) -> None:
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    text = "\n" + file.read_text("utf-8")
    assert text.count(f"\n{before}") == 1, f"{file.name} has this place once:\n{before}"
    file.write_text(text.replace(f"\n{before}", f"\n{after}")[1:], "utf-8")


def _run(folder: Path, script: str) -> str:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True, check=False,
        timeout=540, env=clean_environment() | {"PATH": path, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout[-5000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("Add an event type", "passed"),
        ("Add a channel", "passed"),
        ("Add a concept key", "commute ('commute',)"),
        ("Add a setting", "CARDLOG_RECALL_K is '500': use a whole number from 1 to 200"),
        ("Add a metric", "True"),
    ],
)
def test_the_steps_of_a_section_work_as_written(tmp_path: Path, heading: str, shown: str) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    assert shown in follow(tmp_path, heading)


def test_every_file_and_folder_that_the_page_names_exists() -> None:
    named = set(
        re.findall(r"`((?:events|ingest|projectors|retrieval|deploy|tests|docs|scripts)/[\w/.]+)`", PAGE)
    )
    made = {path for _, path in _WRITTEN.findall(PAGE)} | set(re.findall(r"Write a test[^`]*`(\S+)`", PAGE))
    assert len(named) > 20
    assert {path for path in named - made if not (ROOT / path).exists()} == set()
