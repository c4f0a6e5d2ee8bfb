"""Alerts, dashboard and scrape lists name metrics, stages and ports that exist."""

import re
from typing import Any

import pytest
import yaml

from deploy.check_liveness import PORTS
from tests.support import deployed
from tests.support.deployed import DEPLOY

PANELS = deployed.dashboard()["panels"]
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus_rules.yml").read_text())["groups"]
    for rule in group["rules"]
]
STAGES = {"recorder", "extractor", "cards", "vectors", "references", "problems", "people", "core"}
EXPRESSIONS = [
    *((rule["alert"], rule["expr"]) for rule in RULES),
    *((panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]),
]


def test_the_metrics_of_the_services_are_found() -> None:
    assert {
        "cardlog_stage_behind",
        "cardlog_recall_seconds_bucket",
        "cardlog_turns_accepted_total",
    } <= deployed.metrics()
    assert "cardlog_stage_behind_total" not in deployed.metrics()


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS)
def test_an_expression_names_existing_metrics(where: str, expression: str) -> None:
    named = deployed.named_metrics(expression)
    assert named, where
    assert named <= deployed.metrics(), f"{where}: {named - deployed.metrics()}"
    assert deployed.named_stages(expression) <= STAGES
    for opening, closing in ("()", "[]", "{}"):
        assert expression.count(opening) == expression.count(closing), where
    for counter in re.findall(r"\b(cardlog_\w+_total)\b", expression):
        assert re.search(rf"(rate|increase)\([^)]*\b{counter}\b", expression), (
            f"{where}: {counter} only grows"
        )


@pytest.mark.parametrize(
    "count", ["cardlog_stage_parked", "cardlog_dead", 'cardlog_stage_dead{stage="extractor"}']
)
def test_a_count_that_needs_an_operator_has_an_alert(count: str) -> None:
    assert any(rule["expr"].endswith(f"({count}) > 0") for rule in RULES)


def test_prometheus_asks_both_services_where_they_listen() -> None:
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    targets = {job["job_name"]: job["static_configs"][0]["targets"] for job in scraped["scrape_configs"]}
    assert targets == {f"cardlog-{name}": [f"localhost:{port}"] for name, port in PORTS.items()}
    for name in ("prometheus.yml", "prometheus_compose.yml"):
        for rules in yaml.safe_load((DEPLOY / name).read_text())["rule_files"]:
            assert (DEPLOY / rules).is_file()
