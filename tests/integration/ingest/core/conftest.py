"""The services of these tests, once for all of them. Each test has users of its own."""

from tests.support.retrieval.core_documents import ada, services

__all__ = ["ada", "services"]
