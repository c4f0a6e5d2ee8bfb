"""A typed Python client for Cardlog's two services. It needs only httpx2. The types of the answers are in ``types``."""

from cardlog_client.client import AsyncClient, Client
from cardlog_client.errors import CardlogError, RefusedError, UnavailableError

__all__ = ["AsyncClient", "CardlogError", "Client", "RefusedError", "UnavailableError"]
