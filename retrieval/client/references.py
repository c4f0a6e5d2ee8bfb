"""Requests about references and proposals, and the shapes of the answers, as the services write them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict
from urllib.parse import quote

from retrieval.client.requests import Request

Tier = Literal["pinned", "session", "archive"]


class Reference(TypedDict):
    """A reference: a named value with a version. ``rendering`` is the value as one text.

    The answer to a command has ``token``: give it to ``wait_for`` of a recall to find the reference there.
    """

    kind: str
    key: str
    project_id: str | None
    team_id: str | None
    version: int
    tier: Tier
    tier_reason: str | None
    archived: bool
    data: Any
    rendering: str
    created_at: str
    updated_at: str
    token: NotRequired[str]


class ReferencesPage(TypedDict):
    """Some references. ``next_cursor`` is the ``cursor`` of the next page; it is None after the last page."""

    references: list[Reference]
    next_cursor: str | None


class ReferenceVersion(TypedDict):
    """One version of a reference. ``before`` and ``after`` are there when the values were asked for."""

    version: int
    type: str
    op: dict[str, Any] | None
    actor: str
    at: str
    turn_ids: list[str]
    derived: bool
    quote: str | None
    before: NotRequired[Any]
    after: NotRequired[Any]


class ReferenceHistory(TypedDict):
    """Versions of a reference, the latest first."""

    versions: list[ReferenceVersion]
    next_cursor: int | None


class Proposal(TypedDict):
    """An op that prose asked for. A ``waiting`` one needs an answer."""

    proposal_id: str
    kind: str
    key: str
    project_id: str | None
    team_id: str | None
    op: dict[str, Any]
    confidence: float
    quote: str
    turn_ids: list[str]
    status: Literal["waiting", "applied", "accepted", "refused"]
    proposed_at: str
    decided_at: str | None
    decided_by: str | None


class ProposalsPage(TypedDict):
    """Some proposals, the latest first."""

    proposals: list[Proposal]
    next_cursor: str | None


class RefusedProposal(TypedDict):
    """The proposal is refused, and nothing changed."""

    proposal_id: str
    status: Literal["refused"]


def create_request(write_url: str, user_id: str, kind: str, key: str, more: Mapping[str, Any]) -> Request:
    """Returns the creation of a reference."""
    return _command("POST", _place(write_url, kind), {"user_id": user_id, "key": key}, more)


def change_request(
    write_url: str, user_id: str, kind: str, key: str, op: Mapping[str, Any], more: Mapping[str, Any]
) -> Request:
    """Returns an op on a reference. An argument of the op that is None is sent, because an op may set null."""
    return _command("PATCH", _place(write_url, kind, key), {"user_id": user_id, **op}, more)


def command_request(
    write_url: str, user_id: str, kind: str, key: str, what: str, more: Mapping[str, Any]
) -> Request:
    """Returns the command ``what`` about a whole reference: archive or restore."""
    return _command("POST", f"{_place(write_url, kind, key)}/{what}", {"user_id": user_id}, more)


def reference_request(
    read_url: str, user_id: str, kind: str, key: str, more: Mapping[str, Any], *, history: bool = False
) -> Request:
    """Returns the request for a reference, or for its history."""
    place = _place(read_url, kind, key) + ("/history" if history else "")
    return Request("GET", place, params={"user_id": user_id, **_given(more)})


def list_request(read_url: str, what: str, user_id: str, filters: Mapping[str, Any]) -> Request:
    """Returns the request for a page of references or proposals."""
    return Request("GET", f"{read_url}/v1/{what}", params={"user_id": user_id, **_given(filters)})


def proposal_request(
    write_url: str, user_id: str, proposal_id: str, answer: str, reason: str | None
) -> Request:
    """Returns the answer to a proposal: accept or refuse."""
    url = f"{write_url}/v1/proposals/{quote(proposal_id, safe='')}/{answer}"
    return Request("POST", url, json={"user_id": user_id, **_given({"reason": reason})})


def _command(method: str, url: str, body: Mapping[str, Any], more: Mapping[str, Any]) -> Request:
    """A command has an idempotency key, so a repeat of it changes nothing and gets the first answer."""
    given = _given(more)
    key = given.pop("idempotency_key", None) or uuid.uuid4().hex
    return Request(method, url, json={**body, **given}, headers={"idempotency-key": key})


def _place(url: str, *names: str) -> str:
    return "/".join((f"{url}/v1/references", *(quote(name, safe="") for name in names)))


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
