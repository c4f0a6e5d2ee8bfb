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


class Operations:
    """The methods of :class:`~cardlog_client.client.Client`."""

    def _send(self, operation: Operation[T], named: Mapping[str, object], more: Mapping[str, object]) -> T:
        raise NotImplementedError

    def add_team_member(self, /, user_id: str, team_id: str, member: str) -> types.Team:
        """Add a member to a team; the first member adds oneself."""
        named = {"user_id": user_id, "team_id": team_id, "member": member}
        return self._send(Operation("write", "PUT", "/v1/teams/{team_id}/members/{member}"), named, {})

    def add_webhook(
        self, /, user_id: str, url: str, types: Sequence[str], **more: object
    ) -> types.AddedWebhook:
        """Add a webhook. Other fields: idempotency_key."""
        named = {"user_id": user_id, "url": url, "types": types}
        return self._send(Operation("write", "POST", "/v1/webhooks", once="idempotency_key"), named, more)

    def alias_person(
        self, /, user_id: str, person_id: str, alias: str, **more: object
    ) -> types.WrittenPerson:
        """Give a person another name. Other fields: agent_id, turn_ids, kind, idempotency_key."""
        named = {"user_id": user_id, "person_id": person_id, "alias": alias}
        return self._send(
            Operation("write", "POST", "/v1/people/{person_id}/alias", once="idempotency_key"), named, more
        )

    def approve_patch(self, /, user_id: str, queue_id: str, **more: object) -> types.MemoryChanged:
        """Apply a waiting patch. Other fields: rationale, agent_id, patch, reason, by."""
        named = {"user_id": user_id, "queue_id": queue_id}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/queue/{queue_id}/approve"), named, more
        )

    def approve_proposal(self, /, user_id: str, proposal_id: str) -> types.Reference | types.RetractedCard:
        """Apply an op that prose asked for."""
        named = {"user_id": user_id, "proposal_id": proposal_id}
        return self._send(Operation("write", "POST", "/v1/proposals/{proposal_id}/accept"), named, {})

    def arbitration(self, /, user_id: str, arbitration_id: str, **more: object) -> types.Arbitration:
        """One conflict. Other fields: wait_for."""
        named = {"user_id": user_id, "arbitration_id": arbitration_id}
        return self._send(Operation("read", "GET", "/v1/arbitrations/{arbitration_id}"), named, more)

    def arbitrations(self, /, user_id: str, **more: object) -> types.Arbitrations:
        """Conflicts that wait for a verdict. Other fields: wait_for, as_of, known_at, status, project_id, limit,
        cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/arbitrations"), named, more)

    def archive_reference(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.WrittenReference:
        """Put a reference away. Other fields: project_id, team_id, agent_id, reason, idempotency_key."""
        named = {"user_id": user_id, "kind": kind, "key": key}
        return self._send(
            Operation("write", "POST", "/v1/references/{kind}/{key}/archive", once="idempotency_key"),
            named,
            more,
        )

    def attempt_problem(
        self, /, user_id: str, problem_id: str, approach: str, **more: object
    ) -> types.WrittenProblem:
        """Record what was tried against a problem. Other fields: agent_id, turn_ids, outcome, successful, date,
        idempotency_key."""
        named = {"user_id": user_id, "problem_id": problem_id, "approach": approach}
        return self._send(
            Operation(
                "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/attempt", once="idempotency_key"
            ),
            named,
            more,
        )

    def audit(self, /, user_id: str | None, **more: object) -> types.AuditPage:
        """Who read or changed whose memory. Other fields: key_id, operation, outcome, since, until, limit, cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/audit"), named, more)

    def card(self, /, user_id: str, card_id: str, **more: object) -> types.Card:
        """One card. Other fields: wait_for, as_of, known_at."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(Operation("read", "GET", "/v1/cards/{card_id}"), named, more)

    def card_history(self, /, user_id: str, card_id: str, **more: object) -> types.CardHistory:
        """Every card about the same fact, in order of time. Other fields: wait_for, as_of, known_at."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(Operation("read", "GET", "/v1/cards/{card_id}/history"), named, more)

    def card_latest(self, /, user_id: str, card_id: str, **more: object) -> types.LatestCard:
        """The latest card of the card's chain of changes. Other fields: wait_for, as_of, known_at."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(Operation("read", "GET", "/v1/cards/{card_id}/latest"), named, more)

    def card_map(self, /, user_id: str, **more: object) -> types.CardMap:
        """The vectors of a slice of cards, in two dimensions. Other fields: wait_for, as_of, known_at, project_id,
        context_layer, kind, status, created_from, created_to, occurred_from, occurred_to, effective_from,
        effective_to, superseded_from, superseded_to, verified_from, verified_to, session_id, agent_id,
        document_id, metadata, turn_id, speaker, mode, concept_key, entity, value, cardinality, tag, topic,
        about, knowledge, provenance, min_confidence, max_confidence, min_weight, predicate, related_to,
        episode, min_importance, sentiment, pinned, recalled, collapse, limit."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/cards/map"), named, more)

    def card_neighbourhood(self, /, user_id: str, card_id: str, **more: object) -> types.Neighbourhood:
        """The cards around a card, two relations far. Other fields: wait_for, as_of, known_at, limit."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(Operation("read", "GET", "/v1/cards/{card_id}/neighbourhood"), named, more)

    def card_relations(self, /, user_id: str, card_id: str, **more: object) -> types.Relations:
        """The relations of the card, with reason and actor. Other fields: wait_for, as_of, known_at, predicate."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(Operation("read", "GET", "/v1/cards/{card_id}/relations"), named, more)

    def card_use(self, /, user_id: str, **more: object) -> types.CardUse:
        """The cards that answers held most often, and how many on each day. Other fields: wait_for, limit, days."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/cards/use"), named, more)

    def cards(self, /, user_id: str, **more: object) -> types.CardsPage:
        """The cards of a slice, page by page, the latest recorded first. Other fields: wait_for, as_of, known_at,
        project_id, context_layer, kind, status, created_from, created_to, occurred_from, occurred_to,
        effective_from, effective_to, superseded_from, superseded_to, verified_from, verified_to, session_id,
        agent_id, document_id, metadata, turn_id, speaker, mode, concept_key, entity, value, cardinality, tag,
        topic, about, knowledge, provenance, min_confidence, max_confidence, min_weight, predicate,
        related_to, episode, min_importance, sentiment, pinned, recalled, collapse, limit, cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/cards"), named, more)

    def change_reference(
        self, user_id: str, kind: str, key: str, op: str, /, **more: object
    ) -> types.WrittenReference:
        """Apply an op to a reference. Other fields: project_id, team_id, agent_id, expected_version, turn_ids,
        idempotency_key."""
        named = {"user_id": user_id, "kind": kind, "key": key, "op": op}
        return self._send(
            Operation("write", "PATCH", "/v1/references/{kind}/{key}", once="idempotency_key", nulls=True),
            named,
            more,
        )

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
        named = {"user_id": user_id, "kind": kind, "key": key, "tier": tier}
        return self._send(
            Operation("write", "POST", "/v1/references/{kind}/{key}/tier", once="idempotency_key"),
            named,
            more,
        )

    def channels(self, /) -> dict[str, types.ChannelHealth]:
        """The health of the recall channels in this process."""
        return self._send(Operation("read", "GET", "/v1/channels"), {}, {})

    def checkpoint(self, /, user_id: str, session_id: str, **more: object) -> types.SessionCheckpoint:
        """The state of a session, as it was saved last. Other fields: project_id."""
        named = {"user_id": user_id, "session_id": session_id}
        return self._send(Operation("read", "GET", "/v1/sessions/{session_id}/checkpoint"), named, more)

    def cherry_pick_memory(
        self, /, user_id: str, event_ids: Sequence[str], **more: object
    ) -> types.MemoryChanged:
        """Apply changes of the core document again that were left out. Other fields: rationale, agent_id, actor,
        idempotency_key."""
        named = {"user_id": user_id, "event_ids": event_ids}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/cherry-pick", once="idempotency_key"),
            named,
            more,
        )

    def close_problem(self, /, user_id: str, problem_id: str, **more: object) -> types.WrittenProblem:
        """Close a problem. Other fields: agent_id, turn_ids, resolution, idempotency_key."""
        named = {"user_id": user_id, "problem_id": problem_id}
        return self._send(
            Operation(
                "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/close", once="idempotency_key"
            ),
            named,
            more,
        )

    def close_thread(self, /, user_id: str, thread_id: str, **more: object) -> types.WrittenThread:
        """Close a thread. Other fields: agent_id, reason, idempotency_key."""
        named = {"user_id": user_id, "thread_id": thread_id}
        return self._send(
            Operation("write", "POST", "/v1/threads/{thread_id}/close", once="idempotency_key"), named, more
        )

    def concepts(self, /, user_id: str, **more: object) -> types.CardsPage:
        """The concepts of a user, page by page, the latest recorded first. Other fields: wait_for, project_id,
        pinned, limit, cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/concepts"), named, more)

    def context(self, /, user_id: str, query: str, **more: object) -> types.Prompt:
        """Ask; get the cards as blocks of a prompt. Other fields: project_id, session_id, k, as_of, known_at,
        timezone, kinds, context_layer, only_layers, metadata, mode, modes, explain, wait_for, token_budget,
        paths."""
        named = {"user_id": user_id, "query": query}
        return self._send(Operation("read", "POST", "/v1/context"), named, more)

    def correct_card(self, /, user_id: str, card_id: str, **more: object) -> types.Accepted:
        """Put a card with the right words in the place of a card that was never true. Other fields: agent_id, reason,
        value, content, idempotency_key."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(
            Operation("write", "POST", "/v1/cards/{card_id}/correct", once="idempotency_key"), named, more
        )

    def count_cards(self, /, user_id: str, group_by: Sequence[str], **more: object) -> types.Groups:
        """The number of cards of a slice, grouped by axes. Other fields: wait_for, as_of, known_at, project_id,
        context_layer, kind, status, created_from, created_to, occurred_from, occurred_to, effective_from,
        effective_to, superseded_from, superseded_to, verified_from, verified_to, session_id, agent_id,
        document_id, metadata, turn_id, speaker, mode, concept_key, entity, value, cardinality, tag, topic,
        about, knowledge, provenance, min_confidence, max_confidence, min_weight, predicate, related_to,
        episode, min_importance, sentiment, pinned, recalled, collapse, bucket, timezone."""
        named = {"user_id": user_id, "group_by": group_by}
        return self._send(Operation("read", "GET", "/v1/cards/aggregate"), named, more)

    def create_concept(self, /, user_id: str, title: str, definition: str, **more: object) -> types.Accepted:
        """Create a concept. Other fields: agent_id, aliases, related, project_id, mode, idempotency_key."""
        named = {"user_id": user_id, "title": title, "definition": definition}
        return self._send(Operation("write", "POST", "/v1/concepts", once="idempotency_key"), named, more)

    def create_reference(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.WrittenReference:
        """Create a reference. Other fields: project_id, team_id, agent_id, data, tier, idempotency_key."""
        named = {"user_id": user_id, "kind": kind, "key": key}
        return self._send(
            Operation("write", "POST", "/v1/references/{kind}", once="idempotency_key"), named, more
        )

    def curator_runs(self, /, user_id: str, **more: object) -> types.CuratorRunsPage:
        """What the curator added to a user's memory, the last run first. Other fields: limit."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/curator/runs"), named, more)

    def dead_letters(self, /, **more: object) -> types.DeadLetters:
        """The turns that broke the contract, the oldest first. Other fields: limit."""
        return self._send(Operation("write", "GET", "/v1/dead-letters"), {}, more)

    def declare_mode(self, /, user_id: str, name: str, **more: object) -> types.WrittenMode:
        """Declare a mode, or declare it anew. Other fields: project_id, embedder, description, default_decay,
        prompt_overrides, is_default."""
        named = {"user_id": user_id, "name": name}
        return self._send(Operation("write", "PUT", "/v1/modes/{name}"), named, more)

    def declare_project(self, /, user_id: str, project_id: str, **more: object) -> types.WrittenProject:
        """Set the default mode and the description of a project. Other fields: default_mode, description."""
        named = {"user_id": user_id, "project_id": project_id}
        return self._send(Operation("write", "PUT", "/v1/projects/{project_id}", nulls=True), named, more)

    def declare_reference_kind(
        self, /, kind: str, schema: Mapping[str, object], **more: object
    ) -> types.DeclaredKind:
        """Declare a kind of the tenant. Other fields: initial, description."""
        named = {"kind": kind, "schema": schema}
        return self._send(Operation("write", "PUT", "/v1/reference-kinds/{kind}"), named, more)

    def delete_mode(self, /, user_id: str, name: str, **more: object) -> types.DeletedMode:
        """Delete a mode; its cards stay and belong to the general mode. Other fields: project_id."""
        named = {"user_id": user_id, "name": name}
        return self._send(Operation("write", "DELETE", "/v1/modes/{name}"), named, more)

    def distinguish_person(
        self, /, user_id: str, person_id: str, other_id: str, **more: object
    ) -> types.WrittenPerson:
        """Say that two people are two, for ever. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        named = {"user_id": user_id, "person_id": person_id, "other_id": other_id}
        return self._send(
            Operation("write", "POST", "/v1/people/{person_id}/distinct", once="idempotency_key"), named, more
        )

    def drop_dead_letter(self, /, letter_id: str, because: str) -> types.SettledLetter:
        """Drop a dead letter, with the reason."""
        named = {"letter_id": letter_id, "because": because}
        return self._send(Operation("write", "POST", "/v1/dead-letters/{letter_id}/drop"), named, {})

    def edit_concept(self, /, user_id: str, concept_id: str, **more: object) -> types.Accepted:
        """Edit a concept, or rename it. Other fields: agent_id, title, definition, aliases, related,
        idempotency_key."""
        named = {"user_id": user_id, "concept_id": concept_id}
        return self._send(
            Operation("write", "PATCH", "/v1/concepts/{concept_id}", once="idempotency_key"), named, more
        )

    def episodes(self, /, user_id: str, **more: object) -> types.EpisodesPage:
        """The episodes about topics and places of the core document. Other fields: topics, paths, k, project_id."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}/episodes"), named, more)

    def erase_person(self, /, user_id: str | None, name: str, **more: object) -> types.Erasure:
        """Erase a person who is spoken of: every turn that names the person, and everything made of it. Other fields:
        alias, dry_run."""
        named = {"user_id": user_id, "name": name}
        return self._send(Operation("write", "DELETE", "/v1/people/{name}"), named, more)

    def erase_turn(self, /, user_id: str, turn_id: str, **more: object) -> types.Erasure:
        """Erase one turn, and everything that was made of it. Other fields: dry_run."""
        named = {"user_id": user_id, "turn_id": turn_id}
        return self._send(Operation("write", "DELETE", "/v1/turns/{turn_id}"), named, more)

    def erase_user(self, /, user_id: str, **more: object) -> types.Erasure:
        """Erase a user: every word, and everything that was made of them. Other fields: dry_run."""
        named = {"user_id": user_id}
        return self._send(Operation("write", "DELETE", "/v1/users/{user_id}"), named, more)

    def erasure_receipt(self, /, erasure_id: str) -> types.Erasure:
        """The receipt of an erasure, as of now."""
        named = {"erasure_id": erasure_id}
        return self._send(Operation("write", "GET", "/v1/erasures/{erasure_id}"), named, {})

    def generations(self, /) -> types.Generations:
        """The generations of every projection, with their progress."""
        return self._send(Operation("read", "GET", "/v1/generations"), {}, {})

    def hook_claude_code(
        self, /, user_id: str, hook_event_name: str, session_id: str, **more: object
    ) -> types.HookAnswer:
        """Answer an event of a hook of claude-code, and keep its turns. Other fields: project_id, timezone, prompt,
        last_assistant_message, prompt_response, messages, timestamp."""
        named = {"user_id": user_id, "hook_event_name": hook_event_name, "session_id": session_id}
        return self._send(Operation("read", "POST", "/v1/hooks/claude-code"), named, more)

    def hook_codex(
        self, /, user_id: str, hook_event_name: str, session_id: str, **more: object
    ) -> types.HookAnswer:
        """Answer an event of a hook of codex, and keep its turns. Other fields: project_id, timezone, prompt,
        last_assistant_message, prompt_response, messages, timestamp."""
        named = {"user_id": user_id, "hook_event_name": hook_event_name, "session_id": session_id}
        return self._send(Operation("read", "POST", "/v1/hooks/codex"), named, more)

    def hook_gemini_cli(
        self, /, user_id: str, hook_event_name: str, session_id: str, **more: object
    ) -> types.HookAnswer:
        """Answer an event of a hook of gemini-cli, and keep its turns. Other fields: project_id, timezone, prompt,
        last_assistant_message, prompt_response, messages, timestamp."""
        named = {"user_id": user_id, "hook_event_name": hook_event_name, "session_id": session_id}
        return self._send(Operation("read", "POST", "/v1/hooks/gemini-cli"), named, more)

    def insight(self, /, user_id: str, insight_id: str, **more: object) -> types.InsightSources:
        """One insight with its sources. Other fields: wait_for."""
        named = {"user_id": user_id, "insight_id": insight_id}
        return self._send(Operation("read", "GET", "/v1/insights/{insight_id}"), named, more)

    def insights(self, /, user_id: str, **more: object) -> types.InsightsPage:
        """What the curator concluded of a user, the last first. Other fields: wait_for, status, project_id, limit,
        cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/insights"), named, more)

    def memory(self, /, user_id: str, **more: object) -> types.Memory:
        """The core document, now or then. Other fields: version, as_of, known_at, paths, explain."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}"), named, more)

    def memory_candidates(self, /, user_id: str) -> types.MemoryCandidates:
        """Topics of the core document that may become categories."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}/schema/candidates"), named, {})

    def memory_diff(self, /, user_id: str, from_: int, **more: object) -> types.MemoryDiff:
        """What differs between two versions of the core document. Other fields: to."""
        named = {"user_id": user_id, "from": from_}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}/diff"), named, more)

    def memory_history(self, /, user_id: str, **more: object) -> types.MemoryHistory:
        """Every change of the core document, the latest first. Other fields: limit, cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}/history"), named, more)

    def memory_queue(self, /, user_id: str, **more: object) -> types.MemoryQueue:
        """Patches of the core document that wait for an answer. Other fields: status."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}/queue"), named, more)

    def merge_concept(
        self, /, user_id: str, concept_id: str, into: str, reason: str, **more: object
    ) -> types.Accepted:
        """Merge a concept into another one. Other fields: agent_id, idempotency_key."""
        named = {"user_id": user_id, "concept_id": concept_id, "into": into, "reason": reason}
        return self._send(
            Operation("write", "POST", "/v1/concepts/{concept_id}/merge", once="idempotency_key"), named, more
        )

    def merge_person(
        self, /, user_id: str, person_id: str, into_id: str, **more: object
    ) -> types.WrittenPerson:
        """Say that two people are one. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        named = {"user_id": user_id, "person_id": person_id, "into_id": into_id}
        return self._send(
            Operation("write", "POST", "/v1/people/{person_id}/merge", once="idempotency_key"), named, more
        )

    def migrate_memory(self, /, user_id: str, **more: object) -> types.MemoryMigration:
        """Migrate the memory of another system. Other fields: text, messages, format, source, said_at, user_name,
        timezone, apply_from, dry_run, wait_s, idempotency_key."""
        named = {"user_id": user_id}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/migrate", once="idempotency_key"), named, more
        )

    def modes(self, /, user_id: str, **more: object) -> types.Modes:
        """The modes of a user. Other fields: project_id."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/modes"), named, more)

    def move_reference(self, /, user_id: str, kind: str, key: str, **more: object) -> types.WrittenReference:
        """Give a reference another scope. Other fields: project_id, team_id, agent_id, to_project_id, to_team_id,
        idempotency_key."""
        named = {"user_id": user_id, "kind": kind, "key": key}
        return self._send(
            Operation("write", "POST", "/v1/references/{kind}/{key}/move", once="idempotency_key"),
            named,
            more,
        )

    def name_neighbourhood(self, /, user_id: str, about: str, **more: object) -> types.Neighbourhood:
        """The cards that mention a name, and those one relation away. Other fields: wait_for, as_of, known_at,
        limit."""
        named = {"user_id": user_id, "about": about}
        return self._send(Operation("read", "GET", "/v1/neighbourhood"), named, more)

    def note_person(self, /, user_id: str, name: str, **more: object) -> types.WrittenPerson:
        """Note a person. Other fields: agent_id, turn_ids, kinship, idempotency_key."""
        named = {"user_id": user_id, "name": name}
        return self._send(Operation("write", "POST", "/v1/people", once="idempotency_key"), named, more)

    def open_problem(self, /, user_id: str, description: str, **more: object) -> types.WrittenProblem:
        """Open a problem. Other fields: agent_id, turn_ids, priority, since, project_id, mode, idempotency_key."""
        named = {"user_id": user_id, "description": description}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/problems", once="idempotency_key"), named, more
        )

    def open_thread(self, /, user_id: str, title: str, **more: object) -> types.WrittenThread:
        """Open a thread. Other fields: agent_id, project_id, mode, reason, idempotency_key."""
        named = {"user_id": user_id, "title": title}
        return self._send(Operation("write", "POST", "/v1/threads", once="idempotency_key"), named, more)

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
        named = {"user_id": user_id, "action": action, "projection": projection}
        return self._send(Operation("write", "POST", "/v1/operations", once="idempotency_key"), named, more)

    def operations(self, /, **more: object) -> types.Operations:
        """What operators asked the workers to do, with the progress. Other fields: limit."""
        return self._send(Operation("read", "GET", "/v1/operations"), {}, more)

    def parked(self, /, **more: object) -> types.ParkedUsers:
        """The users who wait for a projection. Other fields: limit."""
        return self._send(Operation("read", "GET", "/v1/parked"), {}, more)

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
        named = {"user_id": user_id, "patch": patch, "actor": actor}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/events", once="idempotency_key"), named, more
        )

    def people(self, /, user_id: str, **more: object) -> types.PeoplePage:
        """The people of a user, and who may be whom. Other fields: wait_for, name, limit."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/people"), named, more)

    def person(self, /, user_id: str, person_id: str, **more: object) -> types.KnownPerson:
        """One person: who, since when, and what is true now. Other fields: wait_for."""
        named = {"user_id": user_id, "person_id": person_id}
        return self._send(Operation("read", "GET", "/v1/people/{person_id}"), named, more)

    def person_timeline(self, /, user_id: str, person_id: str, **more: object) -> types.PersonTimeline:
        """The cards that name a person, the last said first. Other fields: wait_for, limit."""
        named = {"user_id": user_id, "person_id": person_id}
        return self._send(Operation("read", "GET", "/v1/people/{person_id}/timeline"), named, more)

    def pin_concept(self, /, user_id: str, concept_id: str, **more: object) -> types.Accepted:
        """Put a concept into every prompt, or no longer. Other fields: agent_id, pinned, idempotency_key."""
        named = {"user_id": user_id, "concept_id": concept_id}
        return self._send(
            Operation("write", "POST", "/v1/concepts/{concept_id}/pin", once="idempotency_key"), named, more
        )

    def prioritize_problem(
        self, /, user_id: str, problem_id: str, priority: int, **more: object
    ) -> types.WrittenProblem:
        """Give a problem another priority. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        named = {"user_id": user_id, "problem_id": problem_id, "priority": priority}
        return self._send(
            Operation(
                "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/priority", once="idempotency_key"
            ),
            named,
            more,
        )

    def problem(self, /, user_id: str, problem_id: str) -> types.ProblemHistory:
        """One problem with its history."""
        named = {"user_id": user_id, "problem_id": problem_id}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}/problems/{problem_id}"), named, {})

    def problems(self, /, user_id: str, **more: object) -> types.ProblemsPage:
        """The problems of a user. Other fields: status, project_id, limit."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/memory/{user_id}/problems"), named, more)

    def promote_category(self, /, user_id: str, candidate: str, **more: object) -> types.MemoryPromoted:
        """Make a category of a topic that recurs in the core document. Other fields: rationale, agent_id,
        proposed_name, members, actor, dry_run, idempotency_key."""
        named = {"user_id": user_id, "candidate": candidate}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/schema/promote", once="idempotency_key"),
            named,
            more,
        )

    def proposals(self, /, user_id: str, **more: object) -> types.ProposalsPage:
        """Ops that prose asked for. Other fields: status, limit, cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/proposals"), named, more)

    def recall(self, /, user_id: str, query: str, **more: object) -> types.Answer:
        """Ask; get the few cards that matter. Other fields: project_id, session_id, k, as_of, known_at, timezone,
        kinds, context_layer, only_layers, metadata, mode, modes, explain, wait_for."""
        named = {"user_id": user_id, "query": query}
        return self._send(Operation("read", "POST", "/v1/recall"), named, more)

    def recall_batch(self, /, questions: Sequence[Mapping[str, object]]) -> types.Answers:
        """Ask several questions; get their answers in order."""
        named = {"questions": questions}
        return self._send(Operation("read", "POST", "/v1/recall/batch"), named, {})

    def reclassify_card(self, /, user_id: str, card_id: str, mode: str, **more: object) -> types.Accepted:
        """Give a card another mode. Other fields: by, reason, request_id."""
        named = {"user_id": user_id, "card_id": card_id, "mode": mode}
        return self._send(
            Operation("write", "POST", "/v1/cards/{card_id}/mode", once="request_id"), named, more
        )

    def reembed_mode(self, /, user_id: str, name: str, **more: object) -> types.Reembedding:
        """Embed the earlier cards of a mode again, with its present model. Other fields: project_id, dry_run."""
        named = {"user_id": user_id, "name": name}
        return self._send(Operation("write", "POST", "/v1/modes/{name}/reembed"), named, more)

    def reembedding_progress(self, /, user_id: str, name: str, **more: object) -> types.ReembeddingProgress:
        """The progress of a re-embedding. Other fields: project_id."""
        named = {"user_id": user_id, "name": name}
        return self._send(Operation("read", "GET", "/v1/modes/{name}/reembed"), named, more)

    def reference(self, /, user_id: str, kind: str, key: str, **more: object) -> types.Reference:
        """One reference, now or then. Other fields: project_id, team_id, as_of, version."""
        named = {"user_id": user_id, "kind": kind, "key": key}
        return self._send(Operation("read", "GET", "/v1/references/{kind}/{key}"), named, more)

    def reference_history(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.ReferenceHistory:
        """Every op of a reference, the latest first. Other fields: project_id, team_id, values, limit, cursor."""
        named = {"user_id": user_id, "kind": kind, "key": key}
        return self._send(Operation("read", "GET", "/v1/references/{kind}/{key}/history"), named, more)

    def reference_kinds(self, /) -> types.ReferenceKinds:
        """The kinds of references, with their ops and schemas."""
        return self._send(Operation("read", "GET", "/v1/reference-kinds"), {}, {})

    def references(self, /, user_id: str, **more: object) -> types.ReferencesPage:
        """The references of a user and the user's teams. Other fields: kind, tier, project_id, team_id, archived,
        limit, cursor."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/references"), named, more)

    def refuse_patch(self, /, user_id: str, queue_id: str, **more: object) -> types.MemoryChanged:
        """Refuse a waiting patch. Other fields: rationale, agent_id, reason, by."""
        named = {"user_id": user_id, "queue_id": queue_id}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/queue/{queue_id}/refuse"), named, more
        )

    def refuse_proposal(self, /, user_id: str, proposal_id: str, **more: object) -> types.RefusedProposal:
        """Refuse an op that prose asked for. Other fields: reason."""
        named = {"user_id": user_id, "proposal_id": proposal_id}
        return self._send(Operation("write", "POST", "/v1/proposals/{proposal_id}/refuse"), named, more)

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
        """Relate two cards; additive, nothing is changed or lost. Other fields: agent_id, confidence."""
        named = {
            "user_id": user_id,
            "from_card": from_card,
            "to_card": to_card,
            "predicate": predicate,
            "reason": reason,
        }
        return self._send(Operation("write", "POST", "/v1/relations"), named, more)

    def remove_team_member(self, /, user_id: str, team_id: str, member: str) -> types.Team:
        """Remove a member from a team."""
        named = {"user_id": user_id, "team_id": team_id, "member": member}
        return self._send(Operation("write", "DELETE", "/v1/teams/{team_id}/members/{member}"), named, {})

    def remove_webhook(self, /, user_id: str, webhook_id: str, **more: object) -> types.Webhook:
        """Remove a webhook, and drop its messages. Other fields: idempotency_key."""
        named = {"user_id": user_id, "webhook_id": webhook_id}
        return self._send(
            Operation("write", "DELETE", "/v1/webhooks/{webhook_id}", once="idempotency_key"), named, more
        )

    def rename_mode(self, /, user_id: str, name: str, new_name: str, **more: object) -> types.WrittenMode:
        """Give a mode another name; its cards stay its cards. Other fields: project_id."""
        named = {"user_id": user_id, "name": name, "new_name": new_name}
        return self._send(Operation("write", "POST", "/v1/modes/{name}/rename"), named, more)

    def rename_thread(
        self, /, user_id: str, thread_id: str, title: str, **more: object
    ) -> types.WrittenThread:
        """Give a thread another title. Other fields: agent_id, idempotency_key."""
        named = {"user_id": user_id, "thread_id": thread_id, "title": title}
        return self._send(
            Operation("write", "POST", "/v1/threads/{thread_id}/rename", once="idempotency_key"), named, more
        )

    def reopen_problem(self, /, user_id: str, problem_id: str, **more: object) -> types.WrittenProblem:
        """Open a closed problem again. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        named = {"user_id": user_id, "problem_id": problem_id}
        return self._send(
            Operation(
                "write", "POST", "/v1/memory/{user_id}/problems/{problem_id}/reopen", once="idempotency_key"
            ),
            named,
            more,
        )

    def reopen_thread(self, /, user_id: str, thread_id: str, **more: object) -> types.WrittenThread:
        """Open a closed thread again. Other fields: agent_id, reason, idempotency_key."""
        named = {"user_id": user_id, "thread_id": thread_id}
        return self._send(
            Operation("write", "POST", "/v1/threads/{thread_id}/reopen", once="idempotency_key"), named, more
        )

    def restore_reference(
        self, /, user_id: str, kind: str, key: str, **more: object
    ) -> types.WrittenReference:
        """Bring back a version of a reference. Other fields: project_id, team_id, agent_id, version,
        idempotency_key."""
        named = {"user_id": user_id, "kind": kind, "key": key}
        return self._send(
            Operation("write", "POST", "/v1/references/{kind}/{key}/restore", once="idempotency_key"),
            named,
            more,
        )

    def retract_card(self, /, user_id: str, card_id: str, **more: object) -> types.Accepted:
        """Mark a card as never true, until that is withdrawn. Other fields: agent_id, reason."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(Operation("write", "POST", "/v1/cards/{card_id}/retract"), named, more)

    def retract_insight(
        self, /, user_id: str, insight_id: str, reason: str, **more: object
    ) -> types.WrittenInsight:
        """Retract an insight, so it is not derived again. Other fields: idempotency_key."""
        named = {"user_id": user_id, "insight_id": insight_id, "reason": reason}
        return self._send(
            Operation("write", "POST", "/v1/insights/{insight_id}/retract", once="idempotency_key"),
            named,
            more,
        )

    def retry_dead_letter(self, /, letter_id: str, **more: object) -> types.SettledLetter:
        """Push a dead letter again, corrected or unchanged. Other fields: changes, without."""
        named = {"letter_id": letter_id}
        return self._send(Operation("write", "POST", "/v1/dead-letters/{letter_id}/retry"), named, more)

    def revert_category(self, /, user_id: str, category: str, **more: object) -> types.MemoryReverted:
        """Take a promoted category of the core document back. Other fields: rationale, agent_id, actor,
        idempotency_key."""
        named = {"user_id": user_id, "category": category}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/schema/revert", once="idempotency_key"),
            named,
            more,
        )

    def roll_back_memory(self, /, user_id: str, **more: object) -> types.MemoryRolledBack:
        """Leave events out of the core document. Other fields: rationale, agent_id, event_ids, to_version, actor,
        dry_run, idempotency_key."""
        named = {"user_id": user_id}
        return self._send(
            Operation("write", "POST", "/v1/memory/{user_id}/rollback", once="idempotency_key"), named, more
        )

    def run_curator(self, /, user_id: str, **more: object) -> types.WrittenCuratorRun:
        """Curate the memory of a user now. Other fields: dry_run, idempotency_key."""
        named = {"user_id": user_id}
        return self._send(Operation("write", "POST", "/v1/curator/runs", once="idempotency_key"), named, more)

    def save_checkpoint(
        self, /, user_id: str, session_id: str, state: Mapping[str, object], **more: object
    ) -> types.Accepted:
        """Save the state of a session. Other fields: agent_id, project_id, idempotency_key."""
        named = {"user_id": user_id, "session_id": session_id, "state": state}
        return self._send(
            Operation("write", "POST", "/v1/sessions/{session_id}/checkpoint", once="idempotency_key"),
            named,
            more,
        )

    def session_turns(self, /, user_id: str, session_id: str, **more: object) -> types.TurnsPage:
        """The turns of a session, the latest first. Other fields: limit, cursor, project_id."""
        named = {"user_id": user_id, "session_id": session_id}
        return self._send(Operation("read", "GET", "/v1/sessions/{session_id}/turns"), named, more)

    def sessions(self, /, user_id: str, **more: object) -> types.SessionsPage:
        """The sessions of a user, the latest spoken in first. Other fields: limit, cursor, project_id."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/sessions"), named, more)

    def settle_arbitration(
        self,
        /,
        user_id: str,
        arbitration_id: str,
        verdict: Literal["keep_old", "accept_new", "coexist"],
        **more: object,
    ) -> types.Accepted:
        """Settle a conflict. Other fields: reason, by."""
        named = {"user_id": user_id, "arbitration_id": arbitration_id, "verdict": verdict}
        return self._send(
            Operation("write", "POST", "/v1/arbitrations/{arbitration_id}/verdict"), named, more
        )

    def split_person(
        self, /, user_id: str, person_id: str, from_id: str, **more: object
    ) -> types.WrittenPerson:
        """Take back a merge. Other fields: agent_id, turn_ids, reason, idempotency_key."""
        named = {"user_id": user_id, "person_id": person_id, "from_id": from_id}
        return self._send(
            Operation("write", "POST", "/v1/people/{person_id}/split", once="idempotency_key"), named, more
        )

    def stages(self, /) -> types.Stages:
        """The health and the lag of every stage."""
        return self._send(Operation("write", "GET", "/v1/status"), {}, {})

    def status(self, /) -> types.Status:
        """The health and the lag of every stage."""
        return self._send(Operation("read", "GET", "/v1/status"), {}, {})

    def thread(self, /, user_id: str, thread_id: str, **more: object) -> types.ThreadCards:
        """One thread with its cards. Other fields: wait_for."""
        named = {"user_id": user_id, "thread_id": thread_id}
        return self._send(Operation("read", "GET", "/v1/threads/{thread_id}"), named, more)

    def thread_cards(
        self, /, user_id: str, thread_id: str, card_ids: Sequence[str], reason: str, **more: object
    ) -> types.WrittenThread:
        """Add cards to a thread. Other fields: agent_id, confidence, idempotency_key."""
        named = {"user_id": user_id, "thread_id": thread_id, "card_ids": card_ids, "reason": reason}
        return self._send(
            Operation("write", "POST", "/v1/threads/{thread_id}/cards", once="idempotency_key"), named, more
        )

    def threads(self, /, user_id: str, **more: object) -> types.ThreadsPage:
        """The threads of a user, open ones first. Other fields: wait_for, status, project_id, limit."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/threads"), named, more)

    def turn(self, /, user_id: str, turn_id: str) -> types.RecordedTurn:
        """One turn, as it was recorded."""
        named = {"user_id": user_id, "turn_id": turn_id}
        return self._send(Operation("read", "GET", "/v1/turns/{turn_id}"), named, {})

    def undo_run(self, /, user_id: str, run_id: str, reason: str, **more: object) -> types.WrittenCuratorRun:
        """Take back what a run of the curator added. Other fields: idempotency_key."""
        named = {"user_id": user_id, "run_id": run_id, "reason": reason}
        return self._send(
            Operation("write", "POST", "/v1/curator/runs/{run_id}/undo", once="idempotency_key"), named, more
        )

    def usage(self, /, user_id: str | None, **more: object) -> types.UsageGroups:
        """Calls, tokens and cost of models, by day, operation and user. Other fields: since, until, group_by,
        limit."""
        named = {"user_id": user_id}
        return self._send(Operation("read", "GET", "/v1/usage"), named, more)

    def users(self, /, **more: object) -> types.UsersPage:
        """The users of the tenant, in order. Other fields: after, limit."""
        return self._send(Operation("read", "GET", "/v1/users"), {}, more)

    def verify_card(self, /, user_id: str, card_id: str, **more: object) -> types.Accepted:
        """Confirm that a card is still right. Other fields: by, note, verified_at, request_id."""
        named = {"user_id": user_id, "card_id": card_id}
        return self._send(
            Operation("write", "POST", "/v1/cards/{card_id}/verify", once="request_id"), named, more
        )

    def webhooks(self, /, user_id: str) -> types.WebhooksPage:
        """The webhooks of a user, with the messages that wait or are dead."""
        named = {"user_id": user_id}
        return self._send(Operation("write", "GET", "/v1/webhooks"), named, {})

    def withdraw_relation(
        self, /, user_id: str, relation_id: str, reason: str, **more: object
    ) -> types.Accepted:
        """Take a relation back, or a withdrawal; both stay in the log. Other fields: agent_id."""
        named = {"user_id": user_id, "relation_id": relation_id, "reason": reason}
        return self._send(Operation("write", "POST", "/v1/relations/{relation_id}/withdraw"), named, more)


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
