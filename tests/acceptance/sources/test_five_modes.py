"""Five modes with three models in one memory of a whole Cardlog: turns find their mode, questions their cards."""

from __future__ import annotations

import re

import pytest

from events.platform.database import connect
from tests.support.ingest.messages_api import MessagesApi, Request, Trouble, calls
from tests.support.person import Person
from tests.support.stack import Running

MODES = {
    "code": ("hash-768", "programming, servers and deployments"),
    "research": ("hash-768", "studies, papers and statistics"),
    "journal": ("hash-1024", "feelings, moods, reflections"),
    "family": ("", "relatives and what is done with them"),
}
SERVER = "The deploy target of the staging service is the cluster in Frankfurt."
MOOD = "Tonight my deploy target is the sofa, I feel empty and slow."
ERRAND = "Please pick up coffee beans on the way home."
REPLY = "Yes, do that with the second one."
SAID = (
    (SERVER, "code"),
    (ERRAND, "general"),
    ("I wrote two rollback scripts for the staging service, one for each region.", "code"),
    (REPLY, "code"),
    (MOOD, "journal"),
    ("My sister Mia turns thirty in June.", "family"),
    ("The paper on sleep used a sample of forty adults.", "research"),
)


def model(request: Request) -> Trouble:
    """Reads modes as the prompt asks: a reply has the mode of the turn before it, which stands in the prompt."""
    meant = dict(SAID)
    recent = re.search("<recent_modes>(.*?)</recent_modes>", request.question)
    thread = recent[1].rpartition(", ")[2] if recent else None
    read = []
    for number, text in enumerate(request.turns, 1):
        thread = thread if text == REPLY else meant.get(text)
        read.append({"turn": number, "mode": thread})
    return calls({"states": [], "events": [], "knowledge": [], "modes": read})


@pytest.fixture(scope="module")
def ada(by_model: Running, _model: MessagesApi) -> Person:
    _model.trouble = model
    person = Person(by_model, "ada of five modes")
    for name, (embedder, description) in MODES.items():
        person.write(f"modes/{name}", method="PUT", embedder=embedder, description=description)
    for text, _ in SAID:
        person.say(text, session_id="work")
    _model.trouble = lambda _: None
    return person


def found(ada: Person, query: str, **more: str) -> list[tuple[str, str]]:
    return [(card["content"], card["mode"]) for card in ada.recall(query, **more)]


def test_five_modes_have_three_models(ada: Person) -> None:
    held = " UNION ALL ".join(
        f"SELECT card_id, model FROM vectors.card_vectors_{n}" for n in (384, 768, 1024)
    )
    query = (
        f"SELECT split_part(model, '@', 1), count(*) FROM ({held}) v JOIN cards.cards c USING (card_id) "
        "WHERE c.user_id = %s GROUP BY 1"
    )
    with connect(ada.stack.admin_database_url, application="test") as connection:
        models = dict(connection.execute(query.encode(), [ada.user]).fetchall())
    assert models == {"hash": 2, "hash-768": 4, "hash-1024": 1}


def test_each_turn_has_the_mode_that_its_words_belong_to(ada: Person) -> None:
    for text, mode in SAID:
        assert (text, mode) in found(ada, text, mode=mode), mode


def test_the_deploy_target_is_a_server_in_code_and_a_mood_in_the_journal(ada: Person) -> None:
    question = "what is the deploy target?"
    code, journal = (ada.stack.recall(ada.user, question, mode=mode) for mode in ("code", "journal"))
    assert code["cards"][0]["content"] == SERVER
    assert {card["mode"] for card in code["cards"]} == {"code"}
    assert [card["content"] for card in journal["cards"]] == [MOOD]
    assert code["warnings"] == journal["warnings"] == []


def test_an_errand_in_the_middle_of_a_code_session_is_no_code(ada: Person) -> None:
    assert ERRAND in dict(found(ada, "pick up coffee", mode="general"))
    assert ERRAND not in dict(found(ada, "pick up coffee", mode="code"))


def test_a_question_in_all_modes_is_warned_about_its_ranks(ada: Person) -> None:
    answer = ada.stack.recall(ada.user, "what is the deploy target?", modes="all")
    assert {SERVER, MOOD} <= {card["content"] for card in answer["cards"]}
    [warning] = answer["warnings"]
    assert "joined by rank" in warning
