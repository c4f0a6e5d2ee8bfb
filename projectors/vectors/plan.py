"""The cost of a re-embedding: how many vectors are of another embedder, and how fast this machine embeds."""

import threading
import time

from psycopg.errors import InvalidSchemaName, UndefinedTable

from events.modes.reembedding import ReembeddingPlan
from events.modes.registry import Modes
from events.platform.database import Connection, statement
from events.platform.settings import Settings
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError
from projectors.embedding.embedders import Embedders, Space, embedders_of

_PACKAGE = "projectors.vectors"
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


class MeasuringPlanner:
    """Knows the embedders and their speeds. Threads may share it, which plan one after the other.

    The speed of an embedder is measured once, so that many requests cost no more than one.
    """

    def __init__(self, settings: Settings) -> None:
        self._embedders: Embedders = embedders_of(settings)
        self._speeds: dict[str, float] = {}
        self._planning = threading.Lock()

    def _speed(self, embedder: Embedder) -> float:
        if embedder.fingerprint not in self._speeds:
            self._speeds[embedder.fingerprint] = texts_per_s(embedder)
            self._embedders.close()  # the speed is known, so the loaded model is not needed again
        return self._speeds[embedder.fingerprint]


class ModePlanner(MeasuringPlanner):
    """Plans re-embeddings of users' modes. See :class:`events.modes.reembedding.Planner`."""

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
            held = spaces.get(slot)
            return ReembeddingPlan(
                embedder=self._embedders.name_of(slot) if held is None else held.fingerprint
            )
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
