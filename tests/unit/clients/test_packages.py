"""The clients have every operation of the services and the version of Cardlog."""

import json
import tomllib
from typing import Any

import pytest

from cardlog_client import AsyncClient, Client
from scripts import api_reference, typescript_client
from tests.support.deployed import ROOT

PROBES = {"health", "readiness", "metrics"}
"""Machines that watch a service ask for these without a client."""


def project(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
    return found


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_every_operation_of_the_services_is_a_method(client: type[object]) -> None:
    operations = {
        operation["operationId"].removeprefix("list_")
        for document in api_reference.documents().values()
        for path in document["paths"].values()
        for operation in path.values()
    }
    assert len(operations) > 50
    assert hasattr(client, "push")
    assert {name for name in operations if not hasattr(client, name)} == PROBES | {"push_turns"}


def test_cardlog_needs_the_client_of_its_own_version() -> None:
    server, client = project("."), project("clients/python")
    assert server["version"] == client["version"]
    typescript = json.loads((typescript_client.CLIENT / "package.json").read_text("utf-8"))
    assert typescript["version"] == server["version"]
    assert f"cardlog-client=={client['version']}" in server["dependencies"]


def test_the_typescript_client_is_made_of_the_present_openapi_documents() -> None:
    """This needs no Node: the digest of the documents is in the module."""
    made = (typescript_client.CLIENT / "src" / "operations.ts").read_text("utf-8")
    assert made == typescript_client.operations(), "run make clients"


def test_the_npm_lock_file_names_no_registry() -> None:
    assert "https://registry" not in (typescript_client.CLIENT / "package-lock.json").read_text("utf-8")
