"""The users of a tenant, the audit log, what models cost, and the generations."""

from __future__ import annotations

from datetime import date
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


UsageOperation = Literal["extraction", "failed_extraction", "curation"]


class Usage(Resource, use_attribute_docstrings=True):
    """What the calls of models cost in one group. A field that is no axis of the groups is null."""

    day: date | None
    """the day in UTC on which the log recorded the calls"""
    operation: UsageOperation | None
    user_id: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float
    """the sum of the known list prices"""
    unpriced: int
    """runs whose price is unknown; the cost leaves them out"""


class UsageGroups(Resource, use_attribute_docstrings=True):
    """What the calls of models cost, the last day first."""

    usage: list[Usage]
    more: bool
    """true when there are more groups than the limit; ask about a shorter time"""


class Generation(Resource, use_attribute_docstrings=True):
    """One build of the tables of a projection."""

    projection: str
    number: int
    status: str = Field(description="live, building or retired")
    created_at: AwareDatetime
    live_at: AwareDatetime | None
    events: int
    """events of the log that the generation has folded"""
    behind: int
    """events of the log that it has not folded yet"""
    bytes: int
    """size of its tables with their indexes"""


class Generations(Resource):
    """The generations of every projection, the oldest first."""

    generations: list[Generation]
