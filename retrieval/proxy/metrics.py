"""Prometheus metrics of the proxy."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge


class ProxyMetrics:
    """What became of contexts and of pushes, and the number of pushes that wait."""

    def __init__(self, registry: CollectorRegistry, waiting: Callable[[], int]) -> None:
        self.contexts = Counter(
            "cardlog_proxy_contexts",
            "requests of apps by what became of their context",
            ["outcome"],
            registry=registry,
        )
        self.pushes = Counter(
            "cardlog_proxy_pushes",
            "pushes of turns, accepted or failed for good",
            ["outcome"],
            registry=registry,
        )
        for outcome in ("accepted", "failed"):
            self.pushes.labels(outcome)
        Gauge(
            "cardlog_proxy_pushes_waiting", "pushes of turns that wait for the memory", registry=registry
        ).set_function(waiting)
