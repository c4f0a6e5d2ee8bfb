"""The webhooks of a user, and the messages that wait for each."""

from uuid import UUID

from pydantic import AwareDatetime, Field

from events.resources.resource import Resource


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
