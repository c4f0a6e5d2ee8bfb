"""The manifests of Kubernetes agree, are confined, and name commands, settings, metrics and stages that exist."""

from pathlib import Path
from typing import Any

import pytest

from deploy.check_liveness import PORTS
from events.platform.settings import Settings
from ingest.api.write_api import create_app as write_app
from retrieval.http.read_api import create_app as read_app
from tests.support import deployed

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
    sources = [(kind, each) for source in container(name)["envFrom"] for kind, each in source.items()]
    assert sources == [
        ("configMapRef", {"name": "cardlog-settings"}),
        ("secretRef", {"name": "cardlog-settings", "optional": True}),
    ]
    for variable in container(name)["env"]:
        assert variable["name"] in deployed.settings()
        assert variable["valueFrom"]["secretKeyRef"]["name"] == "cardlog"
    given = {variable["name"] for variable in container(name)["env"]}
    assert {"CARDLOG_DATABASE_URL", "CARDLOG_REDIS_URL"} <= given
    assert ("ANTHROPIC_API_KEY" in given) is (name in ("cardlog-extractor", "cardlog-curator"))


@pytest.mark.parametrize("name", SERVING)
def test_a_service_is_asked_at_paths_it_has_on_the_port_it_listens_on(name: str) -> None:
    nowhere = Settings(database_url="postgresql://nobody@127.0.0.1:1/no", redis_url="redis://127.0.0.1:1")
    role = name.removeprefix("cardlog-")
    app = write_app(nowhere) if role == "write" else read_app(nowhere)
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


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_has_the_time_to_stop_that_its_process_takes(name: str) -> None:
    grace = pod(name)["terminationGracePeriodSeconds"]
    if name == "cardlog-extractor":
        assert grace >= Settings().extract_grace_s + 30
    if name in SERVING:
        (_, pause) = container(name)["lifecycle"]["preStop"]["exec"]["command"]
        assert grace >= int(pause) + 5 + 10
    assert grace >= 30


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
    # The others talk to PostgreSQL, Redis and Kafka only.
    (chosen,) = policies["cardlog-outside"]["podSelector"]["matchExpressions"]
    inside = {"recorder", "projector", "relay"}
    assert (
        set(chosen["values"])
        == {labels(name)["app.kubernetes.io/component"] for name in DEPLOYMENTS} - inside
    )


def test_the_list_of_erasures_outlives_the_pods_of_the_write_service() -> None:
    spec = deployed.keeping_erasures()["spec"]["template"]["spec"]
    (volume,) = (each for each in spec["volumes"] if "persistentVolumeClaim" in each)
    (claim,) = kind("PersistentVolumeClaim")
    assert volume["persistentVolumeClaim"] == {"claimName": claim["metadata"]["name"]}
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]  # the service has several pods
    assert spec["securityContext"]["fsGroup"] == spec["securityContext"]["runAsUser"]
    (only,) = spec["containers"]
    (mount,) = (each for each in only["volumeMounts"] if each["name"] == volume["name"])
    given = {each["name"]: each.get("value") for each in only["env"]}
    assert Path(given["CARDLOG_TOMBSTONES_FILE"]).parent == Path(mount["mountPath"])
    assert "CARDLOG_TOMBSTONES_FILE" in deployed.settings()


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_keys_of_the_secret_are_files_that_the_pod_only_reads(name: str) -> None:
    (keys,) = (each for each in pod(name)["volumes"] if each["name"] == "keys")
    assert keys["secret"] == {
        "secretName": "cardlog",
        "optional": True,
        "items": [{"key": each, "path": each} for each in ("log.key", "kek.key")],
    }
    assert {"name": "keys", "mountPath": "/etc/cardlog", "readOnly": True} in container(name)["volumeMounts"]
