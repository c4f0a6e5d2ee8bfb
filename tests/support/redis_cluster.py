"""A Redis Cluster of three embedded servers, each with a third of the slots and no replica."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.cluster import RedisCluster

from deploy.embedded.redis import EmbeddedRedis
from deploy.embedded.server import LOOPBACK, free_port
from tests.support.waiting import eventually

SLOTS = 16384
NODES = 3
_BUS = 10_000  # a node talks to the others on its port and so many more


class ClusterNode(EmbeddedRedis):
    """One node. After a kill and a restart it finds the other nodes by itself."""

    def _users(self) -> list[str]:
        return ["user default on nopass ~* &* +@all"]

    def _configuration(self) -> bytes:
        extra = {
            "cluster-enabled": "yes",
            "cluster-config-file": "nodes.conf",
            "cluster-node-timeout": "1000",
            "cluster-announce-ip": LOOPBACK,
            # A node that is away takes only its own slots with it.
            "cluster-require-full-coverage": "no",
        }
        return super()._configuration() + "".join(f"{key} {value}\n" for key, value in extra.items()).encode()


@dataclass(frozen=True)
class Cluster:
    nodes: list[ClusterNode]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"{LOOPBACK}:{node.port}" for node in self.nodes)

    def client(self) -> RedisCluster:
        return RedisCluster(LOOPBACK, self.nodes[0].port, decode_responses=True)

    def node_of(self, key: str) -> ClusterNode:
        """The node that has ``key``."""
        with self.client() as client:
            port = client.get_node_from_key(key).port
        return next(node for node in self.nodes if node.port == port)

    def empty(self) -> None:
        for node in self.nodes:
            with Redis(LOOPBACK, node.port) as client:
                client.flushall()


@contextmanager
def redis_cluster(folder: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(ClusterNode(_made(folder / str(number)), _port())) for number in range(NODES)
        ]
        for number, node in enumerate(nodes):
            with Redis(LOOPBACK, node.port) as client:
                slots = range(SLOTS * number // NODES, SLOTS * (number + 1) // NODES)
                client.execute_command("CLUSTER ADDSLOTS", *slots)
                for other in nodes[:number]:
                    client.execute_command("CLUSTER MEET", LOOPBACK, other.port)
        for node in nodes:
            eventually(lambda node=node: _well(node))  # type: ignore[misc]
        yield Cluster(nodes)


def _well(node: ClusterNode) -> bool:
    with Redis(LOOPBACK, node.port, decode_responses=True) as client:
        said = client.execute_command("CLUSTER INFO")
        info: dict[str, str] = (
            said if isinstance(said, dict) else dict(line.split(":", 1) for line in said.split())
        )
        return (
            info["cluster_state"] == "ok"
            and info["cluster_slots_ok"] == str(SLOTS)
            and info["cluster_known_nodes"] == str(NODES)
        )


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _port() -> int:
    """A free port whose bus port is free, too."""

    def look() -> int:
        port = free_port()
        if port + _BUS > 32_767:  # the kernel may give that bus port to a connection
            return 0
        with socket.socket() as bus:
            try:
                bus.bind((LOOPBACK, port + _BUS))
            except OSError:
                return 0
            return port

    return eventually(look)
