"""The users of a tenant, and the audit log."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from events.resources.resource import Resource

AuditOutcome = Literal["begun", "allowed", "denied", "refused", "failed", "lost"]


class User(Resource):
    """A user of the tenant. ``erased_at``: when everything of the user was erased."""

    user_id: str
    erased_at: AwareDatetime | None


class UsersPage(Resource):
    """A page of users. ``next`` is the value of ``after`` for the next page; null: this is the last one."""

    users: list[User]
    next: str | None


class AuditEntry(Resource):
    """One request: who asked, what, whose memory, when, and the outcome. It holds no content."""

    position: int
    entry_id: str
    request_id: str = Field(description="the header x-request-id of the answer")
    at: str
    recorded_at: str
    service: str
    tenant: str | None
    key_id: str | None
    scopes: list[str]
    operation: str
    method: str | None
    subjects: list[str] = Field(description="keyed hashes of the users that the request named")
    outcome: AuditOutcome
    status: int | None
    requests: int = Field(description="more than 1: the entry stands for this many lost entries")
    digest: str = Field(description="SHA-256 over this entry and the digest of the entry before it")


class AuditPage(Resource, use_attribute_docstrings=True):
    """One page of the audit log, the newest entry first."""

    entries: list[AuditEntry]
    next_cursor: int | None
    """give it as cursor for the next page; null after the last one"""


class WebSession(Resource):
    """Who is signed in to the explorer. ``users``, ``projects`` and ``modes`` limit the key; null means all."""

    tenant: str
    key_id: str | None
    scopes: list[str]
    users: list[str] | None
    projects: list[str] | None
    modes: list[str] | None
    expires_at: AwareDatetime | None
