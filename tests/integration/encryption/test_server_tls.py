"""Connections to the servers, to Kafka and to the services speak TLS where they should."""

import asyncio
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest

from deploy.check_liveness import check_liveness
from deploy.command import main
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.server import free_port
from events.platform.database import connect
from events.platform.encryption import require_encryption
from events.platform.settings import Settings, SettingsError, variable_of
from events.platform.streams import connect_redis, connect_redis_async
from projectors.kafka.broker import check_security, client_options, credentials, ensure_topic
from projectors.kafka.feed import StreamFeed
from projectors.kafka.relay import Message, Publisher
from projectors.kafka.worker import listen
from tests.support.kafka.broker import TOPIC, MockBroker
from tests.support.kafka.forwarder import Forwarder
from tests.support.tables import examples
from tests.support.tls.certificates import Certificate, certificate
from tests.support.waiting import eventually

ANY: dict[str, Any] = {}


@dataclass(frozen=True)
class Encrypted:
    """A server with TLS: its URL without any option of TLS, and its certificate."""

    url: str
    shown: Certificate


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypted]:
    shown = certificate(tmp_path_factory.mktemp("certificates"))
    with EmbeddedPostgres(tmp_path_factory.mktemp("data"), durable=False) as server:
        owner = (server.folder / "PG_VERSION").stat()
        for source, name in ((shown.certificate, "server.crt"), (shown.key, "server.key")):
            target = server.folder / name
            shutil.copyfile(source, target)
            target.chmod(0o600)
            shutil.chown(target, owner.st_uid, owner.st_gid)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET ssl = on")
            connection.execute("SELECT pg_reload_conf()")
        yield Encrypted(server.url, shown)


@pytest.fixture
def redis(redis_url: str, tmp_path: Path) -> Iterator[Encrypted]:
    """The shared Redis behind a port with TLS. The embedded build of Valkey has no TLS of its own."""
    shown = certificate(tmp_path)
    parts = urlsplit(redis_url)
    assert parts.port is not None
    forwarder = Forwarder(shown.context)
    forwarder.open(parts.port)
    login = parts.netloc.rpartition("@")[0]
    yield Encrypted(f"rediss://{login}@localhost:{forwarder.port}/0", shown)
    forwarder.shut()


def options(server: Encrypted, **more: object) -> str:
    return server.url + "?" + "&".join(f"{name}={value}" for name, value in more.items())


def test_a_connection_is_encrypted_and_the_certificate_is_checked(postgres: Encrypted) -> None:
    url = options(postgres, sslmode="verify-full", sslrootcert=postgres.shown.authority)
    require_encryption(Settings(database_url=url, require_tls=True), queue=False)
    with connect(url, application="test") as connection:
        assert connection.pgconn.ssl_in_use
        [used] = connection.execute(
            "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        ).fetchone() or [None]
        assert used is True


@pytest.mark.parametrize("name", ["database_url", "admin_database_url", "read_database_url"])
def test_a_server_without_tls_is_refused_when_tls_is_asked_for(name: str, postgres_url: str) -> None:
    settings = replace(Settings(database_url=postgres_url), **ANY | {name: f"{postgres_url}?sslmode=require"})
    with pytest.raises(SettingsError) as refused:
        require_encryption(settings, queue=False)
    words = str(refused.value)
    assert words.startswith(f"{variable_of(name)} asks for TLS (sslmode=require)")
    assert "server does not support SSL" in words
    assert "turn on ssl in postgresql.conf" in words
    assert str(urlsplit(postgres_url).password) not in words


def test_an_unknown_authority_and_a_wrong_name_are_refused(postgres: Encrypted, tmp_path: Path) -> None:
    other = certificate(tmp_path).authority
    for more in ({"sslrootcert": other}, {"sslrootcert": tmp_path / "missing.pem"}):
        url = options(postgres, sslmode="verify-full", **more)
        with pytest.raises(SettingsError, match=r"CARDLOG_DATABASE_URL asks for TLS.*sslrootcert in the URL"):
            require_encryption(Settings(database_url=url), queue=False)
    wrong = postgres.url.replace("127.0.0.1", "127.0.0.2")  # the certificate names 127.0.0.1 only
    url = f"{wrong}?sslmode=verify-full&sslrootcert={postgres.shown.authority}&hostaddr=127.0.0.1"
    with pytest.raises(SettingsError, match="does not match host name"):
        require_encryption(Settings(database_url=url), queue=False)


def test_redis_is_encrypted_and_its_certificate_is_checked(redis: Encrypted, tmp_path: Path) -> None:
    trusted = options(redis, ssl_ca_certs=redis.shown.authority)
    database = "postgresql://nobody@127.0.0.1:1/nothing"
    require_encryption(Settings(database_url=database, redis_url=trusted, require_tls=True))
    with connect_redis(trusted) as client:
        assert client.ping()
    other = certificate(tmp_path / "other").authority
    for url in (redis.url, options(redis, ssl_ca_certs=other)):
        with pytest.raises(
            SettingsError, match=r"CARDLOG_REDIS_URL asks for TLS \(rediss\).*ssl_ca_certs=FILE"
        ):
            require_encryption(Settings(database_url=database, redis_url=url))


async def _ping(url: str) -> bool:
    client = connect_redis_async(url)
    try:
        return bool(await client.ping())
    finally:
        await client.aclose()


def test_the_client_of_the_services_speaks_tls_too(redis: Encrypted) -> None:
    import asyncio

    assert asyncio.run(_ping(options(redis, ssl_ca_certs=redis.shown.authority)))


def test_a_redis_without_tls_is_refused_when_tls_is_asked_for(redis_url: str) -> None:
    url = redis_url.replace("redis://", "rediss://")
    with pytest.raises(SettingsError, match=r"CARDLOG_REDIS_URL asks for TLS \(rediss\)") as refused:
        require_encryption(Settings(database_url="postgresql://nobody@127.0.0.1:1/x", redis_url=url))
    assert str(urlsplit(redis_url).password) not in str(refused.value)


FAR: dict[str, Any] = {
    "database_url": "postgresql://db.invalid/cardlog?sslmode=require",
    "redis_url": "rediss://queue.invalid:6379/0",
}


@examples
def test_what_does_not_ask_for_tls_is_refused_when_tls_is_required(name: str, url: str) -> None:
    settings = replace(Settings(**FAR), **FAR | {name: url})
    require_encryption(settings)
    with pytest.raises(SettingsError) as refused:
        require_encryption(replace(settings, require_tls=True))
    assert f"{variable_of(name)} does not ask for TLS" in str(refused.value)
    assert "CARDLOG_REQUIRE_TLS is on" in str(refused.value)


def test_servers_of_this_machine_and_servers_that_are_away_are_not_refused() -> None:
    require_encryption(
        Settings(
            database_url="host=/run/postgresql dbname=cardlog",
            redis_url="unix:///run/redis.sock",
            require_tls=True,
        )
    )
    require_encryption(
        Settings(database_url="postgresql://127.0.0.1:1/x", redis_url="redis://[::1]:1/0", require_tls=True)
    )
    for embedder in ("", "http://127.0.0.1:8702/v1", "http://[::1]:8702/v1", "https://embedder.invalid/v1"):
        require_encryption(Settings(**FAR, require_tls=True, embed_url=embedder))


@pytest.mark.parametrize("words", [("serve", "read"), ("work", "projector"), ("up",)])
def test_every_start_is_refused_with_one_line(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", "postgresql://db.invalid/cardlog")
    monkeypatch.setenv("CARDLOG_REQUIRE_TLS", "true")
    data = ("--data", str(tmp_path / "data"))
    assert main([*words, *data]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "CARDLOG_DATABASE_URL does not ask for TLS" in line


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


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def settings(shown: Certificate) -> Iterator[Settings]:
    """Settings of a broker whose only address speaks TLS."""
    broker = MockBroker(tls=shown.context)
    broker.start()
    yield Settings(
        kafka_brokers=broker.address,
        kafka_topic=TOPIC,
        kafka_security="ssl",
        kafka_ca_file=str(shown.authority),
    )
    broker.close()


def test_events_go_to_kafka_and_back_over_tls(settings: Settings, tmp_path: Path) -> None:
    check_security(settings)
    ensure_topic(settings)
    publisher = Publisher(settings)
    batch = [Message(0, n, f"id {n}", "ada", "TurnRecorded", 1, "{}") for n in range(1, 4)]
    assert publisher.publish(batch, lambda trouble: True)
    publisher.close()
    feed: StreamFeed[object] = StreamFeed(look_every_s=1000, capacity=len(batch))
    stop = threading.Event()
    reading = threading.Thread(
        target=lambda: asyncio.run(listen(settings, "reader", feed, stop.is_set, tmp_path))
    )
    reading.start()
    try:
        eventually(lambda: feed.full)
    finally:
        stop.set()
        reading.join(60)
    assert not reading.is_alive()


def test_a_broker_without_tls_or_with_a_foreign_certificate_is_refused(
    settings: Settings, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    plain = MockBroker()
    plain.start()
    request.addfinalizer(plain.close)
    for changed in (
        replace(settings, kafka_brokers=plain.address),
        replace(settings, kafka_ca_file=str(certificate(tmp_path).authority)),
        replace(settings, kafka_ca_file=""),
    ):
        with pytest.raises(SettingsError, match=r"CARDLOG_KAFKA_SECURITY asks for TLS \(ssl\)") as refused:
            check_security(changed)
        assert "CARDLOG_KAFKA_CA_FILE" in str(refused.value)


def test_a_broker_that_is_away_is_not_refused(shown: Certificate) -> None:
    away = Settings(kafka_brokers="127.0.0.1:1", kafka_security="ssl", kafka_ca_file=str(shown.authority))
    check_security(away)


@examples
def test_what_cannot_be_safe_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        check_security(replace(Settings(kafka_brokers="kafka.invalid:9092"), **changed))


def test_both_clients_get_the_login_and_nobody_sees_it(shown: Certificate) -> None:
    settings = Settings(
        kafka_brokers="kafka.invalid:9092", kafka_security="sasl_ssl", kafka_user="cardlog", kafka_password="s3cret",
        kafka_ca_file=str(shown.authority),
    )  # fmt: skip
    options = client_options(settings)
    assert options["security.protocol"] == "sasl_ssl"
    assert options["sasl.mechanisms"] == "SCRAM-SHA-512"
    assert type(options["sasl.password"]) is str
    assert options["sasl.password"] == "s3cret"
    login = credentials(settings)
    assert (login.username, login.password, login.protocol.value) == ("cardlog", "s3cret", "SASL_SSL")
    assert "s3cret" not in repr(settings)
