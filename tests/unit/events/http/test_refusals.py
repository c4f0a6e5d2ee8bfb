"""A web page of an allowed origin may read why the guard refuses its request. Any other page may not."""

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Scope

from events.http.errors import ProblemError
from events.http.guard import Guard, too_many
from events.platform.settings import Settings
from tests.support.tables import examples

PAGE = "https://app.example.com"
SENT = {"origin": PAGE, "content-type": "application/json"}
FILE = {"content-type": "text/plain"}
LARGE = {"content-length": "1000000"}
ORIGIN, EXPOSED = "access-control-allow-origin", "access-control-expose-headers"


def answering(*origins: str) -> TestClient:
    def authentication(scope: Scope, headers: Headers) -> None:
        if "authorization" not in headers:
            raise ProblemError(401, "Unauthorized", "send a key")
        if headers["authorization"] == "fast":
            raise too_many("key", "asks too often", 2.0)
        if headers["authorization"] == "any":
            raise ProblemError(503, "Unavailable", "try again later")

    app = PlainTextResponse("ok")
    routes = [Route("/", app, methods=["POST"])]
    guard = Guard(app, Settings(allowed_origins=",".join(origins)), routes, authentication)
    return TestClient(guard, base_url="http://localhost")


@examples
def test_an_allowed_page_reads_every_refusal(status: int, headers: dict[str, str]) -> None:
    answer = answering(PAGE).post("/", content=b"{}", headers=SENT | headers)
    assert answer.status_code == status
    assert (answer.headers[ORIGIN], answer.headers[EXPOSED]) == (PAGE, "retry-after")
    assert answer.headers["vary"] == "Origin"
    everybody = answering("*").post("/", content=b"{}", headers=SENT | headers)
    assert (everybody.status_code, everybody.headers[ORIGIN]) == (status, "*")


def test_no_other_page_reads_one() -> None:
    for client in (answering(), answering(PAGE)):
        foreign = client.get("/", headers={"origin": "https://evil.example"})
        assert (foreign.status_code, ORIGIN in foreign.headers) == (403, False)
        own = client.get("/", headers={"origin": "http://localhost"})
        assert (own.status_code, ORIGIN in own.headers) == (401, False)
        assert ORIGIN not in client.get("/").headers
