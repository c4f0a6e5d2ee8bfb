"""Which model embeds what: one of its own for each mode that names one, and one for all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from events.platform.modes import modes_of
from events.platform.settings import Settings
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, open_embedder

Open = Callable[[], Embedder]


class Embedders:
    """The embedder of every mode, opened when it is first wanted; modes of the same model share one.

    Can be pickled before anything is opened.
    """

    def __init__(self, default: Open, by_mode: Mapping[str, Open] | None = None) -> None:
        self._default = default
        self._by_mode = dict(by_mode or {})
        self._opened: dict[Open, Embedder] = {}

    @property
    def modes(self) -> tuple[str | None, ...]:
        """A mode for each model there is; None stands for all modes that name no model."""
        first: dict[Open, str | None] = {}
        for mode in (None, *self._by_mode):
            first.setdefault(self._way(mode), mode)
        return tuple(first.values())

    def of(self, mode: str | None) -> Embedder:
        """The embedder of a mode's cards. :class:`EmbedderUnavailableError`, naming the modes, where there is none."""
        way = self._way(mode)
        if way not in self._opened:
            try:
                self._opened[way] = way()
            except EmbedderUnavailableError as error:
                sharing = [name for name, other in self._by_mode.items() if other == way]
                if not sharing:
                    raise
                raise EmbedderUnavailableError(f"for the mode {', '.join(sharing)}: {error}") from error
        return self._opened[way]

    def opened(self, mode: str | None) -> Embedder | None:
        """The embedder of a mode where it was opened already."""
        return self._opened.get(self._way(mode))

    def close(self) -> None:
        """Let go of all of them: what failed is looked for again."""
        self._opened.clear()

    def _way(self, mode: str | None) -> Open:
        return self._default if mode is None else self._by_mode.get(mode, self._default)


def embedders_of(settings: Settings) -> Embedders:
    """The embedders that are set. Raises a SettingsError for modes that cannot be read."""
    default = partial(
        open_embedder, settings.embed_model, settings.embed_model_path, threads=settings.embed_threads
    )
    declared = modes_of(settings)
    ways = {
        model: partial(open_embedder, model, threads=settings.embed_threads)
        for model in set(declared.values()) - {"", settings.embed_model}
    }
    return Embedders(default, {mode: ways[model] for mode, model in declared.items() if model in ways})
