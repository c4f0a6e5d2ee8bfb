"""Modes: the registers of turns and questions, such as code or journal."""

from events.platform.settings import Settings, SettingsError
from events.types.turns import GENERAL_MODE

__all__ = ["GENERAL_MODE", "modes_of"]


def modes_of(settings: Settings) -> dict[str, str]:
    """Returns the embedding model of each declared mode. "" means the default model, ``embed_model``.

    The result is empty when recall accepts any mode. Raises :class:`SettingsError` for a malformed declaration.
    """
    declared: dict[str, str] = {}
    for item in filter(None, map(str.strip, settings.modes.split(","))):
        name, given, model = map(str.strip, item.partition("="))
        if not name or (given and not model):
            raise SettingsError(f"CARDLOG_MODES has {item!r}: write a mode, or a mode=model, between commas")
        if name in declared:
            raise SettingsError(f"CARDLOG_MODES has the mode {name} twice: leave one of them out")
        if name == GENERAL_MODE and model:
            raise SettingsError(
                f"CARDLOG_MODES gives {GENERAL_MODE} a model: its model is the one of CARDLOG_EMBED_MODEL"
            )
        declared[name] = model
    return declared
