"""Requests about core documents, and the shapes of the answers, as the services write them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict
from urllib.parse import quote

from retrieval.client.requests import Request


class Memory(TypedDict):
    """A document at one version, or the values at pointers, with their sources when these were asked for."""

    user_id: str
    version: int
    updated_at: str | None
    document: Any
    snippets: list[dict[str, Any]] | None
    explain: dict[str, dict[str, Any]] | None


class MemoryChanged(TypedDict):
    """The version of a document after a command. ``event_id`` is None when nothing was appended."""

    version: int
    event_id: str | None
    changed: bool
    duplicate: bool
    token: str


class MemoryRolledBack(MemoryChanged):
    """What a rollback did, or would do."""

    dry_run: bool
    event_ids: list[str]
    patch: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]


class MemoryHistory(TypedDict):
    """Changes of a document, the latest first. ``next_cursor`` is the ``cursor`` of the next page, or None."""

    changes: list[dict[str, Any]]
    next_cursor: int | None


MemoryDiff = TypedDict(
    "MemoryDiff", {"from": int, "to": int, "patch": list[dict[str, Any]], "lines": list[str]}
)
"""What differs between two versions, as a JSON Patch and in words."""


class MemoryMigration(TypedDict):
    """What became of the sentences of another memory up to now."""

    migration_id: str
    format: str
    dry_run: bool
    sentences: int
    taken: int
    pending: int
    failed: list[str]
    erased: list[str]
    applied: list[dict[str, Any]]
    queued: list[dict[str, Any]]
    kept: list[dict[str, Any]]
    remarks: list[str]
    version: int
    token: str


class MemoryQueue(TypedDict):
    """Patches that wait, or got an answer, the latest first."""

    entries: list[dict[str, Any]]


class MemoryCandidates(TypedDict):
    """Topics that recur, the highest score first, with the category that each may become."""

    version: int
    candidates: list[dict[str, Any]]


class MemoryPromoted(MemoryChanged):
    """What a promotion did, or would do. ``moved`` gives the new pointer of each old one."""

    dry_run: bool
    name: str
    schema: dict[str, Any]
    moved: dict[str, str]
    patch: list[dict[str, Any]]


def memory_request(read_url: str, user_id: str, what: str, params: Mapping[str, Any]) -> Request:
    """Returns the request for a document, or for its history, its queue or a difference."""
    return Request("GET", _place(read_url, user_id, what), params=_given(params))


def memory_command(write_url: str, user_id: str, what: str, body: Mapping[str, Any]) -> Request:
    """Returns a command. It has an idempotency key, so a repeat of it changes nothing and gets the first answer."""
    given = _given(body)
    key = given.pop("idempotency_key", None) or uuid.uuid4().hex
    return Request("POST", _place(write_url, user_id, what), json=given, headers={"idempotency-key": key})


def patch_body(patch: Sequence[Mapping[str, Any]], actor: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body of a patch."""
    return {"patch": [dict(op) for op in patch], "actor": actor, **more}


def _place(url: str, user_id: str, what: str) -> str:
    place = f"{url}/v1/memory/{quote(user_id, safe='')}"
    return f"{place}/{what}" if what else place


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
