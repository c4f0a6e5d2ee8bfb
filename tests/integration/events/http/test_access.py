"""Every endpoint of all three services refuses whoever may not use it, all alike."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle
from typing import Any
from uuid import uuid4

import pytest
from httpx2 import Response

from events.access import keys
from events.access.principal import SCOPES
from events.types.tenancy import storage_id
from ingest.api.write_api import create_app as write_app
from retrieval.http.embed_api import create_app as embed_app
from retrieval.http.read_api import create_app as read_app
from tests.integration.events.http.conftest import Services
from tests.support.projectors.folding import fold_live
from tests.support.waiting import eventually

NO_KEY = (
    {("read", "get", path) for path in ("/healthz", "/readyz", "/metrics")}
    | {("write", "get", path) for path in ("/healthz", "/readyz", "/metrics")}
    | {("embed", "get", path) for path in ("/healthz", "/readyz")}
)
"""The operations that need no key. Metrics check it by themselves."""


@dataclass(frozen=True)
class Operation:
    """One operation of an OpenAPI document, with a request that is right for ada's memory."""

    service: str
    method: str
    path: str
    scope: str
    document: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.service} {self.method} {self.path}"

    def send(self, services: Services, headers: dict[str, str], user: str = "ada", **ids: str) -> Response:
        of, ends = services.ids, self.path.rpartition("/")[2]
        person, other = {"merge": ("aunt", "uncle"), "distinct": ("boss", "coach")}.get(
            ends, ("sister", "brother")
        )
        modes = {"put": "code", "get": "journal", "post": "sketches", "delete": "scraps"}
        known: dict[str, Any] = {
            "user_id": user, "about": "Mia", "query": "where do I live?", "text": "I have a cat.",
            "reason": "asked her",
            "card_id": of[{"correct": "slip", "retract": "misheard"}.get(ends, "home")],
            "from_card": of["dog"], "to_card": of["home"],
            "arbitration_id": of["conflict"], "verdict": "coexist", "predicate": "related_to", "group_by": "kind",
            "turn_id": "a turn", "name": modes[self.method] if "/modes/" in self.path else "Mia",
            "erasure_id": of["erasure"], "relation_id": of["relation"],
            "proposal_id": of["to refuse" if ends == "refuse" else "to accept"],
            "kind": "dish" if self.for_everybody else "todo_list", "team_id": "kitchen", "member": user,
            "key": str(uuid4()) if self.path == "/v1/references/{kind}" else "baking",
            "op": "clear", "tier": "pinned", "mode": "journal", "new_name": "notes", "project_id": "work",
            "problem_id": of["problem"], "description": str(uuid4()), "approach": "reading in bed", "priority": 7,
            "actor": "user", "queue_id": of["to decline" if ends == "refuse" else "to approve"],
            "patch": [{"op": "add", "path": "/profile/name", "value": "Ada L."}],
            "event_ids": [of["left out"]], "candidate": "orchid", "category": "ferns",
            "input": "where do I live?", "title": str(uuid4()), "definition": "what it is",
            "session_id": "s" if self.path == "/v1/sessions/{session_id}/turns" else "a talk",
            "hook_event_name": "UserPromptSubmit", "state": {"step": "waking before dawn"},
            "concept_id": of["concept"], "into": of["other concept"],
            "thread_id": of["thread"], "run_id": of["run"], "insight_id": of["insight"], "card_ids": [of["dog"]],
            "webhook_id": of["webhook"], "url": "https://example.com/hook", "types": ["TurnRecorded"],
            "action": "rebuild", "projection": "cards", "because": "a test",
            "letter_id": of["to drop" if ends == "drop" else "to retry"],
            "questions": [{"user_id": user, "query": "where do I live?"}],
            "person_id": of[person], "alias": "Mimi", **dict.fromkeys(("into_id", "from_id", "other_id"), of[other]),
        }  # fmt: skip
        if self.path == "/v1/people":
            known["name"] = str(uuid4())
        if (self.method, self.path) == ("post", "/v1/curator/runs"):
            fold_live(services.settings.database_url)  # the curator reads no tables that are behind
        known |= ids
        given = self.document.get("parameters", [])
        query = {
            each["name"]: known[each["name"]]
            for each in given
            if each["in"] == "query" and (each["required"] or each["name"] in ("user_id", *ids))
        }
        url = self.path
        for each in given:
            if each["in"] == "path":
                url = url.replace(f"{{{each['name']}}}", known[each["name"]])
        body = None
        if "requestBody" in self.document:
            body = {name: known.get(name, {"type": "object"}) for name in self._required()}
            if self.path == "/v1/memory/{user_id}/rollback":
                ada = services.read.get("/v1/memory/ada", headers=services.key()).json()
                body["to_version"] = ada["version"]
            if self.path == "/v1/concepts/{concept_id}":
                body |= {"definition": known["definition"]}
            if self.path == "/v1/cards/{card_id}/correct":
                body |= {"value": "figs"}
            if self.path == "/v1/memory/{user_id}/migrate":
                body |= {"text": "User likes tea.", "dry_run": True}
        return services.client(self.service).request(
            self.method, url, params=query, json=body, headers=headers
        )

    @property
    def for_everybody(self) -> bool:
        """True when the request changes something that all users of the tenant share."""
        return "reference-kinds" in self.path and self.method == "put"

    @property
    def about_everybody(self) -> bool:
        """True when the answer tells of all users of all tenants."""
        return self.path in ("/v1/status", "/v1/generations") or (self.method, self.path) == (
            "post",
            "/v1/operations",
        )

    @property
    def creates(self) -> bool:
        """True when the request makes the thing that it names, unless the thing is there."""
        return self.for_everybody or (self.method, self.path) in (
            ("post", "/v1/references/{kind}"),
            ("post", "/v1/concepts"),
            ("post", "/v1/threads"),
            ("post", "/v1/webhooks"),
            ("post", "/v1/memory/{user_id}/problems"),
            ("post", "/v1/people"),
            ("post", "/v1/memory/{user_id}/events"),
            ("put", "/v1/teams/{team_id}/members/{member}"),
            *OWN,
        )

    @property
    def of_own_memory(self) -> bool:
        """True when the request is about the whole memory of a user. Everybody has a memory, though it may be empty."""
        # These requests name events, a candidate or a category of the document.
        of_parts = self.path.endswith(("/rollback", "/cherry-pick", "/promote", "/revert"))
        return self.path.startswith("/v1/memory/{user_id}/") and self.path.count("{") == 1 and not of_parts

    @property
    def names_a_user(self) -> bool:
        """True when the request says whose memory it is about."""
        parameters = [each["name"] for each in self.document.get("parameters", [])]
        return "user_id" in parameters or ("requestBody" in self.document and "user_id" in self._required())

    def _required(self) -> list[str]:
        schema = self.document["requestBody"]["content"]["application/json"]["schema"]
        schema = schema.get("oneOf", [schema])[0]
        if "$ref" in schema:
            schema = self.document["schemas"][schema["$ref"].rpartition("/")[2]]
        required: list[str] = schema.get("required", [])
        return required


@cache
def every() -> list[Operation]:
    """Every operation that needs a key, from the documents of all services. They take a second to write."""
    found = []
    from events.platform.settings import Settings

    nowhere = Settings(database_url="postgresql://nobody@127.0.0.1:1/no", redis_url="redis://127.0.0.1:1/0")
    for service, app in (
        ("write", write_app(nowhere)),
        ("read", read_app(nowhere)),
        ("embed", embed_app(nowhere)),
    ):
        document = app.openapi()
        for path, methods in document["paths"].items():
            for method, each in methods.items():
                if (service, method, path) in NO_KEY:
                    assert "security" not in each
                    continue
                [needed] = each["security"]
                [scope] = needed["bearer"]
                schemas = document["components"]["schemas"]
                found.append(Operation(service, method, path, scope, each | {"schemas": schemas}))
    return found


OWN = (
    ("put", "/v1/modes/{name}"),
    ("put", "/v1/projects/{project_id}"),
    ("post", "/v1/sessions/{session_id}/checkpoint"),
)
"""Requests that make something of the user they name, whoever else has the same."""

SECRETS = ("waking before dawn", "Porto", "baker", "Mia", "Noor", "zoequill", "rye flour")
"""Words of ada's memory."""


def for_each(check: Callable[[Operation], None]) -> None:
    """Checks every operation. A failure names the operation."""
    for operation in every():
        try:
            check(operation)
        except AssertionError as error:
            error.add_note(f"by {operation}")
            raise


def unknown() -> dict[str, str]:
    """Names of things that nobody has."""
    names = (
        "card_id from_card arbitration_id relation_id erasure_id proposal_id problem_id thread_id insight_id "
        "webhook_id run_id person_id key turn_id name team_id queue_id concept_id session_id letter_id"
    )
    return {each: str(uuid4()) for each in names.split()}


def told(answer: Response) -> tuple[int, bytes, dict[str, str]]:
    """What a caller learns from an answer."""
    return (
        answer.status_code,
        answer.content,
        {k: v for k, v in answer.headers.items() if k not in ("date", "x-request-id")},
    )


@pytest.fixture(scope="module")
def strangers(services: Services) -> list[dict[str, str]]:
    """The headers of everybody who has no valid key."""
    revoked = services.key()
    key_id = keys.key_id_of(revoked["Authorization"].split()[-1])
    assert key_id is not None
    keys.revoke(services.connection, key_id)
    valid = services.key()["Authorization"]
    return [
        {},
        services.key(expires_at=datetime.now(UTC) - timedelta(seconds=1)),
        revoked,
        {"Authorization": f"Bearer {keys.new_text()}"},
        {"Authorization": valid[:-4] + "AAAA"},
        {"Authorization": valid.replace("Bearer", "Basic")},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer a.b.c"},
    ]


def test_whoever_has_no_valid_key_is_refused_alike(
    services: Services, strangers: list[dict[str, str]]
) -> None:
    """Every operation refuses who has no key and one of the others, each in turn. One operation refuses all."""
    nobody, *others = strangers
    others_in_turn = cycle(others)

    def check(operation: Operation) -> None:
        answer = operation.send(services, nobody)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["title"] == "Not authenticated"
        asking = others if operation is every()[0] else [next(others_in_turn)]
        for headers in asking:
            assert told(operation.send(services, headers)) == told(answer)

    for_each(check)


def test_a_key_without_the_scope_is_refused(services: Services) -> None:
    def check(operation: Operation) -> None:
        others = [scope for scope in SCOPES if scope != operation.scope]
        answer = operation.send(services, services.key(scopes=others))
        assert (answer.status_code, answer.json()["title"]) == (403, "Scope missing")
        assert operation.scope in answer.json()["detail"]
        missing = operation.send(services, services.key(scopes=others), user="nobody at all")
        assert told(missing) == told(answer)

    for_each(check)


def test_only_a_key_that_acts_as_the_user_writes_or_decides_as_the_user(services: Services) -> None:
    key = services.key(scopes=["push", "read", "write"])
    memory, body = (
        "/v1/memory/ada",
        {"patch": [{"op": "add", "path": "/uncategorized/tea", "value": "green"}]},
    )
    for path, more, field in (
        ("events", body | {"actor": "user"}, "actor"),
        ("rollback", {"to_version": 1, "actor": "user"}, "actor"),
        (f"queue/{services.ids['to approve']}/approve", {}, "by"),
    ):
        refused = services.write.post(f"{memory}/{path}", json=more, headers=key)
        assert (refused.status_code, refused.json()["field"]) == (403, field), refused.text
        assert "--acts-as user" in refused.json()["detail"]
    said = services.write.post(f"{memory}/events", json=body | {"actor": "agent"}, headers=key)
    assert said.status_code == 200, said.text
    undone = services.write.post(
        f"{memory}/rollback", json={"event_ids": [said.json()["event_id"]]}, headers=key
    )
    assert undone.status_code == 200
    history = services.read.get(f"{memory}/history", headers=services.key()).json()["changes"]
    assert [each["actor"] for each in history[:2]] == ["agent", "agent"]


def test_only_a_key_that_acts_as_the_user_retracts_what_the_user_stated(services: Services) -> None:
    agent, user = services.key(scopes=["write"]), services.key(scopes=["write", "user"])
    ends = {"from_card": services.ids["dog"], "to_card": services.ids["job"], "predicate": "retracts"}
    body = {"user_id": "ada", **ends, "reason": "misheard"}
    refused = services.write.post("/v1/relations", json=body, headers=agent)
    assert (refused.status_code, refused.json()["field"]) == (403, "to_card"), refused.text
    assert "--acts-as user" in refused.json()["detail"]
    done = services.write.post("/v1/relations", json=body, headers=user)
    assert done.status_code == 202, done.text
    back, why = f"/v1/relations/{done.json()['event_id']}/withdraw", {"user_id": "ada", "reason": "right"}
    assert services.write.post(back, json=why, headers=agent).status_code == 403
    assert services.write.post(back, json=why, headers=user).status_code == 202


def test_a_key_of_another_user_learns_nothing(services: Services) -> None:
    def check(operation: Operation) -> None:
        limited = services.key(users=["carl"])
        answer = operation.send(services, limited)
        if operation.for_everybody or operation.about_everybody:
            assert (answer.status_code, answer.json()["title"]) == (403, "Limited key")
            return
        if operation.names_a_user:
            assert told(answer) == told(operation.send(services, limited, user=f"nobody {uuid4()}"))
        if answer.status_code == 200:
            if operation.path == "/v1/audit":
                assert answer.json() == {"entries": [], "next_cursor": None}
            else:
                assert not operation.names_a_user
                assert "{" not in operation.path
                for secret in SECRETS:
                    assert secret not in answer.text
            return
        assert answer.status_code == 404
        if operation.path == "/v1/references/{kind}" or (operation.method, operation.path) in OWN:
            return  # carl may make a list, a mode, a project and a session
        if operation.of_own_memory:
            key = services.key(users=["dora"])
            [patch] = [each for each in every() if str(each) == "write post /v1/memory/{user_id}/events"]
            assert patch.send(services, key, user="dora").status_code in (200, 201)
            dora = operation.send(services, key, user="dora")
            assert dora.status_code in (200, 201)
            return
        if "{" in operation.path:
            # The same as for a thing that the user of the key does not have, whoever has it.
            assert told(answer) == told(operation.send(services, limited, user="carl"))
        if "{" in operation.path and not operation.creates:
            assert told(answer) == told(operation.send(services, limited, user="carl", **unknown()))

    for_each(check)


def test_a_key_of_another_tenant_learns_nothing(services: Services) -> None:
    def check(operation: Operation) -> None:

        def ask(user: str, **ids: str) -> Response:
            # A tenant of its own each time: what the request before made is not there.
            return operation.send(services, services.key(tenant=f"t{uuid4().hex}"), user=user, **ids)

        answer, nobody = ask("ada"), ask(f"nobody {uuid4()}")
        assert answer.status_code == nobody.status_code
        if answer.status_code == 404:
            assert told(answer) == told(nobody)
            assert told(answer) == told(ask("ada", **unknown()))
        else:
            own = operation.creates or operation.of_own_memory
            assert "{" not in operation.path or own, "an id of another tenant was found"
            for secret in (*SECRETS, services.ids["home"], services.ids["conflict"]):
                assert secret not in answer.text

    for_each(check)


def test_the_right_key_is_answered_as_documented(services: Services) -> None:
    def check(operation: Operation) -> None:
        users = None if operation.for_everybody or operation.about_everybody else ["ada"]
        # Nothing is erased, because the other requests need it.
        dry_run = {"dry_run": "true"} if operation.method == "delete" else {}
        answer = operation.send(
            services, services.key(scopes=[operation.scope, "user"], users=users), **dry_run
        )
        assert answer.status_code in (200, 201, 202), answer.text
        [(kind, content)] = operation.document["responses"][str(answer.status_code)]["content"].items()
        assert answer.headers["content-type"].partition(";")[0] == kind
        if kind == "application/json":
            # To load it takes a second, which other processes save.
            from jsonschema import Draft202012Validator

            components = {"components": {"schemas": operation.document["schemas"]}}
            Draft202012Validator(content["schema"] | components).validate(answer.json())

    for_each(check)


def test_an_id_has_the_form_that_the_document_says(services: Services) -> None:
    """A field of another type than the shared ones would take other forms of UUIDs and instants."""
    asked = 0
    for operation in every():
        given = {each["name"]: each["schema"] for each in operation.document.get("parameters", [])}
        assert "date-time" not in str(given)
        for name in [name for name, schema in given.items() if "'format': 'uuid'" in str(schema)]:
            answer = operation.send(services, services.key(), **{name: uuid4().hex})
            assert (answer.status_code, answer.json()["field"]) == (422, name), operation
            asked += 1
    assert asked > 30


@pytest.mark.parametrize(
    ("limit", "more"),
    [({"modes": ["vault"]}, ("journal", "sketches")), ({"projects": ["vault"]}, ())],
    ids=["mode", "project"],
)
def test_a_key_of_another_mode_or_project_learns_nothing(
    services: Services, limit: dict[str, Any], more: tuple[str, ...]
) -> None:
    def check(operation: Operation) -> None:
        answer = operation.send(services, services.key(**limit))
        for secret in (*SECRETS, "yeast", "baking", "slept badly", "orchid", services.ids["home"], *more):
            assert secret not in answer.text
        if any(
            word in operation.path for word in ("{kind}", "{proposal_id}", "{member}", "export", "/v1/turns/")
        ):
            assert answer.status_code in (403, 404)

    for_each(check)


def test_a_key_brings_no_other_user_into_a_team_and_takes_none_out(services: Services) -> None:
    limited, whole = services.key(users=["carl"]), services.key()

    def send(method: str, member: str, key: dict[str, str]) -> Response:
        by = {"user_id": "carl"}
        url = f"/v1/teams/choir/members/{member}"
        if method == "delete":
            return services.write.delete(url, params=by, headers=key)
        return services.write.put(url, json=by, headers=key)

    assert send("put", "carl", limited).json()["members"] == ["carl"]
    refused = send("put", "ada", limited)
    assert refused.status_code == 404
    assert told(refused) == told(send("put", "nobody at all", limited))
    assert send("put", "ada", whole).json()["members"] == ["ada", "carl"]
    assert told(send("delete", "ada", limited)) == told(refused)
    assert send("delete", "ada", whole).json()["members"] == ["carl"]


def test_an_administrator_of_some_users_sees_their_erasures_and_entries_only(services: Services) -> None:
    def admin(users: list[str] | None) -> dict[str, str]:
        return services.key(scopes=["admin"], users=users)

    path = f"/v1/erasures/{services.ids['erasure']}"
    assert services.write.get(path, headers=admin(["ada", "carl"])).json()["users"] == 1
    hidden = services.write.get(path, headers=admin(["carl"]))
    assert told(hidden) == told(services.write.get(f"/v1/erasures/{uuid4()}", headers=admin(["carl"])))

    def entries(users: list[str] | None, **query: str) -> list[dict[str, Any]]:
        found = services.read.get("/v1/audit", params=query | {"limit": "1000"}, headers=admin(users))
        assert found.status_code == 200, found.text
        listed: list[dict[str, Any]] = found.json()["entries"]
        return listed

    [ada] = eventually(lambda: entries(None, user_id="ada", operation="erase_turn"))[-1]["subjects"]
    assert {subject for each in entries(["ada"]) for subject in each["subjects"]} == {ada}
    assert all(each["subjects"] for each in entries(["ada"]))
    assert ada not in str(entries(["carl"]))

    def first_user(*users: str) -> Any:
        return services.read.get("/v1/users", params={"limit": 1}, headers=admin(list(users))).json()

    assert first_user("carl") == {"users": [], "next": None}, "the next page begins after nobody else"
    assert first_user("carl", "ada") == {"users": [{"user_id": "ada", "erased_at": None}], "next": "ada"}


def test_two_tenants_have_a_user_of_one_name(services: Services) -> None:
    question = {"user_id": "bea", "query": "where do I live?"}
    told_by = {
        tenant: services.read.post("/v1/recall", json=question, headers=services.key(tenant=tenant)).json()
        for tenant in ("default", "elsewhere")
    }
    assert told_by["default"]["cards"] == []
    assert [card["value"] for card in told_by["elsewhere"]["cards"]] == ["Quito"]
    turn = {"user_id": "ada", "text": "I like figs.", "turn_id": "the same"}
    for tenant in ("default", "elsewhere"):
        pushed = services.write.post("/v1/turns", json=turn, headers=services.key(tenant=tenant))
        assert (pushed.status_code, pushed.json()["duplicates"]) == (202, [])
    forged = {"user_id": storage_id("elsewhere", "bea"), "query": "where do I live?"}
    assert services.read.post("/v1/recall", json=forged, headers=services.key()).status_code == 404


def test_a_key_is_held_to_its_projects(services: Services) -> None:
    key = services.key(projects=["work"])

    def read(path: str, **query: Any) -> Any:
        return services.read.get(f"/v1/{path}", params={"user_id": "ada"} | query, headers=key)

    def ask(**more: Any) -> Any:
        asked = {"user_id": "ada", "query": "what is my job? where do I live?", "k": 50} | more
        return services.read.post("/v1/recall", json=asked, headers=key)

    assert [card["value"] for card in read("cards", project_id="*").json()["cards"]] == ["baker"]
    assert read("cards", project_id="default").json() == {"cards": [], "next_cursor": None}
    assert read("cards/aggregate", project_id="*", group_by="project_id").json()["total"] == 1
    assert read("arbitrations", status="*").json()["arbitrations"] == []
    assert {card["card_id"] for card in ask(project_id="*").json()["cards"]} == {services.ids["job"]}
    assert {card["card_id"] for card in ask(project_id=["default", "work"]).json()["cards"]} == {
        services.ids["job"]
    }
    assert ask().status_code == ask(project_id="none").status_code == 404
    assert told(ask()) == told(ask(project_id="none"))
    assert read(f"cards/{services.ids['job']}").status_code == 200
    for path in ("", "/history", "/relations", "/latest"):
        assert told(read(f"cards/{services.ids['home']}{path}")) == told(read(f"cards/{uuid4()}{path}"))
    assert told(read(f"arbitrations/{services.ids['conflict']}")) == told(read(f"arbitrations/{uuid4()}"))

    def write(path: str, **body: Any) -> Any:
        return services.write.post(f"/v1/{path}", json={"user_id": "ada"} | body, headers=key)

    assert told(write(f"cards/{services.ids['home']}/verify")) == told(write(f"cards/{uuid4()}/verify"))
    relation = {"predicate": "related_to", "reason": "x", "from_card": services.ids["job"]}
    assert write("relations", **relation, to_card=services.ids["home"]).status_code == 404
    assert write(f"arbitrations/{services.ids['conflict']}/verdict", verdict="coexist").status_code == 404
    assert write("turns", text="I bake bread.", project_id="work").status_code == 202
    for project in ({}, {"project_id": "home"}, {"project_id": " work"}):
        refused = write("turns", text="x", **project)
        assert (refused.status_code, refused.json()["field"]) == (404, "project_id")


def test_a_repeated_command_shows_no_thread_out_of_reach(services: Services) -> None:
    def send(path: str, command: str, *, projects: list[str] | None = None, **body: Any) -> Any:
        headers = services.key(projects=projects) | {"idempotency-key": command}
        return services.write.post(f"/v1/threads{path}", json={"user_id": "ada"} | body, headers=headers)

    thread = f"/{send('', 'open', title='the garden').json()['thread_id']}"
    for path, body in (
        ("/rename", {"title": "the secret garden"}),
        ("/cards", {"card_ids": [services.ids["home"]], "reason": "alike"}),
        ("/close", {}),
        ("/reopen", {}),
    ):
        assert send(thread + path, path, **body).status_code == 200
        limited = send(thread + path, path, projects=["work"], **body)
        assert told(limited) == told(send(f"/{uuid4()}{path}", "new", projects=["work"], **body))
        assert limited.status_code == 404


def test_a_key_is_held_to_its_modes(services: Services) -> None:
    key, both = services.key(modes=["journal"]), services.key(modes=["journal", "code"])

    def ask(headers: dict[str, str] = key, **more: Any) -> Any:
        asked = {"user_id": "ada", "query": "who walked?", "k": 50} | more
        return services.read.post("/v1/recall", json=asked, headers=headers)

    for answer in (ask(), ask(mode="journal"), ask(both, mode="journal"), ask(explain=True)):
        assert [card["card_id"] for card in answer.json()["cards"]] == [services.ids["diary"]]
        assert "dog" not in answer.text
    assert ask(mode="general").status_code == ask(mode="code").status_code == 404
    assert (ask(both).status_code, ask(both).json()["field"]) == (422, "mode")
    listed = services.read.get("/v1/cards", params={"user_id": "ada", "status": "*"}, headers=key).json()
    # Another request may have moved a turn to the mode.
    assert services.ids["diary"] in [card["card_id"] for card in listed["cards"]]
    assert {card["mode"] for card in listed["cards"]} == {"journal"}
    assert services.read.get("/v1/arbitrations", params={"user_id": "ada"}, headers=key).json() == {
        "arbitrations": [],
        "next_cursor": None,
    }
    baking, ada = "/v1/references/todo_list/baking", {"user_id": "ada"}
    pinned = {"tier": "pinned", "reason": "the test"}
    assert services.write.post(f"{baking}/tier", json=ada | pinned, headers=services.key()).status_code == 200
    asked = ada | {"query": "who walked?"}
    context = services.read.post("/v1/context", json=asked, headers=key)
    assert "slept badly" in context.text
    assert "dog" not in context.text
    assert "baking" not in context.text
    assert "baking" in services.read.post("/v1/context", json=asked, headers=services.key()).text
    for team in ({}, {"team_id": "kitchen"}):
        hidden = services.read.get(baking, params=ada | team, headers=key)
        assert told(hidden) == told(services.read.get(f"{baking}2", params=ada | team, headers=key))
        assert hidden.status_code == 404
    assert (
        services.write.post(
            "/v1/turns", json={"user_id": "ada", "text": "x", "mode": "journal"}, headers=key
        ).status_code
        == 202
    )
    assert (
        services.write.post("/v1/turns", json={"user_id": "ada", "text": "x"}, headers=key).status_code == 404
    )


def test_probes_and_descriptions_need_no_key_and_metrics_a_reader(services: Services) -> None:
    for client in (services.read, services.write):
        for path in ("/healthz", "/openapi.json", "/docs"):
            assert client.get(path).status_code == 200
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers=services.key(scopes=["push"])).status_code == 403
        for scope in ("read", "admin"):
            assert client.get("/metrics", headers=services.key(scopes=[scope])).status_code == 200
        assert client.get("/v1/unknown").status_code == 401
    assert services.embed.get("/healthz").status_code == services.embed.get("/readyz").status_code == 200


def test_embeddings_are_in_the_audit_log_without_their_words(services: Services) -> None:
    key, admin = services.key(scopes=["read"]), services.key(scopes=["admin"])
    words = "a violet submarine"
    assert services.embed.post("/v1/embeddings", json={"input": words}, headers=key).status_code == 200
    push = services.key(scopes=["push"])
    assert services.embed.post("/v1/embeddings", json={"input": words}, headers=push).status_code == 403

    def outcomes() -> list[str]:
        query = {"operation": "embeddings", "limit": "1000"}
        listed = services.read.get("/v1/audit", params=query, headers=admin)
        assert words not in listed.text
        return [each["outcome"] for each in listed.json()["entries"] if each["service"] == "embed"][:2]

    eventually(lambda: outcomes() == ["denied", "allowed"])


def test_every_answer_has_the_security_headers(services: Services) -> None:
    key = services.key()
    for answer in (
        services.read.get("/healthz"),
        services.read.get("/v1/channels"),
        services.read.get("/v1/channels", headers=key),
        services.read.get("/v1/unknown", headers=key),
        services.write.post("/v1/turns", json={}, headers=key),
        services.read.get("/healthz", headers={"host": "evil.example"}),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers


def test_the_status_is_for_keys_that_see_every_user_of_the_default_tenant(services: Services) -> None:
    whole = services.read.get("/v1/status", headers=services.key(scopes=["read"]))
    assert whole.status_code == 200
    assert {"recorder", "extractor", "cards", "vectors"} <= set(whole.json()["stages"])
    assert "@" not in "".join(whole.json()["servers"].values())
    for limited in (
        services.key(users=["ada"]), services.key(projects=["default"]), services.key(modes=["journal"]),
        services.key(tenant="acme"),
    ):  # fmt: skip
        refused = services.read.get("/v1/status", headers=limited)
        assert (refused.status_code, refused.json()["title"]) == (403, "Limited key")
