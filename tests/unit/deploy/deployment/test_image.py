"""The image and the compose file run unprivileged, and name only files, commands and settings that exist."""

import json
import re
import tomllib
from typing import Any

import pytest

from deploy.check_liveness import PORTS
from events.platform.settings import Settings, listing
from tests.support import deployed
from tests.support.deployed import DEPLOY, ROOT

SECRET = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|API_KEY")
NOT_READ_ONLY = {"kafka"}
"""Its image writes its configuration at every start."""


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, lines joined, comments gone."""
    lines = [
        line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")
    ]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [
        (name, " ".join(rest.split()))
        for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())
    ]


def stages() -> list[list[tuple[str, str]]]:
    """Instructions by stage, beginning with its FROM."""
    found: list[list[tuple[str, str]]] = []
    for name, rest in instructions():
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


def all_of(name: str, stage: list[tuple[str, str]]) -> list[str]:
    return [rest for each, rest in stage if each == name]


SERVICES: dict[str, dict[str, Any]] = deployed.compose()["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]


def environment(name: str) -> dict[str, str]:
    given = SERVICES[name].get("environment", {})
    return {key: "" if value is None else str(value) for key, value in given.items()}


def test_everything_is_installed_with_its_hash_and_from_wheels() -> None:
    runs = [part for name, rest in instructions() if name == "RUN" for part in rest.split("&&")]
    installs = [part for part in runs if re.search(r"pip\b.*\binstall\b", part) and "uninstall" not in part]
    assert len(installs) >= 2
    for part in installs:
        locked = "--require-hashes" in part and "--only-binary :all:" in part
        assert locked or "--no-index" in part, part


def test_all_that_is_copied_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        word
        for name, rest in instructions()
        if name == "COPY" and "--from" not in rest
        for word in rest.split()[:-1]
    }
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert {name.rstrip("*") for name in tools["packages"]["find"]["include"]} | {"clients/python"} <= copied
    for name in copied:
        assert list(ROOT.glob(name)), name
        assert name in kept, f"{name} is left out by .dockerignore"


def test_all_that_the_code_reads_is_installed_with_it() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = [pattern for given in tools["package-data"].values() for pattern in given]
    # These are for those who deploy, or for those who build the explorer, and not for the code.
    beside = {"kubernetes", "helm", "systemd", "grafana", "app"}
    read = [
        path
        for package in ("events", "ingest", "projectors", "retrieval", "deploy")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"} and not beside & set(path.parts)
    ]
    left_out = {path.name for path in read if not any(path.match(pattern) for pattern in patterns)}
    assert left_out == {
        "Dockerfile", "compose.yaml", "prometheus.yml", "prometheus_compose.yml", "prometheus_rules.yml",
    }  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_a_service_runs_what_the_command_knows_with_settings_that_exist(name: str) -> None:
    assert SERVICES[name]["volumes"] == ["${CARDLOG_KEYS:-./keys}:/etc/cardlog:ro"]
    verb, what = deployed.parsed(SERVICES[name]["command"])
    assert name in (what, verb) or (verb, name) == ("work", "relay")
    ours = {key for key in environment(name) if key.startswith(("CARDLOG_", "ANTHROPIC_"))}
    assert ours <= deployed.settings(), ours - deployed.settings()


OF_THE_COMMAND = {
    "CARDLOG_ADMIN_DATABASE_URL", "CARDLOG_API_KEY", "CARDLOG_KEY_FILE", "CARDLOG_READ_URL", "CARDLOG_REDIS_MEMORY_MIB",
}  # fmt: skip
OF_THE_PROXY = "CARDLOG_PROXY_"
OF_MODELS = {
    "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CARDLOG_OPENAI_API_KEY", "CARDLOG_OPENAI_BASE_URL",
    "CARDLOG_OPENAI_OUTPUT",
}  # fmt: skip


@pytest.mark.parametrize("name", [*deployed.workers(), *PORTS, "proxy"])
def test_a_setting_of_the_shell_reaches_every_process(name: str) -> None:
    given = SERVICES[name]["environment"]
    every = {
        variable for variable, _, _ in listing() if name == "proxy" or not variable.startswith(OF_THE_PROXY)
    } - OF_THE_COMMAND
    assert every - set(given) == (OF_MODELS if name not in ("extractor", "curator") else set())
    for variable, value in given.items():
        fixed = variable in ("CARDLOG_DATABASE_URL", "CARDLOG_REDIS_URL", "PGPASSWORD")
        assert fixed or value is None or str(value).startswith(f"${{{variable}:-"), variable


def test_every_worker_and_both_services_are_in_the_file() -> None:
    assert {*deployed.workers(), *deployed.FOR_KAFKA, *PORTS, "proxy"} == set(OURS)
    asked_for = {name: SERVICES[name]["profiles"] for name in OURS if "profiles" in SERVICES[name]}
    assert asked_for == {"relay": ["kafka"], "proxy": ["proxy"]}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_watched_confined_and_started_again(name: str) -> None:
    service = SERVICES[name]
    assert "healthcheck" in service or name in OURS  # ours have the image's
    assert service["restart"] == "unless-stopped"
    limits = service["deploy"]["resources"]["limits"]
    assert {"cpus", "memory"} <= set(limits)
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service.get("read_only", False) is (name not in NOT_READ_ONLY)
    for port in service.get("ports", []):
        assert port.startswith("127.0.0.1:"), f"{port} is open to everybody"


def test_the_example_of_settings_names_settings() -> None:
    named = set(
        re.findall(r"^# ((?:CARDLOG|ANTHROPIC)_\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    )
    assert named
    tests_own = {name for name in named if name.startswith("CARDLOG_TEST_")}
    assert named - tests_own <= deployed.settings()


def test_the_image_runs_unprivileged_and_gets_the_stop_signal() -> None:
    last = stages()[-1]
    (user,) = all_of("USER", last)
    assert all(number.isdigit() and int(number) >= 10_000 for number in user.split(":")), user
    # As words and not as a line for a shell, which would be process 1 and pass no signal on.
    (entry,) = all_of("ENTRYPOINT", last)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert json.loads(entry)[0] in scripts
    assert isinstance(json.loads(all_of("CMD", last)[0]), list)


def test_passwords_come_from_outside_and_are_asked_for() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    for name in SERVICES:
        for key, value in environment(name).items():
            if value and (SECRET.search(key) or key == "REDISCLI_AUTH"):
                assert value.startswith("${"), f"{key} of {name} is written down"
            assert not re.search(r"://[^/\s]*:(?!\$\{)[^/@\s]+@", value), f"{key} of {name} holds a password"
    example = (ROOT / ".env.example").read_text()
    for variable in set(re.findall(r"\$\{(\w+):\?", text)):
        assert re.search(rf"^# {variable}=$", example, re.MULTILINE), (
            f".env.example does not ask for {variable}"
        )


def test_a_stopped_container_has_the_time_its_process_takes() -> None:
    for name in OURS:
        grace = int(SERVICES[name]["stop_grace_period"].removesuffix("s"))
        assert grace >= Settings().extract_grace_s + 10
