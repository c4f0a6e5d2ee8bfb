"""The health of the stages as Prometheus metrics, collected at each scrape. An unknown number has no sample."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from events.health.heartbeat import HeartbeatReport
from events.health.stage_health import StageHealth

_NEEDS_OPERATOR = ("stuck", "stopped")


_STAGE_GAUGES: tuple[tuple[str, str, Callable[[StageHealth], float | None]], ...] = (
    ("behind", "turns or events not processed yet", lambda stage: stage.behind),
    ("seconds_behind", "age of the oldest turn or event not processed yet", lambda stage: stage.seconds),
    ("stalled_seconds", "how long the stage has had work and done none", lambda stage: stage.stalled_s),
    ("rate", "turns or events per second, over the last seconds", lambda stage: stage.rate),
    ("position", "turns or events processed since the beginning", lambda stage: stage.position),
    ("pending", "cards without a vector whose events were processed", lambda stage: stage.pending),
    ("pending_seconds", "age of the oldest pending card", lambda stage: stage.pending_s),
    ("parked", "parked events, which wait for an operator", lambda stage: stage.parked),
    ("dead", "dead letters, or turns that the extractor gave up", lambda stage: stage.dead),
    ("workers", "workers alive", lambda stage: stage.workers),
    (
        "up",
        "1 while a worker is alive",
        lambda stage: None if stage.workers is None else int(stage.workers > 0),
    ),
    ("waiting", "1 while every worker waits", lambda stage: _in_state(stage, "waiting")),
    (
        "stuck",
        "1 while the stage is stuck or stopped",
        lambda stage: _in_state(stage, *_NEEDS_OPERATOR),
    ),
)


@dataclass(frozen=True, slots=True)
class HealthSnapshot:
    """The data of one scrape: the stages, the servers that answered, and the counters.

    ``dead`` are the dead letters, ``counts`` the counters of the turn queues, ``events`` the events in the log.
    """

    stages: Sequence[StageHealth]
    servers: Mapping[str, bool]
    dead: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    events: int | None = None
    reports: Sequence[HeartbeatReport] = ()


class StageMetrics(Collector):
    """Collects the metrics from ``snapshot()``, once for each scrape. ``snapshot`` must return in bounded time."""

    def __init__(self, snapshot: Callable[[], HealthSnapshot]) -> None:
        self._snapshot = snapshot

    def describe(self) -> Iterable[Metric]:
        """Returns the metrics without samples. The registration therefore reads nothing."""
        return _metrics(HealthSnapshot((), {}))

    def collect(self) -> Iterable[Metric]:
        """Returns every metric, with a sample for each known number."""
        return _metrics(self._snapshot())


def _metrics(seen: HealthSnapshot) -> Iterable[Metric]:
    stages = seen.stages
    for name, meaning, value in _STAGE_GAUGES:
        yield _gauge(f"cardlog_stage_{name}", meaning, "stage", {each.name: value(each) for each in stages})
    blocked = GaugeMetricFamily(
        "cardlog_vectors_blocked",
        "cards that wait for an embedder that fails, by its mode; the reason names the remedy",
        labels=["mode", "reason"],
    )
    for stage in stages:
        for each in stage.blocked:
            blocked.add_metric([each.mode, each.reason], each.cards)
    yield blocked
    answers = {server: int(answered) for server, answered in seen.servers.items()}
    yield _gauge("cardlog_server_up", "1 when the server answered", "server", answers)
    yield _total("cardlog_log_events", "events in the log", seen.events)
    yield GaugeMetricFamily("cardlog_dead", "dead letters that wait for an operator", seen.dead)
    for name, meaning in (
        ("recorded", "turns recorded"),
        ("duplicates", "turns dropped because they were recorded before"),
        ("dead", "turns refused as dead letters"),
        ("lost", "turns that somebody deleted from the queue before they were recorded"),
        ("retried", "dead letters pushed again"),
        ("dropped", "dead letters dropped by an operator"),
    ):
        # The queue has a counter only after its first turn. Until then the counter is zero if the queue answered.
        count = seen.counts.get(name, 0) if seen.dead is not None else None
        yield _total(f"cardlog_turns_{name}", f"{meaning}, since the stream began", count)
    extractors = _newest(report for report in seen.reports if report.stage == "extractor")
    for name, meaning in (
        ("turns", "turns extracted or given up"),
        ("failed", "turns given up"),
        ("cards", "cards made, episodes included"),
        ("refused", "cards of a model that grounding refused"),
        ("calls", "calls of a model"),
        ("input_tokens", "input tokens without cached tokens"),
        ("cache_write_tokens", "input tokens written to the prompt cache"),
        ("cache_read_tokens", "input tokens read from the prompt cache"),
        ("output_tokens", "output tokens"),
        ("latency_ms", "milliseconds of all calls"),
        ("cost_usd", "dollars at list price, for calls with a known price"),
    ):
        family = CounterMetricFamily(
            f"cardlog_extraction_{name}", f"{meaning}, by this worker", labels=["worker"]
        )
        for report in extractors:
            if name in report.counts:
                family.add_metric([report.worker], report.counts[name])
        yield family


def _newest(reports: Iterable[HeartbeatReport]) -> list[HeartbeatReport]:
    """Returns the newest process of each worker. Its counters start at zero, as Prometheus expects after a restart."""
    newest: dict[str, HeartbeatReport] = {}
    for report in reports:
        known = newest.get(report.worker)
        if known is None or report.seen_s < known.seen_s:
            newest[report.worker] = report
    return list(newest.values())


def _gauge(name: str, meaning: str, label: str, values: Mapping[str, float | None]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for each, value in values.items():
        if value is not None:
            family.add_metric([each], value)
    return family


def _total(name: str, meaning: str, value: int | None) -> Metric:
    return CounterMetricFamily(name, meaning, value)


def _in_state(stage: StageHealth, *states: str) -> int | None:
    return None if stage.state == "unknown" else int(stage.state in states)
