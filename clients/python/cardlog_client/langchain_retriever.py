"""LangChain's retriever over the recalls of Cardlog. Needs ``langchain-core``: ``pip install 'cardlog[langgraph]'``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from cardlog_client.client import Client


class CardlogRetriever(BaseRetriever):
    """Retrieves the cards of ``user_id``: ``CardlogRetriever(client=…, user_id=…)``.

    A document has the content of a card, its id, and its other fields as metadata. ``k`` is the most documents, and
    ``asked`` holds further fields of the recall: ``project_id``, ``kinds``, ``as_of``. Both may come with
    :meth:`invoke`, too. Raises :class:`CardlogError`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Client
    user_id: str
    k: int = 5
    asked: Mapping[str, Any] = MappingProxyType({})

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **asked: Any
    ) -> list[Document]:
        answer = self.client.recall(self.user_id, query, **{"k": self.k, **self.asked, **asked})
        return [
            Document(
                page_content=card["content"],
                id=card["card_id"],
                metadata={name: value for name, value in card.items() if name not in ("card_id", "content")},
            )
            for card in answer["cards"]
        ]
