"""The commands of concepts, and their routes: create, edit, merge, pin.

Each command appends events, and nothing that was learned is lost.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from psycopg.rows import class_row
from pydantic import Field

from events.http.answering import routes_of
from events.http.errors import conflict, invalid, missing
from events.http.fields import Name, Uuid, Words, storable
from events.language.concepts import name_key
from events.modes.mode_log import registry_of
from events.modes.registry import Modes
from events.platform.database import Connection, statement
from events.resources.cards import Accepted
from events.store.bounds import MAX_ALIASES, MAX_TITLE, fault_of
from events.types.cards import CardOrigin, KnowledgeLearned
from events.types.envelope import Payload, uuid7
from events.types.naming import ConceptPinned, KnowledgeMerged, TagAliased
from ingest.api.commands import STREAM, reached
from ingest.api.transactions import ByAgentOfUser, Sender, Sent, Transactions
from ingest.decider import OF_THE_USER, Command, Decision, Keyed, Outcome, decide


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A concept as the tables have it."""

    card_id: UUID
    project_id: str
    mode: str | None
    title: str
    aliases: list[str]
    definition: str

    def mode_id(self, modes: Modes) -> str:
        """Returns the first name of the mode of the concept."""
        return modes.mode_id(self.project_id, self.mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptWords:
    """What a person or an agent writes of a concept. A part that is None stays as it is. Names only add up."""

    title: str | None = None
    definition: str | None = None
    aliases: tuple[str, ...] = ()
    related: tuple[str, ...] = ()


def create(
    connection: Connection, words: ConceptWords, origin: CardOrigin, command: Command
) -> Outcome[None]:
    """Makes a concept. Raises a 409 problem with the concept that has one of the names already."""
    if not command.reach.admits(origin.project_id, origin.mode):
        raise missing("project", "project_id")
    modes = Modes(registry_of(connection, command.owner))
    origin = replace(origin, mode_id=modes.mode_id(origin.project_id, origin.mode))
    learned = _learned(words.title or "", words.definition or "", words, origin)

    def rule(_: None) -> Payload:
        _refuse_taken(connection, command.owner, modes, origin, [learned.title, *learned.aliases])
        return learned

    return _decided(connection, "create", command, rule, learned)


def edit(
    connection: Connection, concept_id: UUID, words: ConceptWords, origin: CardOrigin, command: Command
) -> Outcome[None]:
    """Writes another definition, further names and relations of a concept, or renames it.

    Raises a 404 problem when the user has no such concept within reach, and 409 when another one has the name.
    """
    present = _present(connection, concept_id, command, "concept_id")
    modes = Modes(registry_of(connection, command.owner))
    origin = replace(origin, project_id=present.project_id, mode=present.mode, mode_id=present.mode_id(modes))
    learned = _learned(present.title, words.definition or present.definition, words, origin)

    def rule(_: None) -> Decision:
        names = [*words.aliases, *([words.title] if words.title is not None else [])]
        _refuse_taken(connection, command.owner, modes, origin, names, but=present.card_id)
        renamed = (
            []
            if words.title in (None, present.title)
            else [_merged(present.title, words.title or "", "renamed", origin.project_id, origin.register)]
        )
        return Decision(payload=learned, after=[command.event(STREAM, each) for each in renamed])

    return _decided(connection, f"edit/{concept_id}", command, rule, learned)


def merge(
    connection: Connection, concept_id: UUID, into_id: UUID, reason: str, command: Command
) -> Outcome[None]:
    """Makes two concepts one, under the name of the second. The tag of the first means the tag of the second.

    Raises a 404 problem when the user has one of them not within reach, and 422 when they are one, or of two projects
    or modes.
    """
    present = _present(connection, concept_id, command, "concept_id")
    into = _present(connection, into_id, command, "into")
    if into.card_id == present.card_id:
        raise invalid("into", "is the same concept; name another one")
    if into.project_id != present.project_id:
        raise invalid("into", "is a concept of another project; a concept belongs to one project")
    modes = Modes(registry_of(connection, command.owner))
    mode_id = into.mode_id(modes)
    if present.mode_id(modes) != mode_id:
        raise invalid("into", "is a concept of another mode; give one of the two the mode of the other first")
    merged = _merged(present.title, into.title, reason, into.project_id, mode_id)
    alias = TagAliased(alias=present.title, tag=into.title)
    decision = Decision(payload=merged, after=[command.event(STREAM, alias)])
    return _decided(connection, f"merge/{concept_id}/{into_id}", command, lambda _: decision, merged)


def pin(connection: Connection, concept_id: UUID, pinned: bool, command: Command) -> Outcome[None]:
    """Puts a concept into every prompt, or no longer. Raises a 404 problem when the user has no such concept."""
    present = _present(connection, concept_id, command, "concept_id")
    given = ConceptPinned(card_id=present.card_id, pinned=pinned)
    return _decided(connection, f"pin/{concept_id}", command, lambda _: given, given)


def _decided(
    connection: Connection,
    what: str,
    command: Command,
    rule: Callable[[None], Payload | Decision],
    first: Payload,
) -> Outcome[None]:
    """Decides a command. Commands with one idempotency key count once, and another command with the key is refused."""
    key = f"concept/{what}/{command.idempotency_key or uuid7()}"

    def is_repeat(payload: Payload) -> bool:
        if isinstance(payload, KnowledgeLearned) and isinstance(first, KnowledgeLearned):
            payload = replace(payload, origin=first.origin)
        return bool(payload == first)

    return decide(Keyed(connection, STREAM, command, key), rule, is_repeat)


def _learned(title: str, definition: str, words: ConceptWords, origin: CardOrigin) -> KnowledgeLearned:
    learned = KnowledgeLearned(
        content=f"{title}: {definition}",
        title=title,
        definition=definition,
        tags=("knowledge", title.lower()),
        origin=origin,
        aliases=words.aliases,
        related_titles=words.related,
    )
    if (fault := fault_of(learned)) is not None:
        raise invalid("definition", f"makes no card: {fault}")
    return learned


def _merged(from_title: str, into_title: str, reason: str, project_id: str, mode_id: str) -> KnowledgeMerged:
    return KnowledgeMerged(
        from_title=from_title, into_title=into_title, reason=reason, project_id=project_id, mode_id=mode_id
    )


def _present(connection: Connection, concept_id: UUID, command: Command, field: str) -> Concept:
    """Returns a concept. The id of a concept that was merged into another one names that one."""
    found = _concepts(connection, "concept", user_id=command.owner, card=concept_id)
    if not found or not reached(connection, command, found[0].card_id):
        raise missing("concept", field)
    return found[0]


def _refuse_taken(
    connection: Connection,
    owner: str,
    modes: Modes,
    origin: CardOrigin,
    names: Iterable[str],
    but: UUID | None = None,
) -> None:
    keys = [name_key(name) for name in names]
    for each in _concepts(
        connection, "concepts_named", user_id=owner, project_id=origin.project_id, names=keys
    ):
        if each.card_id != but and each.mode_id(modes) == origin.register:
            raise conflict(
                "Exists",
                "title",
                "a concept has this name; edit it, or merge the two",
                concept_id=str(each.card_id),
            )


def _concepts(connection: Connection, name: str, **values: object) -> Sequence[Concept]:
    with connection.cursor(row_factory=class_row(Concept)) as cursor:
        return cursor.execute(statement("ingest.api", name), values).fetchall()


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
    router = routes_of("concepts")

    @router.post("/v1/concepts", status_code=202, summary="Create a concept")
    def create_concept(body: ConceptIn, sender: Sent) -> Accepted:
        command, words = _command(sender, body, "user"), _words(body)
        origin = command.origin(body.project_id, body.mode)
        return transactions.accepted(command, lambda c: create(c, words, origin, command))

    @router.patch("/v1/concepts/{concept_id}", status_code=202, summary="Edit a concept, or rename it")
    def edit_concept(concept_id: Uuid, body: ConceptEditIn, sender: Sent) -> Accepted:
        command, words = _command(sender, body), _words(body)
        if body.title is None and body.definition is None and not (body.aliases or body.related):
            raise invalid(
                "(body)", "changes nothing; give a title, a definition, aliases or related concepts"
            )
        origin = command.origin()
        return transactions.accepted(command, lambda c: edit(c, concept_id, words, origin, command))

    @router.post(
        "/v1/concepts/{concept_id}/merge", status_code=202, summary="Merge a concept into another one"
    )
    def merge_concept(concept_id: Uuid, body: ConceptMergeIn, sender: Sent) -> Accepted:
        command = _command(sender, body)
        return transactions.accepted(command, lambda c: merge(c, concept_id, body.into, body.reason, command))

    @router.post(
        "/v1/concepts/{concept_id}/pin",
        status_code=202,
        summary="Put a concept into every prompt, or no longer",
    )
    def pin_concept(concept_id: Uuid, body: ConceptPinIn, sender: Sent) -> Accepted:
        command = _command(sender, body)
        return transactions.accepted(command, lambda c: pin(c, concept_id, body.pinned, command))

    return router


def _words(body: ConceptIn | ConceptEditIn) -> ConceptWords:
    return ConceptWords(
        title=body.title,
        definition=body.definition,
        aliases=tuple(body.aliases),
        related=tuple(body.related),
    )


def _command(sender: Sender, body: _ConceptIn, thing: str = "concept") -> Command:
    return sender.command_of(body, body.user_id, thing, actor=OF_THE_USER, by=sender.author_of(body))
