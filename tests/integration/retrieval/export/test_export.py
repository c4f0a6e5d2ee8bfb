"""The export of a user holds everything of the user and nothing of others, and its import gives the same cards."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from deploy.command import main
from events import curator
from events.platform.database import Connection
from events.platform.settings import variable_of
from events.references.owners import stream_of
from events.store import log
from events.store.verification import verify
from events.types.envelope import partition_of
from events.types.extraction import CardsWithdrawn
from events.types.migrations import Migrated
from events.types.references import ReferenceCreated, ReferenceName
from events.types.webhooks import STREAM, WebhookAdded
from events.webhooks import webhooks_of
from ingest.api.curator_routes import UserRuns, undo
from ingest.curator.runner import curate
from ingest.decider import Command
from ingest.webhooks.targets import new_secret
from projectors.people import PeopleProjector
from retrieval.export.export import export, users
from retrieval.export.user_import import ImportRefusedError, import_user
from retrieval.http.read_api import create_app
from tests.support.ingest.curating import BEGIN, fold, relations, tell
from tests.support.ingest.memories import Memory, words_in_tables
from tests.support.projectors.folding import event, fold_live
from tests.support.retrieval.core_documents import Documents, documents

SAID = (
    "I live in Montevideo.", "My dog is called Bartholomew.", "I moved to Valparaiso last week.",
    "Rust is a programming language.", "Yesterday I met Clementine.",
)  # fmt: skip


@pytest.fixture
def memory(database: str, connection: Connection) -> Memory:
    made = Memory(database, connection)
    made.say("ada", *SAID)
    made.say("bea", "I live in Lisbon.", turn_id="bea's")
    made.understand()
    return made


def lines(connection: Connection, user: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export(connection, user)]


def cards(exported: list[dict[str, Any]]) -> list[str]:
    """The cards of an export, without what differs in every log: ids, positions and times of recording."""
    different = {"card_id", "caused_by", "position", "created_at", "relations", "changes", "last_verified"}
    return sorted(
        json.dumps({name: value for name, value in line.items() if name not in different}, sort_keys=True)
        for line in exported
        if line["kind"] == "card"
    )


def test_an_export_holds_every_turn_event_and_card_of_one_user(memory: Memory) -> None:
    found = lines(memory.connection, "ada")
    kinds = [line["kind"] for line in found]
    assert (kinds[0], kinds[-1], found[0]["user_id"]) == ("export", "end", "ada")
    assert [line["data"]["text"] for line in found if line["kind"] == "turn"] == list(SAID)
    assert found[-1] == {
        "kind": "end", "turns": 5, "events": kinds.count("event"), "cards": kinds.count("card"),
        "insights": 0, "erased": 0,
    }  # fmt: skip
    sourced = [line for line in found if line["kind"] == "card"]
    assert sourced
    assert all(line["turn_ids"] and line["provenance"] for line in sourced)
    assert "Lisbon" not in json.dumps(found)


def test_an_imported_user_has_the_same_cards(memory: Memory, connection: Connection) -> None:
    stack = ReferenceCreated(
        name=ReferenceName(kind="variable", key="stack"), data={}, rendering="stack: empty", tier="session"
    )
    log.append(connection, [replace(event(stack, "ada"), stream=stream_of(stack.name))])
    exported = list(export(connection, "ada"))
    done = import_user(connection, exported, "ada-again")
    assert done.turns == len(SAID)
    memory.understand()
    assert cards(lines(connection, "ada-again")) == cards(lines(connection, "ada"))
    assert verify(connection).faults == ()
    assert "Lisbon" not in json.dumps(lines(connection, "ada-again"))


def what_is_known(ada: Documents, connection: Connection) -> list[Any]:
    """The people, the cards and the document of a user, without what differs in every log."""
    found = ada.done(ada.read.get("/v1/people", params={"user_id": ada.user}))
    names = {}
    for each in found["people"]:
        each["merged"] = len(each["merged"])
        names[each.pop("person_id")] = each["name"], tuple(each["kinship"])
    pairs = [(names[each["person_id"]], names[each["into_id"]]) for each in found["proposals"]]
    queue = [
        (each["path"], each["status"]) for each in ada.done(ada.get("/queue", status="refused"))["entries"]
    ]
    document = ada.document()
    del document["_meta"]["lastUpdated"]
    return [sorted(found["people"], key=str), pairs, cards(lines(connection, ada.user)), document, queue]


def test_what_was_decided_of_a_user_holds_under_another_name(
    database: str, redis_url: str, connection: Connection
) -> None:
    with documents(database, redis_url, connection) as ada:
        here = Memory(database, connection)
        here.projectors.append(PeopleProjector())
        told = ("Noor from work", "Noora Haddad", "My sister Noor", "Chris from school", "My boss Kim")
        here.say(ada.user, *(f"{who} told me that the lake is cold." for who in told))
        here.say(ada.user, "I live in Porto.", "My dog is called Rex.", "I work at a bakery.")
        here.understand()

        def post(path: str, **body: Any) -> dict[str, Any]:
            answer = ada.write.post(f"/v1/{path}", json={"user_id": ada.user, **body})
            assert answer.status_code < 300, answer.text
            done: dict[str, Any] = answer.json()
            return done

        found = ada.done(ada.read.get("/v1/people", params={"user_id": ada.user}))["people"]
        of = {" ".join([each["name"], *each["kinship"]]): each["person_id"] for each in found}
        kim = post("people", name="Kim", kinship="neighbour")["person_id"]
        post(f"people/{kim}/alias", alias="Kimmy")
        post(f"people/{of['Noor work']}/merge", into_id=of["Noora Haddad"])
        post(f"people/{of['Chris school']}/merge", into_id=of["Noora Haddad"])
        post(f"people/{of['Chris school']}/split", from_id=of["Noora Haddad"])
        post(f"people/{of['Noor sister']}/distinct", other_id=of["Noora Haddad"])
        [porto] = [each["card_id"] for each in lines(connection, "ada") if each.get("value") == "Porto"]
        retracted = post(f"cards/{porto}/retract", reason="no")
        assert retracted["duplicate"] is False
        waiting = ada.refused({"op": "remove", "path": "/profile/nothing"})["queue_id"]
        ada.done(ada.send(f"queue/{waiting}/refuse", {"by": "Ada"}))
        here.understand()

        before = what_is_known(ada, connection)
        import_user(connection, list(export(connection, ada.user)), "acme-eve")
        here.understand()
        eve = ada.of("acme-eve")
        assert what_is_known(eve, connection) == before
        ada.user = eve.user
        [porto] = [each["card_id"] for each in lines(connection, eve.user) if each.get("value") == "Porto"]
        assert post(f"cards/{porto}/retract", reason="no")["duplicate"] is True


def test_what_was_decided_of_several_proposals_of_one_event_holds_under_another_name(
    database: str, redis_url: str, connection: Connection
) -> None:
    with documents(database, redis_url, connection) as ada:
        migrated = {"metadata": orjson.dumps(Migrated(source="mem0").metadata()).decode()}
        likes = [(f"thing {number}", statement) for statement in ("asserted", "ended") for number in range(4)]
        *_, first, second, third, fourth = (
            ada.state(
                "likes",
                value,
                at,
                cardinality="multi_value",
                confidence=0.6,
                origin=migrated,
                statement=statement,
            )
            for at, (value, statement) in enumerate(likes)
        )
        ended = [each.event_id for each in (first, second, third, fourth)]
        ada.say(
            event(
                CardsWithdrawn(event_ids=tuple(ended), positions=(5, 6, 7, 8), reason="read again"), ada.user
            )
        )
        entries = ada.done(ada.get("/queue"))["entries"]
        of = {each["expected"]: each["queue_id"] for each in entries}
        assert len(set(of.values())) == len(of) == 4
        for value, answer in (("thing 1", "refuse"), ("thing 2", "approve"), ("thing 3", "refuse")):
            ada.done(ada.send(f"queue/{of[value]}/{answer}", {}))

        def decided(one: Documents) -> list[tuple[str, str]]:
            shown = one.done(one.get("/queue", status="*"))["entries"]
            return sorted((each["expected"], each["status"]) for each in shown)

        fold_live(database)
        import_user(connection, list(export(connection, ada.user)), "eve")
        assert decided(ada.of("eve")) == decided(ada)
        assert ("thing 0", "open") in decided(ada)


def test_a_run_of_the_curator_can_be_undone_under_another_name(connection: Connection) -> None:
    tell(connection, (0, "Alex has a pet."), (30, "Alex has a dog named Rex."))
    curate(connection, "ada")
    import_user(connection, list(export(connection, "ada")), "eve")
    fold(connection)
    assert relations(connection, "eve") == {("Alex has a dog named Rex", "expands", "Alex has a pet")}
    [run] = curator.fold(curator.runs_of(connection, "eve"))
    command = Command(owner="eve", actor="user/eve", at=BEGIN)
    with connection.transaction():
        undo(UserRuns(connection, command, run), "wrong")
    fold(connection)
    assert relations(connection, "eve") == set()


def test_the_words_of_an_imported_turn_are_the_same_whatever_they_name(memory: Memory) -> None:
    [first, *_] = [line["event_id"] for line in lines(memory.connection, "ada") if line["kind"] == "turn"]
    memory.say("ada", first)
    import_user(memory.connection, list(export(memory.connection, "ada")), "eve")
    assert first in [
        line["data"]["text"] for line in lines(memory.connection, "eve") if line["kind"] == "turn"
    ]


def test_an_export_holds_no_secret_of_a_webhook(memory: Memory, connection: Connection) -> None:
    secret = new_secret()
    added = WebhookAdded(url="https://example.com/hook", secret=secret, types=("TurnRecorded",))
    log.append(connection, [replace(event(added, "ada"), stream=STREAM)])
    exported = list(export(connection, "ada"))
    assert secret not in b"".join(exported).decode()
    [line] = [each for each in lines(connection, "ada") if each.get("stream") == STREAM]
    assert line["data"]["url"] == "https://example.com/hook"
    import_user(connection, exported, "ada-again")
    assert webhooks_of(connection, ["ada-again"]) == {}


def test_an_import_is_refused_whole(memory: Memory, connection: Connection) -> None:
    exported = list(export(connection, "ada"))
    heads = log.heads(connection)
    for damaged, user, why in (
        (exported, "bea", "another name"),
        (exported[:-1], "new", "not whole"),
        ([b'{"kind":"export"}\n', *exported[1:]], "new", "line 1"),
        ([*exported[:3], b"nonsense\n", *exported[3:]], "new", "line 4"),
    ):
        with pytest.raises(ImportRefusedError, match=why):
            import_user(connection, damaged, user)
    assert log.heads(connection) == heads


def test_users_are_listed_page_by_page_and_tenants_never_meet(memory: Memory, connection: Connection) -> None:
    memory.say("acme\x1fada", "I live in Bergen.")
    memory.say("acme\x1fzoe", "I live in Bergen.")
    memory.say("acme2\x1feve", "I live in Bergen.")
    assert [one.user_id for one in users(connection, "default")] == ["ada", "bea"]
    assert [one.user_id for one in users(connection, "acme")] == ["ada", "zoe"]
    assert [one.user_id for one in users(connection, "acme", after="ada", limit=1)] == ["zoe"]
    between = (f"b\x1f{number}" for number in range(10_000))
    same_partition = [one for one in between if partition_of(one) == partition_of("bea")]
    for one in same_partition[:3]:
        memory.say(one, "I live in Bergen.")
    assert [one.user_id for one in users(connection, "default", after="ada", limit=1)] == ["bea"]


def test_the_read_service_lists_and_exports(memory: Memory, connection: Connection) -> None:
    with TestClient(create_app(memory.settings), base_url="http://localhost") as client:
        page = client.get("/v1/users", params={"limit": 1}).json()
        assert page == {"users": [{"user_id": "ada", "erased_at": None}], "next": "ada"}
        answer = client.get("/v1/users/ada/export")
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(line)["kind"] for line in answer.iter_lines()][-1] == "end"
        assert client.get("/v1/users/nobody/export").status_code == 404
        assert client.get("/v1/users/a%1Fb/export").status_code == 404
    assert words_in_tables(connection, "Bartholomew")
    assert memory.erase("user", "ada", derived_only=True).counts


def test_the_verbs_say_that_a_user_is_unknown(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable_of("database_url"), memory.settings.database_url)
    monkeypatch.setenv(variable_of("redis_url"), memory.settings.redis_url)
    file = tmp_path / "ghost.jsonl"
    assert main(["users", "export", "ghost", str(file)]) == 1
    assert "there is no user ghost" in capsys.readouterr().err
    assert not file.exists()
    for words in (["--user", "ghost"], ["--user", "ghost", "--yes"], ["--turn", "none", "--user", "ada"]):
        assert main(["erase", *words]) == 1
        assert "nothing of this name" in capsys.readouterr().err
    assert main(["erase", "--before", "2000-01-01", "--yes"]) == 0
    assert main(["erase", "--user", "ada"]) == 0


def test_a_dry_run_tells_the_people_of_a_name_apart(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable_of("database_url"), memory.settings.database_url)
    monkeypatch.setenv(variable_of("redis_url"), memory.settings.redis_url)
    memory.say("dev", "My brother Alex is a nurse.", "My boss Alex told me that the job is boring.")
    memory.understand()
    assert main(["erase", "--person", "Alex", "--user", "dev"]) == 0
    told = [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines() if "  Alex" in line]
    assert sorted(told) == ["Alex (boss)", "Alex (brother)"]
