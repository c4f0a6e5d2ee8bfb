"""The users of a tenant, the audit log, what models cost, the generations, dead letters, and what operators ask for."""

from datetime import date
from typing import Literal
from uuid import UUID

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


class ParkedUser(Resource, use_attribute_docstrings=True):
    """A user who waits for a projection, because an event of the user cannot be folded."""

    projection: str
    user_id: str
    event_id: UUID
    """the event that stands first"""
    type: str | None
    reason: str | None
    attempts: int
    parked_at: AwareDatetime
    behind: int
    """events of the user that wait behind it"""


class ParkedUsers(Resource, use_attribute_docstrings=True):
    """The users who wait for a projection."""

    parked: list[ParkedUser]
    more: bool
    """true when there are more than the limit"""


class DeadLetter(Resource, use_attribute_docstrings=True):
    """A turn that broke the contract."""

    letter_id: str
    entry_id: str
    """the id under which the turn was pushed"""
    pushed_at: AwareDatetime
    field: str
    """the field that broke the contract"""
    reason: str
    fields: dict[str, str]
    """what the app pushed, each value up to 2,000 characters; bytes that are no text are escaped"""


class DeadLetters(Resource, use_attribute_docstrings=True):
    """The dead letters of the tenant, the oldest first."""

    letters: list[DeadLetter]
    more: bool
    """true when there may be more than these"""


class SettledLetter(Resource, use_attribute_docstrings=True):
    """What became of a dead letter."""

    letter_id: str
    entry_id: str | None
    """the entry that was pushed again; null for a dropped letter"""


OperationAction = Literal["rebuild", "swap", "drop_generation", "retry_parked", "drop_parked"]


class Operation(Resource, use_attribute_docstrings=True):
    """What an operator asked the workers of a projection to do, and how far it is."""

    operation_id: UUID
    action: OperationAction
    projection: str
    generation: int | None
    """the generation that a rebuild shall replace, that a swap makes live, or that is dropped"""
    user_id: str | None
    """the parked user"""
    verify: bool
    """true: the rebuilt tables become live only when they equal the live ones"""
    because: str | None
    requested_by: str | None
    requested_at: AwareDatetime
    stage: str | None
    """what a worker does now; null: no worker has begun"""
    share: float
    """the finished part, 0 to 1"""
    failed: bool | None
    """null: not done yet"""
    outcome: str | None
    """what was done, or why it failed"""
    done_at: AwareDatetime | None


class Operations(Resource):
    """The operations of the tenant, the last first."""

    operations: list[Operation]
