"""The curator makes the edges of stories by itself, and questions about now and about the past are answered."""

from __future__ import annotations

from typing import Any

from tests.acceptance.test_stories import Friend
from tests.support.stack import Running

NOW = "2025-11-01T12:00:00Z"


def curated(user: Friend) -> str:
    """Lets the curator work now. Returns the token of what it added."""
    return str(user.write("curator/runs")["token"])


def test_a_pet_a_dog_and_its_death(stack: Running) -> None:
    robin = Friend(stack, "curated dog").tells(
        ("2024-01-10", "Robin has a pet."),
        ("2024-02-10", "Robin has a dog named Bruno."),
        ("2025-10-20", "Bruno died last week."),
    )
    pet, dog, died = (robin.card(start) for start in ("Robin has a pet", "Robin has a dog", "Bruno died"))
    today: dict[str, Any] = {"as_of": NOW, "wait_for": curated(robin)}
    has = [card["card_id"] for card in robin.recall("Does Robin have a dog?", **today)]
    assert has[0] == died["card_id"]
    assert dog["card_id"] not in has
    assert dog["card_id"] in [
        card["card_id"] for card in robin.recall("Did Robin have a dog last March?", **today)
    ]
    assert any("Bruno" in each for each in robin.contents("What was the dog's name?", **today)[:2])
    walked = [card["card_id"] for card in robin.read(f"cards/{pet['card_id']}/history")["cards"]]
    assert walked == [card["card_id"] for card in (pet, dog, died)]
    assert robin.read(f"cards/{dog['card_id']}/latest")["card"]["card_id"] == died["card_id"]


def test_a_job_that_is_part_time(stack: Running) -> None:
    lou = Friend(stack, "curated job").tells(
        ("2024-03-01", "Lou works at the bank."), ("2024-09-01", "Lou works part-time at the bank.")
    )
    token = curated(lou)
    [job, *_] = lou.recall("Where does Lou work?", wait_for=token)
    assert job["content"] == "Lou works at the bank"
    assert "Lou works part-time at the bank." in [each["content"] for each in job["beside"]]
    [run] = lou.read("curator/runs")["runs"]
    [act] = run["acts"]
    assert (act["predicate"], act["confidence"] >= 0.9, run["undone_at"]) == ("qualifies", True, None)
    again = lou.write(f"curator/runs/{run['run_id']}/undo", reason="only for a month")
    assert again["undone_reason"] == "only for a month"
    lou.recall("Where does Lou work?", wait_for=again["token"])
    assert lou.write("curator/runs")["acts"] == []
