"""Prometheus metrics of recall."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from events.resources.recall import Channels
from retrieval.recall.answer import RecallAnswer

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 1)


class RecallMetrics(Collector):
    """The times of recalls and channels, and the health of the channels. An unknown number is absent, never zero.

    ``channel_health`` returns the health of every channel by name, ``waiting`` the number of recalls that wait.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        channel_health: Callable[[], Channels],
        waiting: Callable[[], int],
    ) -> None:
        self.seconds = Histogram(
            "cardlog_recall_seconds", "time a recall took", buckets=_BUCKETS, registry=registry
        )
        self._channel_seconds = Histogram(
            "cardlog_recall_channel_seconds", "time a channel took, or was waited for", ["channel"],
            buckets=_BUCKETS, registry=registry,
        )  # fmt: skip
        self._outcomes = Counter(
            "cardlog_recall_channels", "channel outcomes", ["channel", "status"], registry=registry
        )
        Gauge(
            "cardlog_recalls_waiting", "recalls that wait until there is room for them", registry=registry
        ).set_function(waiting)
        self._channel_health = channel_health
        registry.register(self)

    def count(self, answer: RecallAnswer) -> None:
        """Counts the reports of an answer's channels. A quarantined channel has no time."""
        for name, report in answer.channels.items():
            self._outcomes.labels(name, report.status).inc()
            if report.status != "quarantined":
                self._channel_seconds.labels(name).observe(report.ms / 1000)

    def collect(self) -> Iterable[Metric]:
        quarantined = GaugeMetricFamily(
            "cardlog_recall_channel_quarantined", "1 while the channel is not waited for", labels=["channel"]
        )
        p95 = GaugeMetricFamily(
            "cardlog_recall_channel_p95_seconds", "P95 of its last ten latencies", labels=["channel"]
        )
        for name, health in self._channel_health().items():
            quarantined.add_metric([name], int(health.status == "quarantined"))
            if health.p95_ms is not None:
                p95.add_metric([name], health.p95_ms / 1000)
        return quarantined, p95
