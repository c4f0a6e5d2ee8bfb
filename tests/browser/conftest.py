"""A real Chromium before a whole Cardlog with the demo conversation. Without a browser the tests are skipped."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, ClassVar

import pytest

from deploy.instance import find
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.sealing import sealer
from events.store import authentication
from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually
from tests.support.web import WEB

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Chromium without windows comes first: the tests take three quarters of the time."""
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""The browser finds no address but this machine's own."""
HOSTILE = (
    '<img src=x onerror="document.title=1"><script>document.title=2</script> is my tag.',
    "I like \u202egnp.exe\u202c and zero\u200bwidth tea.",
    f"My favourite letters are {'a' * 60_000}.",
)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Cardlog that knows the two people of the demo, and mei, whose facts contradict each other."""
    running = start(tmp_path_factory.mktemp("stack") / "data", CARDLOG_WAIT_FOR_MS="10000")
    turns = [
        json.loads(line)
        for line in files("deploy.demo").joinpath("demo.jsonl").read_text("utf-8").splitlines()
    ]
    said = (
        ("2026-03-01T09:00:00+08:00", "I live in Taipei."),
        ("2026-05-05T09:00:00+08:00", "I live in Tainan."),
        *((f"2026-05-06T09:0{number}:00+08:00", text) for number, text in enumerate(HOSTILE)),
    )
    turns += [{"user_id": "mei", "said_at": at, "text": text, "session_id": at[:10]} for at, text in said]
    turns += [
        {"user_id": "many", "text": f"I saw bird number {number} today.", "session_id": f"s{number}"}
        for number in range(150)
    ]
    pushed = WEB.post(f"{running.write_url}/v1/turns", json=turns, headers=running.headers)
    assert pushed.status_code == 202, pushed.text
    running.wait()
    groceries = {"user_id": "alex", "key": "groceries"}
    made = WEB.post(f"{running.write_url}/v1/references/todo_list", json=groceries, headers=running.headers)
    assert made.status_code == 201, made.text
    yield running
    assert stop(running) == 0


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """What drives the browsers of this machine."""
    playwright = pytest.importorskip("playwright.sync_api", reason="make test-browser installs playwright")
    with playwright.sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def chromium(driver: Any) -> Iterator[Any]:
    """The browser of this machine."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"this machine has no browser ({', '.join(NAMES)})")
    browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", NO_NETWORK])
    yield browser
    browser.close()


class Person:
    """A person with a page of the explorer. The first person of a key signs in, and the others have that session."""

    _sessions: ClassVar[dict[tuple[Any, str], Any]] = {}

    def __init__(self, browser: Any, stack: Running, key: str, **options: Any) -> None:
        self.stack = stack
        self.url = stack.explorer_url
        session = self._sessions.get((browser, key))
        usual = {"locale": "en-GB", "timezone_id": "Asia/Taipei", "storage_state": session}
        context = browser.new_context(**usual | options)
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.foreign: list[str] = []
        self.faults: list[str] = []
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", self._warned)
        self.page.on("console", self._told)
        if key and session is None:
            self.sign_in(key)
            self._sessions[browser, key] = context.storage_state()

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.stack.read_url + "/", "data:")):
            self.foreign.append(request.url)

    def _warned(self, dialog: Any) -> None:
        self.faults.append(dialog.message)
        dialog.dismiss()

    def _told(self, message: Any) -> None:
        if "Content Security Policy" in message.text:
            self.faults.append(message.text)

    def sign_in(self, key: str) -> None:
        self.page.goto(self.url)
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="sign in").click()
        self.page.get_by_role("navigation").wait_for()

    def open(self, screen: str, **values: str) -> None:
        """Opens a screen by its address, and waits until it has loaded."""
        query = "&".join(f"{name}={value}" for name, value in values.items())
        self.page.goto(f"{self.url}#/{screen}?{query}")
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_load_state("networkidle")
        eventually(lambda: self.page.locator("p[role=status].quiet").count() == 0)

    def sees(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()


@pytest.fixture
def person(chromium: Any, stack: Running) -> Iterator[Person]:
    """A person with every right. Afterwards no page has failed, and no request left the origin."""
    someone = Person(chromium, stack, stack.administrator["Authorization"].split()[-1])
    yield someone
    someone.page.context.close()
    assert someone.foreign == []
    assert someone.faults == []


def link_of(stack: Running) -> str:
    """The link that the start printed to its log."""
    log = stack.data.parent / f"{stack.data.name}.log"
    return eventually(lambda: re.findall(r"explorer: (\S+#/sign-in\S+)", log.read_text()))[-1]  # type: ignore[no-any-return]


@contextmanager
def connected(stack: Running) -> Iterator[Connection]:
    """Yields a connection that may append to the log of the stack."""
    settings, *_ = find(Settings(), stack.data)
    try:
        with connect(settings.database_url, application="test") as connection:
            yield connection
    finally:
        authentication.use(None)
        sealer.use(None)
