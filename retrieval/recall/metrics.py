"""How recall does, as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from retrieval.recall.answer import RecallAnswer

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 1)


class RecallMetrics(Collector):
    """Times of recalls and channels, and how the channels stand; what is unknown is absent, never zero.

    ``standing`` gives every channel's health by name, ``waiting`` how many recalls wait for their turn.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        standing: Callable[[], Mapping[str, Mapping[str, Any]]],
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
        self._standing = standing
        registry.register(self)

    def count(self, answer: RecallAnswer) -> None:
        """Count what the channels of an answer did; one that rested took no time."""
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
        for name, health in self._standing().items():
            quarantined.add_metric([name], int(health["status"] == "quarantined"))
            if health["p95_ms"] is not None:
                p95.add_metric([name], health["p95_ms"] / 1000)
        return quarantined, p95
