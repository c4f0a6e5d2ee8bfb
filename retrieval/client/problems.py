"""Requests about active problems and episodes, and the shapes of the answers, as the services write them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict
from urllib.parse import quote

from retrieval.client.requests import Request


class Attempt(TypedDict):
    """Something that was tried against a problem. ``successful`` is None while nobody knows."""

    attempt_id: str
    date: str
    approach: str
    outcome: str | None
    successful: bool | None
    turn_ids: list[str]


class ProblemEntry(TypedDict):
    """One event of a problem, with the turns and the words behind it."""

    type: str
    at: str
    actor: str
    turn_ids: list[str]
    quote: str | None
    details: dict[str, Any]


class Problem(TypedDict):
    """A problem. Commands add ``token``, for ``wait_for``; the answer about one problem adds ``history``."""

    problem_id: str
    project_id: str
    mode: str | None
    description: str
    status: Literal["active", "closed"]
    priority: int
    attempts: list[Attempt]
    opened_at: str
    updated_at: str
    closed_at: str | None
    resolution: str | None
    turn_ids: list[str]
    version: int
    token: NotRequired[str]
    history: NotRequired[list[ProblemEntry]]


class ProblemsPage(TypedDict):
    """Problems: active ones first, then by priority."""

    problems: list[Problem]


class Episode(TypedDict):
    """The words of a turn, with its score and the explanation of the score."""

    card_id: str
    content: str
    occurred_at: str
    said_at: str
    speaker: str | None
    topics: list[str]
    sentiment: str | None
    importance: int | None
    relatedPaths: list[str]
    turn_ids: list[str]
    session_id: str
    project_id: str
    score: int
    explanation: dict[str, Any]


class EpisodesPage(TypedDict):
    """Episodes, the best score first."""

    episodes: list[Episode]


def problem_request(
    write_url: str, user_id: str, what: Sequence[str], body: Mapping[str, Any], more: Mapping[str, Any]
) -> Request:
    """Returns a command about problems. It has an idempotency key, so a repeat gets the first answer."""
    given = {name: value for name, value in {**body, **more}.items() if value is not None}
    key = given.pop("idempotency_key", None) or uuid.uuid4().hex
    url = _place(write_url, user_id, "problems", *what)
    return Request("POST", url, json=given, headers={"idempotency-key": key})


def memory_request(
    read_url: str, user_id: str, what: Sequence[str], filters: Mapping[str, Any] | None = None
) -> Request:
    """Returns a read of problems or episodes."""
    given = {name: value for name, value in (filters or {}).items() if value is not None}
    return Request("GET", _place(read_url, user_id, *what), params=given or None)


def _place(url: str, *names: str) -> str:
    return "/".join((f"{url}/v1/memory", *(quote(name, safe="") for name in names)))
