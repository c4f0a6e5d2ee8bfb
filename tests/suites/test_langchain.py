"""LangChain's own tests of a retriever, over Cardlog."""

from typing import Any

import pytest

pytest.importorskip("langchain_tests.integration_tests", reason="langchain-tests is not installed")

from langchain_tests.integration_tests import RetrieversIntegrationTests

from cardlog_client import Client
from cardlog_client.langchain_retriever import CardlogRetriever

pytestmark = pytest.mark.filterwarnings("default")


class TestCardlogRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _memory(self, client: Client, user: str) -> None:
        said = ("I moved to Porto in May.", "My cat is called Ruby.", "I work at Acme.", "I play the cello.")
        turns: list[Any] = [
            {"user_id": user, "text": text, "session_id": f"s{place}"} for place, text in enumerate(said)
        ]
        token = client.push(turns)["token"]
        self._params = {"client": client, "user_id": user, "asked": {"wait_for": token}}

    @property
    def retriever_constructor(self) -> type[CardlogRetriever]:
        return CardlogRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return self._params

    @property
    def retriever_query_example(self) -> str:
        return "What do you know about me?"
