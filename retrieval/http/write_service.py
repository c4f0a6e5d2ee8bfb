"""Passes writes on to the write service, which checks and decides them."""

from functools import cached_property

import httpx2
import orjson
from fastapi import Request

from events.http.errors import ProblemError
from events.platform.settings import Settings

DEFAULT_URL = "http://127.0.0.1:8700"
_TIMEOUT_S = 30.0  # an erasure takes seconds


class WriteService:
    """The write service as the read service sees it. A request carries the credential of its caller, and no other."""

    def __init__(self, settings: Settings) -> None:
        self._url = (settings.write_url or DEFAULT_URL).rstrip("/")

    @cached_property
    def client(self) -> httpx2.AsyncClient:
        """A client of the service, without a credential."""
        return httpx2.AsyncClient(base_url=self._url, timeout=_TIMEOUT_S)

    async def send(self, caller: Request, method: str, path: str, body: object, *, within_s: float) -> object:
        """Returns the JSON of the answer. Raises the service's own problem, or a 503 problem when it is away."""
        headers = {"content-type": "application/json"}
        headers |= {name: caller.headers[name] for name in ("authorization",) if name in caller.headers}
        try:
            answer = await self.client.request(
                method, path, content=orjson.dumps(body), headers=headers, timeout=within_s
            )
            found = orjson.loads(answer.content)
        except (httpx2.HTTPError, orjson.JSONDecodeError) as error:
            raise ProblemError(
                503,
                "Write service away",
                f"the write service does not answer ({type(error).__name__}); try again",
            ) from error
        if answer.is_success:
            return found
        problem = ProblemError(answer.status_code, str(found.get("title", "")), str(found.get("detail", "")))
        problem.document = found
        raise problem

    async def close(self) -> None:
        if "client" in self.__dict__:  # making one loads the certificates of all authorities
            await self.client.aclose()
