"""A user of a whole Cardlog, with the requests that an app makes for this user."""

from dataclasses import dataclass
from typing import Any

import httpx2

from tests.support.stack import Running
from tests.support.web import WEB


@dataclass(frozen=True)
class Person:
    """One user of ``stack``."""

    stack: Running
    user: str

    def read(self, path: str, *, status: int = 200, **query: Any) -> Any:
        """Returns the answer of the read service to a GET."""
        return self._get(path, query, status)

    def cards(self, **query: Any) -> list[dict[str, Any]]:
        """Returns the cards of a slice. Unlike in ``read``, ``status`` is the one of the cards."""
        cards: list[dict[str, Any]] = self._get("cards", query, 200)["cards"]
        return cards

    def _get(self, path: str, query: dict[str, Any], status: int) -> Any:
        url = f"{self.stack.read_url}/v1/{path.format(user=self.user)}"
        query = query if "{user}" in path else {"user_id": self.user} | query
        return _told(WEB.get(url, params=query, headers=self.stack.headers), status)

    def write(self, path: str, *, method: str = "POST", status: int = 200, **body: Any) -> Any:
        """Returns the answer of the write service to a command."""
        url = f"{self.stack.write_url}/v1/{path.format(user=self.user)}"
        body = body if "{user}" in path else {"user_id": self.user} | body
        return _told(WEB.request(method, url, json=body, headers=self.stack.headers), status)

    def say(self, *texts: str, **more: Any) -> None:
        """Pushes one turn for each text, in order, and waits until all of them are cards."""
        self.stack.push(*({"user_id": self.user, "text": text, **more} for text in texts))
        self.stack.wait()

    def recall(self, query: str, **more: Any) -> list[dict[str, Any]]:
        """Returns the cards that a question gets, best first."""
        cards: list[dict[str, Any]] = self.stack.recall(self.user, query, **more)["cards"]
        return cards

    def context(self, query: str, **more: Any) -> dict[str, Any]:
        """Returns the prompt that a question gets."""
        url, body = f"{self.stack.read_url}/v1/context", {"user_id": self.user, "query": query, **more}
        answer: dict[str, Any] = _told(WEB.post(url, json=body, headers=self.stack.headers), 200)
        return answer


def _told(answer: httpx2.Response, status: int) -> Any:
    assert answer.status_code == status, (answer.status_code, answer.text)
    return answer.json() if answer.content else None
