"""Operators see the stages, the generations and what models cost, and a hidden page asks nothing."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from deploy.instance import find
from events.platform.database import connect
from events.platform.settings import Settings
from events.sealing import sealer
from events.store import authentication, log
from events.types.envelope import NewEvent, uuid7
from events.types.extraction import ExtractionFailed, Usage
from tests.browser.conftest import Person
from tests.support.waiting import eventually


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
    settings, *_ = find(Settings(), person.stack.data)
    try:
        with connect(settings.database_url, application="test") as connection:
            log.append(connection, [event])
    finally:
        authentication.use(None)
        sealer.use(None)
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
