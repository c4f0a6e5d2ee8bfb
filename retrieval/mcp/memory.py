"""The memory of one user, as tools see it: a client of both services with the rights of whoever calls the tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx2
import orjson

from events.types.json_values import Json


class RefusedError(RuntimeError):
    """A service refused or is away. The message is for the model. ``field``: the field of the request at fault."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of ``user``. ``headers`` hold the credential; the services check it with every call.

    Questions are about ``projects``. A turn and a reference belong to the first one.
    ``timezone`` is that of the user, for questions and turns. None: the user's latest for a question, UTC for a turn.
    """

    read: httpx2.AsyncClient
    write: httpx2.AsyncClient
    user: str
    projects: Sequence[str] = ("*",)
    timezone: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def project(self) -> str | None:
        """The project of a turn. None: no project of its own."""
        return None if self.projects[0] in {"*", "default"} else self.projects[0]

    async def ask(self, path: str, /, *parts: str, **asked: object) -> Json:
        """Returns the answer of a GET about the user and the project. ``parts`` fill the braces of the path.

        None counts as not given, also for ``user_id`` and ``project_id``.
        """
        return await self._send(self.read, "GET", path, parts, params=self._of_user(asked))

    async def recall(self, path: str, /, **asked: object) -> Json:
        """Returns the answer to a question."""
        return await self._send(
            self.read,
            "POST",
            path,
            (),
            json=self._of_user({"timezone": self.timezone, "project_id": self.projects, **asked}),
        )

    async def change(self, method: str, path: str, /, *parts: str, **body: object) -> Json:
        """Returns the answer of the write service to a command."""
        return await self._send(self.write, method, path, parts, json=self._of_user(body))

    async def erase(self, path: str, /, *parts: str, **asked: object) -> Json:
        """Returns the answer to an erasure."""
        params = self._of_user({**asked, "project_id": None})
        return await self._send(self.write, "DELETE", path, parts, params=params)

    def _of_user(self, asked: Mapping[str, object]) -> dict[str, object]:
        if not self.user:
            raise RefusedError("whose memory is meant? Add ?user_id=… to the address of this server")
        named: dict[str, Any] = {"user_id": self.user, "project_id": self.project, **asked}
        return {name: value for name, value in named.items() if value is not None}

    async def _send(
        self, client: httpx2.AsyncClient, method: str, path: str, parts: tuple[str, ...], **request: Any
    ) -> object:
        try:
            address = path.format(*map(_in_path, parts))
            answer = await client.request(method, address, headers=dict(self.headers), **request)
            found = orjson.loads(answer.content)
        except UnicodeEncodeError:
            raise RefusedError("the text holds a lone surrogate; leave it out") from None
        except (httpx2.HTTPError, orjson.JSONDecodeError) as error:
            raise RefusedError(
                f"the memory does not answer ({type(error).__name__}); try again later"
            ) from error
        if not answer.is_success:
            raise RefusedError(str(found.get("detail", answer.status_code)), found.get("field"))
        return found


def _in_path(text: str) -> str:
    """Returns ``text`` as one part of a path. The dots of "." and ".." are encoded, or they would be steps."""
    part = quote(text, safe="")
    return part.replace(".", "%2E") if text in {".", ".."} else part
