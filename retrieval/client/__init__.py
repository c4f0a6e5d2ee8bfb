"""A typed Python client for Cardlog's two services: push turns, recall, get a prompt, read cards, keep memory."""

from __future__ import annotations

from retrieval.client.client import AsyncClient, Client
from retrieval.client.core import (
    Memory,
    MemoryCandidates,
    MemoryChanged,
    MemoryDiff,
    MemoryHistory,
    MemoryMigration,
    MemoryPromoted,
    MemoryQueue,
    MemoryRolledBack,
)
from retrieval.client.documents import Answer, Card, CardsPage, Contradiction, Prompt, Pushed, Status, Turn
from retrieval.client.errors import CardlogError, RefusedError, UnavailableError
from retrieval.client.problems import Attempt, Episode, EpisodesPage, Problem, ProblemsPage
from retrieval.client.references import Proposal, ProposalsPage, Reference, ReferenceHistory, ReferencesPage

__all__ = [
    "Answer",
    "AsyncClient",
    "Attempt",
    "Card",
    "CardlogError",
    "CardsPage",
    "Client",
    "Contradiction",
    "Episode",
    "EpisodesPage",
    "Memory",
    "MemoryCandidates",
    "MemoryChanged",
    "MemoryDiff",
    "MemoryHistory",
    "MemoryMigration",
    "MemoryPromoted",
    "MemoryQueue",
    "MemoryRolledBack",
    "Problem",
    "ProblemsPage",
    "Prompt",
    "Proposal",
    "ProposalsPage",
    "Pushed",
    "Reference",
    "ReferenceHistory",
    "ReferencesPage",
    "RefusedError",
    "Status",
    "Turn",
    "UnavailableError",
]
