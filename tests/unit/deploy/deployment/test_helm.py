"""The Helm chart makes the objects of the Kustomize base, and its values fit its schema."""

import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.check_liveness import PORTS
from tests.support import deployed

CHART = deployed.DEPLOY / "helm"
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
BASE = {
    (each["kind"], each["metadata"]["name"]): each
    for path, each in deployed.manifests()
    if path.parent.name in ("base", "kafka")
}
HELM = shutil.which("helm") or shutil.which("helm", path=Path(sys.executable).parent)  # `make helm` builds it


def pods() -> dict[str, dict[str, Any]]:
    return {
        name.removeprefix("cardlog-"): each["spec"]
        for (kind, name), each in BASE.items()
        if kind == "Deployment"
    }


def test_the_values_are_those_of_the_kustomize_base() -> None:
    (wanted,) = deployed.documents(deployed.KUBERNETES / "base" / "kustomization.yaml")
    literals = wanted["configMapGenerator"][0]["literals"]
    assert VALUES["settings"] == dict(literal.split("=", 1) for literal in literals)
    assert set(VALUES["settings"]) <= deployed.settings()
    processes = VALUES["services"] | VALUES["workers"]
    assert set(processes) == set(pods())
    assert {name: each["port"] for name, each in VALUES["services"].items()} == PORTS
    for name, spec in pods().items():
        pod = spec["template"]["spec"]
        resources = pod["containers"][0]["resources"]
        process = processes[name]
        assert process["replicas"] == spec["replicas"]
        assert {"cpu": process["cpu"], "memory": process["memory"]} == resources["requests"]
        assert {"memory": process["memoryLimit"]} == resources["limits"]
        assert process.get("grace", 30) == pod["terminationGracePeriodSeconds"]


def test_the_chart_has_the_version_of_the_package() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    project = (deployed.ROOT / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{chart["appVersion"]}"\n' in project


def rendered(*options: str) -> dict[tuple[str, str], dict[str, Any]]:
    done = subprocess.run(
        [str(HELM), "template", "cardlog", str(CHART), "--namespace", "memory", "--kube-version", "1.31.0", *options],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    objects = [each for each in yaml.safe_load_all(done.stdout) if each is not None]
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def without_its_own(document: dict[str, Any]) -> dict[str, Any]:
    """Returns an object without what only one of both has: the image's tag and the digest of the settings."""
    kept = deepcopy(document)
    if kept["kind"] == "Deployment":
        template = kept["spec"]["template"]
        notes = template["metadata"].get("annotations", {})
        notes.pop("checksum/settings", None)
        if not notes:
            template["metadata"].pop("annotations", None)
        (container,) = template["spec"]["containers"]
        container["image"] = container["image"].partition(":")[0]
        container.pop("imagePullPolicy", None)
    return kept


@pytest.mark.skipif(HELM is None, reason="helm, which can render, is not here")
@pytest.mark.parametrize("kafka", [False, True])
def test_the_chart_renders_the_objects_of_the_kustomize_base(kafka: bool) -> None:
    found = rendered(*(("--set", "kafka.brokers=broker.kafka.svc:9092") if kafka else ()))
    settings = found.pop(("ConfigMap", "cardlog-settings"))["data"]
    assert settings == VALUES["settings"] | (
        {"CARDLOG_KAFKA_BROKERS": "broker.kafka.svc:9092"} if kafka else {}
    )
    wanted = {key: each for key, each in BASE.items() if kafka or key[1] != "cardlog-relay"}
    assert set(found) == set(wanted)
    for key, each in wanted.items():
        got = without_its_own(found[key])
        if kafka and key == ("NetworkPolicy", "cardlog"):
            assert got["spec"]["egress"].pop() == {"ports": [{"protocol": "TCP", "port": 9092}]}
        assert got == without_its_own(each), key


@pytest.mark.skipif(HELM is None, reason="helm, which can render, is not here")
def test_the_chart_keeps_the_list_of_erasures_as_the_component_does() -> None:
    found = rendered("--set", "erasures.storage=1Gi")
    claim = found["PersistentVolumeClaim", "cardlog-erasures"]
    assert claim["metadata"].pop("annotations") == {"helm.sh/resource-policy": "keep"}
    (wanted,) = deployed.documents(deployed.KUBERNETES / "components" / "erasures" / "volume.yaml")
    assert claim == wanted
    write = found["Deployment", "cardlog-write"]
    assert without_its_own(write) == without_its_own(deployed.keeping_erasures())
    others = found.keys() - {("Deployment", "cardlog-write"), ("PersistentVolumeClaim", "cardlog-erasures")}
    assert all("erasures" not in str(found[each]) for each in others)
