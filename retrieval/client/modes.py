"""Requests about modes and projects, and the shapes of the answers, as the services write them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict
from urllib.parse import quote

from retrieval.client.requests import Request

Decay = Literal["fast", "medium", "slow", "none"]


class Mode(TypedDict):
    """A mode. The answer to a command has ``changed``; the answer to a read has ``of``: who gives the mode."""

    name: str
    project_id: str | None
    embedder: str
    dimension: int | None
    description: str
    default_decay: Decay | None
    prompt_overrides: dict[str, str]
    is_default: bool
    declared_at: str | None
    changed: NotRequired[bool]
    of: NotRequired[Literal["project", "user", "everybody"]]


class Project(TypedDict):
    """The settings of a project. The answer to a command has ``changed``."""

    project_id: str
    default_mode: str | None
    description: str
    changed: NotRequired[bool]


class Modes(TypedDict):
    """The modes of a user or of a project."""

    modes: list[Mode]
    default_mode: str | None
    projects: list[Project]
    former_names: dict[str, str]


class ModeGone(TypedDict):
    """The mode is gone. ``changed`` is false when it was gone before."""

    name: str
    changed: bool


class Reembedding(TypedDict):
    """What a re-embedding does, or would do in a dry run."""

    mode: str
    project_id: str | None
    state: Literal["planned", "unneeded", "accepted"]
    reembedding_id: str | None
    embedder: str
    cards: int
    other: int
    waiting: int
    texts_per_s: float | None
    seconds: float | None
    model_calls: int


class ReembeddingProgress(TypedDict):
    """The progress of the last re-embedding of a mode."""

    mode: str
    project_id: str | None
    state: Literal["none", "waiting", "running", "done"]
    reembedding_id: str | None
    requested_at: str | None
    done_at: str | None
    cards: int
    share: float
    hindrance: NotRequired[str | None]


class Reclassified(TypedDict):
    """The card has another mode. Give ``token`` to ``wait_for`` of a recall to find it there."""

    event_id: str
    partition: int
    position: int
    recorded_at: str
    duplicate: bool
    token: str


def modes_request(read_url: str, user_id: str, project_id: str | None) -> Request:
    """Returns the request for the modes of a user or of a project."""
    given = {} if project_id is None else {"project_id": project_id}
    return Request("GET", f"{read_url}/v1/modes", params={"user_id": user_id, **given})


def mode_request(
    write_url: str, user_id: str, name: str, fields: Mapping[str, Any], *, rename: bool = False
) -> Request:
    """Returns the declaration of a mode, or its new name. Fields that are None are not sent."""
    given = {field: value for field, value in fields.items() if value is not None}
    return Request(
        "POST" if rename else "PUT", f"{_place(write_url, 'modes', name)}{'/rename' if rename else ''}",
        json={"user_id": user_id, **given},
    )  # fmt: skip


def reembed_request(
    write_url: str, user_id: str | None, name: str, project_id: str | None, *, dry_run: bool
) -> Request:
    """Returns the command that embeds the earlier cards of a mode again. Without a user: the mode of everybody."""
    return Request(
        "POST",
        f"{_place(write_url, 'modes', name)}/reembed",
        json={"dry_run": dry_run, **_whose(user_id, project_id)},
    )


def progress_request(read_url: str, user_id: str | None, name: str, project_id: str | None) -> Request:
    """Returns the request for the progress of a re-embedding."""
    return Request("GET", f"{_place(read_url, 'modes', name)}/reembed", params=_whose(user_id, project_id))


def _whose(user_id: str | None, project_id: str | None) -> dict[str, str]:
    given = {"user_id": user_id, "project_id": project_id}
    return {name: value for name, value in given.items() if value is not None}


def deletion_request(write_url: str, user_id: str, name: str, project_id: str | None) -> Request:
    """Returns the deletion of a mode."""
    given = {} if project_id is None else {"project_id": project_id}
    return Request("DELETE", _place(write_url, "modes", name), params={"user_id": user_id, **given})


def project_request(write_url: str, user_id: str, project_id: str, fields: Mapping[str, Any]) -> Request:
    """Returns the settings of a project. A field that is None is sent, because null takes a setting away."""
    return Request("PUT", _place(write_url, "projects", project_id), json={"user_id": user_id, **fields})


def card_mode_request(
    write_url: str, user_id: str, card_id: str, mode: str, more: Mapping[str, Any]
) -> Request:
    """Returns the command that gives a card another mode. A repeat of it counts once."""
    given = {
        "request_id": uuid.uuid4().hex,
        **{name: value for name, value in more.items() if value is not None},
    }
    return Request(
        "POST",
        f"{_place(write_url, 'cards', card_id)}/mode",
        json={"user_id": user_id, "mode": mode, **given},
    )


def _place(url: str, *names: str) -> str:
    return "/".join((f"{url}/v1", *(quote(name, safe="") for name in names)))
