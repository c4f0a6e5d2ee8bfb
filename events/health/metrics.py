"""The stages as Prometheus metrics, collected when they are asked for. What is unknown is absent, never zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from events.health.health_status import StageHealth
from events.health.heartbeat import HeartbeatReport

_ENDED = frozenset(("stuck", "stopped", "abandoned"))


@dataclass(frozen=True, slots=True)
class HealthSnapshot:
    """What one scrape shows: the stages, which servers answered, and counts that only grow."""

    stages: Sequence[StageHealth]
    servers: Mapping[str, bool]
    dead: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    events: int | None = None
    reports: Sequence[HeartbeatReport] = ()


class StageMetrics(Collector):
    """``look`` tells how it stands, in bounded time; it is asked once a scrape."""

    def __init__(self, look: Callable[[], HealthSnapshot]) -> None:
        self._look = look

    def describe(self) -> Iterable[Metric]:
        """Nothing is looked at just to register."""
        return _metrics(HealthSnapshot((), {}))

    def collect(self) -> Iterable[Metric]:
        """Every metric, with a sample for whatever is known."""
        return _metrics(self._look())


def _metrics(seen: HealthSnapshot) -> Iterable[Metric]:
    stages = seen.stages
    for name, meaning, values in (
        ("behind", "turns or events not done yet", {s.name: s.behind for s in stages}),
        (
            "seconds_behind",
            "age of the oldest turn or event not done yet",
            {s.name: s.seconds for s in stages},
        ),
        (
            "stalled_seconds",
            "for how long there has been work and none was done",
            {s.name: s.stalled_s for s in stages},
        ),
        ("rate", "turns or events done a second, over the last seconds", {s.name: s.rate for s in stages}),
        ("position", "turns or events done since the beginning", {s.name: s.position for s in stages}),
        (
            "pending",
            "cards that wait for their vector, their events passed",
            {s.name: s.pending for s in stages},
        ),
        ("pending_seconds", "age of the oldest of them", {s.name: s.pending_s for s in stages}),
        ("parked", "events that wait for an operator", {s.name: s.parked for s in stages}),
        ("dead", "turns refused or given up", {s.name: s.dead for s in stages}),
        ("workers", "workers alive", {s.name: s.workers for s in stages}),
        ("up", "1 while a worker is alive", {s.name: _flag(s.workers) for s in stages}),
        (
            "waiting",
            "1 while every worker says what it waits for",
            {s.name: None if s.state == "unknown" else int(s.state == "waiting") for s in stages},
        ),
        (
            "stuck",
            "1 while the stage is stuck, stopped or abandoned",
            {s.name: None if s.state == "unknown" else int(s.state in _ENDED) for s in stages},
        ),
    ):
        yield _gauge(f"cardlog_stage_{name}", meaning, "stage", values)
    answers = {server: int(answered) for server, answered in seen.servers.items()}
    yield _gauge("cardlog_server_up", "1 when the server answered", "server", answers)
    yield _total("cardlog_log_events", "events in the log", seen.events)
    yield GaugeMetricFamily("cardlog_dead", "dead letters that wait for an operator", seen.dead)
    for name, meaning in (
        ("recorded", "turns recorded"),
        ("duplicates", "turns that were recorded before and dropped"),
        ("dead", "turns refused"),
        ("retried", "dead letters pushed again"),
        ("dropped", "dead letters dropped by an operator"),
    ):
        # A count appears with the first turn it counts; until then it is zero where the queue could be asked.
        count = seen.counts.get(name, 0) if seen.dead is not None else None
        yield _total(f"cardlog_turns_{name}", f"{meaning}, since the stream began", count)
    extractors = _newest(report for report in seen.reports if report.stage == "extractor")
    for name, meaning in (
        ("turns", "turns read or given up"),
        ("failed", "turns given up"),
        ("cards", "cards made, episodes included"),
        ("refused", "cards of a model that the words of the turns did not bear out"),
        ("calls", "calls of a model"),
        ("input_tokens", "tokens asked, beyond what the server kept"),
        ("cache_write_tokens", "tokens asked that the server was to keep"),
        ("cache_read_tokens", "tokens asked that the server had kept"),
        ("output_tokens", "tokens answered"),
        ("latency_ms", "milliseconds calls took"),
        ("cost_usd", "dollars at list price, of calls whose price is known"),
    ):
        family = CounterMetricFamily(
            f"cardlog_extraction_{name}", f"{meaning}, by this worker", labels=["worker"]
        )
        for report in extractors:
            if name in report.counts:
                family.add_metric([report.worker], report.counts[name])
        yield family


def _newest(reports: Iterable[HeartbeatReport]) -> list[HeartbeatReport]:
    """The last process of each worker: a counter that began anew is a counter that began anew."""
    found: dict[str, HeartbeatReport] = {}
    for report in reports:
        known = found.get(report.worker)
        if known is None or report.seen_s < known.seen_s:
            found[report.worker] = report
    return list(found.values())


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
