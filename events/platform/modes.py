"""Modes: the registers that turns are pushed in and questions asked in, such as code or journal."""

from __future__ import annotations

from events.platform.settings import Settings, SettingsError

GENERAL_MODE = "general"  # of turns that named none; retrieval/channels/sql/visible.sql says so too


def modes_of(settings: Settings) -> dict[str, str]:
    """The declared modes, each with the model that embeds its cards; "" is the one of all that name none.

    Empty where any mode may be asked for. Raises :class:`SettingsError` for a declaration that cannot be read.
    """
    return declared_modes(settings.modes)


def declared_modes(text: str) -> dict[str, str]:
    """:func:`modes_of` for the text of the setting alone."""
    declared: dict[str, str] = {}
    for item in filter(None, map(str.strip, text.split(","))):
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
