"""The health of the stages as Prometheus metrics, collected at each scrape. An unknown number has no sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from events.health.heartbeat import HeartbeatReport
from events.health.stage_health import StageHealth

_NEEDS_OPERATOR = frozenset(("stuck", "stopped", "abandoned"))


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
    for name, meaning, values in (
        ("behind", "turns or events not processed yet", {s.name: s.behind for s in stages}),
        (
            "seconds_behind",
            "age of the oldest turn or event not processed yet",
            {s.name: s.seconds for s in stages},
        ),
        (
            "stalled_seconds",
            "how long the stage has had work and done none",
            {s.name: s.stalled_s for s in stages},
        ),
        ("rate", "turns or events per second, over the last seconds", {s.name: s.rate for s in stages}),
        ("position", "turns or events processed since the beginning", {s.name: s.position for s in stages}),
        (
            "pending",
            "cards without a vector whose events were processed",
            {s.name: s.pending for s in stages},
        ),
        ("pending_seconds", "age of the oldest pending card", {s.name: s.pending_s for s in stages}),
        ("parked", "parked events, which wait for an operator", {s.name: s.parked for s in stages}),
        ("dead", "dead letters, or turns that the extractor gave up", {s.name: s.dead for s in stages}),
        ("workers", "workers alive", {s.name: s.workers for s in stages}),
        ("up", "1 while a worker is alive", {s.name: _flag(s.workers) for s in stages}),
        (
            "waiting",
            "1 while every worker waits",
            {s.name: None if s.state == "unknown" else int(s.state == "waiting") for s in stages},
        ),
        (
            "stuck",
            "1 while the stage is stuck, stopped or abandoned",
            {s.name: None if s.state == "unknown" else int(s.state in _NEEDS_OPERATOR) for s in stages},
        ),
    ):
        yield _gauge(f"cardlog_stage_{name}", meaning, "stage", values)
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


def _flag(count: int | None) -> int | None:
    return None if count is None else int(count > 0)
