"""What a key may not see or do is not shown and not done, and each refusal is clear."""

import json
from functools import partial
from typing import Any

from events.platform.database import connect
from tests.browser.conftest import Person
from tests.support.stack import Running
from tests.support.waiting import eventually
from tests.support.web import WEB


def _key(stack: Running, *options: str) -> dict[str, str]:
    made: dict[str, str] = json.loads(
        stack.command("keys", "create", "--name", "p", *options, "--json").stdout
    )
    return made


def test_a_key_that_only_reads_one_user_sees_no_edit_and_no_other_user(chromium: Any, stack: Running) -> None:
    person = Person(chromium, stack, _key(stack, "--scope", "read", "--user", "alex")["key"])
    person.open("memory", concept="residence")
    person.sees("Lives in Lisbon")
    assert person.page.locator("input[type=checkbox]").count() == 0
    person.open("memory", user="mei")
    person.sees("This does not exist, or this key may not see it.")
    person.open("operations")
    person.sees("This key may not do this.")
    assert person.page.get_by_role("button", name="rebuild").count() == 0
    assert person.page.get_by_role("link", name="Operations").count() == 0


def test_a_key_that_does_not_act_as_the_user_takes_back_nothing_of_the_user(
    chromium: Any, stack: Running
) -> None:
    person = Person(chromium, stack, _key(stack)["key"])
    person.open("memory", user="alex", concept="residence")
    assert person.page.locator("input[type=checkbox]").count() == 0
    person.page.get_by_role("link", name="Lives in Lisbon").click()
    person.page.get_by_role("button", name="still right").wait_for()
    assert person.page.get_by_role("button", name="never true …").count() == 0


def test_a_saved_link_shows_nothing_to_a_key_of_another_tenant(chromium: Any, stack: Running) -> None:
    query = {"user_id": "alex", "concept_key": "residence"}
    [card] = WEB.get(f"{stack.read_url}/v1/cards", params=query, headers=stack.headers).json()["cards"]
    person = Person(chromium, stack, _key(stack, "--tenant", "acme")["key"])
    person.open("card", user="alex", id=card["card_id"])
    person.sees("This does not exist, or this key may not see it.")
    assert "Lisbon" not in person.page.inner_text("body")


def test_a_user_without_cards_learns_the_next_step(person: Person) -> None:
    for screen, told in (
        ("memory", "Nothing is remembered of nobody. Is the name right?"),
        ("arbitration", "No contradiction waits for a verdict."),
        ("references", "cardlog ref create"),
        ("health", "No card was captured in this time."),
        ("graph", "Name a person or a concept"),
        ("nowhere", "There is no such screen."),
    ):
        person.open(screen, user="nobody")
        person.sees(told)


def test_the_page_asks_for_a_key_when_its_own_was_revoked_or_expired(chromium: Any, stack: Running) -> None:
    revoked, expired = _key(stack), _key(stack)
    people = [Person(chromium, stack, each["key"]) for each in (revoked, expired)]
    for person in people:
        person.open("memory", user="alex")
    assert stack.command("keys", "revoke", revoked["key_id"]).returncode == 0
    with connect(stack.admin_database_url, application="test") as connection:
        connection.execute(
            "UPDATE access.api_keys SET expires_at = now() WHERE key_id = %s", (expired["key_id"],)
        )

    def asked_for_a_key(person: Person) -> bool:
        person.open("ask", user="alex", q="again")
        person.open("memory", user="alex")
        return bool(person.page.get_by_label("API key").count())

    for person in people:
        eventually(partial(asked_for_a_key, person))
        person.sees("your key was revoked or has expired.")


def test_a_wrong_key_is_refused(chromium: Any, stack: Running) -> None:
    person = Person(chromium, stack, "")
    person.page.goto(person.url)
    person.page.get_by_label("API key").fill("clk_nonsense")
    person.page.get_by_role("button", name="sign in").click()
    person.sees("This key or link is not valid, or no longer.")
    person.page.get_by_label("API key").fill(_key(stack, "--scope", "push")["key"])
    person.page.get_by_role("button", name="sign in").click()
    person.sees("The explorer needs a key with the scope read. This key has: push.")


def test_a_card_that_another_tab_erased_is_gone_and_a_fact_of_another_turn_stays(person: Person) -> None:
    said = ("I live in Malmö.", "I live in Malmö and I have a dog called Rex.")
    turns = [
        {"user_id": "sam", "text": text, "said_at": f"2026-03-0{day}T09:00:00Z", "session_id": str(day)}
        for day, text in enumerate(said, 1)
    ]
    pushed = WEB.post(f"{person.stack.write_url}/v1/turns", json=turns, headers=person.stack.headers).json()
    query = {"user_id": "sam", "wait_for": pushed["token"]}
    cards = WEB.get(f"{person.stack.read_url}/v1/cards", params=query, headers=person.stack.headers).json()
    facts = {each["value"]: each["card_id"] for each in cards["cards"] if each["kind"] == "state"}
    person.open("card", user="sam", id=facts["Rex"])
    other = person.page.context.new_page()
    other.goto(f"{person.url}#/card?user=sam&id={facts['Malmö']}")
    other.get_by_role("button", name="erase what was said …").click()
    dialog = other.get_by_role("dialog")
    dialog.get_by_role("radio").nth(1).check()
    dialog.get_by_text("1 turn", exact=True).wait_for()
    shown = dialog.locator("h3 + ul")
    eventually(lambda: shown.all_inner_texts() == [f"{said[1]}\nHas a dog named Rex", "Lives in Malmö"])
    dialog.get_by_role("button", name="erase").click()
    other.get_by_text("What was said is erased. The receipt is").wait_for()
    person.page.get_by_role("button", name="still right").click()
    person.page.get_by_role("alert").first.wait_for()


def test_an_edit_says_that_the_service_is_away_and_succeeds_when_it_is_back(person: Person) -> None:
    person.open("problems", user="away")
    person.page.get_by_label("a problem of the user").fill("Loses his keys")
    writes = "**/v1/memory/*/problems"
    person.page.route(
        writes, lambda route: route.abort() if route.request.method == "POST" else route.continue_()
    )
    person.page.get_by_role("button", name="add", exact=True).click()
    person.sees("The service does not answer.")
    person.page.unroute(writes)
    person.page.clock.install()
    person.page.route(writes, lambda _: None)  # a service that hangs
    with person.page.expect_request(writes):
        person.page.get_by_role("button", name="add", exact=True).click()
    person.page.clock.run_for(31_000)
    person.sees("The service did not answer within 30 seconds.")
    person.page.unroute(writes)
    person.page.get_by_role("button", name="add", exact=True).click()
    person.page.locator("li.card", has_text="Loses his keys").wait_for()


def test_an_edit_outlives_a_write_service_that_is_stopped_and_killed(person: Person) -> None:
    person.open("problems", user="killed")
    person.page.get_by_label("a problem of the user").fill("Loses his keys")
    add, made = person.page.get_by_role("button", name="add", exact=True), person.page.locator("li.card")
    [write] = person.stack.workers("write")
    write.suspend()
    with person.page.expect_request("**/v1/memory/*/problems"):
        add.click()
    write.kill()

    def done() -> bool:
        """The killed request failed and says so, or the next process answered it."""
        if person.page.get_by_role("alert").count() and add.is_enabled():
            add.click()
        return bool(made.count())

    eventually(done, within=60)
    person.open("problems", user="killed")
    assert made.filter(has_text="Loses his keys").count() == 1


def test_a_projector_that_is_behind_is_told(person: Person) -> None:
    [projector] = person.stack.workers("projector")
    projector.suspend()
    try:
        turn = {"user_id": "late", "text": "I live in Nairobi."}
        pushed = WEB.post(f"{person.stack.write_url}/v1/turns", json=turn, headers=person.stack.headers)
        assert pushed.status_code == 202

        person.open("ask", user="late", q="Where%20do%20I%20live%3F")

        def seen() -> bool:
            person.page.reload()
            person.settle()
            return bool(person.page.get_by_text("not projected yet").count())

        eventually(seen)
        person.open("operations")
        row = person.page.get_by_role("region", name="stages").locator("tr", has_text="cards")
        eventually(lambda: int(row.locator("td").nth(1).inner_text()) > 0)
    finally:
        projector.resume()
    person.stack.wait()


def test_the_colours_follow_the_system_while_the_page_is_open(person: Person) -> None:
    def paper() -> str:
        return str(person.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    person.open("memory", user="alex")
    person.page.emulate_media(color_scheme="light")
    light = paper()
    person.page.emulate_media(color_scheme="dark")
    assert paper() != light
