"""An embedder that fails stops the cards of its own mode only, and status and metrics name the mode and the remedy."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from events.health.health_status import read_health
from events.health.metrics import HealthSnapshot, StageMetrics
from events.health.stage_health import StageHealth
from events.platform.database import Connection
from events.store import log
from events.types.envelope import NewEvent
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, HashEmbedder, Vectors
from projectors.embedding.embedders import Embedders
from projectors.generations.generations import ensure_live
from projectors.generations.projector import ProjectorBlockedError
from projectors.runner import Runner
from projectors.vectors.projector import VectorsProjector
from tests.support.projectors.folding import apart, count, fold_live, rebuild, settings_of
from tests.support.retrieval.channels import noted

REMEDY = "no embedding model acme/code in /models; put its tokenizer.json there"
MANY = 600  # more than the runner embeds with their fold


def missing() -> Embedder:
    raise EmbedderUnavailableError(REMEDY)


class Ill(HashEmbedder):
    """An embedder with 768 dimensions that is well, or answers what it should not."""

    answer: Callable[[Sequence[str]], Any] | None = None

    def __init__(self) -> None:
        super().__init__(768)

    def embed(self, texts: Sequence[str]) -> Vectors:
        answer = Ill.answer
        return super().embed(texts) if answer is None else answer(texts)


def dead(_: Sequence[str]) -> Any:
    raise EmbedderUnavailableError("the embedding server gives no vectors: it did not answer within 30 s")


def said(text: str, mode: str | None = None) -> NewEvent:
    return apart(noted(text, mode=mode))


def held(connection: Connection) -> tuple[int, int, int]:
    """Returns the vectors with 384 and with 768 dimensions, and the cards that wait."""
    return (
        count(connection, "vectors.card_vectors_384"),
        count(connection, "vectors.card_vectors_768"),
        count(connection, "vectors.pending_vectors"),
    )


def with_code(code: Callable[[], Embedder], default: Callable[[], Embedder] = HashEmbedder) -> Embedders:
    """The embedders of an installation whose mode ``code`` has a model of its own."""
    return Embedders(default, {"code": "acme/code"}, by_model=lambda _: code())


def stage(connection: Connection) -> StageHealth:
    return read_health(connection).reader("vectors")


def samples(seen: StageHealth) -> list[tuple[dict[str, str], float]]:
    families = StageMetrics(lambda: HealthSnapshot((seen,), {})).collect()
    return [
        (each.labels, each.value)
        for family in families
        if family.name == "cardlog_vectors_blocked"
        for each in family.samples
    ]


def test_a_missing_model_stops_its_own_mode_only(connection: Connection) -> None:
    away = VectorsProjector(with_code(missing))
    log.append(connection, [said("one"), said("a class", "code"), said("two")])
    fold_live(connection, away)
    assert held(connection) == (2, 0, 1)
    log.append(connection, [said("a function", "code"), said("three", "journal")])
    fold_live(connection, away)
    assert held(connection) == (3, 0, 2)
    assert away.hindrance is not None
    assert not away.hindrance.whole
    seen = stage(connection)
    assert seen.pending == 2
    assert f"2 cards of code wait for its embedder: for the mode code: {REMEDY}" in (seen.detail or "")
    [(labels, cards)] = samples(seen)
    assert (labels["mode"], cards) == ("code", 2)
    assert REMEDY in labels["reason"]
    with pytest.raises(ProjectorBlockedError, match="no embedding model acme/code"):
        rebuild(connection, VectorsProjector(with_code(missing)))
    here = VectorsProjector(with_code(lambda: HashEmbedder(768)))
    fold_live(connection, here)
    assert held(connection) == (3, 2, 0)
    seen = stage(connection)
    assert (seen.blocked, samples(seen)) == ((), [])
    again = VectorsProjector(with_code(Ill))
    assert rebuild(connection, again, verify=True).equal


@pytest.mark.parametrize(
    "answer",
    [
        dead,
        lambda texts: np.full((len(texts), 768), np.nan),
        lambda texts: np.zeros((len(texts), 384)),
        lambda texts: np.zeros((len(texts) + 1, 768)),
        lambda texts: "vectors",
    ],
    ids=["dies or hangs", "NaN", "another dimension", "another number", "no numbers"],
)
def test_an_embedder_that_fails_at_work_stops_its_own_mode_only(
    connection: Connection, answer: Callable[[Sequence[str]], Any]
) -> None:
    def projector() -> VectorsProjector:
        return VectorsProjector(with_code(Ill))

    Ill.answer = None
    log.append(connection, [said("a class", "code")])
    fold_live(connection, projector())
    Ill.answer = answer
    try:
        log.append(connection, [said("a function", "code"), said("one"), said("a method", "code")])
        fold_live(connection, projector())
        assert held(connection) == (1, 1, 2)
        [blocked] = stage(connection).blocked
        assert (blocked.mode, blocked.cards) == ("code", 2)
    finally:
        Ill.answer = None
    fold_live(connection, projector())
    assert held(connection) == (1, 3, 0)
    assert stage(connection).blocked == ()


@pytest.mark.parametrize("default", [HashEmbedder, missing])
def test_the_worker_says_what_it_waits_for(connection: Connection, default: Callable[[], Embedder]) -> None:
    projector = VectorsProjector(with_code(missing, default))
    ensure_live(connection, projector)
    log.append(connection, [said("one"), said("a class", "code")])
    runner = Runner(settings_of(connection), projector, lambda: False)
    while (result := runner.handle(connection)).passed:
        pass
    assert result.wait_s is not None, "it tries again by itself"
    if default is missing:
        assert result.stalled is not None
        assert REMEDY in result.stalled
    else:
        assert result.stalled is None


def test_many_cards_of_a_failing_mode_hold_up_nobody(connection: Connection) -> None:
    away = VectorsProjector(with_code(missing))
    log.append(connection, [said(f"text {number}", "code" if number % 3 else None) for number in range(MANY)])
    fold_live(connection, away, batch=MANY)
    assert held(connection) == (MANY // 3, 0, MANY - MANY // 3)
    assert [each.cards for each in stage(connection).blocked] == [MANY - MANY // 3]
    fold_live(connection, VectorsProjector(with_code(lambda: HashEmbedder(768))))
    assert held(connection) == (MANY // 3, MANY - MANY // 3, 0)
