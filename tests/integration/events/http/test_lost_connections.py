"""Connections that died while nobody used them fail no request, and a service that stops leaves none open."""

from redis import Redis
from starlette.testclient import TestClient

from events.platform.database import Connection
from ingest.api.write_api import create_app
from tests.integration.events.http.conftest import Services
from tests.support.projectors.folding import settings_of
from tests.support.waiting import PATIENT, eventually


def kill(connection: Connection, application: str) -> None:
    """Ends the idle connections of ``application``, as a failover or a firewall would."""
    eventually(
        lambda: (
            connection.execute(
                "SELECT bool_and(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = %s AND state = 'idle'",
                [application],
            ).fetchone()
            == (True,)
        )
    )


def test_a_key_that_no_service_knows_yet_is_looked_up(services: Services) -> None:
    for service, client in (("read", services.read), ("write", services.write)):
        path = "/v1/channels" if service == "read" else "/v1/modes/none"
        client.get(path, headers=services.key())
        # The watcher of keys has the same name. It connects again by itself.
        kill(services.connection, f"cardlog {service}, keys")
        answer = client.get(path, headers=services.key())
        assert answer.status_code != 503, answer.text


def test_a_command_is_done(services: Services) -> None:
    key = services.key()
    for name in ("first", "second"):
        answer = services.write.put(f"/v1/modes/{name}", json={"user_id": "zoe"}, headers=key)
        assert answer.status_code == 200, answer.text
        kill(services.connection, "cardlog write, commands")


def test_a_push_still_names_the_turns_that_are_known(services: Services) -> None:
    turn = {"user_id": "ada", "text": "Mia is my sister.", "turn_id": "a turn"}
    for _ in range(2):
        answer = services.write.post("/v1/turns", json=turn, headers=services.key())
        assert (answer.status_code, answer.json()["duplicates"]) == (202, ["a turn"])
        kill(services.connection, "cardlog write")


def test_a_service_that_stops_leaves_no_connection_to_redis(
    database: str, redis_url: str, redis_operator: Redis
) -> None:
    def connections() -> set[str]:
        return {each["id"] for each in redis_operator.client_list()}

    before = connections()
    app = create_app(settings_of(database, redis_url=redis_url, **PATIENT))
    with TestClient(app, base_url="http://localhost") as client:
        for path in ("/readyz", "/metrics", "/v1/status"):
            assert client.get(path).status_code == 200
        assert connections() - before
    eventually(lambda: not connections() - before)
