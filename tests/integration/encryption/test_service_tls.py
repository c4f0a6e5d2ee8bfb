"""A service speaks TLS with its own certificate, and refuses files that are none."""

import os
import ssl
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from deploy.check_liveness import check_liveness
from deploy.command import main
from deploy.embedded.server import free_port
from events.platform.settings import Settings
from tests.support.tls.certificates import certificate
from tests.support.waiting import eventually

NOWHERE = {
    "CARDLOG_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
    "CARDLOG_REDIS_URL": "redis://127.0.0.1:1/0",
}


def test_a_service_speaks_tls_only(tmp_path: Path) -> None:
    shown = certificate(tmp_path)
    port = str(free_port())
    files = {"CARDLOG_TLS_CERT_FILE": str(shown.certificate), "CARDLOG_TLS_KEY_FILE": str(shown.key)}
    words = ["serve", "write", "--port", port]
    process = subprocess.Popen(
        [sys.executable, "-m", "deploy.command", *words],
        env=os.environ | NOWHERE | files,
        stderr=subprocess.DEVNULL,
    )
    try:
        settings = Settings(tls_cert_file=str(shown.certificate))
        eventually(lambda: check_liveness([*words, ""], settings) is None)
        trusted = ssl.create_default_context(cafile=shown.authority)
        assert httpx2.get(f"https://localhost:{port}/healthz", verify=trusted).json() == {"status": "ok"}
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"http://localhost:{port}/healthz")
    finally:
        process.kill()
        process.wait(240)


@pytest.mark.parametrize(
    ("given", "key"), [("server.pem", ""), ("missing.pem", "server.key"), ("", "server.key")]
)
def test_files_that_are_no_certificate_and_its_key_are_refused(
    given: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate(tmp_path)
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CARDLOG_TLS_CERT_FILE", given and str(tmp_path / given))
    monkeypatch.setenv("CARDLOG_TLS_KEY_FILE", key and str(tmp_path / key))
    assert main(["serve", "read", "--port", "0"]) == 2
    assert "name a certificate and its key as PEM files" in capsys.readouterr().err
