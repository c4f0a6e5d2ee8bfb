"""A person signs in to the explorer with a key or a link, and the cookie is worth what the key is worth."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from events.access import keys, web_sessions
from events.access.web_sessions import COOKIE
from tests.integration.events.http.conftest import Services
from tests.support.waiting import eventually

FROM_PAGE = {"sec-fetch-site": "same-origin", "origin": "http://testserver"}


@pytest.fixture(autouse=True)
def _no_cookie_stays(services: Services) -> Iterator[None]:
    yield
    services.read.cookies.clear()
    services.write.cookies.clear()


def _key(services: Services, **rights: Any) -> tuple[str, str]:
    made, text = keys.create(services.connection, **({"name": "test", "scopes": ["read", "write"]} | rights))
    return made.key_id, text


def _session(services: Services, text: str) -> str:
    answer = services.read.post("/explorer/session", json={"key": text})
    assert answer.status_code == 200, answer.text
    return str(answer.headers["set-cookie"].split(";")[0].partition("=")[2])


def _cards(client: TestClient, session: str, user: str = "ada", **headers: str) -> Response:
    cookie = {"cookie": f"{COOKIE}={session}"}
    return client.get("/v1/cards", params={"user_id": user}, headers=cookie | headers)


def _verify(services: Services, session: str, **headers: str) -> Response:
    return services.write.post(
        f"/v1/cards/{services.ids['dog']}/verify",
        json={"user_id": "ada"},
        headers={"cookie": f"{COOKIE}={session}"} | headers,
    )


def test_the_cookie_is_for_this_host_only_and_out_of_reach_of_scripts(services: Services) -> None:
    _, text = _key(services)
    answer = services.read.post("/explorer/session", json={"key": text})
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name.startswith("__Host-")
    assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/", "Max-Age=3600"} <= set(attributes)
    assert not any(each.startswith("Domain") for each in attributes)
    assert text not in answer.headers["set-cookie"]
    assert answer.json()["scopes"] == ["read", "write"]


def test_a_session_sees_and_does_what_its_key_may(services: Services) -> None:
    _, text = _key(services, users=["ada"], scopes=["read"])
    session = _session(services, text)
    assert _cards(services.read, session, **FROM_PAGE).json()["cards"]
    assert _cards(services.read, session, "bob", **FROM_PAGE).status_code == 404
    assert _verify(services, session, **FROM_PAGE).status_code == 403
    _, text = _key(services, tenant="acme")
    assert _cards(services.read, _session(services, text), **FROM_PAGE).json()["cards"] == []


def test_only_a_page_of_this_origin_may_use_the_cookie(services: Services) -> None:
    session = _session(services, _key(services)[1])
    assert _verify(services, session, **FROM_PAGE).status_code == 202
    for headers in (
        {},
        {"sec-fetch-site": "same-origin"},  # a page names its origin in a request that changes something
        {"sec-fetch-site": "same-site", "origin": "http://testserver"},
        {"sec-fetch-site": "cross-site", "origin": "http://testserver"},
    ):
        assert _verify(services, session, **headers).status_code == 401, headers
    assert _cards(services.read, session).status_code == 401
    assert _cards(services.read, session, **{"sec-fetch-site": "none"}).status_code == 401


def test_a_session_ends_with_its_key(services: Services) -> None:
    key_id, text = _key(services)
    session = _session(services, text)
    assert _cards(services.read, session, **FROM_PAGE).status_code == 200
    keys.revoke(services.connection, key_id)
    eventually(lambda: _cards(services.read, session, **FROM_PAGE).status_code == 401)


def test_a_session_ends_after_an_hour_and_cannot_be_prolonged_by_its_holder(services: Services) -> None:
    key_id, text = _key(services)
    session = _session(services, text)
    key = keys.find(services.connection, key_id)
    row = services.connection.execute("SELECT secret FROM access.secret").fetchone()
    assert row is not None
    late = datetime.now(UTC) - web_sessions.LIFETIME - timedelta(seconds=1)
    expired = web_sessions.new_session(bytes(row[0]), key, late)
    assert _cards(services.read, expired, **FROM_PAGE).status_code == 401
    mark, name, expiry, mac = session.split("_")
    forged = "_".join((mark, name, str(int(expiry) + 60), mac))
    assert _cards(services.read, forged, **FROM_PAGE).status_code == 401
    renewed = services.read.get("/explorer/session", headers={"cookie": f"{COOKIE}={session}"} | FROM_PAGE)
    assert renewed.headers["set-cookie"].startswith(f"{COOKIE}=cls_{key_id}_")


def test_a_link_signs_in_once(services: Services) -> None:
    key_id, _ = _key(services)
    code = web_sessions.new_link(services.connection, key_id)
    answer = services.read.post("/explorer/session", json={"key": code})
    assert answer.json()["key_id"] == key_id
    assert services.read.post("/explorer/session", json={"key": code}).status_code == 401
    late = web_sessions.new_link(services.connection, key_id)
    services.connection.execute("UPDATE access.sign_in_links SET expires_at = now()")
    assert services.read.post("/explorer/session", json={"key": late}).status_code == 401


def test_the_files_need_no_key_and_load_nothing_from_elsewhere(services: Services) -> None:
    page = services.read.get("/explorer/")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "require-trusted-types-for 'script'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    again = services.read.get("/explorer/", headers={"if-none-match": page.headers["etag"]})
    assert again.status_code == 304
    assert services.read.get("/explorer/../pyproject.toml").status_code in {401, 404}
    assert services.read.get("/explorer/session").status_code == 401
