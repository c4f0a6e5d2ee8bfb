"""A typed Python client for Cardlog's two services: push turns, recall, get a prompt, read cards."""

from __future__ import annotations

from retrieval.client.client import AsyncClient, Client
from retrieval.client.documents import Answer, Card, CardsPage, Contradiction, Prompt, Pushed, Turn
from retrieval.client.errors import CardlogError, RefusedError, UnavailableError

__all__ = [
    "Answer",
    "AsyncClient",
    "Card",
    "CardlogError",
    "CardsPage",
    "Client",
    "Contradiction",
    "Prompt",
    "Pushed",
    "RefusedError",
    "Turn",
    "UnavailableError",
]
