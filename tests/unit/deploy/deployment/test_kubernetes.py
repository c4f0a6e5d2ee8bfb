"""The manifests of Kubernetes agree, are confined, and name commands, settings, metrics and stages that exist."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
import yaml
from fastapi import FastAPI

from deploy.commands.capacity.measures import COSTS, EVENTS_PER_TURN, TEXT_BYTES
from deploy.monitoring.check_liveness import PORTS
from events.platform.settings import Settings
from ingest.api.write_api import create_app as write_app
from retrieval.http.read_api import create_app as read_app
from tests.support import deployed
from tests.support.deployed import KUBERNETES

OBJECTS = [document for _, document in deployed.manifests()]
DEPLOYMENTS = {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == "Deployment"}
WORKERS = [
    name
    for name, each in DEPLOYMENTS.items()
    if each["spec"]["template"]["spec"]["containers"][0]["args"][0] == "work"
]
SERVING = [name for name in DEPLOYMENTS if name not in WORKERS]
STAGE_OF = {"recorder": "recorder", "extractor": "extractor", "projector": "cards", "vectors": "vectors"}


def kind(name: str) -> list[dict[str, Any]]:
    return [each for each in OBJECTS if each["kind"] == name]


def pod(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = DEPLOYMENTS[name]["spec"]["template"]["spec"]
    return spec


def container(name: str) -> dict[str, Any]:
    (only,) = pod(name)["containers"]
    found: dict[str, Any] = only
    return found


def labels(name: str) -> dict[str, str]:
    found: dict[str, str] = DEPLOYMENTS[name]["spec"]["template"]["metadata"]["labels"]
    return found


def test_every_worker_and_both_services_have_a_deployment() -> None:
    wanted = {*deployed.workers(), *deployed.FOR_KAFKA, *PORTS}
    assert set(DEPLOYMENTS) == {f"cardlog-{name}" for name in wanted}


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_runs_what_it_is_named_after(name: str) -> None:
    args = container(name)["args"]
    assert name == f"cardlog-{args[1]}"
    deployed.parsed(args)
    assert "command" not in container(name)  # the image's own
    selected = DEPLOYMENTS[name]["spec"]["selector"]["matchLabels"]
    assert selected.items() <= labels(name).items()
    assert selected["app.kubernetes.io/component"] == args[1]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_is_confined(name: str) -> None:
    assert pod(name)["automountServiceAccountToken"] is False
    assert pod(name)["serviceAccountName"] in {each["metadata"]["name"] for each in kind("ServiceAccount")}
    security = pod(name)["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["runAsUser"] == security["runAsGroup"] == 10001
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(name)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    resources = container(name)["resources"]
    assert set(resources["requests"]) == {"cpu", "memory"}
    assert "memory" in resources["limits"]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_settings_of_a_pod_exist_and_its_secrets_are_referred_to(name: str) -> None:
    assert pod(name)["enableServiceLinks"] is False  # which would add variables that look like settings
    for variable in container(name)["env"]:
        assert variable["name"] in deployed.settings()
        assert variable["valueFrom"]["secretKeyRef"]["name"] == "cardlog"
    given = {variable["name"] for variable in container(name)["env"]}
    assert {"CARDLOG_DATABASE_URL", "CARDLOG_REDIS_URL"} <= given
    assert ("ANTHROPIC_API_KEY" in given) is (name == "cardlog-extractor")


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_is_asked_whether_it_lives(name: str) -> None:
    for probe in ("startupProbe", "livenessProbe"):
        assert container(name)[probe]["exec"]["command"] == [
            "python",
            "-m",
            "deploy.monitoring.check_liveness",
        ]
    # Another process may be migrating the database. A kill would only make the migration start again.
    start = container(name)["startupProbe"]
    assert start["periodSeconds"] * start["failureThreshold"] >= 600
    # The first answer counts as silence only after this; see UNSEEN_S.
    assert container(name)["livenessProbe"]["failureThreshold"] >= 2


@pytest.mark.parametrize("name", SERVING)
def test_a_service_is_asked_at_paths_it_has_on_the_port_it_listens_on(name: str) -> None:
    nowhere = Settings(database_url="postgresql://nobody@127.0.0.1:1/no", redis_url="redis://127.0.0.1:1")
    role = name.removeprefix("cardlog-")
    app: FastAPI = {"write": write_app, "read": read_app}[role](nowhere)
    paths = {getattr(route, "path", "") for route in app.routes}
    assert container(name)["ports"] == [{"name": "http", "containerPort": PORTS[role]}]
    for probe, path in (
        ("startupProbe", "/healthz"),
        ("livenessProbe", "/healthz"),
        ("readinessProbe", "/readyz?stages=ignore"),
    ):
        asked = container(name)[probe]["httpGet"]
        assert asked == {"path": path, "port": "http"}
        assert path.partition("?")[0] in paths
    notes = DEPLOYMENTS[name]["spec"]["template"]["metadata"]["annotations"]
    assert notes["prometheus.io/port"] == str(PORTS[role])
    assert notes["prometheus.io/path"] in paths
    (service,) = (each for each in kind("Service") if each["metadata"]["name"] == name)
    assert service["spec"]["selector"].items() <= labels(name).items()
    assert service["spec"]["ports"] == [{"name": "http", "port": PORTS[role], "targetPort": "http"}]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_has_the_time_to_stop_that_its_process_takes(name: str) -> None:
    grace = pod(name)["terminationGracePeriodSeconds"]
    if name == "cardlog-extractor":
        assert grace >= Settings().extract_grace_s + 30
    if name in SERVING:
        (_, pause) = container(name)["lifecycle"]["preStop"]["exec"]["command"]
        assert grace >= int(pause) + 5 + 10
    assert grace >= 30


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_pods_of_a_kind_are_spread_and_drained_one_by_one(name: str) -> None:
    for constraint in pod(name)["topologySpreadConstraints"]:
        assert constraint["labelSelector"]["matchLabels"].items() <= labels(name).items()
        assert "app.kubernetes.io/component" in constraint["labelSelector"]["matchLabels"]
    budgets = [
        each
        for each in kind("PodDisruptionBudget")
        if each["spec"]["selector"]["matchLabels"].items() <= labels(name).items()
    ]
    assert [each["spec"]["maxUnavailable"] for each in budgets] == [1]


def test_pods_of_one_group_differ_only_in_name_arguments_and_resources() -> None:
    def common(name: str) -> dict[str, Any]:
        kept = dict(pod(name))
        for its_own in ("containers", "topologySpreadConstraints", "terminationGracePeriodSeconds"):
            del kept[its_own]
        shared = dict(container(name))
        for its_own in ("name", "args", "env", "resources"):
            del shared[its_own]
        return kept | shared

    for names in (WORKERS, SERVING):
        first = {key: value for key, value in common(names[0]).items() if key != "ports"}
        for name in names[1:]:
            assert {key: value for key, value in common(name).items() if key != "ports"} == first, name


def test_only_declared_connections_are_allowed() -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in kind("NetworkPolicy")}
    everybody = policies["cardlog"]
    for name in DEPLOYMENTS:
        assert everybody["podSelector"]["matchLabels"].items() <= labels(name).items()
    assert everybody["policyTypes"] == ["Ingress", "Egress"]
    assert everybody["ingress"] == []
    assert all("from" in rule for spec in policies.values() for rule in spec.get("ingress", []))
    outward = {port["port"] for rule in everybody["egress"] for port in rule["ports"]}
    assert outward == {53, 5432, 6379}


def test_workers_are_scaled_by_metrics_that_exist_of_the_stage_they_work_on() -> None:
    scaled = {each["spec"]["scaleTargetRef"]["name"]: each["spec"] for each in kind("ScaledObject")}
    assert set(scaled) == {f"cardlog-{name}" for name in STAGE_OF}
    for name, spec in scaled.items():
        assert name in DEPLOYMENTS
        assert 2 <= spec["minReplicaCount"] < spec["maxReplicaCount"] <= 64  # partitions
        assert spec["triggers"]
        for trigger in spec["triggers"]:
            query = trigger["metadata"]["query"]
            assert deployed.named_metrics(query) <= deployed.metrics(), query
            assert deployed.named_stages(query) == {STAGE_OF[name.removeprefix("cardlog-")]}
            assert float(trigger["metadata"]["threshold"]) > 0
            # An unknown number must not look like an empty queue.
            assert trigger["metadata"]["ignoreNullValues"] == "false"


def test_more_workers_are_called_before_those_there_are_can_do_no_more() -> None:
    for each in kind("ScaledObject"):
        stage = STAGE_OF[each["spec"]["scaleTargetRef"]["name"].removeprefix("cardlog-")]
        behind, rate = (float(trigger["metadata"]["threshold"]) for trigger in each["spec"]["triggers"])
        one_does = 1e6 / COSTS[stage].ours(TEXT_BYTES.value)
        if stage != "recorder":  # the others count events
            one_does *= EVENTS_PER_TURN.value
        assert rate <= one_does * 2 / 3
        assert 10 * rate <= behind <= 20 * rate


def test_services_are_scaled_by_what_they_ask_for() -> None:
    for each in kind("HorizontalPodAutoscaler"):
        name = each["spec"]["scaleTargetRef"]["name"]
        assert name in SERVING
        assert each["spec"]["metrics"][0]["resource"]["name"] in container(name)["resources"]["requests"]


def test_nothing_that_is_written_down_is_left_out_and_nothing_is_missing() -> None:
    mentioned = set()
    for path in deployed.kustomizations():
        (wanted,) = deployed.documents(path)
        for name in [*wanted.get("resources", []), *wanted.get("components", [])]:
            target = (path.parent / name).resolve()
            assert target.exists(), f"{path}: {name}"
            mentioned.add(target)
        for made in wanted.get("configMapGenerator", []):
            assert made["name"] == "cardlog-settings"
            given = {literal.partition("=")[0] for literal in made["literals"]}
            assert given <= deployed.settings(), path
    assert {path.resolve() for path, _ in deployed.manifests()} <= mentioned


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl, which can render, is not here")
@pytest.mark.parametrize("with_kafka", [False, True])
def test_the_example_renders(with_kafka: bool, tmp_path: Any) -> None:
    shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
    overlay = tmp_path / "kubernetes" / "overlays" / "example" / "kustomization.yaml"
    if with_kafka:
        overlay.write_text(
            overlay.read_text().replace("# - ../../components/kafka", "- ../../components/kafka")
        )
    done = subprocess.run(
        ["kubectl", "kustomize", str(overlay.parent)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    rendered = [each for each in yaml.safe_load_all(done.stdout) if each is not None]
    settings = next(each for each in rendered if each["kind"] == "ConfigMap")
    assert settings["data"]["CARDLOG_LOG_FORMAT"] == "json"
    assert ("CARDLOG_KAFKA_BROKERS" in settings["data"]) is with_kafka
    deployments = {each["metadata"]["name"]: each for each in rendered if each["kind"] == "Deployment"}
    assert ("cardlog-relay" in deployments) is with_kafka
    for name, each in deployments.items():
        assert ("replicas" in each["spec"]) is (name == "cardlog-relay")  # the others' are the autoscaler's
        spec = each["spec"]["template"]["spec"]["containers"][0]
        assert spec["image"] == "registry.example.com/cardlog:0.1.0"
        assert spec["envFrom"][0]["configMapRef"]["name"] == settings["metadata"]["name"]
    policy = next(
        each for each in rendered if each["kind"] == "NetworkPolicy" and each["metadata"]["name"] == "cardlog"
    )
    outward = {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}
    assert (9092 in outward) is with_kafka
