"""Re-embeddings: their cost, and a rebuild of the vectors with the embedders of the settings, and one swap."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from psycopg.errors import InvalidSchemaName, UndefinedTable

from events.modes.reembedding import ReembeddingPlan
from events.modes.registry import Modes
from events.platform.database import Connection, statement
from events.platform.modes import GENERAL_MODE
from events.platform.settings import Settings, SettingsError
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError
from projectors.embedding.embedders import Embedders, Space, embedders_of, is_of_model
from projectors.generations.generations import use_schema
from projectors.rebuild.rebuild import Rebuild, RebuildProgress, RebuildResult
from projectors.vectors import pending
from projectors.vectors.projector import VectorsProjector
from projectors.vectors.slot_embedder import live_spaces

_PACKAGE = "projectors.rebuild"
_SAMPLE = (
    "I moved to Lisbon in May, and my sister came to help with the boxes.",
    "The deploy target of the staging service is eu-west, not us-east.",
    "我上個月從台北搬到高雄,新家離公司很近。",
    "Yes.",
)


def texts_per_s(embedder: Embedder) -> float:
    """Returns the texts a second that ``embedder`` embeds now. It takes about the time of 33 texts."""
    embedder.embed(_SAMPLE[:1])
    begun = time.perf_counter()
    embedder.embed(_SAMPLE * 8)
    return len(_SAMPLE) * 8 / max(time.perf_counter() - begun, 1e-6)


class ModePlanner:
    """Plans re-embeddings of users' modes. See :class:`events.modes.reembedding.Planner`.

    Threads may share it, which plan one after the other. The speed of an embedder is measured once, so that many
    requests cost no more than one.
    """

    def __init__(self, settings: Settings) -> None:
        self._embedders: Embedders = embedders_of(settings)
        self._default_model = settings.embed_model
        self._speeds: dict[str, float] = {}
        self._planning = threading.Lock()

    def _speed(self, embedder: Embedder) -> float:
        if embedder.fingerprint not in self._speeds:
            self._speeds[embedder.fingerprint] = texts_per_s(embedder)
            self._embedders.close()  # the speed is known, so the loaded model is not needed again
        return self._speeds[embedder.fingerprint]

    def __call__(
        self,
        connection: Connection,
        owner: str,
        modes: Modes,
        project_id: str | None,
        name: str,
        *,
        measure: bool,
    ) -> ReembeddingPlan:
        slot = self._embedders.slot_of_card(Modes(modes.registry), project_id or "", name)
        counts, spaces = _held(connection, owner, modes, project_id, name)
        if not counts:
            # A mode without cards needs no embedder, also none that is there.
            held, named = spaces.get(slot), self._embedders.model_of(slot) or self._default_model
            return ReembeddingPlan(embedder=named if held is None else held.fingerprint)
        with self._planning:
            try:
                embedder = (
                    self._embedders.of_space(slot, spaces[slot])
                    if slot in spaces
                    else self._embedders.of_slot(slot)
                )
                fingerprint = embedder.fingerprint
                waiting = counts.pop(None, 0)
                other = sum(count for model, count in counts.items() if model != fingerprint)
                speed = self._speed(embedder) if measure and (other or waiting) else None
            except EmbedderUnavailableError as error:
                raise ValueError(str(error)) from error
        return ReembeddingPlan(
            embedder=fingerprint,
            cards=sum(counts.values()),
            other=other,
            waiting=waiting,
            texts_per_s=None if speed is None else round(speed, 1),
            seconds=None if speed is None else round((other + waiting) / speed, 1),
        )


def _held(
    connection: Connection, owner: str, modes: Modes, project_id: str | None, name: str
) -> tuple[dict[str | None, int], dict[str, Space]]:
    names = {"user_id": owner, "modes": modes.names_of([name]), "project_id": project_id}
    try:
        with connection.transaction():
            rows = connection.execute(statement(_PACKAGE, "named_spaces")).fetchall()
            counts = dict(connection.execute(statement(_PACKAGE, "mode_vectors"), names).fetchall())
    except (UndefinedTable, InvalidSchemaName):  # no worker folded anything yet
        return {}, {}
    return counts, {slot: Space(model, fingerprint) for slot, model, fingerprint in rows}


@dataclass(frozen=True, slots=True)
class ReembeddingTargets:
    """The embedders that a re-embedding gives the cards. ``kept`` are the slots that stay as they are."""

    live: dict[str, Space]
    embedders: dict[str, Embedder]
    kept: dict[str, Space]
    held: dict[str, int]
    waiting: int


def wanted(connection: Connection, embedders: Embedders, mode: str | None) -> ReembeddingTargets:
    """Returns the embedders, the vectors and the cards of a re-embedding of ``mode``; None means all modes.

    ``connection`` sees every tenant. Raises SettingsError for a mode without an embedder of its own, and
    :class:`EmbedderUnavailableError` for an embedder that is not there.
    """
    slot = None if mode is None else embedders.slot(None if mode == GENERAL_MODE else mode)
    if mode not in {None, GENERAL_MODE} and not slot:
        raise SettingsError(
            f"the mode {mode} has no embedder of its own; name it in CARDLOG_MODES, or use general"
        )
    try:
        with connection.transaction():
            use_schema(connection, "vectors")
            live, waiting = live_spaces(connection), pending.left(connection)[0]
            held = dict(connection.execute(statement(_PACKAGE, "vectors_by_model")).fetchall())
    except (UndefinedTable, InvalidSchemaName):  # no worker folded anything yet
        live, waiting, held = {}, 0, {}
    chosen = [each for each in embedders.slots if slot is None or each == slot]
    found = {each: embedders.of_slot(each) for each in chosen}
    if slot is None:
        found |= {name: embedders.of_slot(name) for name in live if is_of_model(name)}
    kept = {name: space for name, space in live.items() if name not in found}
    return ReembeddingTargets(live, found, kept, held, waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationPlan:
    """What a re-embedding of modes that everybody has would do.

    ``slots`` names the embedder of each mode, ``now`` and ``then``. ``other`` of the ``cards`` have vectors of another
    embedder than they should, at most: when two modes had the same embedder, the cards of both count. ``waiting`` cards
    have no vector yet. ``added`` are modes whose embedder is new: some of the other cards may be theirs.
    ``seconds`` is for this machine as it is now; None: there is nothing to measure.
    """

    slots: dict[str, dict[str, str]]
    cards: int
    other: int
    added: tuple[str, ...]
    texts_per_s: float | None
    seconds: float | None
    waiting: int = 0
    model_calls: int = 0

    @property
    def needed(self) -> bool:
        """True when a card would get another vector."""
        return bool(self.other or self.added)


def plan_of(found: ReembeddingTargets) -> InstallationPlan:
    """Returns the cost of a re-embedding."""
    fingerprints = {slot: embedder.fingerprint for slot, embedder in found.embedders.items()}
    right = {*fingerprints.values(), *(each.fingerprint for each in found.kept.values())}
    changed = {
        found.live[slot].fingerprint
        for slot, fingerprint in fingerprints.items()
        if slot in found.live and found.live[slot].fingerprint != fingerprint
    }
    other = sum(count for model, count in found.held.items() if model not in right or model in changed)
    cards = sum(found.held.values())
    speed = texts_per_s(next(iter(found.embedders.values()))) if other else None
    return InstallationPlan(
        slots={
            slot or GENERAL_MODE: {
                "now": found.live[slot].fingerprint if slot in found.live else "",
                "then": fingerprint,
            }
            for slot, fingerprint in fingerprints.items()
        },
        cards=cards,
        other=other,
        waiting=found.waiting,
        added=tuple(slot for slot in fingerprints if slot and slot not in found.live) if cards else (),
        texts_per_s=None if speed is None else round(speed, 1),
        seconds=None if speed is None else round(other / speed, 1),
    )


def run(
    settings: Settings,
    embedders: Embedders,
    found: ReembeddingTargets,
    *,
    on_progress: Callable[[RebuildProgress], None] = lambda _: None,
) -> RebuildResult:
    """Embeds the cards and swaps the new vectors in. Raises as :class:`Rebuild`.

    The old vectors answer until the swap. A run that ends early continues where it stopped, because the cache keeps
    every computed vector.
    """
    return Rebuild(
        settings, VectorsProjector(embedders, found.kept), workers=1, on_progress=on_progress
    ).run()
