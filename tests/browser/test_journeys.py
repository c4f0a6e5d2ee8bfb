"""People ask, look, correct, forget, restore and settle, in a real browser before a real stack."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.browser.conftest import HOSTILE, Person, link_of
from tests.support.stack import Running
from tests.support.waiting import eventually
from tests.support.web import WEB


def _cards(stack: Running, user: str, **filters: str) -> list[dict[str, Any]]:
    query = {"user_id": user, **filters}
    found: list[dict[str, Any]] = WEB.get(
        f"{stack.read_url}/v1/cards", params=query, headers=stack.headers
    ).json()["cards"]
    return found


def test_the_link_of_the_start_signs_in_once(chromium: Any, stack: Running) -> None:
    link = link_of(stack)
    first, second = Person(chromium, stack, ""), Person(chromium, stack, "")
    first.page.goto(link)
    first.sees("Name the user whose memory you want to see")
    assert "code" not in first.page.url
    second.page.goto(link)
    second.sees("This key or link is not valid, or no longer.")
    assert first.foreign == second.foreign == []


def test_an_answer_shows_why_each_card_has_its_place(person: Person) -> None:
    person.open("ask", user="alex")
    person.page.get_by_label("question").fill("Where do I live?")
    person.page.get_by_role("button", name="ask", exact=True).click()
    card = person.page.locator("ol.cards > li").first
    card.get_by_text("Lives in Lisbon").wait_for()
    assert "q=Where" in person.page.url
    assert card.locator(".channel").count() >= 1
    card.locator("summary").click()
    told = float(card.locator("summary").inner_text().rpartition(" ")[2])
    amounts = [float(each) for each in card.locator("tr:not(.sum) td:nth-of-type(1)").all_inner_texts()]
    assert abs(sum(amounts) - told) < 0.02
    person.sees("found and withheld")
    assert "Lives in Lisbon" in person.page.locator("pre.prompt").inner_text()
    assert card.locator("th[title=nearness]").inner_text() == "it means something similar to the question"
    person.page.reload()
    person.sees("Lives in Lisbon")
    with person.page.expect_request("**/v1/recall"):  # the same question is asked again
        person.page.get_by_role("button", name="ask", exact=True).click()
    card.get_by_role("link").focus()
    person.page.keyboard.press("Enter")
    person.page.locator("h1", has_text="Lives in Lisbon").wait_for()
    eventually(lambda: person.page.evaluate("document.activeElement.tagName") == "H1")
    assert person.page.title() == "Lives in Lisbon · Cardlog"


def test_the_past_answers_with_what_was_true_then(person: Person) -> None:
    question, at = person.page.get_by_label("question"), person.page.get_by_label("what was true at")
    person.open("ask", user="alex", q="Where%20do%20I%20live%3F", as_of="2026-03-15T00:00:00Z")
    best = person.page.locator("ol.cards > li").first
    best.get_by_text("Porto").first.wait_for()
    person.page.get_by_role("link", name="Ask", exact=True).click()
    eventually(lambda: (question.input_value(), at.input_value()) == ("", ""))
    question.fill("What is my pet called?")
    person.page.get_by_role("button", name="ask", exact=True).click()
    best.wait_for()
    person.page.go_back()
    person.page.go_back()
    eventually(
        lambda: question.input_value() == "Where do I live?" and at.input_value() == "2026-03-15T08:00"
    )
    best.get_by_text("Porto").first.wait_for()
    person.open("ask", user="alex", q="Where%20do%20I%20live%3F", known_at="2026-01-15T00:00:00Z")
    person.sees("At this time, nothing was known that answers this.")


def test_a_card_is_forgotten_and_restored_and_the_audit_names_who(person: Person) -> None:
    card = _cards(person.stack, "yating", concept_key="residence", kind="state")[0]
    person.open("card", user="yating", id=card["card_id"])
    assert person.page.locator("mark").count() == 1
    person.page.get_by_role("button", name="never true …").click()
    assert card["source_span"]["text"] in person.page.locator("ul.preview").nth(1).inner_text()
    person.page.get_by_role("dialog").get_by_label("reason").fill("asked her")
    person.page.get_by_role("button", name="forget", exact=True).click()
    person.sees("1 card is forgotten.")
    person.page.locator(".status.retracted").first.wait_for()
    assert card["card_id"] not in {each["card_id"] for each in _cards(person.stack, "yating")}
    person.page.get_by_role("button", name="restore").click()
    person.page.locator("h1 + p .status.current, h1 ~ p .status.current").first.wait_for()
    assert card["card_id"] in {each["card_id"] for each in _cards(person.stack, "yating")}

    def edits() -> set[str]:
        url = f"{person.stack.read_url}/v1/audit"
        entries = WEB.get(url, params={"user_id": "yating"}, headers=person.stack.administrator).json()[
            "entries"
        ]
        key = person.stack.administrator["Authorization"].split()[-1].split("_")[1]
        return {each["operation"] for each in entries if each["key_id"] == key}

    eventually(lambda: {"retract_card", "withdraw_relation"} <= edits())


def test_a_value_is_corrected(person: Person) -> None:
    [card] = _cards(person.stack, "alex", concept_key="pet", kind="state")
    person.open("card", user="alex", id=card["card_id"])
    person.page.get_by_role("button", name="correct …").click()
    person.page.get_by_label("the right value").fill("Mochi")
    person.page.get_by_role("dialog").get_by_role("button", name="correct", exact=True).click()
    person.page.locator(".status.retracted").first.wait_for()
    assert [each["value"] for each in _cards(person.stack, "alex", concept_key="pet", kind="state")] == [
        "Mochi"
    ]


def test_the_contributions_that_are_shown_sum_to_the_score_of_each_card(person: Person) -> None:
    seen = 0
    for user, asked in (
        ("many", "which bird number did I see today?"),
        ("many", "bird"),
        ("many", "Have I seen a bird?"),
        ("alex", "Where do I live?"),
    ):
        person.open("ask", user=user, q=asked.replace(" ", "%20"), k="200")
        person.page.locator("table.reasons").first.wait_for(state="attached")
        shown = person.page.locator("table.reasons").evaluate_all(
            """all => all.map(each => [each.closest("details").querySelector("summary").innerText,
                ...[...each.querySelectorAll("td:nth-child(2)")].map(cell => Number(cell.textContent))])"""
        )
        for told, *amounts, total in shown:
            assert abs(sum(amounts) - total) <= 0.0006 * (len(amounts) + 1), told
            assert abs(float(told.split()[-1]) - total) <= 0.0056, told
        seen += len(shown)
    assert seen >= 200


def test_many_cards_are_drawn_a_few_at_a_time_and_forgotten_together(person: Person) -> None:
    url, query = f"{person.stack.read_url}/v1/cards/aggregate", {"user_id": "many", "group_by": "kind"}
    total = WEB.get(url, params=query, headers=person.stack.headers).json()["total"]
    assert total >= 150
    person.open("memory", user="many")
    person.sees(f"{total} cards")
    rows = person.page.locator(".rows li")
    assert rows.count() < 60

    def scrolled_to_the_end() -> bool:
        person.page.locator(".rows").evaluate("each => each.scrollTo(0, each.scrollHeight)")
        return bool(person.page.locator(f".rows li[aria-posinset='{total}']").count())

    eventually(scrolled_to_the_end)
    for number in (total - 1, total):
        person.page.locator(f".rows li[aria-posinset='{number}'] input").check()
    person.page.get_by_role("button", name="forget 2 …").click()
    person.page.get_by_role("dialog").get_by_role("button", name="forget", exact=True).click()
    person.sees("2 cards are forgotten.")
    person.sees(f"{total - 2} cards")


def test_a_contradiction_is_settled_with_the_keyboard(person: Person) -> None:
    person.open("arbitration", user="mei")
    person.page.locator("section.card", has_text="Taipei").wait_for()
    person.page.locator("section.card", has_text="Tainan").wait_for()
    person.page.keyboard.press("2")
    person.sees("No contradiction waits for a verdict.")
    [card] = _cards(person.stack, "mei", concept_key="residence", kind="state")
    assert card["value"] == "Tainan"


def test_the_timeline_tells_what_was_true_at_its_line(person: Person) -> None:
    person.open("timeline", user="alex", as_of="2026-03-15T00:00:00Z")
    person.page.locator("ul.plain").get_by_text("Lives in Porto").wait_for()
    line = person.page.get_by_label("what was true at")
    line.focus()
    person.page.keyboard.press("End")
    person.page.locator("ul.plain").get_by_text("Lives in Lisbon").wait_for()


def test_the_line_of_transaction_time_is_dragged_and_moved_by_keyboard(person: Person) -> None:
    today = datetime.now(UTC)
    person.open(
        "timeline", user="alex", known_at=(today - timedelta(days=100)).isoformat().replace("+", "%2B")
    )
    person.sees("No fact or event was known at that time.")
    person.page.get_by_label("what was known at").focus()
    person.page.keyboard.press("End")
    person.page.locator("ul.plain").get_by_text("Lives in Lisbon").wait_for()
    person.open("timeline", user="many")
    sync_api = pytest.importorskip("playwright.sync_api")
    chart, line = person.page.locator(".chart svg"), person.page.locator(".chart line.known")
    person.page.locator(".chart svg .point, .chart svg .span").first.wait_for()

    def dragged() -> bool:
        """Drags the line at the foot of the chart, where no bar is. The chart grows while its cards arrive."""
        if "known_at=" in person.page.url or not chart.count():
            return "known_at=" in person.page.url
        chart.evaluate("chart => chart.scrollIntoView({block: 'end'})")
        box = chart.bounding_box()
        x = box["x"] + float(line.get_attribute("x1")) / 1000 * box["width"]
        y = box["y"] + box["height"] - 8
        person.page.mouse.move(x, y)
        person.page.mouse.down()
        person.page.mouse.move(x - 0.3 * box["width"], y, steps=4)
        person.page.mouse.up()
        with suppress(sync_api.TimeoutError):  # the chart grew away from under the pointer
            person.page.wait_for_function("location.href.includes('known_at=')", timeout=2_000)
        return "known_at=" in person.page.url

    eventually(dragged)
    person.open("timeline", user="many")
    field = person.page.get_by_label("what was known at")
    field.focus()
    person.page.keyboard.press("PageDown")
    eventually(lambda: "known_at=" in person.page.url)


def test_the_core_document_goes_back_after_a_preview(person: Person) -> None:
    person.open("core", user="yating")
    person.page.get_by_role("button", name="go back to this version …").first.click()
    person.page.get_by_role("dialog").get_by_text("left out. Nothing is lost").wait_for()
    before = person.page.locator("h2", has_text="version").first.inner_text()
    person.page.get_by_role("dialog").get_by_role("button", name="go back").click()
    person.page.get_by_role("dialog").wait_for(state="detached")
    version = person.page.locator("h2", has_text="version").first
    eventually(lambda: version.inner_text() not in ("", before))


def test_an_op_changes_a_reference(person: Person) -> None:
    person.open("references", user="alex", id="todo_list%2Fgroceries")
    person.page.locator("section form select").select_option("add")
    person.page.get_by_label("fields of the op, as JSON").fill(json.dumps({"text": "milk"}))
    person.page.get_by_role("button", name="apply").click()
    milk = person.page.locator("pre").get_by_text("milk")
    milk.wait_for()
    person.page.get_by_label("fields of the op, as JSON").fill("milk")
    person.page.get_by_role("button", name="apply").click()
    person.page.get_by_role("alert").get_by_text("must be a JSON object").wait_for()
    person.page.get_by_role("button", name="go back to this version …").click()
    person.page.get_by_role("dialog").get_by_role("button", name="go back").click()
    milk.wait_for(state="detached")


def test_a_problem_is_opened_and_closed(person: Person) -> None:
    person.open("problems", user="alex")
    person.page.get_by_label("a problem of the user").fill("Wakes at four")
    person.page.get_by_role("button", name="add", exact=True).click()
    trouble = person.page.locator("li.card", has_text="Wakes at four")
    trouble.get_by_role("button", name="close").click()
    trouble.get_by_role("button", name="open again").wait_for()


def test_a_mode_is_made_and_becomes_the_default(person: Person) -> None:
    person.open("modes", user="alex")
    person.page.get_by_label("name of the new mode").fill("garden")
    person.page.get_by_role("button", name="add", exact=True).click()
    mode = person.page.locator("li.card", has_text="garden")
    mode.get_by_role("button", name="make it the default").click()
    mode.locator(".status", has_text="default").wait_for()
    mode.get_by_text("rename or delete").click()
    mode.get_by_label("its new name").fill("orchard")
    mode.get_by_role("button", name="rename").click()
    renamed = person.page.locator("li.card", has_text="orchard")
    renamed.get_by_text("rename or delete").click()
    renamed.get_by_role("button", name="delete …").click()
    renamed.get_by_role("dialog").get_by_role("button", name="delete", exact=True).click()
    renamed.wait_for(state="detached")
    person.sees("No mode yet.")


def test_hidden_characters_are_named_in_every_text_and_label(person: Person, stack: Running) -> None:
    turned, user = "\u202egnp.exe", {"user_id": "rhea"}

    def send(path: str, body: Any) -> Any:
        answer = WEB.post(f"{stack.write_url}/v1/{path}", json=body, headers=stack.headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    send("turns", user | {"text": "I live in Taipei.", "speaker": turned, "session_id": turned})
    send("turns", user | {"text": "My badge shows \U0001f469\u200d\u2695\ufe0f and a\u200db."})
    send("references/todo_list", user | {"key": turned})
    patch = [{"op": "add", "path": f"/profile/other/{turned}", "value": turned}]
    send("memory/rhea/events", {"patch": patch, "actor": "user", "rationale": turned})
    stack.wait()
    person.open("memory", user="rhea")
    person.page.get_by_label("choose: U+202Egnp.exe lives in Taipei").wait_for()
    badge = person.page.locator("a", has_text="My badge shows").first
    assert "\U0001f469\u200d\u2695" in badge.inner_text()
    assert "aU+200Db" in badge.inner_text()
    person.page.locator("a", has_text="lives in Taipei").first.click()
    for screen, shown in (
        ("", "I live in Taipei."),
        ("core", "/profile/other/U+202Egnp.exe"),
        ("references", "todo_list/U+202Egnp.exe"),
        ("timeline", "U+202Egnp.exe residence"),
    ):
        if screen:
            person.open(screen, user="rhea")
        person.page.get_by_text(shown).first.wait_for()
        person.page.get_by_text("U+202E").first.wait_for()
        assert "\u202e" not in person.page.locator("body").evaluate("each => each.outerHTML"), screen


def test_hostile_words_stay_words(person: Person) -> None:
    person.open("memory", user="mei", status="all")
    person.page.get_by_text(HOSTILE[0]).first.wait_for()
    person.page.locator(".hidden-mark", has_text="U+202E").first.wait_for()
    person.page.locator(".hidden-mark", has_text="U+200B").first.wait_for()
    assert person.page.title() == "Memory · Cardlog"
    assert person.page.locator("main img, main script").count() == 0
    person.open("ask", user="mei", q="what%20is%20my%20tag%20and%20my%20letters%3F", k="20")
    person.page.locator("ol.cards > li").first.wait_for()
    assert person.page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert person.page.title() == "Ask · Cardlog"


def test_a_graph_leads_from_a_name_to_a_card_by_keyboard_and_has_its_list(person: Person) -> None:
    current = _cards(person.stack, "alex", concept_key="residence", kind="state")[0]
    person.open("card", user="alex", id=current["card_id"])
    person.page.get_by_role("link", name="see its graph").click()
    person.settle()
    lines = person.page.locator("svg.graph line")
    listed = person.page.locator("h2 + ul.plain > li")
    lines.first.wait_for(state="attached")
    assert lines.count() == listed.count() > 0
    kinds = person.page.locator(".kinds svg > *").evaluate_all("all => all.map(each => each.tagName)")
    assert len(set(kinds)) == len(kinds) > 1
    named = set(person.page.locator(".legend code").all_inner_texts())
    assert named == set(listed.locator("code").all_inner_texts()) >= {"update"}
    forms = person.page.locator(".legend line").evaluate_all(
        "all => all.map(each => each.getAttribute('stroke-dasharray') + each.getAttribute('marker-end'))"
    )
    assert len(set(forms)) == len(named)
    person.open("graph", user="alex", about="Lisbon")
    node = person.page.locator("svg.graph a").nth(1)
    name = node.get_attribute("aria-label")
    node.focus()
    person.page.keyboard.press("Enter")
    eventually(lambda: person.page.locator("svg.graph a").first.get_attribute("aria-label") == name)
    assert "id=" in person.page.url
    assert person.page.locator("svg.graph a").count() <= 300


def test_a_name_that_nothing_mentions_has_an_empty_graph(person: Person) -> None:
    person.open("graph", user="alex")
    person.page.get_by_label("a person or a concept").fill("Zanzibar")
    person.page.get_by_role("main").get_by_role("button", name="show").click()
    person.sees("Nothing is connected with it.")


def test_the_health_of_a_memory_counts_what_was_captured_and_what_waits(person: Person) -> None:
    person.open("health", user="mei")
    counts = person.page.locator("table.captured td").all_inner_texts()
    assert sum(map(int, counts)) == len(_cards(person.stack, "mei", status="*", project_id="*", limit="500"))
    waiting = len(
        WEB.get(
            f"{person.stack.read_url}/v1/arbitrations",
            params={"user_id": "mei"},
            headers=person.stack.headers,
        ).json()["arbitrations"]
    )
    told = [f"settle {waiting} of them"] if waiting else []
    assert person.page.locator("a.waiting").all_inner_texts() == told
    before = datetime.now(UTC) - timedelta(days=180)
    stale = _cards(
        person.stack,
        "mei",
        project_id="*",
        kind="state",
        cardinality="single_value",
        verified_to=before.isoformat(),
        limit="20",
    )
    assert stale
    assert person.page.locator("ul.stale > li").count() == len(stale)


def test_plans_whose_day_has_passed_and_words_that_may_be_over_are_told(person: Person) -> None:
    said = (
        ("2026-04-20", "user", "I will visit Kyoto on May 3."),
        ("2026-04-21", "user", "I swim in the lake every week."),
        ("2026-05-21", "user", "I don't swim in the lake any more."),
        ("2026-05-22", "assistant", "The lake of Biwa near Kyoto is the largest one."),
    )
    turns = [
        {"user_id": "planner", "text": text, "role": role, "said_at": f"{day}T09:00:00Z", "session_id": day}
        for day, role, text in said
    ]
    assert WEB.post(f"{person.stack.write_url}/v1/turns", json=turns, headers=person.stack.headers).is_success
    person.stack.wait()
    person.open("health", user="planner")
    person.page.locator("ul.passed > li", has_text="Kyoto").wait_for()
    person.open("ask", user="planner", q="What%20about%20Kyoto%20and%20the%20lake%3F", k="9")
    for words, told in (
        (said[0][2], "planned, and its time has passed"),
        (said[1][2], f"Later words may have ended this: {said[2][2]}"),
        (said[3][2], "said by the assistant"),
    ):
        found = person.page.locator("ol.cards > li").filter(has=person.page.get_by_text(words, exact=True))
        found.filter(has_text=told).first.wait_for()


def test_the_health_of_a_memory_tells_what_answers_held_and_what_none_did(person: Person) -> None:
    url, asked = (
        f"{person.stack.read_url}/v1/recall",
        {"user_id": "yating", "query": "麻糬是什麼動物?", "k": 1},
    )
    [held] = eventually(lambda: WEB.post(url, json=asked, headers=person.stack.headers).json()["cards"])
    later = datetime.now(UTC) + timedelta(days=10)  # a card is missed a week after it was recorded
    person.page.clock.set_fixed_time(later)

    person.open("health", user="yating")

    def counted() -> bool:
        person.page.reload()
        person.settle()
        return bool(person.page.locator("ul.used > li", has_text=held["content"]).count())

    eventually(counted)
    never = person.page.locator("ul.never > li")
    assert never.count() > 0
    assert never.filter(has_text=held["content"]).count() == 0


def test_a_map_shows_each_card_of_a_mode_and_names_the_chosen_one(person: Person) -> None:
    person.open("map", user="yating", mode="empty")
    person.sees("No card of this mode has a vector.")
    person.open("map", user="yating")
    points, listed = person.page.locator("svg.map g"), person.page.locator(".rows li button")
    points.first.wait_for()
    assert points.count() == listed.count() >= 4
    listed.first.click()
    assert person.page.locator("svg.map g.chosen").count() == 1
    assert listed.first.inner_text() in person.page.get_by_role("main").locator("a").all_inner_texts()
