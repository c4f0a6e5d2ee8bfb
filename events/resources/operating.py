"""What operators look at and ask for: users, webhooks, erasures, the audit log, costs, generations and dead letters."""

from datetime import date
from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from events.resources.people import SharedName
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


class Webhook(Resource):
    """An address that gets a signed message for each event of its types."""

    webhook_id: UUID
    url: str
    types: list[str]
    added_at: AwareDatetime
    pending: int = Field(description="messages that wait for their next try", ge=0)
    dead: int = Field(description="messages that no try delivered", ge=0)
    last_error: str | None = Field(description="why the last try failed")


class AddedWebhook(Webhook):
    """A webhook after the command that added it."""

    secret: str = Field(
        description="verifies the signature of the messages; no other answer shows the secret"
    )
    token: str = Field(description="give the token to wait_for of a recall")


class WebhooksPage(Resource):
    """Webhooks, the first added first."""

    webhooks: list[Webhook]


class Erasure(Resource, use_attribute_docstrings=True):
    """What was erased. A dry run has only ``dry_run``, ``users``, ``counts``, ``names`` and ``shared_names``."""

    kind: str | None = None
    format: int | None = None
    erasure_id: UUID | None = None
    erased: str | None = Field(None, description="user, person, turn or before")
    subject: str | None = Field(None, description="digest of the name of the subject")
    by: str | None = None
    reason: str | None = None
    began_at: str | None = None
    steps: dict[str, str | None] | None = Field(
        None,
        description="when each step was done; null: not yet. erased: the words cannot be read any more, and no table "
        "holds what was made of them. queue: no turn waits. scrubbed: the bytes are gone from the servers' files",
    )
    users: int = Field(description="number of users in whose memory something went")
    counts: dict[str, int] = Field(description="what went, by name of the table")
    log: list[dict[str, object]] | None = None
    """the tombstones in the log, with the digests around them"""
    public_key: str | None = None
    signature: str | None = None
    names: list[str] | None = Field(None, description="the names of the person that were looked for")
    shared_names: list[SharedName] | None = Field(
        None, description="those of the names that mean several people; the id of one of them erases that one"
    )
    dry_run: bool = False
