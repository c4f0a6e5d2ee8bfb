"""The references of one kind as a table of values. The adapters for other frameworks keep their files and items here.

Each method is a generator of steps: it yields the requests to send and gets their answers. :func:`run` sends the
requests with a :class:`Client`, and an asynchronous caller sends them with an :class:`AsyncClient`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

from cardlog_client.errors import CardlogError, RefusedError

if TYPE_CHECKING:
    from cardlog_client.client import Client
    from cardlog_client.types import Reference, WrittenReference

T = TypeVar("T")
Call = Callable[[Any], Any]
"""One request: the method of either client, already with its arguments."""
Steps = Generator[Call, Any, T]
MOST_KEY_BYTES = 200
"""The most bytes of the key of a reference."""
_PAGE = 500


def run(client: Client, steps: Steps[T]) -> T:
    """Sends the requests of ``steps``, and returns their result. Raises what they raise."""
    try:
        call = next(steps)
        while True:
            try:
                answer = call(client)
            except CardlogError as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result


class ReferenceValues:
    """The references of ``kind`` of one user, or of one project of the user. The first one declares the kind."""

    def __init__(
        self,
        user_id: str,
        kind: str,
        schema: dict[str, str],
        initial: object,
        about: str,
        project_id: str | None,
    ) -> None:
        self.user_id = user_id
        self._kind = kind
        self._declare = methodcaller(
            "declare_reference_kind", kind, schema, initial=initial, description=about
        )
        self._scope = {"project_id": project_id}
        self.token: str | None = None
        """The token of the last write, for ``wait_for`` of a recall."""

    def listed(self) -> Steps[list[Reference]]:
        """Returns all references in the order of their keys, without archived ones."""
        found: list[Reference] = []
        cursor: str | None = None
        while True:
            asked = {**self._scope, "kind": self._kind, "limit": _PAGE, "cursor": cursor}
            page = yield methodcaller("references", self.user_id, **asked)
            found += [
                each
                for each in page["references"]
                if each["team_id"] is None and each["project_id"] == self._scope["project_id"]
            ]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def present(self, key: str) -> Steps[Reference | None]:
        """Returns a reference. None: there is none, or it is archived."""
        try:
            found: Reference = yield self._request("reference", key)
        except RefusedError as error:
            if error.status != 404:
                raise
            return None
        return None if found["archived"] else found

    def created(self, key: str, value: object) -> Steps[bool]:
        """Makes a reference, or brings an archived one back with the new value. Returns False when there is one."""
        for declared in (False, True):
            try:
                yield from self._write("create_reference", key, data=value)
            except RefusedError as error:
                if error.status == 404 and error.field == "kind" and not declared:
                    yield self._declare
                    continue
                if error.status != 409:
                    raise
                break
            return True
        found = yield self._request("reference", key)
        if not found["archived"]:
            return False
        back = yield from self._write("restore_reference", key)
        try:
            yield from self.set(key, value, back["version"])
        except RefusedError as error:
            if error.status != 409:
                raise
            return False
        return True

    def set(self, key: str, value: object, version: int | None = None, path: str = "") -> Steps[None]:
        """Replaces the value at ``path``. Refused with 409 when the present version is not ``version``."""
        asked = {"path": path, "value": value, "expected_version": version}
        yield from self._write("change_reference", key, "set", **asked)

    def archived(self, key: str) -> Steps[None]:
        """Puts a reference away. Its versions stay. Refused with 404 when there never was one."""
        yield from self._write("archive_reference", key)

    def _write(self, method: str, key: str, /, *arguments: str, **more: object) -> Steps[WrittenReference]:
        written: WrittenReference = yield self._request(method, key, *arguments, **more)
        self.token = written["token"]
        return written

    def _request(self, method: str, key: str, /, *arguments: str, **more: object) -> Call:
        return methodcaller(method, self.user_id, self._kind, key, *arguments, **self._scope, **more)
