"""The port of an embedded server: kept from start to start, chosen, or taken by another program."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.embedded.redis import EmbeddedRedis
from deploy.embedded.server import ServerError, free_port, kept_port


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program has."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_server_comes_back_on_its_port(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path, None, durable=False) as first:
        port = first.port
    with EmbeddedRedis(tmp_path, None, durable=False) as again:
        assert again.port == port
    with EmbeddedRedis(tmp_path, 0, durable=False) as anywhere:
        other = anywhere.port
    with EmbeddedRedis(tmp_path, None, durable=False) as last:
        assert last.port == other, "the port of the last start"


def test_a_kept_port_that_another_program_has_is_given_up(
    tmp_path: Path, taken: int, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "redis.port").write_text(f"{taken}\n")
    with EmbeddedRedis(tmp_path, None, durable=False) as server:
        assert server.port != taken
        assert f"port {taken} of redis is taken" in caplog.text


def test_a_chosen_port_that_another_program_has_is_an_error_with_the_remedy(
    tmp_path: Path, taken: int
) -> None:
    said = f"port {taken} cannot be used .* choose another with --port-redis, or 0 for any"
    with pytest.raises(ServerError, match=said), EmbeddedRedis(tmp_path, taken, durable=False):
        pytest.fail("it started")


@pytest.mark.parametrize("content", [b"", b"many", b"-1", b"70000", b"\xff\x00", b"9" * 5000, "٣".encode()])
def test_a_file_without_a_port_is_no_port(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "redis.port").write_bytes(content)
    assert kept_port(tmp_path / "redis.port") == 0


def test_a_chosen_port_is_below_those_that_the_kernel_gives_to_connections() -> None:
    assert all(1_024 <= free_port() < 32_768 for _ in range(20))
