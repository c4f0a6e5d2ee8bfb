"""The units start what the command knows, are confined, and systemd can read them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.check_liveness import PORTS
from events.platform.settings import Settings
from tests.support import deployed
from tests.support.deployed import DEPLOY

SYSTEMD = DEPLOY / "systemd"
TEMPLATES = sorted(SYSTEMD.glob("*@.service"))
PROXY = SYSTEMD / "cardlog-proxy.service"
PROGRAM = "/opt/cardlog/bin/cardlog"


def directives(path: Path) -> dict[str, list[str]]:
    """Every value of every key of a unit."""
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def started(instance: str) -> list[str]:
    """The command line systemd makes of a template's ExecStart, run as it would be; without running Cardlog."""
    prefix, _, name = instance.removesuffix(".service").partition("@")
    (line,) = directives(SYSTEMD / f"{prefix}@.service")["ExecStart"]
    for sign, meant in (("%%", "\0"), ("%i", name), ("%H", "host"), ("\0", "%"), ("$$", "$")):
        line = line.replace(sign, meant)
    shown = line.replace(f"exec {PROGRAM}", "echo").replace(PROGRAM, "echo")
    return subprocess.run(["/bin/sh", "-c", shown], capture_output=True, text=True, check=True).stdout.split()


def test_the_target_starts_every_worker_and_both_services() -> None:
    units = " ".join(directives(SYSTEMD / "cardlog.target")["Wants"]).split()
    run = {deployed.parsed(started(unit)) for unit in units}
    assert run == {("work", name) for name in deployed.workers()} | {("serve", name) for name in PORTS}


def test_several_workers_of_a_kind_have_names_of_their_own() -> None:
    one, two = started("cardlog-work@extractor.service"), started("cardlog-work@extractor:2.service")
    assert deployed.parsed(one) == deployed.parsed(two) == ("work", "extractor")
    assert one[one.index("--name") + 1] != two[two.index("--name") + 1]


def test_the_proxy_is_started_on_loopback() -> None:
    assert directives(PROXY)["ExecStart"] == [f"{PROGRAM} proxy"]
    assert deployed.parsed(["proxy"]) == ("proxy", "")


@pytest.mark.parametrize("path", [*TEMPLATES, PROXY], ids=lambda path: path.name)
def test_a_unit_is_confined_started_again_and_given_time_to_stop(path: Path) -> None:
    said = directives(path)
    wanted = {
        "User": "cardlog", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes",
        "PrivateTmp": "yes", "PrivateDevices": "yes", "CapabilityBoundingSet": "", "RestrictSUIDSGID": "yes",
        "RestrictNamespaces": "yes", "UMask": "0077", "Restart": "always", "StartLimitIntervalSec": "0",
    }  # fmt: skip
    assert {key: said[key][0] for key in wanted} == wanted
    assert "MemoryMax" in said
    assert int(said["TimeoutStopSec"][0]) >= Settings().extract_grace_s + 10
    assert said["EnvironmentFile"] == ["/etc/cardlog/cardlog.env"]
    given = {pair.partition("=")[0] for pair in " ".join(said["Environment"]).split()}
    assert "ORT_DISABLE_TELEMETRY" in given
    assert {name for name in given if name.startswith("CARDLOG_")} <= deployed.settings()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    units = ["cardlog.target", *" ".join(directives(SYSTEMD / "cardlog.target")["Wants"]).split()]
    units.append(PROXY.name)
    for template in (*TEMPLATES, PROXY):
        # It looks whether programs are there; this one is.
        (tmp_path / template.name).write_text(template.read_text().replace(PROGRAM, "/bin/true"))
    shutil.copy(SYSTEMD / "cardlog.target", tmp_path)
    for unit in units[1:-1]:
        prefix = unit.partition("@")[0]
        shutil.copy(tmp_path / f"{prefix}@.service", tmp_path / unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / unit) for unit in units)],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stderr.splitlines() if "cardlog" in line], done.stderr
