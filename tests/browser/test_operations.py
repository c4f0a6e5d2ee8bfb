"""Operators see the stages, the generations and what models cost, and act on them. A hidden page asks nothing."""

import uuid
from datetime import UTC, datetime
from typing import Any

from events.store import log
from events.types.envelope import NewEvent, uuid7
from events.types.extraction import ExtractionFailed, Usage
from tests.browser.conftest import Person, connected
from tests.support.projectors.parking import append_raw
from tests.support.waiting import eventually
from tests.support.web import WEB


def test_an_operator_rebuilds_a_generation_and_goes_back(person: Person) -> None:
    person.open("operations")
    person.page.get_by_label("compare before a rebuilt generation becomes live").check()
    person.page.get_by_role("button", name="rebuild problems 1").click()
    done = person.page.get_by_role("region", name="operations").locator("tr", has_text="rebuild")
    done.get_by_text("generation 2 is live").wait_for(timeout=60_000)
    person.page.get_by_role("button", name="make it live … problems 1").click()
    person.page.get_by_role("dialog").get_by_role("button", name="do it").click()
    person.page.get_by_role("dialog").wait_for(state="detached")
    person.page.get_by_text("generation 1 is live").wait_for(timeout=60_000)
    person.page.get_by_role("button", name="drop … problems 2").click()
    person.page.get_by_role("dialog").get_by_role("button", name="do it").click()
    person.page.get_by_text("generation 2 is dropped").wait_for(timeout=60_000)


def test_an_operator_settles_a_parked_user_and_a_dead_letter(person: Person) -> None:
    user = f"parked {uuid.uuid4()}"
    with connected(person.stack) as connection:
        append_raw(connection, user, kind="NeverHeardOf")
    turn: dict[Any, Any] = {"user_id": user, "text": "<b>I have a dog called Rex.</b>", "timezone": "Nowhere"}
    person.stack.redis.xadd("turns", turn)
    person.open("operations")
    waits = person.page.get_by_role("region", name="users who wait").locator("tr", has_text=user)
    row = waits.filter(has_text="cards")
    row.wait_for(timeout=60_000)
    row.get_by_role("button", name="retry").click()
    person.page.get_by_role("region", name="operations").get_by_text("still waits").first.wait_for(
        timeout=60_000
    )
    row.get_by_role("button", name="drop …").click()
    person.page.get_by_role("dialog").get_by_label("reason").fill("another build wrote it")
    person.page.get_by_role("dialog").get_by_role("button", name="do it").click()
    row.wait_for(state="detached", timeout=60_000)
    letter = person.page.locator("ul.dead > li", has_text="timezone")
    letter.get_by_text("its fields").click()
    letter.get_by_label("timezone").fill("UTC")
    letter.get_by_role("button", name="push it again").click()
    letter.wait_for(state="detached", timeout=60_000)
    person.stack.wait()
    found = WEB.get(
        f"{person.stack.read_url}/v1/cards", params={"user_id": user}, headers=person.stack.headers
    )
    assert "Rex" in found.text


def test_generations_and_the_cost_of_models_are_shown(person: Person) -> None:
    spent = ExtractionFailed(
        extractor="claude", model="m", prompt_version="1", turn_ids=("t",), turn_positions=(1,), reason="a test",
        attempts=2, usage=Usage(calls=2, input_tokens=1234, output_tokens=56, cost_usd=0.5),
    )  # fmt: skip
    user = f"payer {uuid.uuid4()}"
    event = NewEvent(
        event_id=uuid7(), user_id=user, stream="extraction/s", payload=spent,
        occurred_at=datetime.now(UTC), actor="test",
    )  # fmt: skip
    with connected(person.stack) as connection:
        log.append(connection, [event])
    person.open("operations")
    generations = person.page.get_by_role("region", name="generations").locator("tbody tr")
    assert generations.locator("th", has_text="cards").count() == 1
    assert generations.locator("td", has_text="live").count() >= 1
    person.page.get_by_label("summed by").select_option("user")
    row = person.page.locator(".usage tbody tr", has_text=user)
    row.wait_for()
    assert row.locator("td").all_inner_texts() == ["2", "1234", "56", "0", "0", "0.5000"]


def test_a_hidden_page_asks_nothing_until_it_is_seen_again(person: Person) -> None:
    person.page.clock.install()
    person.open("operations")
    asked: list[str] = []
    person.page.on("request", lambda request: asked.append(request.url))
    show = """state => { Object.defineProperty(document, 'visibilityState', {value: state, configurable: true});
        document.dispatchEvent(new Event('visibilitychange')) }"""
    person.page.evaluate(show, "hidden")
    person.page.clock.run_for(60_000)
    assert asked == []
    person.page.evaluate(show, "visible")
    person.page.clock.run_for(1_000)
    eventually(lambda: [each for each in asked if each.endswith("/v1/status")])
    person.page.clock.run_for(1_000)
    assert sum(each.endswith("/v1/status") for each in asked) == 1
