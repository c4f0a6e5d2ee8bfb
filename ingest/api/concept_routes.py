"""The routes of the commands about concepts."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from events.http.answering import routes_of
from events.http.errors import invalid
from events.http.fields import Name, Uuid, Words, storable
from events.resources.cards import Accepted
from events.store.bounds import MAX_ALIASES, MAX_TITLE
from ingest.api import concept_commands
from ingest.api.transactions import ByAgentOfUser, Sender, Sent, Transactions
from ingest.decider import OF_THE_USER, Command

Title = Annotated[str, *storable(MAX_TITLE)]
Names = Annotated[list[Title], Field(max_length=MAX_ALIASES)]


class _ConceptIn(ByAgentOfUser):
    agent_id: Name | None = None
    """the agent that concludes it; the concept is then agent_inferred"""


class ConceptIn(_ConceptIn):
    """A new concept."""

    title: Title = Field(description="its name")
    definition: Words = Field(description="what it is")
    aliases: Names = Field([], description="its other names")
    related: Names = Field([], description="names of concepts that it is related to")
    project_id: Name = "default"
    mode: Name | None = None


class ConceptEditIn(_ConceptIn):
    """A change of a concept. Names and relations add to those of before."""

    title: Annotated[Title | None, Field(description="its new name; the old one stays another name")] = None
    definition: Annotated[Words | None, Field(description="what it is, in the place of before")] = None
    aliases: Names = Field([], description="further names")
    related: Names = Field([], description="names of further concepts that it is related to")


class ConceptMergeIn(_ConceptIn):
    """Two concepts that are one. The name of ``into`` stays."""

    into: Uuid = Field(description="the concept that stays")
    reason: Words = Field(description="why, for whoever asks later")


class ConceptPinIn(_ConceptIn):
    """Whether a concept is in every prompt."""

    pinned: bool = True


def concept_router(transactions: Transactions) -> APIRouter:
    """Returns the routes of concepts."""
    router = routes_of("concepts")

    @router.post("/v1/concepts", status_code=202, summary="Create a concept")
    def create_concept(body: ConceptIn, sender: Sent) -> Accepted:
        command, words = _command(sender, body, "user"), _words(body)
        origin = command.origin(body.project_id, body.mode)
        return transactions.accepted(command, lambda c: concept_commands.create(c, words, origin, command))

    @router.patch("/v1/concepts/{concept_id}", status_code=202, summary="Edit a concept, or rename it")
    def edit_concept(concept_id: Uuid, body: ConceptEditIn, sender: Sent) -> Accepted:
        command, words = _command(sender, body), _words(body)
        if body.title is None and body.definition is None and not (body.aliases or body.related):
            raise invalid(
                "(body)", "changes nothing; give a title, a definition, aliases or related concepts"
            )
        origin = command.origin()
        return transactions.accepted(
            command, lambda c: concept_commands.edit(c, concept_id, words, origin, command)
        )

    @router.post(
        "/v1/concepts/{concept_id}/merge", status_code=202, summary="Merge a concept into another one"
    )
    def merge_concept(concept_id: Uuid, body: ConceptMergeIn, sender: Sent) -> Accepted:
        command = _command(sender, body)
        return transactions.accepted(
            command, lambda c: concept_commands.merge(c, concept_id, body.into, body.reason, command)
        )

    @router.post(
        "/v1/concepts/{concept_id}/pin",
        status_code=202,
        summary="Put a concept into every prompt, or no longer",
    )
    def pin_concept(concept_id: Uuid, body: ConceptPinIn, sender: Sent) -> Accepted:
        command = _command(sender, body)
        return transactions.accepted(
            command, lambda c: concept_commands.pin(c, concept_id, body.pinned, command)
        )

    return router


def _words(body: ConceptIn | ConceptEditIn) -> concept_commands.Words:
    return concept_commands.Words(
        title=body.title,
        definition=body.definition,
        aliases=tuple(body.aliases),
        related=tuple(body.related),
    )


def _command(sender: Sender, body: _ConceptIn, thing: str = "concept") -> Command:
    return sender.command_of(body, body.user_id, thing, actor=OF_THE_USER, by=sender.author_of(body))
