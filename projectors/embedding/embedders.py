"""The embedder of each mode: a mode may name its own model, and all other modes share the default model."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from events.modes.registry import Modes
from events.platform.modes import modes_of
from events.platform.settings import Settings, revealed
from projectors.embedding.embedder import (
    BUILT_MODELS,
    HASH_MODEL,
    Embedder,
    EmbedderUnavailableError,
    FastEmbedder,
    embedder_of_fingerprint,
    holds,
    open_embedder,
)
from projectors.embedding.graph import trim
from projectors.embedding.remote_embedder import RemoteEmbedder

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space: the name of the embedder that made its vectors, and the embedder's fingerprint."""

    name: str
    fingerprint: str


_MODEL = "model="  # a slot of a model that users name; no mode of the settings has "=" in its name


def _closed(space: Space) -> Embedder:
    raise EmbedderUnavailableError(f"no embedder {space.name} is configured")


class Embedders:
    """Opens the embedder of a mode when it is first needed. Slots of one model share one embedder.

    The object can be pickled before the first embedder is opened.
    """

    def __init__(
        self,
        default: Callable[[], Embedder],
        by_mode: Mapping[str, str] | None = None,
        *,
        default_model: str = "",
        by_model: Callable[[str], Embedder] = open_embedder,
        open_space: Callable[[Space], Embedder] = _closed,
    ) -> None:
        """``by_mode`` are the models of modes that have their own. ``by_model`` opens a model by its name.

        A mode of a user that names ``default_model`` shares the default embedder.
        """
        self._default = default
        self._default_model = default_model
        self._by_mode = dict(by_mode or {})
        self._by_model = by_model
        self._open_space = open_space
        self._opened: dict[str, Embedder] = {}
        self._of_space: dict[Space, Embedder] = {}
        self._in_use: dict[str, Embedder] = {}

    @property
    def modes(self) -> tuple[str | None, ...]:
        """One mode for each model. None means all modes without a model of their own."""
        first: dict[str, str | None] = {"": None}
        for mode, model in self._by_mode.items():
            first.setdefault(model, mode)
        return tuple(first.values())

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots of the settings, also those that share a model."""
        return ("", *self._by_mode)

    def of(self, mode: str | None) -> Embedder:
        """Returns the embedder of the mode's cards.

        Raises :class:`EmbedderUnavailableError`, which names the modes of that model.
        """
        return self.of_slot(self.slot(mode))

    def of_slot(self, slot: str) -> Embedder:
        """Returns the embedder that the settings, or the name of the model, give the slot. Raises as :meth:`of`."""
        model = self.model_of(slot)
        if model not in self._opened:
            try:
                self._opened[model] = self._by_model(model) if model else self._default()
            except EmbedderUnavailableError as error:
                sharing = [name for name, other in self._by_mode.items() if other == model]
                if not sharing:
                    raise
                raise EmbedderUnavailableError(f"for the mode {', '.join(sharing)}: {error}") from error
        return self._opened[model]

    def slot(self, mode: str | None) -> str:
        """Returns the mode if it has a model of its own, else ''. The vectors of a slot have one embedder."""
        return "" if mode is None or mode not in self._by_mode else mode

    def slot_of_model(self, model: str) -> str:
        """Returns the slot of the cards of every user's mode that names ``model``. "" is the default model."""
        return f"{_MODEL}{model}" if model else ""

    def slot_of_card(self, modes: Modes, project_id: str, name: str | None) -> str:
        """Returns the slot of a card with the mode ``name``, as ``modes`` declare it."""
        declared = None if not modes else modes.mode(project_id, name)
        if declared is None:
            return self.slot(modes.meaning(project_id, name) if modes else name)
        return self.slot_of_model(declared.embedder or "")

    def model_of(self, slot: str) -> str:
        """Returns the name of the model that the settings, or the slot itself, give a slot. "" is the default model."""
        model = slot.removeprefix(_MODEL) if is_of_model(slot) else self._by_mode.get(slot, "")
        return "" if model == self._default_model else model

    def of_space(self, slot: str, space: Space) -> Embedder:
        """Returns the embedder whose vectors the slot's cards have, also when the settings name another one now.

        Raises :class:`EmbedderUnavailableError` when that embedder is not on this machine. The message says how to
        embed the cards with the embedder of the settings.
        """
        reason = ""
        try:
            wanted = self.of_slot(slot)
            if wanted.fingerprint == space.fingerprint:
                self._in_use[slot] = wanted
                return wanted
        except EmbedderUnavailableError as error:
            reason = f" ({error})"
        if space not in self._of_space:
            try:
                self._of_space[space] = self._open_space(space)
            except EmbedderUnavailableError as error:
                raise EmbedderUnavailableError(
                    f"the vectors are of {space.fingerprint}, and this embedder is not here: {error}{reason}; bring "
                    "its files back, or embed the cards again with: cardlog reembed"
                ) from error
        self._in_use[slot] = self._of_space[space]
        return self._of_space[space]

    def is_open(self, slot: str) -> Embedder | None:
        """Returns the embedder of the slot's vectors, or else of the settings, if it is already open, else None."""
        return self._in_use.get(slot) or self._opened.get(self.model_of(slot))

    def forget(self, slot: str) -> None:
        """Forgets the embedder of one slot. The next use opens it again."""
        gone = self._in_use.pop(slot, None)
        self._opened.pop(self.model_of(slot), None)
        self._of_space = {space: each for space, each in self._of_space.items() if each is not gone}

    def close(self) -> None:
        """Forgets all embedders and gives their memory back. The next use opens them again."""
        self._opened.clear()
        self._of_space.clear()
        self._in_use.clear()
        trim()


def is_of_model(slot: str) -> bool:
    """True for the slot of a model that users' modes name. The other slots are of the settings."""
    return slot.startswith(_MODEL)


def embedders_of(settings: Settings) -> Embedders:
    """Returns the embedders that ``settings`` names. Raises SettingsError for modes that cannot be read."""
    declared = modes_of(settings)
    return Embedders(
        partial(_open, settings, settings.embed_model),
        {mode: model for mode, model in declared.items() if model not in ("", settings.embed_model)},
        default_model=settings.embed_model,
        by_model=partial(_open, settings),
        open_space=partial(_open_space, settings),
    )


def preload(settings: Settings) -> None:
    """Loads the default model for the forks of this process. A missing model is no error: each use of it says so."""
    with suppress(EmbedderUnavailableError):
        embedder = embedders_of(settings).of(None)
        if isinstance(embedder, FastEmbedder):
            embedder.preload()


def missing_model(settings: Settings) -> str | None:
    """Returns which embedding model this machine lacks, with the remedy. None: an embedder can be opened."""
    if settings.embed_url:
        return None
    try:
        open_embedder(settings.embed_model, settings.embed_model_path)
    except EmbedderUnavailableError as error:
        return str(error)
    return None


def _open(settings: Settings, model: str) -> Embedder:
    """Returns the embedder called ``model``: of the server of ``settings``, or of this machine without a server."""
    if settings.embed_url and not _is_hash(model):
        return RemoteEmbedder(
            settings.embed_url, model, key=revealed(settings.embed_key), timeout_s=settings.embed_timeout_s
        )
    path = settings.embed_model_path if model == settings.embed_model else ""
    return open_embedder(model, path, threads=settings.embed_threads)


def _is_hash(model: str) -> bool:
    return model.partition("-")[0] == HASH_MODEL


def _open_space(settings: Settings, space: Space) -> Embedder:
    """Returns the embedder of ``space``: the server of the settings, or the graph on this machine that has its
    fingerprint.
    """
    if settings.embed_url and not _is_hash(space.name):
        try:
            remote = _open(settings, space.name)
            if remote.fingerprint == space.fingerprint:
                return remote
        except EmbedderUnavailableError as error:
            logger.info("%s is not asked for %s: %s", settings.embed_url, space.name, error)
    path = settings.embed_model_path
    return embedder_of_fingerprint(
        space.name,
        space.fingerprint,
        path if path and holds(Path(path), space.name) else "",
        threads=settings.embed_threads,
    )


def dimension_of(settings: Settings, model: str) -> int:
    """Returns the length of the vectors of ``model``; "" is the default model. Loads no weights.

    Raises ValueError with the remedy when the model is not on this machine. The words are for the caller of a service,
    and name no folder of the machine.
    """
    embedders = embedders_of(settings)
    try:
        return embedders.of_slot(embedders.slot_of_model(model)).dimension
    except EmbedderUnavailableError as error:
        logger.warning("a declared mode cannot have its model: %s", error)
        name = model or settings.embed_model
        if settings.embed_url:
            raise ValueError(f"the embedding server gives no vectors of {name}; try again later") from error
        remedy = (
            f"build it there with `cardlog model fetch --model {name}`"
            if name in BUILT_MODELS
            else "put its files there, and try it with `cardlog doctor`"
        )
        raise ValueError(f"{name} is not on the server; {remedy}, or name another model") from error
