"""Reads the files under deploy/, and the commands, settings and metrics that those files may name."""

import asyncio
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import jsonpatch
import yaml
from prometheus_client.parser import text_string_to_metric_families

from deploy.command_line import parse
from deploy.commands.run.work import WORKERS
from events.platform.settings import Settings, known_variables

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"

FOR_KAFKA = frozenset(("relay",))
"""The workers that need Kafka."""


def documents(path: Path) -> list[dict[str, Any]]:
    """Every YAML document of a file."""
    return [each for each in yaml.safe_load_all(path.read_text("utf-8")) if each is not None]


def compose() -> dict[str, Any]:
    return documents(DEPLOY / "compose.yaml")[0]


def manifests() -> list[tuple[Path, dict[str, Any]]]:
    """Returns every Kubernetes object in the files with its file, before Kustomize changes it."""
    return [
        (path, document)
        for path in sorted(KUBERNETES.rglob("*.yaml"))
        if path.name != "kustomization.yaml"
        for document in documents(path)
    ]


def keeping_erasures() -> dict[str, Any]:
    """Returns the Deployment of the write service with the component that keeps the list of erasures."""
    (component,) = documents(KUBERNETES / "components" / "erasures" / "kustomization.yaml")
    (wanted,) = component["patches"]
    (write,) = (
        each
        for _, each in manifests()
        if (each["kind"], each["metadata"]["name"]) == (wanted["target"]["kind"], wanted["target"]["name"])
    )
    patched: dict[str, Any] = jsonpatch.apply_patch(write, yaml.safe_load(wanted["patch"]))
    return patched


def kustomizations() -> list[Path]:
    return sorted(KUBERNETES.rglob("kustomization.yaml"))


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DEPLOY / "grafana" / "cardlog.json").read_text("utf-8"))
    return found


def settings() -> set[str]:
    """Returns the variables that Cardlog or its libraries read."""
    return set(known_variables())


def workers() -> tuple[str, ...]:
    """Returns the workers that always run."""
    return tuple(name for name in WORKERS if name not in FOR_KAFKA)


def parsed(words: list[str]) -> tuple[str, str]:
    """Returns (verb, its first argument or "") as the real command line parses ``words``."""
    if words[:1] == ["work"] and words[1] in FOR_KAFKA - set(WORKERS):
        words = ["work", WORKERS[0], *words[2:]]
    command, bound, *_ = parse(words)
    return command.__name__, next(iter(bound.args), "")


@cache
def metrics() -> frozenset[str]:
    """Returns the name of every sample that the services' ``/metrics`` can hold while the servers are away."""
    from ingest.api.write_api import create_app as write_app
    from retrieval.http.read_api import create_app as read_app

    nowhere = Settings(
        database_url="postgresql://nobody@127.0.0.1:1/nothing", redis_url="redis://127.0.0.1:1/0", auth="off"
    )
    found: set[str] = set()
    for app in (write_app(nowhere), read_app(nowhere)):
        for family in text_string_to_metric_families(asyncio.run(_get(app, "/metrics"))):
            ends = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(
                family.type, ("",)
            )
            found |= {family.name + end for end in ends}
    return frozenset(found)


async def _get(app: Any, path: str) -> str:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test") as client:
        answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def named_metrics(text: str) -> set[str]:
    """Returns every metric of Cardlog that an expression names."""
    return set(re.findall(r"\bcardlog_[a-z0-9_]+", text))


def named_stages(text: str) -> set[str]:
    return set(re.findall(r'stage="([^"]*)"', text))
