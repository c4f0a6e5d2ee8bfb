"""Relations between facts: a wrong one buries nothing, and a turn whose fact is over says so."""

import re
from typing import Any

from tests.support.person import Person
from tests.support.stack import Running

NOW = "2026-06-01T00:00:00Z"
_SHOWN = re.compile(
    r'<(?:turn|event)(?: n="\d+")?(?: (?!newer)\w+="[^"]*")*(?: newer="([^"]*)")?[^>]*>([^<]*)'
)


def say(person: Person, *texts: tuple[str, str]) -> None:
    for at, text in texts:
        person.say(text, said_at=f"{at}T09:00:00+00:00")


def sent(person: Person, path: str, **body: Any) -> Any:
    answer = person.write(path, status=202, **body)
    person.stack.wait()
    return answer


def states(person: Person, key: str, status: str = "current") -> list[str]:
    return [card["content"] for card in person.cards(kind="state", concept_key=key, status=status)]


def prompt(person: Person, query: str) -> list[str]:
    """Returns the lines of a prompt that hold cards and facts."""
    lines = person.context(query, as_of=NOW)["text"].splitlines()
    return [line for line in lines if line.startswith(("<state", "<event", "<facts"))]


def document(person: Person) -> str:
    return str(person.read("memory/{user}")["document"])


def test_a_wrong_edge_buries_no_fact(person: Person) -> None:
    say(person, ("2026-03-01", "I'm allergic to peanuts."), ("2026-03-02", "My sister is called Ada."))
    [peanuts] = person.cards(kind="state", concept_key="allergy")
    [ada] = person.cards(kind="state", concept_key="sibling")
    assert "peanut" in document(person).casefold()

    edge = sent(
        person,
        "relations",
        from_card=ada["card_id"],
        to_card=peanuts["card_id"],
        predicate="retracts",
        reason="misheard",
    )
    assert states(person, "allergy") == []
    assert "peanut" not in document(person).casefold()
    [line] = [line for line in prompt(person, "what am I allergic to?") if "peanuts" in line]
    assert line.startswith("<event")
    assert 'newer="retracted: Is allergic to peanuts"' in line

    say(person, ("2026-04-01", "I'm allergic to peanuts."))
    assert states(person, "allergy") == ["Is allergic to peanuts"]
    assert "peanut" in document(person).casefold()
    assert prompt(person, "what am I allergic to?")[0].startswith('<state n="1" said="2026-04-01"')

    undone = sent(person, f"relations/{edge['event_id']}/withdraw", reason="it was right")
    assert states(person, "allergy", "retracted") == []
    assert prompt(person, "what am I allergic to?")[0].startswith('<state n="1" said="2026-03-01"')
    sent(person, f"relations/{undone['event_id']}/withdraw", reason="it was misheard")
    assert states(person, "allergy", "retracted") == ["Is allergic to peanuts"]


def test_a_corrected_and_a_retracted_fact_are_gone_from_all_that_is_told(
    stack: Running, person: Person
) -> None:
    say(person, ("2026-03-01", "I'm allergic to peanuts."), ("2026-03-02", "I work at Acme."))
    [peanuts] = person.cards(kind="state", concept_key="allergy")
    words = ("cards", "correct", peanuts["card_id"], "cashews", "--user", person.user)
    assert stack.command(*words).stdout.startswith(f"corrected {peanuts['card_id']}; the card is now ")
    stack.wait()
    assert states(person, "allergy") == ["Is allergic to cashews"]
    assert "cashews" in document(person).casefold()
    assert "peanuts" not in document(person).casefold()
    assert person.recall("what am I allergic to?", kinds=["state"])[0]["value"] == "cashews"
    fact, *others = prompt(person, "what am I allergic to?")
    assert "cashews" in fact
    [turn] = [line for line in others if "allergic" in line]
    assert 'newer="perhaps no longer: Is allergic to cashews"' in turn

    [acme] = person.cards(kind="state", concept_key="employer")
    assert stack.command("cards", "retract", acme["card_id"], "--user", person.user).returncode == 0
    listed = stack.command("cards", "list", "--status", "retracted", "--user", person.user).stdout
    assert acme["card_id"] in listed
    assert all("  retracted  " in line for line in listed.splitlines())
    assert stack.command(
        "cards", "list", "--status", "current", "--about", "nobody", "--user", person.user
    ).stdout == (f"{person.user} has no current cards like that\n")
    stack.wait()
    assert states(person, "employer") == []
    assert "acme" not in document(person).casefold()
    found = prompt(person, "where do I work?")
    assert not any("<state" in line and "Acme" in line for line in found)
    [turn] = [line for line in found if "Acme" in line]
    assert 'newer="retracted: Works at Acme"' in turn
    [card] = [each for each in person.recall("where do I work?") if "Acme" in each["content"]]
    assert card["perhaps_no_longer"]["retracted"] is True


def test_a_correction_that_denies_a_fact_takes_it_out_of_the_core_document(person: Person) -> None:
    say(person, ("2026-03-01", "I'm allergic to peanuts."), ("2026-03-02", "I live in Peckham."))
    [peanuts] = person.cards(kind="state", concept_key="allergy")
    [home] = person.cards(kind="state", concept_key="residence")
    sent(person, f"cards/{peanuts['card_id']}/correct", content="Is NOT allergic to peanuts")
    sent(person, f"cards/{home['card_id']}/correct", content="Lives in Camberwell")
    assert "peanuts" not in document(person).casefold()
    assert "Camberwell" in document(person)
    assert "Peckham" not in document(person)
    assert prompt(person, "what am I allergic to?")[0].endswith("Is NOT allergic to peanuts</state>")


def test_a_turn_names_its_facts_that_no_longer_hold_wherever_its_words_are_shown(person: Person) -> None:
    """The other facts of the turn hold, and the turn may answer them."""
    person.say(
        "My name is Mia. I'm vegan. I live in Leeds. I work at Acme.",
        "I love hiking.",
        said_at="2026-03-01T09:00:00Z",
    )
    asked = ("am I vegan?", "where do I live?", "where do I work?")

    def marks(query: str) -> list[str]:
        """Returns the marks on the words of the turn."""
        text = person.context(query, as_of=NOW)["text"]
        return [mark for mark, words in _SHOWN.findall(text) if "vegan" in words]

    assert [marks(query) for query in asked] == [[""]] * 3
    [vegan] = person.cards(kind="state", concept_key="diet")
    edge = sent(person, f"cards/{vegan['card_id']}/retract")
    retracted = f"retracted: {vegan['content']}"
    assert [marks(query) for query in asked] == [[retracted]] * 3

    [leeds] = person.cards(kind="state", concept_key="residence")
    sent(person, f"cards/{leeds['card_id']}/correct", value="Ilkley")
    person.say("I moved to York.", said_at="2026-04-01T09:00:00Z")
    person.say("I no longer work at Acme.", said_at="2026-04-02T09:00:00Z")
    [mark] = marks("am I vegan?")
    assert sorted(mark.split("; ")) == [
        "no longer: Works at Acme, now: No longer works at Acme",
        retracted,
        "retracted: Lives in Leeds, now: Lives in York",
    ]
    [turn] = [card for card in person.recall("am I vegan?") if "past_facts" in card]
    past = {each["content"]: (each["retracted"], each.get("instead")) for each in turn["past_facts"]}
    assert past[vegan["content"]] == (True, None)
    assert past["Works at Acme"] == (False, "No longer works at Acme")
    # The words were right before they were past. What was retracted never was.
    [mark] = [
        mark
        for mark, words in _SHOWN.findall(person.context("am I vegan?", as_of="2026-03-20T00:00:00Z")["text"])
        if "vegan" in words
    ]
    assert "no longer" not in mark
    assert retracted in mark
    sent(person, f"relations/{edge['event_id']}/withdraw", reason="it is right")
    assert all(retracted not in mark for mark in marks("am I vegan?"))


def test_a_turn_is_past_too_where_no_states_are_asked_for(person: Person) -> None:
    person.say("I live in Taipei.", said_at="2026-03-01T09:00:00Z")
    person.say("I moved to Taichung.", said_at="2026-04-01T09:00:00Z")
    new, old = person.recall("where do I live?", kinds=["event"])
    assert new["content"] == "I moved to Taichung."
    assert (old["content"], old["perhaps_no_longer"]["content"]) == ("I live in Taipei.", new["content"])
    before = person.recall("where did I live before?", kinds=["event"])
    assert not any("perhaps_no_longer" in card for card in before)


def test_a_turn_whose_fact_ended_says_so_and_stands_below(person: Person) -> None:
    person.say("Alex has a dog named Rex.", said_at="2026-03-01T09:00:00Z")
    person.say("Alex told me that Rex passed away.", said_at="2026-04-01T09:00:00Z")
    lines = [line for line in person.context("does Alex have a dog?")["text"].splitlines() if "Rex" in line]
    assert "passed away" in lines[0]
    [old] = [line for line in lines if "has a dog" in line]
    assert 'newer="perhaps no longer: Rex died"' in old


def pets(person: Person, **query: str) -> list[tuple[str, str]]:
    cards = person.cards(concept_key="pet", **query)
    return [(card["entity"], card["content"]) for card in cards]


def test_what_others_tell_is_about_the_right_subject_or_nothing_is_said(person: Person) -> None:
    person.say("Alex has a dog named Rex.", session_id="one", said_at="2026-01-05T09:00:00Z")
    person.say(
        "Alex told me that Rex passed away last week.", session_id="two", said_at="2026-07-05T09:00:00Z"
    )
    assert pets(person) == []
    assert sorted(pets(person, status="*")) == [("alex", "Alex has a dog named Rex"), ("alex", "Rex died")]
    assert pets(person, as_of="2026-03-15T00:00:00Z") == [("alex", "Alex has a dog named Rex")]

    person.say("Mia told me that Bo passed away.", "Mia said, I live in Milan.")
    cards = person.cards(kind="state", status="*")
    assert {card["entity"] for card in cards} == {"alex"}
