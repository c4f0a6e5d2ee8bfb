"""The embedder of each mode: a mode may name its own model, and all other modes share the default model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from events.platform.modes import modes_of
from events.platform.settings import Settings
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, open_embedder

Open = Callable[[], Embedder]


class Embedders:
    """Opens the embedder of a mode when it is first needed. Modes with the same model share one embedder.

    The object can be pickled before the first embedder is opened.
    """

    def __init__(self, default: Open, by_mode: Mapping[str, Open] | None = None) -> None:
        self._default = default
        self._by_mode = dict(by_mode or {})
        self._opened: dict[Open, Embedder] = {}

    @property
    def modes(self) -> tuple[str | None, ...]:
        """One mode for each model. None stands for all modes that name no model."""
        first: dict[Open, str | None] = {}
        for mode in (None, *self._by_mode):
            first.setdefault(self._opener(mode), mode)
        return tuple(first.values())

    def of(self, mode: str | None) -> Embedder:
        """Returns the embedder of the mode's cards.

        Raises :class:`EmbedderUnavailableError`, which names the modes of that model.
        """
        opener = self._opener(mode)
        if opener not in self._opened:
            try:
                self._opened[opener] = opener()
            except EmbedderUnavailableError as error:
                sharing = [name for name, other in self._by_mode.items() if other == opener]
                if not sharing:
                    raise
                raise EmbedderUnavailableError(f"for the mode {', '.join(sharing)}: {error}") from error
        return self._opened[opener]

    def opened(self, mode: str | None) -> Embedder | None:
        """Returns the embedder of the mode if it is already open, else None."""
        return self._opened.get(self._opener(mode))

    def close(self) -> None:
        """Forgets all embedders. The next use opens them again."""
        self._opened.clear()

    def _opener(self, mode: str | None) -> Open:
        return self._default if mode is None else self._by_mode.get(mode, self._default)


def embedders_of(settings: Settings) -> Embedders:
    """Returns the embedders that ``settings`` names. Raises SettingsError for modes that cannot be read."""
    default = partial(
        open_embedder, settings.embed_model, settings.embed_model_path, threads=settings.embed_threads
    )
    declared = modes_of(settings)
    openers = {
        model: partial(open_embedder, model, threads=settings.embed_threads)
        for model in set(declared.values()) - {"", settings.embed_model}
    }
    return Embedders(default, {mode: openers[model] for mode, model in declared.items() if model in openers})
