"""Two people of one name: proposed, merged and split again, with the right answer at each step."""

from __future__ import annotations

from typing import Any

from tests.support.person import Person
from tests.support.stack import Running
from tests.support.web import WEB

SAID = (
    "My brother Robin told me about his job at the harbour. He repairs cranes.",
    "Robin from work told me about her job at the museum. She restores paintings.",
    "Robin from work is Robina Castellanos.",
    "Robina Castellanos told me that her new job is in Porto.",
)


def _names(found: dict[str, Any]) -> dict[str, str]:
    return {" ".join([each["name"], *each["kinship"]]): each["person_id"] for each in found["people"]}


def test_two_people_of_one_name_are_told_apart(stack: Running) -> None:
    dana = Person(stack, "dana of the two robins")
    for text in SAID:
        dana.say(text)
    stack.wait()

    def people() -> dict[str, Any]:
        found: dict[str, Any] = dana.read("people")
        return found

    def answered(question: str) -> str:
        found = dana.recall(question, k=10)
        return " | ".join(each["content"] for card in found for each in (card, *card.get("beside", ())))

    found = people()
    names = _names(found)
    work, whole = names["Robin work"], names["Robina Castellanos"]
    [proposal] = [each for each in found["proposals"] if SAID[2] in each["evidence"][0]]
    assert (proposal["person_id"], proposal["into_id"]) == (work, whole)

    hers = answered("What did Robin from work tell me about her job?")
    assert "museum" in hers
    assert "harbour" not in hers
    his = answered("What did my brother Robin tell me about his job?")
    assert "harbour" in his
    assert "museum" not in his
    assert "harbour" not in answered("What did Robin tell me about her job?")

    dana.write(f"people/{work}/merge", into_id=whole, status=200)
    merged = answered("What did Robin from work tell me about her job?")
    assert "museum" in merged
    assert "Porto" in merged
    assert "harbour" not in merged

    dana.write(f"people/{work}/split", from_id=whole, status=200)
    assert _names(people())["Robin work"] == work
    again = answered("What did Robin from work tell me about her job?")
    assert "museum" in again
    assert "harbour" not in again


def test_an_erased_name_is_nobody(stack: Running) -> None:
    ada = Person(stack, "ada who forgets")
    ada.write("people", name="Noor", kinship="sister", status=201)
    ada.write("people", name="Bo", kinship="coach", status=201)
    erased = WEB.delete(
        f"{stack.write_url}/v1/people/Noor",
        params={"user_id": ada.user},
        headers=stack.administrator,
        timeout=60,
    )
    assert erased.status_code == 200, erased.text
    assert list(_names(ada.read("people"))) == ["Bo coach"]
