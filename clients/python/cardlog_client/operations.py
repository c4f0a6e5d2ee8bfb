"""The operations of the services, made by ``scripts/python_client.py``. Do not edit.

A method takes the user and the required fields, and the other fields as keyword arguments. None counts as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from cardlog_client.requests import Operation

if TYPE_CHECKING:
    from cardlog_client import types

P = ParamSpec("P")
T = TypeVar("T")

_ADD_TEAM_MEMBER: Operation[types.Team] = Operation("write", "PUT", "/v1/teams/{team_id}/members/{member}")
_ADD_WEBHOOK: Operation[types.AddedWebhook] = Operation(
    "write", "POST", "/v1/webhooks", once="idempotency_key"
)
_ALIAS_PERSON: Operation[types.WrittenPerson] = Operation(
    "write", "POST", "/v1/people/{person_id}/alias", once="idempotency_key"
)
_APPROVE_PATCH: Operation[types.MemoryChanged] = Operation(
    "write", "POST", "/v1/memory/{user_id}/queue/{queue_id}/approve"
)
_APPROVE_PROPOSAL: Operation[types.Reference | types.RetractedCard] = Operation(
    "write", "POST", "/v1/proposals/{proposal_id}/accept"
)
_ARBITRATION: Operation[types.Arbitration] = Operation("read", "GET", "/v1/arbitrations/{arbitration_id}")
_ARBITRATIONS: Operation[types.Arbitrations] = Operation("read", "GET", "/v1/arbitrations")
_ARCHIVE_REFERENCE: Operation[types.WrittenReference] = Operation(
    "write", "POST", "/v1/references/{kind}/{key}/archive", once="idempotency_key"
)
_ATTEMPT_PROBLEM: Operation[types.WrittenProblem] = Operation(
    "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/attempt", once="idempotency_key"
)
_AUDIT: Operation[types.AuditPage] = Operation("read", "GET", "/v1/audit")
_CARD: Operation[types.Card] = Operation("read", "GET", "/v1/cards/{card_id}")
_CARD_HISTORY: Operation[types.CardHistory] = Operation("read", "GET", "/v1/cards/{card_id}/history")
_CARD_LATEST: Operation[types.LatestCard] = Operation("read", "GET", "/v1/cards/{card_id}/latest")
_CARD_MAP: Operation[types.CardMap] = Operation("read", "GET", "/v1/cards/map")
_CARD_NEIGHBOURHOOD: Operation[types.Neighbourhood] = Operation(
    "read", "GET", "/v1/cards/{card_id}/neighbourhood"
)
_CARD_RELATIONS: Operation[types.Relations] = Operation("read", "GET", "/v1/cards/{card_id}/relations")
_CARD_USE: Operation[types.CardUse] = Operation("read", "GET", "/v1/cards/use")
_CARDS: Operation[types.CardsPage] = Operation("read", "GET", "/v1/cards")
_CHANGE_REFERENCE: Operation[types.WrittenReference] = Operation(
    "write", "PATCH", "/v1/references/{kind}/{key}", once="idempotency_key", nulls=True
)
_CHANGE_REFERENCE_TIER: Operation[types.WrittenReference] = Operation(
    "write", "POST", "/v1/references/{kind}/{key}/tier", once="idempotency_key"
)
_CHANNELS: Operation[dict[str, types.ChannelHealth]] = Operation("read", "GET", "/v1/channels")
_CHECKPOINT: Operation[types.SessionCheckpoint] = Operation(
    "read", "GET", "/v1/sessions/{session_id}/checkpoint"
)
_CHERRY_PICK_MEMORY: Operation[types.MemoryChanged] = Operation(
    "write", "POST", "/v1/memory/{user_id}/cherry-pick", once="idempotency_key"
)
_CLOSE_PROBLEM: Operation[types.WrittenProblem] = Operation(
    "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/close", once="idempotency_key"
)
_CLOSE_THREAD: Operation[types.WrittenThread] = Operation(
    "write", "POST", "/v1/threads/{thread_id}/close", once="idempotency_key"
)
_CONCEPTS: Operation[types.CardsPage] = Operation("read", "GET", "/v1/concepts")
_CONTEXT: Operation[types.Prompt] = Operation("read", "POST", "/v1/context")
_CORRECT_CARD: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/cards/{card_id}/correct", once="idempotency_key"
)
_COUNT_CARDS: Operation[types.Groups] = Operation("read", "GET", "/v1/cards/aggregate")
_CREATE_CONCEPT: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/concepts", once="idempotency_key"
)
_CREATE_REFERENCE: Operation[types.WrittenReference] = Operation(
    "write", "POST", "/v1/references/{kind}", once="idempotency_key"
)
_CURATOR_RUNS: Operation[types.CuratorRunsPage] = Operation("read", "GET", "/v1/curator/runs")
_DEAD_LETTERS: Operation[types.DeadLetters] = Operation("write", "GET", "/v1/dead-letters")
_DECLARE_MODE: Operation[types.WrittenMode] = Operation("write", "PUT", "/v1/modes/{name}")
_DECLARE_PROJECT: Operation[types.WrittenProject] = Operation(
    "write", "PUT", "/v1/projects/{project_id}", nulls=True
)
_DECLARE_REFERENCE_KIND: Operation[types.DeclaredKind] = Operation(
    "write", "PUT", "/v1/reference-kinds/{kind}"
)
_DELETE_MODE: Operation[types.DeletedMode] = Operation("write", "DELETE", "/v1/modes/{name}")
_DISTINGUISH_PERSON: Operation[types.WrittenPerson] = Operation(
    "write", "POST", "/v1/people/{person_id}/distinct", once="idempotency_key"
)
_DROP_DEAD_LETTER: Operation[types.SettledLetter] = Operation(
    "write", "POST", "/v1/dead-letters/{letter_id}/drop"
)
_EDIT_CONCEPT: Operation[types.Accepted] = Operation(
    "write", "PATCH", "/v1/concepts/{concept_id}", once="idempotency_key"
)
_EPISODES: Operation[types.EpisodesPage] = Operation("read", "GET", "/v1/memory/{user_id}/episodes")
_ERASE_PERSON: Operation[types.Erasure] = Operation("write", "DELETE", "/v1/people/{name}")
_ERASE_TURN: Operation[types.Erasure] = Operation("write", "DELETE", "/v1/turns/{turn_id}")
_ERASE_USER: Operation[types.Erasure] = Operation("write", "DELETE", "/v1/users/{user_id}")
_ERASURE_RECEIPT: Operation[types.Erasure] = Operation("write", "GET", "/v1/erasures/{erasure_id}")
_GENERATIONS: Operation[types.Generations] = Operation("read", "GET", "/v1/generations")
_HOOK_CLAUDE_CODE: Operation[types.HookAnswer] = Operation("read", "POST", "/v1/hooks/claude-code")
_HOOK_CODEX: Operation[types.HookAnswer] = Operation("read", "POST", "/v1/hooks/codex")
_HOOK_GEMINI_CLI: Operation[types.HookAnswer] = Operation("read", "POST", "/v1/hooks/gemini-cli")
_INSIGHT: Operation[types.InsightSources] = Operation("read", "GET", "/v1/insights/{insight_id}")
_INSIGHTS: Operation[types.InsightsPage] = Operation("read", "GET", "/v1/insights")
_MEMORY: Operation[types.Memory] = Operation("read", "GET", "/v1/memory/{user_id}")
_MEMORY_CANDIDATES: Operation[types.MemoryCandidates] = Operation(
    "read", "GET", "/v1/memory/{user_id}/schema/candidates"
)
_MEMORY_DIFF: Operation[types.MemoryDiff] = Operation("read", "GET", "/v1/memory/{user_id}/diff")
_MEMORY_HISTORY: Operation[types.MemoryHistory] = Operation("read", "GET", "/v1/memory/{user_id}/history")
_MEMORY_QUEUE: Operation[types.MemoryQueue] = Operation("read", "GET", "/v1/memory/{user_id}/queue")
_MERGE_CONCEPT: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/concepts/{concept_id}/merge", once="idempotency_key"
)
_MERGE_PERSON: Operation[types.WrittenPerson] = Operation(
    "write", "POST", "/v1/people/{person_id}/merge", once="idempotency_key"
)
_MIGRATE_MEMORY: Operation[types.MemoryMigration] = Operation(
    "write", "POST", "/v1/memory/{user_id}/migrate", once="idempotency_key"
)
_MODES: Operation[types.Modes] = Operation("read", "GET", "/v1/modes")
_MOVE_REFERENCE: Operation[types.WrittenReference] = Operation(
    "write", "POST", "/v1/references/{kind}/{key}/move", once="idempotency_key"
)
_NAME_NEIGHBOURHOOD: Operation[types.Neighbourhood] = Operation("read", "GET", "/v1/neighbourhood")
_NOTE_PERSON: Operation[types.WrittenPerson] = Operation(
    "write", "POST", "/v1/people", once="idempotency_key"
)
_OPEN_PROBLEM: Operation[types.WrittenProblem] = Operation(
    "write", "POST", "/v1/memory/{user_id}/problems", once="idempotency_key"
)
_OPEN_THREAD: Operation[types.WrittenThread] = Operation(
    "write", "POST", "/v1/threads", once="idempotency_key"
)
_OPERATE: Operation[types.Operation] = Operation("write", "POST", "/v1/operations", once="idempotency_key")
_OPERATIONS: Operation[types.Operations] = Operation("read", "GET", "/v1/operations")
_PARKED: Operation[types.ParkedUsers] = Operation("read", "GET", "/v1/parked")
_PATCH_MEMORY: Operation[types.MemoryChanged] = Operation(
    "write", "POST", "/v1/memory/{user_id}/events", once="idempotency_key"
)
_PEOPLE: Operation[types.PeoplePage] = Operation("read", "GET", "/v1/people")
_PERSON: Operation[types.KnownPerson] = Operation("read", "GET", "/v1/people/{person_id}")
_PERSON_TIMELINE: Operation[types.PersonTimeline] = Operation(
    "read", "GET", "/v1/people/{person_id}/timeline"
)
_PIN_CONCEPT: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/concepts/{concept_id}/pin", once="idempotency_key"
)
_PRIORITIZE_PROBLEM: Operation[types.WrittenProblem] = Operation(
    "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/priority", once="idempotency_key"
)
_PROBLEM: Operation[types.ProblemHistory] = Operation(
    "read", "GET", "/v1/memory/{user_id}/problems/{problem_id}"
)
_PROBLEMS: Operation[types.ProblemsPage] = Operation("read", "GET", "/v1/memory/{user_id}/problems")
_PROMOTE_CATEGORY: Operation[types.MemoryPromoted] = Operation(
    "write", "POST", "/v1/memory/{user_id}/schema/promote", once="idempotency_key"
)
_PROPOSALS: Operation[types.ProposalsPage] = Operation("read", "GET", "/v1/proposals")
_RECALL: Operation[types.Answer] = Operation("read", "POST", "/v1/recall")
_RECALL_BATCH: Operation[types.Answers] = Operation("read", "POST", "/v1/recall/batch")
_RECLASSIFY_CARD: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/cards/{card_id}/mode", once="request_id"
)
_REEMBED_MODE: Operation[types.Reembedding] = Operation("write", "POST", "/v1/modes/{name}/reembed")
_REEMBEDDING_PROGRESS: Operation[types.ReembeddingProgress] = Operation(
    "read", "GET", "/v1/modes/{name}/reembed"
)
_REFERENCE: Operation[types.Reference] = Operation("read", "GET", "/v1/references/{kind}/{key}")
_REFERENCE_HISTORY: Operation[types.ReferenceHistory] = Operation(
    "read", "GET", "/v1/references/{kind}/{key}/history"
)
_REFERENCE_KINDS: Operation[types.ReferenceKinds] = Operation("read", "GET", "/v1/reference-kinds")
_REFERENCES: Operation[types.ReferencesPage] = Operation("read", "GET", "/v1/references")
_REFUSE_PATCH: Operation[types.MemoryChanged] = Operation(
    "write", "POST", "/v1/memory/{user_id}/queue/{queue_id}/refuse"
)
_REFUSE_PROPOSAL: Operation[types.RefusedProposal] = Operation(
    "write", "POST", "/v1/proposals/{proposal_id}/refuse"
)
_RELATE_CARDS: Operation[types.Accepted] = Operation("write", "POST", "/v1/relations")
_REMOVE_TEAM_MEMBER: Operation[types.Team] = Operation(
    "write", "DELETE", "/v1/teams/{team_id}/members/{member}"
)
_REMOVE_WEBHOOK: Operation[types.Webhook] = Operation(
    "write", "DELETE", "/v1/webhooks/{webhook_id}", once="idempotency_key"
)
_RENAME_MODE: Operation[types.WrittenMode] = Operation("write", "POST", "/v1/modes/{name}/rename")
_RENAME_THREAD: Operation[types.WrittenThread] = Operation(
    "write", "POST", "/v1/threads/{thread_id}/rename", once="idempotency_key"
)
_REOPEN_PROBLEM: Operation[types.WrittenProblem] = Operation(
    "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/reopen", once="idempotency_key"
)
_REOPEN_THREAD: Operation[types.WrittenThread] = Operation(
    "write", "POST", "/v1/threads/{thread_id}/reopen", once="idempotency_key"
)
_RESTORE_REFERENCE: Operation[types.WrittenReference] = Operation(
    "write", "POST", "/v1/references/{kind}/{key}/restore", once="idempotency_key"
)
_RETRACT_CARD: Operation[types.Accepted] = Operation("write", "POST", "/v1/cards/{card_id}/retract")
_RETRACT_INSIGHT: Operation[types.WrittenInsight] = Operation(
    "write", "POST", "/v1/insights/{insight_id}/retract", once="idempotency_key"
)
_RETRY_DEAD_LETTER: Operation[types.SettledLetter] = Operation(
    "write", "POST", "/v1/dead-letters/{letter_id}/retry"
)
_REVERT_CATEGORY: Operation[types.MemoryReverted] = Operation(
    "write", "POST", "/v1/memory/{user_id}/schema/revert", once="idempotency_key"
)
_ROLL_BACK_MEMORY: Operation[types.MemoryRolledBack] = Operation(
    "write", "POST", "/v1/memory/{user_id}/rollback", once="idempotency_key"
)
_RUN_CURATOR: Operation[types.WrittenCuratorRun] = Operation(
    "write", "POST", "/v1/curator/runs", once="idempotency_key"
)
_SAVE_CHECKPOINT: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/sessions/{session_id}/checkpoint", once="idempotency_key"
)
_SESSION_TURNS: Operation[types.TurnsPage] = Operation("read", "GET", "/v1/sessions/{session_id}/turns")
_SESSIONS: Operation[types.SessionsPage] = Operation("read", "GET", "/v1/sessions")
_SETTLE_ARBITRATION: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/arbitrations/{arbitration_id}/verdict"
)
_SPLIT_PERSON: Operation[types.WrittenPerson] = Operation(
    "write", "POST", "/v1/people/{person_id}/split", once="idempotency_key"
)
_STAGES: Operation[types.Stages] = Operation("write", "GET", "/v1/status")
_STATUS: Operation[types.Status] = Operation("read", "GET", "/v1/status")
_THREAD: Operation[types.ThreadCards] = Operation("read", "GET", "/v1/threads/{thread_id}")
_THREAD_CARDS: Operation[types.WrittenThread] = Operation(
    "write", "POST", "/v1/threads/{thread_id}/cards", once="idempotency_key"
)
_THREADS: Operation[types.ThreadsPage] = Operation("read", "GET", "/v1/threads")
_TURN: Operation[types.RecordedTurn] = Operation("read", "GET", "/v1/turns/{turn_id}")
_UNDO_RUN: Operation[types.WrittenCuratorRun] = Operation(
    "write", "POST", "/v1/curator/runs/{run_id}/undo", once="idempotency_key"
)
_USAGE: Operation[types.UsageGroups] = Operation("read", "GET", "/v1/usage")
_USERS: Operation[types.UsersPage] = Operation("read", "GET", "/v1/users")
_VERIFY_CARD: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/cards/{card_id}/verify", once="request_id"
)
_WEBHOOKS: Operation[types.WebhooksPage] = Operation("write", "GET", "/v1/webhooks")
_WITHDRAW_RELATION: Operation[types.Accepted] = Operation(
    "write", "POST", "/v1/relations/{relation_id}/withdraw"
)


class Operations:
    """The methods of :class:`~cardlog_client.client.Client`."""

    def _send(self, operation: Operation[T], named: Mapping[str, object], more: Mapping[str, object]) -> T:
        raise NotImplementedError

    def add_team_member(self, /, user_id: str, team_id: str, member: str) -> types.Team:
        """Add a member to a team; the first member adds oneself."""
        return self._send(_ADD_TEAM_MEMBER, {"user_id": user_id, "team_id": team_id, "member": member}, {})

    def add_webhook(
        self, /, user_id: str, url: str, types: Sequence[str], **more: object
    ) -> types.AddedWebhook:
        """Add a webhook. Other fields: idempotency_key."""
        return self._send(_ADD_WEBHOOK, {"user_id": user_id, "url": url, "types": types}, more)

    def alias_person(
        self, /, user_id: str, person_id: str, alias: str, **more: object
    ) -> types.WrittenPerson:
        """Give a person another name. Other fields: agent_id, turn_ids, kind, idempotency_key."""
        return self._send(_ALIAS_PERSON, {"user_id": user_id, "person_id": person_id, "alias": alias}, more)

    def approve_patch(self, /, user_id: str, queue_id: str, **more: object) -> types.MemoryChanged:
        """Apply a waiting patch. Other fields: rationale, agent_id, patch, reason, by."""
        return self._send(_APPROVE_PATCH, {"user_id": user_id, "queue_id": queue_id}, more)

    def approve_proposal(self, /, user_id: str, proposal_id: str) -> types.Reference | types.RetractedCard:
        """Apply an op that prose asked for."""
        return self._send(_APPROVE_PROPOSAL, {"user_id": user_id, "proposal_id": proposal_id}, {})

    def arbitration(self, /, user_id: str, arbitration_id: str, **more: object) -> types.Arbitration:
        """One conflict. Other fields: wait_for."""
        return self._send(_ARBITRATION, {"user_id": user_id, "arbitration_id": arbitration_id}, more)

    def arbitrations(self, /, user_id: str, **more: object) -> types.Arbitrations:
        """Conflicts that wait for a verdict. Other fields: wait_for, as_of, known_at, status, project_id, limit,
        cursor."""
        return self._send(_ARBITRATIONS, {"user_id": user_id}, more)

    def archive_reference(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.WrittenReference:
        """Put a reference away. Other fields: project_id, team_id, agent_id, reason, idempotency_key."""
        return self._send(_ARCHIVE_REFERENCE, {"user_id": user_id, "kind": kind, "key": key}, more)

    def attempt_problem(
        self, /, user_id: str, problem_id: str, approach: str, **more: object
    ) -> types.WrittenProblem:
        """Record what was tried against a problem. Other fields: agent_id, turn_ids, outcome, successful, date,
        idempotency_key."""
        return self._send(
            _ATTEMPT_PROBLEM, {"user_id": user_id, "problem_id": problem_id, "approach": approach}, more
        )

    def audit(self, /, user_id: str | None, **more: object) -> types.AuditPage:
        """Who read or changed whose memory. Other fields: key_id, operation, outcome, since, until, limit, cursor."""
        return self._send(_AUDIT, {"user_id": user_id}, more)

    def card(self, /, user_id: str, card_id: str, **more: object) -> types.Card:
        """One card. Other fields: wait_for, as_of, known_at."""
        return self._send(_CARD, {"user_id": user_id, "card_id": card_id}, more)

    def card_history(self, /, user_id: str, card_id: str, **more: object) -> types.CardHistory:
        """Every card about the same fact, in order of time. Other fields: wait_for, as_of, known_at."""
        return self._send(_CARD_HISTORY, {"user_id": user_id, "card_id": card_id}, more)

    def card_latest(self, /, user_id: str, card_id: str, **more: object) -> types.LatestCard:
        """The latest card of the card's chain of changes. Other fields: wait_for, as_of, known_at."""
        return self._send(_CARD_LATEST, {"user_id": user_id, "card_id": card_id}, more)

    def card_map(self, /, user_id: str, **more: object) -> types.CardMap:
        """The vectors of a slice of cards, in two dimensions. Other fields: wait_for, as_of, known_at, project_id,
        context_layer, kind, status, created_from, created_to, occurred_from, occurred_to, effective_from,
        effective_to, superseded_from, superseded_to, verified_from, verified_to, session_id, agent_id,
        document_id, metadata, turn_id, speaker, mode, concept_key, entity, value, cardinality, tag, topic,
        about, knowledge, provenance, min_confidence, max_confidence, min_weight, predicate, related_to,
        episode, min_importance, sentiment, pinned, recalled, collapse, limit."""
        return self._send(_CARD_MAP, {"user_id": user_id}, more)

    def card_neighbourhood(self, /, user_id: str, card_id: str, **more: object) -> types.Neighbourhood:
        """The cards around a card, two relations far. Other fields: wait_for, as_of, known_at, limit."""
        return self._send(_CARD_NEIGHBOURHOOD, {"user_id": user_id, "card_id": card_id}, more)

    def card_relations(self, /, user_id: str, card_id: str, **more: object) -> types.Relations:
        """The relations of the card, with reason and actor. Other fields: wait_for, as_of, known_at, predicate."""
        return self._send(_CARD_RELATIONS, {"user_id": user_id, "card_id": card_id}, more)

    def card_use(self, /, user_id: str, **more: object) -> types.CardUse:
        """The cards that answers held most often, and how many on each day. Other fields: wait_for, limit, days."""
        return self._send(_CARD_USE, {"user_id": user_id}, more)

    def cards(self, /, user_id: str, **more: object) -> types.CardsPage:
        """The cards of a slice, page by page, the latest recorded first. Other fields: wait_for, as_of, known_at,
        project_id, context_layer, kind, status, created_from, created_to, occurred_from, occurred_to,
        effective_from, effective_to, superseded_from, superseded_to, verified_from, verified_to, session_id,
        agent_id, document_id, metadata, turn_id, speaker, mode, concept_key, entity, value, cardinality, tag,
        topic, about, knowledge, provenance, min_confidence, max_confidence, min_weight, predicate,
        related_to, episode, min_importance, sentiment, pinned, recalled, collapse, limit, cursor."""
        return self._send(_CARDS, {"user_id": user_id}, more)

    def change_reference(
        self, user_id: str, kind: str, key: str, op: str, /, **more: object
    ) -> types.WrittenReference:
        """Apply an op to a reference. Other fields: project_id, team_id, agent_id, expected_version, turn_ids,
        idempotency_key."""
        return self._send(_CHANGE_REFERENCE, {"user_id": user_id, "kind": kind, "key": key, "op": op}, more)

    def change_reference_tier(
        self,
        /,
        user_id: str,
        kind: str,
        key: str,
        tier: Literal["pinned", "session", "archive"],
        **more: object,
    ) -> types.WrittenReference:
        """Move a reference to another tier. Other fields: project_id, team_id, agent_id, reason, idempotency_key."""
        return self._send(
            _CHANGE_REFERENCE_TIER, {"user_id": user_id, "kind": kind, "key": key, "tier": tier}, more
        )

    def channels(self, /) -> dict[str, types.ChannelHealth]:
        """The health of the recall channels in this process."""
        return self._send(_CHANNELS, {}, {})

    def checkpoint(self, /, user_id: str, session_id: str, **more: object) -> types.SessionCheckpoint:
        """The state of a session, as it was saved last. Other fields: project_id."""
        return self._send(_CHECKPOINT, {"user_id": user_id, "session_id": session_id}, more)

    def cherry_pick_memory(
        self, /, user_id: str, event_ids: Sequence[str], **more: object
    ) -> types.MemoryChanged:
        """Apply changes of the core document again that were left out. Other fields: rationale, agent_id, actor,
        idempotency_key."""
        return self._send(_CHERRY_PICK_MEMORY, {"user_id": user_id, "event_ids": event_ids}, more)

    def close_problem(self, /, user_id: str, problem_id: str, **more: object) -> types.WrittenProblem:
        """Close a problem. Other fields: agent_id, turn_ids, resolution, idempotency_key."""
        return self._send(_CLOSE_PROBLEM, {"user_id": user_id, "problem_id": problem_id}, more)

    def close_thread(self, /, user_id: str, thread_id: str, **more: object) -> types.WrittenThread:
        """Close a thread. Other fields: agent_id, reason, idempotency_key."""
        return self._send(_CLOSE_THREAD, {"user_id": user_id, "thread_id": thread_id}, more)

    def concepts(self, /, user_id: str, **more: object) -> types.CardsPage:
        """The concepts of a user, page by page, the latest recorded first. Other fields: wait_for, project_id,
        pinned, limit, cursor."""
        return self._send(_CONCEPTS, {"user_id": user_id}, more)

    def context(self, /, user_id: str, query: str, **more: object) -> types.Prompt:
        """Ask; get the cards as blocks of a prompt. Other fields: project_id, session_id, k, as_of, known_at,
        timezone, kinds, context_layer, only_layers, metadata, mode, modes, explain, wait_for, token_budget,
        paths."""
        return self._send(_CONTEXT, {"user_id": user_id, "query": query}, more)

    def correct_card(self, /, user_id: str, card_id: str, **more: object) -> types.Accepted:
        """Put a card with the right words in the place of a card that was never true. Other fields: reason, agent_id,
        value, content, idempotency_key."""
        return self._send(_CORRECT_CARD, {"user_id": user_id, "card_id": card_id}, more)

    def count_cards(self, /, user_id: str, group_by: Sequence[str], **more: object) -> types.Groups:
        """The number of cards of a slice, grouped by axes. Other fields: wait_for, as_of, known_at, project_id,
        context_layer, kind, status, created_from, created_to, occurred_from, occurred_to, effective_from,
        effective_to, superseded_from, superseded_to, verified_from, verified_to, session_id, agent_id,
        document_id, metadata, turn_id, speaker, mode, concept_key, entity, value, cardinality, tag, topic,
        about, knowledge, provenance, min_confidence, max_confidence, min_weight, predicate, related_to,
        episode, min_importance, sentiment, pinned, recalled, collapse, bucket, timezone."""
        return self._send(_COUNT_CARDS, {"user_id": user_id, "group_by": group_by}, more)

    def create_concept(self, /, user_id: str, title: str, definition: str, **more: object) -> types.Accepted:
        """Create a concept. Other fields: agent_id, aliases, related, project_id, mode, idempotency_key."""
        return self._send(
            _CREATE_CONCEPT, {"user_id": user_id, "title": title, "definition": definition}, more
        )

    def create_reference(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.WrittenReference:
        """Create a reference. Other fields: project_id, team_id, agent_id, data, tier, idempotency_key."""
        return self._send(_CREATE_REFERENCE, {"user_id": user_id, "kind": kind, "key": key}, more)

    def curator_runs(self, /, user_id: str, **more: object) -> types.CuratorRunsPage:
        """What the curator added to a user's memory, the last run first. Other fields: limit."""
        return self._send(_CURATOR_RUNS, {"user_id": user_id}, more)

    def dead_letters(self, /, **more: object) -> types.DeadLetters:
        """The turns that broke the contract, the oldest first. Other fields: limit."""
        return self._send(_DEAD_LETTERS, {}, more)

    def declare_mode(self, /, user_id: str, name: str, **more: object) -> types.WrittenMode:
        """Declare a mode, or declare it anew. Other fields: project_id, embedder, description, default_decay,
        prompt_overrides, is_default."""
        return self._send(_DECLARE_MODE, {"user_id": user_id, "name": name}, more)

    def declare_project(self, /, user_id: str, project_id: str, **more: object) -> types.WrittenProject:
        """Set the default mode and the description of a project. Other fields: default_mode, description."""
        return self._send(_DECLARE_PROJECT, {"user_id": user_id, "project_id": project_id}, more)

    def declare_reference_kind(
        self, /, kind: str, schema: Mapping[str, object], **more: object
    ) -> types.DeclaredKind:
        """Declare a kind of the tenant. Other fields: initial, description."""
        return self._send(_DECLARE_REFERENCE_KIND, {"kind": kind, "schema": schema}, more)

    def delete_mode(self, /, user_id: str, name: str, **more: object) -> types.DeletedMode:
        """Delete a mode; its cards stay and belong to the general mode. Other fields: project_id."""
        return self._send(_DELETE_MODE, {"user_id": user_id, "name": name}, more)

    def distinguish_person(
        self, /, user_id: str, person_id: str, other_id: str, **more: object
    ) -> types.WrittenPerson:
        """Say that two people are two, for ever. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        return self._send(
            _DISTINGUISH_PERSON, {"user_id": user_id, "person_id": person_id, "other_id": other_id}, more
        )

    def drop_dead_letter(self, /, letter_id: str, because: str) -> types.SettledLetter:
        """Drop a dead letter, with the reason."""
        return self._send(_DROP_DEAD_LETTER, {"letter_id": letter_id, "because": because}, {})

    def edit_concept(self, /, user_id: str, concept_id: str, **more: object) -> types.Accepted:
        """Edit a concept, or rename it. Other fields: agent_id, title, definition, aliases, related,
        idempotency_key."""
        return self._send(_EDIT_CONCEPT, {"user_id": user_id, "concept_id": concept_id}, more)

    def episodes(self, /, user_id: str, **more: object) -> types.EpisodesPage:
        """The episodes about topics and places of the core document. Other fields: topics, paths, k, project_id."""
        return self._send(_EPISODES, {"user_id": user_id}, more)

    def erase_person(self, /, user_id: str | None, name: str, **more: object) -> types.Erasure:
        """Erase a person who is spoken of: every turn that names the person, and everything made of it. Other fields:
        alias, dry_run."""
        return self._send(_ERASE_PERSON, {"user_id": user_id, "name": name}, more)

    def erase_turn(self, /, user_id: str, turn_id: str, **more: object) -> types.Erasure:
        """Erase one turn, and everything that was made of it. Other fields: dry_run."""
        return self._send(_ERASE_TURN, {"user_id": user_id, "turn_id": turn_id}, more)

    def erase_user(self, /, user_id: str, **more: object) -> types.Erasure:
        """Erase a user: every word, and everything that was made of them. Other fields: dry_run."""
        return self._send(_ERASE_USER, {"user_id": user_id}, more)

    def erasure_receipt(self, /, erasure_id: str) -> types.Erasure:
        """The receipt of an erasure, as of now."""
        return self._send(_ERASURE_RECEIPT, {"erasure_id": erasure_id}, {})

    def generations(self, /) -> types.Generations:
        """The generations of every projection, with their progress."""
        return self._send(_GENERATIONS, {}, {})

    def hook_claude_code(
        self, /, user_id: str, hook_event_name: str, session_id: str, **more: object
    ) -> types.HookAnswer:
        """Answer an event of a hook of claude-code, and keep its turns. Other fields: project_id, timezone, prompt,
        last_assistant_message, prompt_response, messages, timestamp."""
        return self._send(
            _HOOK_CLAUDE_CODE,
            {"user_id": user_id, "hook_event_name": hook_event_name, "session_id": session_id},
            more,
        )

    def hook_codex(
        self, /, user_id: str, hook_event_name: str, session_id: str, **more: object
    ) -> types.HookAnswer:
        """Answer an event of a hook of codex, and keep its turns. Other fields: project_id, timezone, prompt,
        last_assistant_message, prompt_response, messages, timestamp."""
        return self._send(
            _HOOK_CODEX,
            {"user_id": user_id, "hook_event_name": hook_event_name, "session_id": session_id},
            more,
        )

    def hook_gemini_cli(
        self, /, user_id: str, hook_event_name: str, session_id: str, **more: object
    ) -> types.HookAnswer:
        """Answer an event of a hook of gemini-cli, and keep its turns. Other fields: project_id, timezone, prompt,
        last_assistant_message, prompt_response, messages, timestamp."""
        return self._send(
            _HOOK_GEMINI_CLI,
            {"user_id": user_id, "hook_event_name": hook_event_name, "session_id": session_id},
            more,
        )

    def insight(self, /, user_id: str, insight_id: str, **more: object) -> types.InsightSources:
        """One insight with its sources. Other fields: wait_for."""
        return self._send(_INSIGHT, {"user_id": user_id, "insight_id": insight_id}, more)

    def insights(self, /, user_id: str, **more: object) -> types.InsightsPage:
        """What the curator concluded of a user, the last first. Other fields: wait_for, status, project_id, limit,
        cursor."""
        return self._send(_INSIGHTS, {"user_id": user_id}, more)

    def memory(self, /, user_id: str, **more: object) -> types.Memory:
        """The core document, now or then. Other fields: version, as_of, known_at, paths, explain."""
        return self._send(_MEMORY, {"user_id": user_id}, more)

    def memory_candidates(self, /, user_id: str) -> types.MemoryCandidates:
        """Topics of the core document that may become categories."""
        return self._send(_MEMORY_CANDIDATES, {"user_id": user_id}, {})

    def memory_diff(self, /, user_id: str, from_: int, **more: object) -> types.MemoryDiff:
        """What differs between two versions of the core document. Other fields: to."""
        return self._send(_MEMORY_DIFF, {"user_id": user_id, "from": from_}, more)

    def memory_history(self, /, user_id: str, **more: object) -> types.MemoryHistory:
        """Every change of the core document, the latest first. Other fields: limit, cursor."""
        return self._send(_MEMORY_HISTORY, {"user_id": user_id}, more)

    def memory_queue(self, /, user_id: str, **more: object) -> types.MemoryQueue:
        """Patches of the core document that wait for an answer. Other fields: status."""
        return self._send(_MEMORY_QUEUE, {"user_id": user_id}, more)

    def merge_concept(
        self, /, user_id: str, concept_id: str, into: str, reason: str, **more: object
    ) -> types.Accepted:
        """Merge a concept into another one. Other fields: agent_id, idempotency_key."""
        return self._send(
            _MERGE_CONCEPT,
            {"user_id": user_id, "concept_id": concept_id, "into": into, "reason": reason},
            more,
        )

    def merge_person(
        self, /, user_id: str, person_id: str, into_id: str, **more: object
    ) -> types.WrittenPerson:
        """Say that two people are one. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        return self._send(
            _MERGE_PERSON, {"user_id": user_id, "person_id": person_id, "into_id": into_id}, more
        )

    def migrate_memory(self, /, user_id: str, **more: object) -> types.MemoryMigration:
        """Migrate the memory of another system. Other fields: text, messages, format, source, said_at, user_name,
        timezone, apply_from, dry_run, wait_s, idempotency_key."""
        return self._send(_MIGRATE_MEMORY, {"user_id": user_id}, more)

    def modes(self, /, user_id: str, **more: object) -> types.Modes:
        """The modes of a user. Other fields: project_id."""
        return self._send(_MODES, {"user_id": user_id}, more)

    def move_reference(self, /, user_id: str, kind: str, key: str, **more: object) -> types.WrittenReference:
        """Give a reference another scope. Other fields: project_id, team_id, agent_id, to_project_id, to_team_id,
        idempotency_key."""
        return self._send(_MOVE_REFERENCE, {"user_id": user_id, "kind": kind, "key": key}, more)

    def name_neighbourhood(self, /, user_id: str, about: str, **more: object) -> types.Neighbourhood:
        """The cards that mention a name, and those one relation away. Other fields: wait_for, as_of, known_at,
        limit."""
        return self._send(_NAME_NEIGHBOURHOOD, {"user_id": user_id, "about": about}, more)

    def note_person(self, /, user_id: str, name: str, **more: object) -> types.WrittenPerson:
        """Note a person. Other fields: agent_id, turn_ids, kinship, idempotency_key."""
        return self._send(_NOTE_PERSON, {"user_id": user_id, "name": name}, more)

    def open_problem(self, /, user_id: str, description: str, **more: object) -> types.WrittenProblem:
        """Open a problem. Other fields: agent_id, turn_ids, priority, since, project_id, mode, idempotency_key."""
        return self._send(_OPEN_PROBLEM, {"user_id": user_id, "description": description}, more)

    def open_thread(self, /, user_id: str, title: str, **more: object) -> types.WrittenThread:
        """Open a thread. Other fields: agent_id, project_id, mode, reason, idempotency_key."""
        return self._send(_OPEN_THREAD, {"user_id": user_id, "title": title}, more)

    def operate(
        self,
        /,
        user_id: str | None,
        action: Literal["rebuild", "swap", "drop_generation", "retry_parked", "drop_parked"],
        projection: Literal["cards", "vectors", "references", "problems", "people", "core"],
        **more: object,
    ) -> types.Operation:
        """Ask the workers for a rebuild, a swap, a retry or a drop. Other fields: generation, verify, event_id,
        because, idempotency_key."""
        return self._send(_OPERATE, {"user_id": user_id, "action": action, "projection": projection}, more)

    def operations(self, /, **more: object) -> types.Operations:
        """What operators asked the workers to do, with the progress. Other fields: limit."""
        return self._send(_OPERATIONS, {}, more)

    def parked(self, /, **more: object) -> types.ParkedUsers:
        """The users who wait for a projection. Other fields: limit."""
        return self._send(_PARKED, {}, more)

    def patch_memory(
        self,
        /,
        user_id: str,
        patch: Sequence[object],
        actor: Literal["user", "agent", "system"],
        **more: object,
    ) -> types.MemoryChanged:
        """Patch the core document. Other fields: rationale, agent_id, source, confidence, id, expected_version,
        turn_ids, idempotency_key."""
        return self._send(_PATCH_MEMORY, {"user_id": user_id, "patch": patch, "actor": actor}, more)

    def people(self, /, user_id: str, **more: object) -> types.PeoplePage:
        """The people of a user, and who may be whom. Other fields: wait_for, name, limit."""
        return self._send(_PEOPLE, {"user_id": user_id}, more)

    def person(self, /, user_id: str, person_id: str, **more: object) -> types.KnownPerson:
        """One person: who, since when, and what is true now. Other fields: wait_for."""
        return self._send(_PERSON, {"user_id": user_id, "person_id": person_id}, more)

    def person_timeline(self, /, user_id: str, person_id: str, **more: object) -> types.PersonTimeline:
        """The cards that name a person, the last said first. Other fields: wait_for, limit."""
        return self._send(_PERSON_TIMELINE, {"user_id": user_id, "person_id": person_id}, more)

    def pin_concept(self, /, user_id: str, concept_id: str, **more: object) -> types.Accepted:
        """Put a concept into every prompt, or no longer. Other fields: agent_id, pinned, idempotency_key."""
        return self._send(_PIN_CONCEPT, {"user_id": user_id, "concept_id": concept_id}, more)

    def prioritize_problem(
        self, /, user_id: str, problem_id: str, priority: int, **more: object
    ) -> types.WrittenProblem:
        """Give a problem another priority. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        return self._send(
            _PRIORITIZE_PROBLEM, {"user_id": user_id, "problem_id": problem_id, "priority": priority}, more
        )

    def problem(self, /, user_id: str, problem_id: str, **more: object) -> types.ProblemHistory:
        """One problem with its history. Other fields: as_of, known_at."""
        return self._send(_PROBLEM, {"user_id": user_id, "problem_id": problem_id}, more)

    def problems(self, /, user_id: str, **more: object) -> types.ProblemsPage:
        """The problems of a user. Other fields: as_of, known_at, status, project_id, limit."""
        return self._send(_PROBLEMS, {"user_id": user_id}, more)

    def promote_category(self, /, user_id: str, candidate: str, **more: object) -> types.MemoryPromoted:
        """Make a category of a topic that recurs in the core document. Other fields: rationale, agent_id,
        proposed_name, members, actor, dry_run, idempotency_key."""
        return self._send(_PROMOTE_CATEGORY, {"user_id": user_id, "candidate": candidate}, more)

    def proposals(self, /, user_id: str, **more: object) -> types.ProposalsPage:
        """Ops that prose asked for. Other fields: status, limit, cursor."""
        return self._send(_PROPOSALS, {"user_id": user_id}, more)

    def recall(self, /, user_id: str, query: str, **more: object) -> types.Answer:
        """Ask; get the few cards that matter. Other fields: project_id, session_id, k, as_of, known_at, timezone,
        kinds, context_layer, only_layers, metadata, mode, modes, explain, wait_for."""
        return self._send(_RECALL, {"user_id": user_id, "query": query}, more)

    def recall_batch(self, /, questions: Sequence[Mapping[str, object]]) -> types.Answers:
        """Ask several questions; get their answers in order."""
        return self._send(_RECALL_BATCH, {"questions": questions}, {})

    def reclassify_card(self, /, user_id: str, card_id: str, mode: str, **more: object) -> types.Accepted:
        """Give a card another mode. Other fields: by, reason, request_id."""
        return self._send(_RECLASSIFY_CARD, {"user_id": user_id, "card_id": card_id, "mode": mode}, more)

    def reembed_mode(self, /, user_id: str | None, name: str, **more: object) -> types.Reembedding:
        """Embed the earlier cards of a mode again, with its present model. Other fields: project_id, dry_run."""
        return self._send(_REEMBED_MODE, {"user_id": user_id, "name": name}, more)

    def reembedding_progress(
        self, /, user_id: str | None, name: str, **more: object
    ) -> types.ReembeddingProgress:
        """The progress of a re-embedding. Other fields: project_id."""
        return self._send(_REEMBEDDING_PROGRESS, {"user_id": user_id, "name": name}, more)

    def reference(self, /, user_id: str, kind: str, key: str, **more: object) -> types.Reference:
        """One reference, now or then. Other fields: project_id, team_id, as_of, version."""
        return self._send(_REFERENCE, {"user_id": user_id, "kind": kind, "key": key}, more)

    def reference_history(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.ReferenceHistory:
        """Every op of a reference, the latest first. Other fields: project_id, team_id, values, limit, cursor."""
        return self._send(_REFERENCE_HISTORY, {"user_id": user_id, "kind": kind, "key": key}, more)

    def reference_kinds(self, /) -> types.ReferenceKinds:
        """The kinds of references, with their ops and schemas."""
        return self._send(_REFERENCE_KINDS, {}, {})

    def references(self, /, user_id: str, **more: object) -> types.ReferencesPage:
        """The references of a user and the user's teams. Other fields: kind, tier, project_id, team_id, archived,
        limit, cursor."""
        return self._send(_REFERENCES, {"user_id": user_id}, more)

    def refuse_patch(self, /, user_id: str, queue_id: str, **more: object) -> types.MemoryChanged:
        """Refuse a waiting patch. Other fields: rationale, agent_id, reason, by."""
        return self._send(_REFUSE_PATCH, {"user_id": user_id, "queue_id": queue_id}, more)

    def refuse_proposal(self, /, user_id: str, proposal_id: str, **more: object) -> types.RefusedProposal:
        """Refuse an op that prose asked for. Other fields: reason."""
        return self._send(_REFUSE_PROPOSAL, {"user_id": user_id, "proposal_id": proposal_id}, more)

    def relate_cards(
        self,
        /,
        user_id: str,
        from_card: str,
        to_card: str,
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
        ],
        reason: str,
        **more: object,
    ) -> types.Accepted:
        """Relate two cards; additive, nothing is changed or lost. Other fields: confidence, agent_id."""
        return self._send(
            _RELATE_CARDS,
            {
                "user_id": user_id,
                "from_card": from_card,
                "to_card": to_card,
                "predicate": predicate,
                "reason": reason,
            },
            more,
        )

    def remove_team_member(self, /, user_id: str, team_id: str, member: str) -> types.Team:
        """Remove a member from a team."""
        return self._send(_REMOVE_TEAM_MEMBER, {"user_id": user_id, "team_id": team_id, "member": member}, {})

    def remove_webhook(self, /, user_id: str, webhook_id: str, **more: object) -> types.Webhook:
        """Remove a webhook, and drop its messages. Other fields: idempotency_key."""
        return self._send(_REMOVE_WEBHOOK, {"user_id": user_id, "webhook_id": webhook_id}, more)

    def rename_mode(self, /, user_id: str, name: str, new_name: str, **more: object) -> types.WrittenMode:
        """Give a mode another name; its cards stay its cards. Other fields: project_id."""
        return self._send(_RENAME_MODE, {"user_id": user_id, "name": name, "new_name": new_name}, more)

    def rename_thread(
        self, /, user_id: str, thread_id: str, title: str, **more: object
    ) -> types.WrittenThread:
        """Give a thread another title. Other fields: agent_id, idempotency_key."""
        return self._send(_RENAME_THREAD, {"user_id": user_id, "thread_id": thread_id, "title": title}, more)

    def reopen_problem(self, /, user_id: str, problem_id: str, **more: object) -> types.WrittenProblem:
        """Open a closed problem again. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        return self._send(_REOPEN_PROBLEM, {"user_id": user_id, "problem_id": problem_id}, more)

    def reopen_thread(self, /, user_id: str, thread_id: str, **more: object) -> types.WrittenThread:
        """Open a closed thread again. Other fields: agent_id, reason, idempotency_key."""
        return self._send(_REOPEN_THREAD, {"user_id": user_id, "thread_id": thread_id}, more)

    def restore_reference(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.WrittenReference:
        """Bring back a version of a reference. Other fields: project_id, team_id, agent_id, version,
        idempotency_key."""
        return self._send(_RESTORE_REFERENCE, {"user_id": user_id, "kind": kind, "key": key}, more)

    def retract_card(self, /, user_id: str, card_id: str, **more: object) -> types.Accepted:
        """Mark a card as never true, until that is withdrawn. Other fields: reason, agent_id."""
        return self._send(_RETRACT_CARD, {"user_id": user_id, "card_id": card_id}, more)

    def retract_insight(
        self, /, user_id: str, insight_id: str, reason: str, **more: object
    ) -> types.WrittenInsight:
        """Retract an insight, so it is not derived again. Other fields: idempotency_key."""
        return self._send(
            _RETRACT_INSIGHT, {"user_id": user_id, "insight_id": insight_id, "reason": reason}, more
        )

    def retry_dead_letter(self, /, letter_id: str, **more: object) -> types.SettledLetter:
        """Push a dead letter again, corrected or unchanged. Other fields: changes, without."""
        return self._send(_RETRY_DEAD_LETTER, {"letter_id": letter_id}, more)

    def revert_category(self, /, user_id: str, category: str, **more: object) -> types.MemoryReverted:
        """Take a promoted category of the core document back. Other fields: rationale, agent_id, actor,
        idempotency_key."""
        return self._send(_REVERT_CATEGORY, {"user_id": user_id, "category": category}, more)

    def roll_back_memory(self, /, user_id: str, **more: object) -> types.MemoryRolledBack:
        """Leave events out of the core document. Other fields: rationale, agent_id, event_ids, to_version, actor,
        dry_run, idempotency_key."""
        return self._send(_ROLL_BACK_MEMORY, {"user_id": user_id}, more)

    def run_curator(self, /, user_id: str, **more: object) -> types.WrittenCuratorRun:
        """Curate the memory of a user now. Other fields: dry_run, idempotency_key."""
        return self._send(_RUN_CURATOR, {"user_id": user_id}, more)

    def save_checkpoint(
        self, /, user_id: str, session_id: str, state: Mapping[str, object], **more: object
    ) -> types.Accepted:
        """Save the state of a session. Other fields: project_id, agent_id, idempotency_key."""
        return self._send(
            _SAVE_CHECKPOINT, {"user_id": user_id, "session_id": session_id, "state": state}, more
        )

    def session_turns(self, /, user_id: str, session_id: str, **more: object) -> types.TurnsPage:
        """The turns of a session, the latest first. Other fields: limit, cursor, project_id."""
        return self._send(_SESSION_TURNS, {"user_id": user_id, "session_id": session_id}, more)

    def sessions(self, /, user_id: str, **more: object) -> types.SessionsPage:
        """The sessions of a user, the latest spoken in first. Other fields: limit, cursor, project_id."""
        return self._send(_SESSIONS, {"user_id": user_id}, more)

    def settle_arbitration(
        self,
        /,
        user_id: str,
        arbitration_id: str,
        verdict: Literal["keep_old", "accept_new", "coexist"],
        **more: object,
    ) -> types.Accepted:
        """Settle a conflict. Other fields: reason, by."""
        return self._send(
            _SETTLE_ARBITRATION,
            {"user_id": user_id, "arbitration_id": arbitration_id, "verdict": verdict},
            more,
        )

    def split_person(
        self, /, user_id: str, person_id: str, from_id: str, **more: object
    ) -> types.WrittenPerson:
        """Take back a merge. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        return self._send(
            _SPLIT_PERSON, {"user_id": user_id, "person_id": person_id, "from_id": from_id}, more
        )

    def stages(self, /) -> types.Stages:
        """The health and the lag of every stage."""
        return self._send(_STAGES, {}, {})

    def status(self, /) -> types.Status:
        """The health and the lag of every stage."""
        return self._send(_STATUS, {}, {})

    def thread(self, /, user_id: str, thread_id: str, **more: object) -> types.ThreadCards:
        """One thread with its cards. Other fields: wait_for."""
        return self._send(_THREAD, {"user_id": user_id, "thread_id": thread_id}, more)

    def thread_cards(
        self, /, user_id: str, thread_id: str, card_ids: Sequence[str], reason: str, **more: object
    ) -> types.WrittenThread:
        """Add cards to a thread. Other fields: agent_id, confidence, idempotency_key."""
        return self._send(
            _THREAD_CARDS,
            {"user_id": user_id, "thread_id": thread_id, "card_ids": card_ids, "reason": reason},
            more,
        )

    def threads(self, /, user_id: str, **more: object) -> types.ThreadsPage:
        """The threads of a user, open ones first. Other fields: wait_for, status, project_id, limit."""
        return self._send(_THREADS, {"user_id": user_id}, more)

    def turn(self, /, user_id: str, turn_id: str) -> types.RecordedTurn:
        """One turn, as it was recorded."""
        return self._send(_TURN, {"user_id": user_id, "turn_id": turn_id}, {})

    def undo_run(self, /, user_id: str, run_id: str, reason: str, **more: object) -> types.WrittenCuratorRun:
        """Take back what a run of the curator added. Other fields: idempotency_key."""
        return self._send(_UNDO_RUN, {"user_id": user_id, "run_id": run_id, "reason": reason}, more)

    def usage(self, /, user_id: str | None, **more: object) -> types.UsageGroups:
        """Calls, tokens and cost of models, by day, operation and user. Other fields: since, until, group_by,
        limit."""
        return self._send(_USAGE, {"user_id": user_id}, more)

    def users(self, /, **more: object) -> types.UsersPage:
        """The users of the tenant, in order. Other fields: after, limit."""
        return self._send(_USERS, {}, more)

    def verify_card(self, /, user_id: str, card_id: str, **more: object) -> types.Accepted:
        """Confirm that a card is still right. Other fields: by, note, verified_at, request_id."""
        return self._send(_VERIFY_CARD, {"user_id": user_id, "card_id": card_id}, more)

    def webhooks(self, /, user_id: str) -> types.WebhooksPage:
        """The webhooks of a user, with the messages that wait or are dead."""
        return self._send(_WEBHOOKS, {"user_id": user_id}, {})

    def withdraw_relation(
        self, /, user_id: str, relation_id: str, reason: str, **more: object
    ) -> types.Accepted:
        """Take a relation back, or a withdrawal; both stay in the log. Other fields: agent_id."""
        return self._send(
            _WITHDRAW_RELATION, {"user_id": user_id, "relation_id": relation_id, "reason": reason}, more
        )


def _awaited(
    method: Callable[Concatenate[Operations, P], T],
) -> Callable[Concatenate[AsyncOperations, P], Coroutine[Any, Any, T]]:
    """Returns the method itself. It returns what ``_send`` returns, and that of an asynchronous client is awaited."""
    return method  # type: ignore[return-value] # the type of ``_send`` is not a part of the type of a method


class AsyncOperations:
    """The methods of :class:`~cardlog_client.client.AsyncClient`: those of :class:`Operations` as coroutines."""

    async def _send(
        self, operation: Operation[T], named: Mapping[str, object], more: Mapping[str, object]
    ) -> T:
        raise NotImplementedError

    add_team_member = _awaited(Operations.add_team_member)
    add_webhook = _awaited(Operations.add_webhook)
    alias_person = _awaited(Operations.alias_person)
    approve_patch = _awaited(Operations.approve_patch)
    approve_proposal = _awaited(Operations.approve_proposal)
    arbitration = _awaited(Operations.arbitration)
    arbitrations = _awaited(Operations.arbitrations)
    archive_reference = _awaited(Operations.archive_reference)
    attempt_problem = _awaited(Operations.attempt_problem)
    audit = _awaited(Operations.audit)
    card = _awaited(Operations.card)
    card_history = _awaited(Operations.card_history)
    card_latest = _awaited(Operations.card_latest)
    card_map = _awaited(Operations.card_map)
    card_neighbourhood = _awaited(Operations.card_neighbourhood)
    card_relations = _awaited(Operations.card_relations)
    card_use = _awaited(Operations.card_use)
    cards = _awaited(Operations.cards)
    change_reference = _awaited(Operations.change_reference)
    change_reference_tier = _awaited(Operations.change_reference_tier)
    channels = _awaited(Operations.channels)
    checkpoint = _awaited(Operations.checkpoint)
    cherry_pick_memory = _awaited(Operations.cherry_pick_memory)
    close_problem = _awaited(Operations.close_problem)
    close_thread = _awaited(Operations.close_thread)
    concepts = _awaited(Operations.concepts)
    context = _awaited(Operations.context)
    correct_card = _awaited(Operations.correct_card)
    count_cards = _awaited(Operations.count_cards)
    create_concept = _awaited(Operations.create_concept)
    create_reference = _awaited(Operations.create_reference)
    curator_runs = _awaited(Operations.curator_runs)
    dead_letters = _awaited(Operations.dead_letters)
    declare_mode = _awaited(Operations.declare_mode)
    declare_project = _awaited(Operations.declare_project)
    declare_reference_kind = _awaited(Operations.declare_reference_kind)
    delete_mode = _awaited(Operations.delete_mode)
    distinguish_person = _awaited(Operations.distinguish_person)
    drop_dead_letter = _awaited(Operations.drop_dead_letter)
    edit_concept = _awaited(Operations.edit_concept)
    episodes = _awaited(Operations.episodes)
    erase_person = _awaited(Operations.erase_person)
    erase_turn = _awaited(Operations.erase_turn)
    erase_user = _awaited(Operations.erase_user)
    erasure_receipt = _awaited(Operations.erasure_receipt)
    generations = _awaited(Operations.generations)
    hook_claude_code = _awaited(Operations.hook_claude_code)
    hook_codex = _awaited(Operations.hook_codex)
    hook_gemini_cli = _awaited(Operations.hook_gemini_cli)
    insight = _awaited(Operations.insight)
    insights = _awaited(Operations.insights)
    memory = _awaited(Operations.memory)
    memory_candidates = _awaited(Operations.memory_candidates)
    memory_diff = _awaited(Operations.memory_diff)
    memory_history = _awaited(Operations.memory_history)
    memory_queue = _awaited(Operations.memory_queue)
    merge_concept = _awaited(Operations.merge_concept)
    merge_person = _awaited(Operations.merge_person)
    migrate_memory = _awaited(Operations.migrate_memory)
    modes = _awaited(Operations.modes)
    move_reference = _awaited(Operations.move_reference)
    name_neighbourhood = _awaited(Operations.name_neighbourhood)
    note_person = _awaited(Operations.note_person)
    open_problem = _awaited(Operations.open_problem)
    open_thread = _awaited(Operations.open_thread)
    operate = _awaited(Operations.operate)
    operations = _awaited(Operations.operations)
    parked = _awaited(Operations.parked)
    patch_memory = _awaited(Operations.patch_memory)
    people = _awaited(Operations.people)
    person = _awaited(Operations.person)
    person_timeline = _awaited(Operations.person_timeline)
    pin_concept = _awaited(Operations.pin_concept)
    prioritize_problem = _awaited(Operations.prioritize_problem)
    problem = _awaited(Operations.problem)
    problems = _awaited(Operations.problems)
    promote_category = _awaited(Operations.promote_category)
    proposals = _awaited(Operations.proposals)
    recall = _awaited(Operations.recall)
    recall_batch = _awaited(Operations.recall_batch)
    reclassify_card = _awaited(Operations.reclassify_card)
    reembed_mode = _awaited(Operations.reembed_mode)
    reembedding_progress = _awaited(Operations.reembedding_progress)
    reference = _awaited(Operations.reference)
    reference_history = _awaited(Operations.reference_history)
    reference_kinds = _awaited(Operations.reference_kinds)
    references = _awaited(Operations.references)
    refuse_patch = _awaited(Operations.refuse_patch)
    refuse_proposal = _awaited(Operations.refuse_proposal)
    relate_cards = _awaited(Operations.relate_cards)
    remove_team_member = _awaited(Operations.remove_team_member)
    remove_webhook = _awaited(Operations.remove_webhook)
    rename_mode = _awaited(Operations.rename_mode)
    rename_thread = _awaited(Operations.rename_thread)
    reopen_problem = _awaited(Operations.reopen_problem)
    reopen_thread = _awaited(Operations.reopen_thread)
    restore_reference = _awaited(Operations.restore_reference)
    retract_card = _awaited(Operations.retract_card)
    retract_insight = _awaited(Operations.retract_insight)
    retry_dead_letter = _awaited(Operations.retry_dead_letter)
    revert_category = _awaited(Operations.revert_category)
    roll_back_memory = _awaited(Operations.roll_back_memory)
    run_curator = _awaited(Operations.run_curator)
    save_checkpoint = _awaited(Operations.save_checkpoint)
    session_turns = _awaited(Operations.session_turns)
    sessions = _awaited(Operations.sessions)
    settle_arbitration = _awaited(Operations.settle_arbitration)
    split_person = _awaited(Operations.split_person)
    stages = _awaited(Operations.stages)
    status = _awaited(Operations.status)
    thread = _awaited(Operations.thread)
    thread_cards = _awaited(Operations.thread_cards)
    threads = _awaited(Operations.threads)
    turn = _awaited(Operations.turn)
    undo_run = _awaited(Operations.undo_run)
    usage = _awaited(Operations.usage)
    users = _awaited(Operations.users)
    verify_card = _awaited(Operations.verify_card)
    webhooks = _awaited(Operations.webhooks)
    withdraw_relation = _awaited(Operations.withdraw_relation)
