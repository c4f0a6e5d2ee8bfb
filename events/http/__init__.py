"""The HTTP layer that both services share: connections, the guard, problem documents, tokens and OpenAPI."""
