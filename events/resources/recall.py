"""Answers to questions and hooks: the found cards, or the blocks of a prompt, and what each channel did."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field

from events.resources.cards import AnyCard, Contradiction, Kind
from events.resources.curator import Insight
from events.resources.resource import Absent, Resource

CurrentTime = Annotated[AwareDatetime, Field(description="the time of the question, or its as_of")]
Warnings = Annotated[list[str], Field(description="missing parts of the answer, with the reasons")]


class ChannelPlace(Resource):
    """The place of a card in a channel: its rank from 1, and its score in the channel's own unit."""

    rank: int = Field(ge=1)
    score: float


class Beside(Resource):
    """Another card, in short: of the same turn, or of a later one."""

    card_id: UUID
    kind: Kind
    content: str
    episode: bool = Field(description="the content is the words of the turn")
    retracted: bool = Field(description="the user took the fact back: it never held")


class PastFact(Beside, use_attribute_docstrings=True):
    """A fact of a turn that no longer holds."""

    instead: Absent[str] = None
    """the fact that holds in its place, if there is one"""


class TimeExpression(Resource):
    """Words of a turn that name a time, and the time that they mean on the speaker's clock, at its grain."""

    words: str
    time: str


class RecalledCard(AnyCard, use_attribute_docstrings=True):
    """A card that answers a question. ``pending``: the card is so new that it is not in the tables yet."""

    score: float
    channels: dict[str, ChannelPlace]
    pending: bool
    beside: list[Beside] = Field(
        description="other cards of the same turn, and cards that qualify this one or that it qualifies"
    )
    times: Absent[list[TimeExpression]] = None
    """for a card with the words of a turn: what their times mean, such as "next Friday"; absent without any"""
    perhaps_no_longer: Absent[Beside] = None
    """the later words that may have ended what the card says, or the retracted fact of a turn"""
    past_facts: Absent[list[PastFact]] = None
    """what no longer holds of the words of the turn, which are this card or beside it; absent without any"""


class ChannelReport(Resource):
    """The result of a channel in one recall. ``detail`` says what is missing, and why."""

    status: Literal["ok", "late", "quarantined", "down"]
    ms: Annotated[float, AfterValidator(lambda ms: round(ms, 2))]
    hits: int
    detail: Absent[str] = None


class Answer(Resource, use_attribute_docstrings=True):
    """The found cards, the best first, and the report of each channel."""

    current_time: CurrentTime
    cards: list[RecalledCard]
    insights: Absent[list[Insight]] = None
    """what the curator concluded about the question, if anything; nobody said it, so it stands below the cards"""
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: Warnings
    explain: Absent[dict[str, object]] = None
    """the explanation of the answer, when it was asked for; any version may change it"""


class ProblemDetails(Resource):
    """The problem document (RFC 9457) of one question among several."""

    type: str
    title: str
    status: int
    detail: str
    field: Absent[str] = None
    reason: Absent[str] = None


class Answered(Resource):
    """The place of one question among several: its answer, or its problem."""

    answer: Absent[Answer] = None
    problem: Absent[ProblemDetails] = None


class Answers(Resource):
    """The answers to several questions, in the order of the questions."""

    answers: list[Answered]


class Block(Resource):
    """One XML element of a prompt. ``stable``: it is the same for every question, so a prompt cache can keep it."""

    name: str
    text: str
    tokens: int
    stable: bool


class Numbered(Resource):
    """The card behind a number in a prompt."""

    n: int = Field(ge=1)
    card_id: UUID


class Prompt(Resource):
    """A prompt. ``text`` is the text of all ``blocks`` in order."""

    blocks: list[Block]
    text: str
    tokens: int
    token_budget: int | None
    guard_rules_version: str
    cards: list[Numbered]
    left_out: list[UUID] = Field(description="cards that did not fit into the token budget")
    current_time: CurrentTime
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: Warnings


class ChannelHealth(Resource):
    """The health of a channel in this process."""

    status: Literal["ok", "quarantined"]
    p95_ms: float | None
    samples: int
    quarantined_for_s: float | None
    fault: Absent[str] = Field(None, description="for tests: the setting that makes the channel fail")


Channels = dict[str, ChannelHealth]


class HookOutput(Resource):
    """What the assistant reads before it goes on."""

    hookEventName: str = Field(description="the event that is answered")
    additionalContext: str = Field(description="a prompt, as /v1/context makes it")


class HookAnswer(Resource):
    """The answer to a hook. It is empty when the memory has nothing to say, and when it cannot say it in time."""

    hookSpecificOutput: Absent[HookOutput] = None
