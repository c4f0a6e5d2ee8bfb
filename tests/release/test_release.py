"""The packages in ``dist/``, each tried in an environment of its own, away from the repository.

``make test-release`` builds the packages and runs these tests. Packages of others come from the index of the machine.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.browser.conftest import Person, chromium, driver
from tests.browser.test_looks import SCREENS
from tests.support.deployed import ROOT
from tests.support.stack import clean_environment
from tests.support.web import WEB

DIST = ROOT / "dist"
PACKAGES = {"cardlog": "cardlog", "cardlog-client": "cardlog_client"}
pytestmark = pytest.mark.timeout(1200)
__all__ = ["chromium", "driver"]  # fixtures

# Each is a program of somebody else, who has installed Cardlog and nothing of its repository.
_PUSH = """
from cardlog_client import Client
with Client(WRITE, READ) as memory:
    pushed = memory.push({"user_id": "dana", "text": "I moved to Porto."})
    print(memory.recall("dana", "where do I live?", wait_for=pushed["token"])["cards"][0]["value"])
"""
_MCP = """
import asyncio, os
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
async def ask():
    server = StdioServerParameters(
        command=CARDLOG, args=["mcp", "--user", "dana", "--data", DATA], env=dict(os.environ)
    )
    async with stdio_client(server) as (received, sent), ClientSession(received, sent) as session:
        await session.initialize()
        print((await session.call_tool("recall", {"query": "where do I live?"})).content[0].text)
asyncio.run(ask())
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheels, and a folder beside it in which everything runs."""

    folder: Path
    environment: Mapping[str, str]

    def program(self, name: str) -> str:
        return str(self.folder / "venv" / "bin" / name)

    def run(self, *words: str, errors: bool = False) -> str:
        """Returns what a program printed, or what it wrote on stderr. A failure of the program fails the test."""
        done = subprocess.run(
            [self.program(words[0]), *words[1:]], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stderr if errors else done.stdout


def built(pattern: str) -> Path:
    found = sorted(DIST.glob(pattern))
    if not found:
        pytest.skip(f"dist/ holds no {pattern}: run make test-release")
    [only] = found
    return only


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    for name in PACKAGES.values():
        built(f"{name}-[0-9]*.whl")
    folder = tmp_path_factory.mktemp("installed")
    environment = clean_environment() | {"HOME": str(folder / "home")}
    (folder / "home").mkdir()
    for each in ("PYTHONPATH", "VIRTUAL_ENV", "XDG_CACHE_HOME"):
        environment.pop(each, None)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    made = Installed(folder, environment)
    made.run("pip", "install", "--quiet", "--find-links", str(DIST), "cardlog[mcp,model]")
    return made


@pytest.fixture(scope="module")
def running(installed: Installed) -> Iterator[dict[str, Any]]:
    """The line of ``cardlog up`` in the installed environment."""
    errors = installed.folder / "up.log"
    with errors.open("wb") as log:
        process = subprocess.Popen(
            [installed.program("cardlog"), "up", "--data", "data", "--port-write", "0", "--port-read", "0"],
            cwd=installed.folder, env=installed.environment, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline() or errors.read_text())
    finally:
        process.terminate()
        status = process.wait(120)
        process.stdout.close()
    assert status == 0, errors.read_text()


def test_the_installed_programs_run_without_the_repository(installed: Installed) -> None:
    where = "import events, cardlog_client; print(events.__file__, cardlog_client.__file__)"
    assert str(ROOT) not in installed.run("python", "-I", "-c", where)
    assert "cardlog" in installed.run("cardlog", "--version")
    assert "build it with: cardlog model fetch" in installed.run("cardlog", "demo", errors=True)


def test_the_model_is_built_into_the_users_cache(installed: Installed) -> None:
    installed.run("cardlog", "model", "fetch")
    assert list((installed.folder / "home" / ".cache" / "cardlog" / "model").rglob("*.onnx"))


def test_the_first_five_minutes(installed: Installed, running: Mapping[str, Any]) -> None:
    """An app, an assistant with MCP, and a hook each find what was pushed."""
    key = installed.folder / "data" / "api.key"
    before = f"WRITE, READ, CARDLOG, DATA = {running['write_url']!r}, {running['read_url']!r}, "
    before += f"{installed.program('cardlog')!r}, {str(installed.folder / 'data')!r}\n"
    before += f"import os; os.environ['CARDLOG_KEY_FILE'] = {str(key)!r}\n"
    assert installed.run("python", "-c", before + _PUSH).strip() == "Porto"
    assert "Porto" in installed.run("python", "-c", before + _MCP)
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "5f0c", "prompt": "where do I live?"}
    hooked = subprocess.run(
        ["curl", "-sf", "-H", f"@{key}", f"{running['read_url']}/v1/hooks/claude-code?user_id=dana",
         "-H", "content-type: application/json", "-d", json.dumps(prompt)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "Porto" in json.loads(hooked.stdout)["hookSpecificOutput"]["additionalContext"]
    checked = installed.run("cardlog", "doctor", "--data", "data")
    assert [line.split(":")[0] for line in checked.splitlines()][:4] == [
        "ok    postgres", "ok    tables", "ok    redis", "ok    embedding models",
    ]  # fmt: skip


def test_every_screen_of_the_explorer_works_without_node_and_network(
    installed: Installed, running: Mapping[str, Any], chromium: Any
) -> None:
    """The browser resolves no name, and the service finds no Node."""
    key = (installed.folder / "data" / "api.key").read_text().split()[-1]
    query, headers = {"user_id": "dana"}, {"Authorization": f"Bearer {key}"}
    [card, *_] = WEB.get(f"{running['read_url']}/v1/cards", params=query, headers=headers).json()["cards"]
    stack: Any = SimpleNamespace(**running)
    person = Person(chromium, stack, key)
    for screen in (*SCREENS, "card"):
        more = {"id": card["card_id"]} if screen == "card" else {"q": "Porto", "about": "Porto"}
        person.open(screen, user="dana", **more)
        assert person.page.locator("h1").count() == 1, screen
        assert person.page.locator(".notice.bad").all_inner_texts() == [], screen
    assert person.foreign == person.faults == []


def test_a_source_package_holds_what_its_wheel_holds() -> None:
    for name in PACKAGES.values():
        with zipfile.ZipFile(built(f"{name}-[0-9]*.whl")) as wheel:
            files = {each for each in wheel.namelist() if ".dist-info/" not in each}
        with tarfile.open(built(f"{name}-[0-9]*.tar.gz")) as source:
            kept = {each.partition("/")[2] for each in source.getnames()}
        assert files
        assert files - kept == set()


def test_uv_installs_the_command_as_a_tool(installed: Installed, tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    environment = {**os.environ, **places}
    subprocess.run(
        [uv, "tool", "install", "--quiet", "--no-config", "--find-links", DIST, "cardlog"],
        cwd=tmp_path, env=environment, check=True, timeout=600,
    )  # fmt: skip
    said = subprocess.run(
        [tmp_path / "bin" / "cardlog", "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout == installed.run("cardlog", "--version")


def test_the_bill_of_materials_names_cardlog_and_what_it_needs() -> None:
    bill = json.loads(built("sbom.cdx.json").read_text("utf-8"))
    assert bill["metadata"]["component"]["name"] == "cardlog"
    assert {"psycopg", "redis", "fastapi"} <= {each["name"] for each in bill["components"]}


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_npm_package_is_imported_elsewhere(tmp_path: Path) -> None:
    tarball = built("cardlog-client-*.tgz")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    subprocess.run(
        ["npm", "install", "--silent", "--no-package-lock", str(tarball)],
        cwd=tmp_path,
        check=True,
        timeout=300,
    )
    program = 'import { Cardlog } from "cardlog-client"; console.log(typeof new Cardlog().read.GET)'
    said = subprocess.run(
        ["node", "--input-type=module", "--eval", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "function"
