"""The answers of the services, made by ``scripts/python_client.py``. Do not edit.

Instants are ISO 8601 text. Any version may add fields.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict


class Accepted(TypedDict):
    """The event is in the log. ``duplicate`` is true when an earlier request already appended it."""

    event_id: str
    partition: int
    position: int
    recorded_at: str
    duplicate: bool
    token: str


class Answer(TypedDict):
    """The found cards, the best first, and the report of each channel."""

    current_time: str
    cards: list[RecalledCard]
    insights: NotRequired[list[Insight]]
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: list[str]
    explain: NotRequired[dict[str, Any]]


class Answered(TypedDict):
    """The place of one question among several: its answer, or its problem."""

    answer: NotRequired[Answer]
    problem: NotRequired[ProblemDetails]


class Answers(TypedDict):
    """The answers to several questions, in the order of the questions."""

    answers: list[Answered]


class AppliedPatch(TypedDict):
    """A change of the document that rests on migrated sentences."""

    version: int
    event_id: str
    patch: list[dict[str, Any]]
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]


class Arbitration(TypedDict):
    """A conflict that waits, or waited, for a verdict. ``evidence`` holds the turns and quotes of both sides.

    ``said_at`` is when the new value was said. ``opened_at`` and ``settled_at`` are times of the log."""

    arbitration_id: str
    project_id: str
    entity: str
    concept_key: str
    old_card: str | None
    new_card: str | None
    old_value: str | None
    new_value: str | None
    reason: str
    evidence: Any
    status: Literal["open", "keep_old", "accept_new", "coexist", "withdrawn"]
    said_at: str
    opened_at: str
    settled_at: str | None


class Arbitrations(TypedDict):
    """A page of conflicts, the latest opened first."""

    arbitrations: list[Arbitration]
    next_cursor: str | None


class AskedPair(TypedDict):
    """Two cards, or two people, that a model was asked about."""

    later: str
    earlier: str


class Attempt(TypedDict):
    """Something that was tried against a problem. ``successful`` is null while nobody knows."""

    attempt_id: str
    date: str
    approach: str
    outcome: str | None
    successful: bool | None
    turn_ids: list[str]


class AuditEntry(TypedDict):
    """One request: who asked, what, whose memory, when, and the outcome. It holds no content."""

    position: int
    entry_id: str
    request_id: str
    at: str
    recorded_at: str
    service: str
    tenant: str | None
    key_id: str | None
    scopes: list[str]
    operation: str
    method: str | None
    subjects: list[str]
    outcome: Literal["begun", "allowed", "denied", "refused", "failed", "lost"]
    status: int | None
    requests: int
    digest: str


class AuditPage(TypedDict):
    """One page of the audit log, the newest entry first."""

    entries: list[AuditEntry]
    next_cursor: int | None


class Beside(TypedDict):
    """Another card, in short: of the same turn, or of a later one."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    episode: bool
    retracted: bool


class Block(TypedDict):
    """One XML element of a prompt. ``stable``: it is the same for every question, so a prompt cache can keep it."""

    name: str
    text: str
    tokens: int
    stable: bool


class BlockedEmbedder(TypedDict):
    """An embedder that gives no vectors, and the number of cards that wait for it."""

    mode: str
    reason: str
    cards: int


class Candidate(TypedDict):
    """A topic that recurs, and the category that it may become."""

    candidate: str
    proposed_name: str
    schema: dict[str, Any]
    instances: list[str]
    moved: dict[str, str]
    occurrences: int
    days: int
    last: str | None
    links: list[str]
    users: int
    score: int
    reasons: list[Reason]
    above_thresholds: bool
    proposed_at: str | None
    diff: PromotionDiff


class Card(TypedDict):
    """A card from the tables."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    cardinality: Literal["single_value", "multi_value"] | None
    tags: list[str]
    occurred_at: str | None
    occurred_until: str | None
    effective_at: str | None
    superseded_at: str | None
    last_verified: str
    created_at: str
    project_id: str
    session_id: str
    agent_id: str | None
    document_id: str | None
    context_layer: Literal["personal", "work", "social"] | None
    speaker: str | None
    turn_ids: list[str]
    source_span: SourceSpan | None
    provenance: Literal["user_stated", "assistant_stated", "agent_inferred"]
    confidence: float
    weight: float
    mentions: int
    mode: str | None
    said_at: str
    time_zone: str | None
    time_grain: str | None
    time_resolved: bool | None
    alternative_at: str | None
    metadata: dict[str, Any] | None
    ended: NotRequired[bool]
    value_at: NotRequired[str | None]
    value_until: NotRequired[str | None]
    value_grain: NotRequired[str | None]
    episode: NotRequired[bool]
    topics: NotRequired[list[str]]
    importance: NotRequired[int | None]
    sentiment: NotRequired[Literal["positive", "neutral", "negative"] | None]
    event_status: NotRequired[Literal["happened", "planned", "wished", "cancelled", "corrected"] | None]
    participants: NotRequired[list[str]]
    title: NotRequired[str | None]
    aliases: NotRequired[list[str]]
    definition: NotRequired[str | None]
    pinned: NotRequired[bool]
    when: str
    time_passed: NotRequired[bool]
    aging: bool
    outdated: bool
    status: Literal["current", "future", "superseded", "contested", "retracted"]


class CardHistory(TypedDict):
    """Every card about the same fact, in order of time."""

    cards: list[Card]
    updates: list[CardUpdate]
    relations: list[Edge]


class CardMap(TypedDict):
    """The vectors of cards in two dimensions: near cards mean similar things. Coordinates are from -1000 to 1000."""

    embedder: str | None
    points: list[MapPoint]
    shown: float
    missing: int
    cut: bool


class CardSummary(TypedDict):
    """A card in short, as the neighbour of another card."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    status: Literal["current", "future", "superseded", "contested", "retracted"]


class CardUpdate(TypedDict):
    """A change that overwrote a card in place."""

    card_id: str
    changed_at: str
    old_value: str | None
    new_value: str | None
    old_content: str | None
    reason: str
    event_id: str


class CardUse(TypedDict):
    """What answers to questions held. Questions with ``explain`` do not count, and a kill loses some seconds."""

    cards: list[UsedCard]
    days: list[UsedDay]


class CardsPage(TypedDict):
    """One page of the cards of a slice."""

    cards: list[Card]
    next_cursor: str | None


class ChannelHealth(TypedDict):
    """The health of a channel in this process."""

    status: Literal["ok", "quarantined"]
    p95_ms: float | None
    samples: int
    quarantined_for_s: float | None
    fault: NotRequired[str]


class ChannelPlace(TypedDict):
    """The place of a card in a channel: its rank from 1, and its score in the channel's own unit."""

    rank: int
    score: float


class ChannelReport(TypedDict):
    """The result of a channel in one recall. ``detail`` says what is missing, and why."""

    status: Literal["ok", "late", "quarantined", "down"]
    ms: float
    hits: int
    detail: NotRequired[str]


class Contradiction(TypedDict):
    """Cards that cannot both be true."""

    concept_key: str | None
    entity: str | None
    card_ids: list[str]
    reason: str
    arbitration_id: NotRequired[str]
    cards: NotRequired[list[Side]]


class CuratorAct(TypedDict):
    """One thing that a run added, with what it rests on."""

    act: Literal["connect", "create_thread", "assign_thread", "derive_insight", "propose_person_merge"]
    predicate: (
        Literal[
            "update",
            "state_change",
            "expands",
            "qualifies",
            "contradicts",
            "retracts",
            "same_as",
            "parent_of",
            "related_to",
            "affects_state",
        ]
        | None
    )
    title: str | None
    thread_id: str | None
    reason: str
    confidence: float
    evidence: list[str]


class CuratorRun(TypedDict):
    """A run. ``run_id`` is null for a run that added nothing, and for a dry run."""

    run_id: str | None
    at: str | None
    acts: list[CuratorAct]
    asked: list[AskedPair]
    model: str | None
    tokens: int
    undone_at: str | None
    undone_reason: str | None


class CuratorRunsPage(TypedDict):
    """Runs, the last first."""

    runs: list[CuratorRun]


class DeadLetter(TypedDict):
    """A turn that broke the contract."""

    letter_id: str
    entry_id: str
    pushed_at: str
    field: str
    reason: str
    fields: dict[str, str]


class DeadLetters(TypedDict):
    """The dead letters of the tenant, the oldest first."""

    letters: list[DeadLetter]
    more: bool


class DeclaredKind(TypedDict):
    """The kind can be used. ``changed`` is false when it was declared like this already."""

    kind: str
    changed: bool


class DeletedMode(TypedDict):
    """The mode is gone. Its cards belong to the general mode."""

    name: str
    changed: bool


class Edge(TypedDict):
    """A relation from ``from_card`` to ``to_card``. ``implied``: a timeline implies it; else an event states it."""

    from_card: str
    to_card: str
    predicate: Literal[
        "update",
        "state_change",
        "expands",
        "qualifies",
        "contradicts",
        "retracts",
        "same_as",
        "parent_of",
        "related_to",
        "affects_state",
    ]
    reason: str
    confidence: float
    implied: bool
    refused: bool
    actor: str
    event_id: str | None
    created_at: str | None


class EmbedderReport(TypedDict):
    """``model`` and ``fingerprint`` are of the live vectors, and ``wanted`` is the model of the settings. null: there
    are no vectors yet."""

    model: str | None
    fingerprint: str | None
    wanted: str


class Episode(TypedDict):
    """The words of a turn. ``related_paths`` are the places in the core document that its concepts touch."""

    card_id: str
    content: str
    occurred_at: str
    said_at: str
    speaker: str | None
    topics: list[str]
    sentiment: str | None
    importance: int | None
    related_paths: list[str]
    turn_ids: list[str]
    session_id: str
    project_id: str
    score: int
    explanation: Explanation


class EpisodesPage(TypedDict):
    """Episodes, the best score first."""

    episodes: list[Episode]


class Erasure(TypedDict):
    """What was erased. A dry run has only ``dry_run``, ``users``, ``counts``, ``names`` and ``shared_names``."""

    kind: NotRequired[str | None]
    format: NotRequired[int | None]
    erasure_id: NotRequired[str | None]
    erased: NotRequired[str | None]
    subject: NotRequired[str | None]
    by: NotRequired[str | None]
    reason: NotRequired[str | None]
    began_at: NotRequired[str | None]
    steps: NotRequired[dict[str, str | None] | None]
    users: int
    counts: dict[str, int]
    log: NotRequired[list[dict[str, Any]] | None]
    public_key: NotRequired[str | None]
    signature: NotRequired[str | None]
    names: NotRequired[list[str] | None]
    shared_names: NotRequired[list[SharedName] | None]
    dry_run: NotRequired[bool]


class Explanation(TypedDict):
    """Why an episode has its score: 3 for each topic, 4 for each path, and the importance."""

    topics: list[str]
    paths: list[str]
    topic_points: int
    path_points: int
    importance: int


class Generation(TypedDict):
    """One build of the tables of a projection."""

    projection: str
    number: int
    status: str
    created_at: str
    live_at: str | None
    events: int
    behind: int
    bytes: int


class Generations(TypedDict):
    """The generations of every projection, the oldest first."""

    generations: list[Generation]


class Groups(TypedDict):
    """The number of cards for each combination of axis values. A group holds the values by axis name."""

    group_by: list[str]
    bucket: Literal["day", "week", "month"] | None
    groups: list[dict[str, Any]]
    total: int


class HookAnswer(TypedDict):
    """The answer to a hook. It is empty when the memory has nothing to say, and when it cannot say it in time."""

    hookSpecificOutput: NotRequired[HookOutput]


class HookOutput(TypedDict):
    """What the assistant reads before it goes on."""

    hookEventName: str
    additionalContext: str


class Insight(TypedDict):
    """A conclusion. It is made of the words of its sources, and nobody said it."""

    insight_id: str
    kind: Literal["pattern", "consolidated"]
    content: str
    theme: str
    project_id: str
    mode: str
    provenance: Literal["agent_inferred"]
    status: Literal["current", "stale", "retracted"]
    sources: list[str]
    reason: str
    confidence: float
    retracted_reason: str | None
    run_id: str | None
    derived_at: str


class InsightSource(TypedDict):
    """A card on which an insight rests. ``content`` is null for a card that is not there any more."""

    card_id: str
    kind: str | None
    content: str | None
    said_at: str | None


class InsightSources(TypedDict):
    """An insight with its sources."""

    insight: Insight
    cards: list[InsightSource]


class InsightsPage(TypedDict):
    """Insights, the last first. ``next_cursor``: ``cursor`` of the next page; null: there are no more."""

    insights: list[Insight]
    next_cursor: int | None


class KeptSentence(TypedDict):
    """A sentence that is an episode, with the places of the document that it touches."""

    turn_id: str
    text: str
    related_paths: list[str]


class LatestCard(TypedDict):
    """The end of a card's chain of changes, and the ids along the chain."""

    card: Card
    chain: list[str]


class ListedMode(TypedDict):
    """A mode. ``of`` says who gives it: the project, the user, or the installation (everybody)."""

    name: str
    project_id: str | None
    embedder: str
    dimension: int | None
    description: str
    default_decay: Literal["fast", "medium", "slow", "none"] | None
    prompt_overrides: dict[str, str]
    is_default: bool
    declared_at: str | None
    of: Literal["project", "user", "everybody"]


class MapPoint(TypedDict):
    """A card on the map."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    x: int
    y: int


class Memory(TypedDict):
    """The document, or the values at the asked pointers. The ETag of the answer is the version."""

    user_id: str
    version: int
    updated_at: str | None
    document: NotRequired[Any]
    snippets: NotRequired[list[Snippet] | None]
    explain: NotRequired[dict[str, Source] | None]


class MemoryCandidates(TypedDict):
    """Candidates, the highest score first."""

    version: int
    candidates: list[Candidate]


class MemoryChanged(TypedDict):
    """The version of the document after a command. ``event_id`` is null when the document was like this already."""

    version: int
    event_id: str | None
    changed: bool
    duplicate: bool
    token: str


MemoryDiff = TypedDict(
    "MemoryDiff", {"from": int, "to": int, "patch": list[dict[str, Any]], "lines": list[str]}
)
"""What differs between two versions, as a JSON Patch and in words."""


class MemoryHistory(TypedDict):
    """Versions, the latest first."""

    changes: list[MemoryChange]
    next_cursor: int | None


class MemoryMigration(TypedDict):
    """What became of the sentences up to now. The same request later tells what became of the rest."""

    pending: int
    failed: list[str]
    erased: list[str]
    applied: list[AppliedPatch]
    queued: list[QueuedPatch]
    kept: list[KeptSentence]
    version: int
    migration_id: str
    format: str
    dry_run: bool
    sentences: int
    taken: int
    remarks: list[str]
    token: str


class MemoryQueue(TypedDict):
    """Waiting patches, the latest first."""

    entries: list[QueueEntry]


class MergeProposal(TypedDict):
    """Two people who may be one. Nothing is merged until a command says so."""

    person_id: str
    into_id: str
    score: float
    evidence: list[str]


class Modes(TypedDict):
    """The modes in the order of their names. The general mode always exists. Former names map to present ones."""

    modes: list[ListedMode]
    default_mode: str | None
    projects: list[Project]
    former_names: dict[str, str]


class Neighbour(TypedDict):
    """A card of a neighbourhood."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    status: Literal["current", "future", "superseded", "contested", "retracted"]
    ring: int


class NeighbourEdge(TypedDict):
    """A relation between two cards of a neighbourhood."""

    from_card: str
    to_card: str
    predicate: str


class Neighbourhood(TypedDict):
    """The cards around a card or a name, the nearest first, at most 300 cards, 600 edges and 200 kB."""

    nodes: list[Neighbour]
    edges: list[NeighbourEdge]
    cut: bool


class Numbered(TypedDict):
    """The card behind a number in a prompt."""

    n: int
    card_id: str


class Operation(TypedDict):
    """What an operator asked the workers of a projection to do, and how far it is."""

    operation_id: str
    action: Literal["rebuild", "swap", "drop_generation", "retry_parked", "drop_parked"]
    projection: str
    generation: int | None
    user_id: str | None
    verify: bool
    because: str | None
    requested_by: str | None
    requested_at: str
    stage: str | None
    share: float
    failed: bool | None
    outcome: str | None
    done_at: str | None


class Operations(TypedDict):
    """The operations of the tenant, the last first."""

    operations: list[Operation]


class ParkedUser(TypedDict):
    """A user who waits for a projection, because an event of the user cannot be folded."""

    projection: str
    user_id: str
    event_id: str
    type: str | None
    reason: str | None
    attempts: int
    parked_at: str
    behind: int


class ParkedUsers(TypedDict):
    """The users who wait for a projection."""

    parked: list[ParkedUser]
    more: bool


class PeoplePage(TypedDict):
    """The people of a user, the last mentioned first, with the proposals that wait."""

    people: list[Person]
    proposals: list[MergeProposal]
    shared_names: list[SharedName]


class Person(TypedDict):
    """A person. Any of ``person_id`` and ``merged`` names the person."""

    person_id: str
    name: str
    aliases: list[str]
    kinship: list[str]
    addresses: list[str]
    merged: list[str]
    since: str
    last_mention: str
    mentions: int


class PersonEntry(TypedDict):
    """A card that names a person. ``author`` said it, ``subject`` it is about, ``quoted`` told it to the author."""

    card: Card
    author: str | None
    subject: str | None
    quoted: str | None


class PersonTimeline(TypedDict):
    """The cards that name a person, the last said first."""

    person_id: str
    entries: list[PersonEntry]


class Probe(TypedDict):
    """The answer of a probe."""

    status: Literal["ok", "ready"]


class Problem(TypedDict):
    """A problem with what was tried, by date. ``opened_at``, ``updated_at`` and ``closed_at`` are times of the log."""

    problem_id: str
    project_id: str
    mode: str
    description: str
    status: Literal["active", "closed"]
    priority: int
    attempts: list[Attempt]
    since: str
    until: str | None
    opened_at: str
    updated_at: str
    closed_at: str | None
    resolution: str | None
    turn_ids: list[str]
    version: int


class ProblemDetails(TypedDict):
    """A problem document (RFC 9457). Some problems have further fields."""

    type: str
    title: str
    status: int
    detail: str
    field: NotRequired[str]
    reason: NotRequired[str]
    index: NotRequired[int]


class ProblemEntry(TypedDict):
    """One event of a problem, with the turns and the words behind it."""

    type: str
    at: str
    recorded_at: str
    actor: str
    turn_ids: list[str]
    quote: str | None
    details: dict[str, Any]


class ProblemsPage(TypedDict):
    """Problems: active ones first, then by priority, then the last changed."""

    problems: list[Problem]


class Project(TypedDict):
    """The settings of a project."""

    project_id: str
    default_mode: str | None
    description: str


class PromotionDiff(TypedDict):
    """What a promotion under the proposed name would change, as a JSON Patch and in words."""

    patch: list[dict[str, Any]]
    lines: list[str]


class Prompt(TypedDict):
    """A prompt. ``text`` is the text of all ``blocks`` in order."""

    blocks: list[Block]
    text: str
    tokens: int
    token_budget: int | None
    guard_rules_version: str
    cards: list[Numbered]
    left_out: list[str]
    current_time: str
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: list[str]


class Proposal(TypedDict):
    """An op that prose asked for. A waiting one needs an answer."""

    proposal_id: str
    kind: str
    key: str
    project_id: str | None
    team_id: str | None
    op: dict[str, Any]
    confidence: float
    quote: str
    turn_ids: list[str]
    status: Literal["waiting", "applied", "approved", "refused"]
    proposed_at: str
    decided_at: str | None
    decided_by: str | None


class ProposalsPage(TypedDict):
    """Proposals, the latest first."""

    proposals: list[Proposal]
    next_cursor: str | None


class Pushed(TypedDict):
    """The turns are on the queue. ``duplicates`` names the turns whose turn_id was accepted before."""

    turn_ids: list[str]
    duplicates: list[str]
    token: str | None


class QueueEntry(TypedDict):
    """A patch that waits, or got an answer."""

    queue_id: str
    kind: Literal["patch", "contradiction", "proposal"]
    status: Literal["open", "approved", "refused", "withdrawn"]
    patch: list[dict[str, Any]]
    fault: Literal["test", "path", "schema", "protected", "size", "contradiction", "confidence"]
    reason: str
    op: int
    path: str
    expected: Any
    actual: Any
    actor: str
    source: str | None
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]
    queued_at: str
    decided_at: str | None
    decided_by: str | None
    decision_reason: str | None


class QueuedPatch(TypedDict):
    """A patch that waits for an approval."""

    queue_id: str
    kind: str
    path: str
    patch: list[dict[str, Any]]
    reason: str
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]


class Reason(TypedDict):
    """A part of a score: what was counted, and the points for it."""

    reason: str
    count: int
    points: int


class RecalledCard(TypedDict):
    """A card that answers a question. ``pending``: the card is so new that it is not in the tables yet."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    cardinality: Literal["single_value", "multi_value"] | None
    tags: list[str]
    occurred_at: str | None
    occurred_until: str | None
    effective_at: str | None
    superseded_at: str | None
    last_verified: str
    created_at: str
    project_id: str
    session_id: str
    agent_id: str | None
    document_id: str | None
    context_layer: Literal["personal", "work", "social"] | None
    speaker: str | None
    turn_ids: list[str]
    source_span: SourceSpan | None
    provenance: Literal["user_stated", "assistant_stated", "agent_inferred"]
    confidence: float
    weight: float
    mentions: int
    mode: str | None
    said_at: str
    time_zone: str | None
    time_grain: str | None
    time_resolved: bool | None
    alternative_at: str | None
    metadata: dict[str, Any] | None
    ended: NotRequired[bool]
    value_at: NotRequired[str | None]
    value_until: NotRequired[str | None]
    value_grain: NotRequired[str | None]
    episode: NotRequired[bool]
    topics: NotRequired[list[str]]
    importance: NotRequired[int | None]
    sentiment: NotRequired[Literal["positive", "neutral", "negative"] | None]
    event_status: NotRequired[Literal["happened", "planned", "wished", "cancelled", "corrected"] | None]
    participants: NotRequired[list[str]]
    title: NotRequired[str | None]
    aliases: NotRequired[list[str]]
    definition: NotRequired[str | None]
    pinned: NotRequired[bool]
    when: str
    time_passed: NotRequired[bool]
    aging: bool
    outdated: bool
    score: float
    channels: dict[str, ChannelPlace]
    pending: bool
    beside: list[Beside]
    times: NotRequired[list[TimeExpression]]
    perhaps_no_longer: NotRequired[Beside]
    past_facts: NotRequired[list[PastFact]]


class RecordedTurn(TypedDict):
    """A turn as the app pushed it. ``mode`` is the mode that the app gave, if any."""

    turn_id: str
    text: str
    role: Literal["user", "assistant", "system"]
    said_at: str
    timezone: str
    session_id: str
    project_id: str
    speaker: str | None
    agent_id: str | None
    document_id: str | None
    context_layer: Literal["personal", "work", "social"] | None
    mode: str | None
    metadata: dict[str, Any] | None
    contact: str | None
    direction: Literal["incoming", "outgoing"] | None
    recorded_at: str


class Reembedding(TypedDict):
    """What a re-embedding does, or would do. No language model is called."""

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
    model_calls: Literal[0]


class ReembeddingProgress(TypedDict):
    """The progress of the last re-embedding of a mode. The old vectors answer until it is done."""

    mode: str
    project_id: str | None
    state: Literal["none", "waiting", "running", "done"]
    reembedding_id: str | None
    requested_at: str | None
    done_at: str | None
    cards: int
    share: float


class Reference(TypedDict):
    """A reference: a named value with a version. The ETag of the answer is its version."""

    kind: str
    key: str
    project_id: str | None
    team_id: str | None
    version: int
    tier: Literal["pinned", "session", "archive"]
    tier_reason: str | None
    archived: bool
    data: Any
    rendering: str
    created_at: str
    updated_at: str


class ReferenceHistory(TypedDict):
    """Versions, the latest first."""

    versions: list[ReferenceVersion]
    next_cursor: int | None


class ReferenceKind(TypedDict):
    """A kind with its ops and the JSON Schema of its data."""

    kind: str
    built_in: bool
    description: str
    ops: list[str]
    schema: Any


class ReferenceKinds(TypedDict):
    """Every kind that the tenant may use."""

    kinds: list[ReferenceKind]


class ReferenceVersion(TypedDict):
    """One version: the op, who sent it and when, and the turns behind it. ``before`` and ``after`` on request."""

    version: int
    type: str
    op: dict[str, Any] | None
    actor: str
    at: str
    turn_ids: list[str]
    derived: bool
    quote: str | None
    before: NotRequired[Any]
    after: NotRequired[Any]


class ReferencesPage(TypedDict):
    """References in the order of kind and key."""

    references: list[Reference]
    next_cursor: str | None


class RefusedProposal(TypedDict):
    """The proposal is refused, and nothing changed."""

    proposal_id: str
    status: Literal["refused"]


class Relations(TypedDict):
    """The relations of a card, stated and implied, and the cards that belong to it without an edge."""

    relations: list[Relation]
    related: list[CardSummary]
    episode: list[CardSummary]
    gave_rise_to: list[CardSummary]


class RetractedCard(TypedDict):
    """The card of the proposal is retracted. ``events`` counts the statements and episodes that were withdrawn."""

    proposal_id: str
    status: Literal["approved"]
    card_id: str
    content: str
    events: int


class RollbackConflict(TypedDict):
    """A change that stood on one that is left out."""

    event_id: str
    version: int
    op: int
    path: str
    reason: str


class Session(TypedDict):
    """A conversation: when its first and its last turn were said, and the number of its turns."""

    session_id: str
    project_id: str
    first_said_at: str
    last_said_at: str
    turns: int


class SessionCheckpoint(TypedDict):
    """The state of a session, as an assistant saved it last."""

    session_id: str
    project_id: str
    state: dict[str, Any]
    version: int
    saved_at: str
    actor: str


class SessionsPage(TypedDict):
    """Sessions of a user, the latest spoken in first."""

    sessions: list[Session]
    next_cursor: int | None


class SettledLetter(TypedDict):
    """What became of a dead letter."""

    letter_id: str
    entry_id: str | None


class SharedName(TypedDict):
    """A name that several people have. The name alone means none of them."""

    name: str
    person_ids: list[str]


class Side(TypedDict):
    """One side of a contradiction: a card in short."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    value: str | None
    effective_at: str | None
    occurred_at: str | None
    turn_ids: list[str]


class Snippet(TypedDict):
    """The value at a pointer."""

    path: str
    found: bool
    value: Any
    moved_to: NotRequired[str | None]


class SourceSpan(TypedDict):
    """The exact words behind a card. Offsets are in code points."""

    turn_id: str
    start: int
    end: int
    text: str


class StageHealth(TypedDict):
    """The health of one stage. null is unknown."""

    behind: int | None
    seconds: float | None
    state: Literal["running", "waiting", "stuck", "stopped", "building", "abandoned", "unknown"]
    detail: str | None
    rate: float | None
    parked: int | None
    dead: int | None
    error: str | None
    error_at: str | None
    workers: int | None
    position: int | None
    stalled_s: float | None
    pending: int | None
    pending_s: float | None
    blocked: list[BlockedEmbedder]


class Stages(TypedDict):
    """The health of every stage at one moment. null is unknown, never zero."""

    well: bool
    whole: bool
    stages: dict[str, StageHealth]
    events: int | None
    parked: int | None
    dead: int | None
    recorded: int | None
    duplicates: int | None
    lost: int | None


class Team(TypedDict):
    """The members of the team after the command. ``changed`` is false when it changed none."""

    team_id: str
    members: list[str]
    changed: bool


class Thread(TypedDict):
    """A topic. ``opened_at`` and ``updated_at`` are times of the log."""

    thread_id: str
    project_id: str
    mode: str
    title: str
    status: Literal["open", "closed"]
    reason: str | None
    opened_at: str
    updated_at: str
    cards: int
    version: int


class ThreadCard(TypedDict):
    """A card of a thread, and why it belongs there. ``content`` is null for a card that is not there any more."""

    card_id: str
    kind: str | None
    content: str | None
    said_at: str | None
    reason: str
    confidence: float
    actor: str
    added_at: str


class ThreadCards(TypedDict):
    """A thread with its cards, the one that was said first at the beginning."""

    thread: Thread
    cards: list[ThreadCard]


class ThreadsPage(TypedDict):
    """Threads: open ones first, then the last changed."""

    threads: list[Thread]


class TimeExpression(TypedDict):
    """Words of a turn that name a time, and the time that they mean on the speaker's clock, at its grain."""

    words: str
    time: str


class Turn(TypedDict):
    """One message of a conversation. Blank text in an optional field counts as none."""

    session_id: NotRequired[str | None]
    project_id: NotRequired[str | None]
    agent_id: NotRequired[str | None]
    document_id: NotRequired[str | None]
    context_layer: NotRequired[Literal["personal", "work", "social", ""] | None]
    mode: NotRequired[str | None]
    said_at: NotRequired[str | datetime | None]
    timezone: NotRequired[str | None]
    contact: NotRequired[str | None]
    direction: NotRequired[Literal["incoming", "outgoing", ""] | None]
    metadata: NotRequired[dict[str, Any] | None]
    user_id: str
    text: str
    role: NotRequired[Literal["user", "assistant", "system", ""] | None]
    speaker: NotRequired[str | None]
    turn_id: NotRequired[str | None]


class TurnEvent(TypedDict):
    """What became of a turn. ``embedded``, ``dead`` and ``late`` are the last events of a stream."""

    stage: Literal["recorded", "extracted", "projected", "embedded", "dead", "late"]
    turn_id: str
    cards: NotRequired[list[str]]
    reason: NotRequired[str]


class TurnsPage(TypedDict):
    """Turns of a session, the latest first."""

    turns: list[RecordedTurn]
    next_cursor: int | None


class Usage(TypedDict):
    """What the calls of models cost in one group. A field that is no axis of the groups is null."""

    day: str | None
    operation: Literal["extraction", "failed_extraction", "curation"] | None
    user_id: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: float
    unpriced: int


class UsageGroups(TypedDict):
    """What the calls of models cost, the last day first."""

    usage: list[Usage]
    more: bool


class UsedCard(TypedDict):
    """A card with the number of answers that held it."""

    card: Card
    uses: int
    last_day: str


class UsedDay(TypedDict):
    """The number of cards that the answers of a day in UTC held."""

    day: str
    cards: int


class User(TypedDict):
    """A user of the tenant. ``erased_at``: when everything of the user was erased."""

    user_id: str
    erased_at: str | None


class UsersPage(TypedDict):
    """A page of users. ``next`` is the value of ``after`` for the next page; null: this is the last one."""

    users: list[User]
    next: str | None


class Webhook(TypedDict):
    """An address that gets a signed message for each event of its types."""

    webhook_id: str
    url: str
    types: list[str]
    added_at: str
    pending: int
    dead: int
    last_error: str | None


class WebhooksPage(TypedDict):
    """Webhooks, the first added first."""

    webhooks: list[Webhook]


class WrittenMode(TypedDict):
    """A mode after a command."""

    name: str
    project_id: str | None
    embedder: str
    dimension: int | None
    description: str
    default_decay: Literal["fast", "medium", "slow", "none"] | None
    prompt_overrides: dict[str, str]
    is_default: bool
    declared_at: str | None
    changed: bool


class AddedWebhook(Webhook):
    """A webhook after the command that added it."""

    secret: str
    token: str


class KnownPerson(Person):
    """A person, and what is true of the person now."""

    facts: list[Card]


class MemoryReverted(MemoryChanged):
    """What a reversion did."""

    patch: list[dict[str, Any]]


class PastFact(Beside):
    """A fact of a turn that no longer holds."""

    instead: NotRequired[str]


class ProblemHistory(Problem):
    """A problem and its events, the first one first."""

    history: list[ProblemEntry]


class Relation(Edge):
    """An edge from the view of one of its cards. ``other`` is null when the other card is unknown."""

    direction: Literal["out", "in"]
    other: CardSummary | None


class Source(AppliedPatch):
    """The change that set a value: its event and its patch, whose word it was, and the turns."""

    kind: str
    at: str
    recorded_at: str
    actor: str
    trust: str
    source: str | None


class Status(Stages):
    """The health of every stage, of the recall channels of this service, and of the embedder."""

    channels: dict[str, ChannelHealth]
    embedder: EmbedderReport | None
    servers: dict[str, str]


class WrittenCuratorRun(CuratorRun):
    """A run after a command."""

    token: str


class WrittenInsight(Insight):
    """An insight after a command."""

    token: str


class WrittenPerson(Person):
    """A person after a command."""

    token: str


class WrittenProblem(Problem):
    """A problem after a command."""

    token: str


class WrittenProject(Project):
    """The settings of a project after a command."""

    changed: bool


class WrittenReference(Reference):
    """The reference after the command."""

    token: str


class WrittenThread(Thread):
    """A thread after a command."""

    token: str


class MemoryChange(Source):
    """One version: what changed it, and how."""

    event_ids: list[str]


class MemoryPromoted(MemoryReverted):
    """What a promotion did, or would do. ``patch`` holds the operations on the document; a repeat shows none."""

    dry_run: bool
    proposed_name: str
    schema: dict[str, Any]
    moved: dict[str, str]


class MemoryRolledBack(MemoryReverted):
    """What a rollback did, or would do. With conflicts it does nothing."""

    dry_run: bool
    event_ids: list[str]
    conflicts: list[RollbackConflict]
