"""The server of the model, as the settings name it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from events.platform.settings import Settings, variable_of

_OFFICIAL = "https://api.anthropic.com"


@dataclass(frozen=True, slots=True)
class ModelServer:
    """The base URL of a server, its key, the API that it speaks, and the variables of URL and key."""

    url: str
    key: str
    api: str
    url_variable: str
    key_variable: str

    @property
    def address(self) -> str:
        """The URL without user, password and query, which may be secret."""
        parts = urlsplit(self.url)
        host = parts.hostname or "?"
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "") + parts.path.rstrip("/")


def speaks_chat(settings: Settings) -> bool:
    """True when the server speaks chat completions. Its URL takes precedence over the server of the Messages API."""
    return bool(settings.openai_base_url)


def server_of(settings: Settings) -> ModelServer:
    """Returns the server that reads the turns if a model reads them."""
    if speaks_chat(settings):
        return ModelServer(
            settings.openai_base_url,
            settings.openai_api_key,
            "chat completions",
            variable_of("openai_base_url"),
            variable_of("openai_api_key"),
        )
    return ModelServer(
        settings.anthropic_base_url or _OFFICIAL,
        settings.anthropic_api_key,
        "the Messages API",
        variable_of("anthropic_base_url"),
        variable_of("anthropic_api_key"),
    )
