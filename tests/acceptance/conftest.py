"""Two whole Cardlogs as a user starts them, one with rules and one with a model, their users, and one HTTP client.

They stop before the process takes tests of other packages: each takes a twentieth of a processor while nobody asks it.
"""

import os
import secrets
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.ingest.messages_api import MessagesApi
from tests.support.person import Person
from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually
from tests.support.web import WEB

# A new client of HTTP reads the certificates of all authorities, which takes a fiftieth of a second. No test needs one.
os.environ.setdefault("SSL_CERT_DIR", str(Path(__file__).parent))

LONG: dict[str, str] = {
    f"CARDLOG_{name}_DEADLINE_MS": "10000"
    for name in ("OVERLAY", "TAGS", "FUZZY", "TIME", "SEMANTIC", "GRAPH", "HOOK")
} | {"CARDLOG_WAIT_FOR_MS": "15000", "CARDLOG_QUARANTINE_OVER_MS": "60000"}

# Every secret is a word that nothing else holds, so that a test finds the places where it leaks.
SECRETS = {
    name: f"zqsecret{secrets.token_hex(16)}"
    for name in ("CARDLOG_TOKEN_KEY", "ANTHROPIC_API_KEY", "CARDLOG_OPENAI_API_KEY", "CARDLOG_KAFKA_PASSWORD")
}
LOGIN = f"zqlogin{secrets.token_hex(8)}"


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Cardlog that all tests share, with users of their own. On a busy machine it misses no deadline."""
    running = start(tmp_path_factory.mktemp("stack") / "data", **LONG)
    WEB.headers.update(running.headers)
    eventually(lambda: WEB.get(f"{running.read_url}/readyz").status_code == 200)
    running.redis.xadd("turns", {"user_id": "first", "text": "Every worker has begun."})
    running.wait()
    yield running
    assert stop(running) == 0


@pytest.fixture
def person(stack: Running) -> Person:
    """A new user of the Cardlog that all tests share. Rules read the turns."""
    return Person(stack, f"user-{uuid.uuid4().hex[:8]}")


@pytest.fixture(scope="session")
def _model() -> Iterator[MessagesApi]:
    with MessagesApi() as api:
        yield api


@pytest.fixture
def model(_model: MessagesApi) -> MessagesApi:
    """The model of ``by_model``. It reads at once and as the rules do, until a test sets its ``trouble``."""
    _model.seconds, _model.trouble = 0, lambda _: None
    _model.requests.clear()
    return _model


@pytest.fixture(scope="package")
def by_model(_model: MessagesApi, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Cardlog whose turns a model reads, with users of its own for each test. It logs all that it can."""
    data = tmp_path_factory.mktemp("by_model") / "data"
    url = _model.url.replace("//", f"//user:{LOGIN}@")
    running = start(data, **LONG, **SECRETS, ANTHROPIC_BASE_URL=url, CARDLOG_LOG_LEVEL="debug")
    yield running
    assert stop(running) == 0


@pytest.fixture
def read_by_model(by_model: Running, model: MessagesApi) -> Person:
    """A new user of ``by_model``."""
    return Person(by_model, f"user-{uuid.uuid4().hex[:8]}")


@pytest.fixture(scope="package")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Cardlog for tests that look at all of it. It reports a stall after one second and logs JSON."""
    data = tmp_path_factory.mktemp("watched") / "data"
    running = start(data, **LONG, CARDLOG_STUCK_AFTER_S="1", CARDLOG_LOG_FORMAT="json")
    eventually(lambda: running.command("status").returncode == 0)
    yield running
    assert stop(running) == 0


@pytest.fixture(scope="session", autouse=True)
def _web_closes() -> Iterator[None]:
    yield
    WEB.close()
