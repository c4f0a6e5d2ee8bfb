"""Every screen is usable for everybody: axe-core finds no fault, and no word is cut on a small telephone."""

import re
from typing import Any

import pytest

from scripts import explorer
from tests.browser.conftest import Person
from tests.support.stack import Running

SCREENS = {
    "ask": {"user": "alex", "q": "Where%20do%20I%20live%3F"},
    "memory": {"user": "alex"},
    "timeline": {"user": "alex"},
    "arbitration": {"user": "mei"},
    "core": {"user": "alex"},
    "references": {"user": "alex", "id": "todo_list%2Fgroceries"},
    "problems": {"user": "alex"},
    "modes": {"user": "alex"},
    "health": {"user": "alex"},
    "graph": {"user": "alex", "about": "Lisbon"},
    "map": {"user": "alex"},
    "operations": {},
}
_AXE = explorer.APP / "node_modules" / "axe-core" / "axe.min.js"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RULES_OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules that a scheme of colours decides. All others see the same page in both schemes."""
_CUT = """() => [...document.querySelectorAll('button, a, label span, h1, h2, summary, th, dt, p, .status, .flag')]
    .filter(each => !each.closest(".rows, .chart, .scroll") && each.offsetParent
        && each.scrollWidth > each.clientWidth + 1
        && getComputedStyle(each).display !== 'inline')
    .map(each => each.outerHTML.slice(0, 120))"""


def _key(stack: Running) -> str:
    return stack.administrator["Authorization"].split()[-1]


def test_axe_finds_no_fault(chromium: Any, stack: Running) -> None:
    if not _AXE.exists():
        pytest.skip("axe-core is not installed; make test-browser installs it with npm")
    person = Person(chromium, stack, "")
    person.page.goto(person.url)
    person.sees("API key")
    _check(person, "sign-in")
    person.sign_in(_key(stack))
    for screen, values in SCREENS.items():
        person.open(screen, **values)
        _check(person, screen)


def _check(person: Person, screen: str) -> None:
    if person.page.evaluate("typeof axe") == "undefined":
        person.page.evaluate(f"{_AXE.read_text('utf-8')};0")
    for scheme, rules in (("light", _RULES), ("dark", _RULES_OF_COLOURS)):
        person.page.emulate_media(color_scheme=scheme)
        found = person.page.evaluate(f"axe.run(document, {{runOnly: {rules}, resultTypes: ['violations']}})")
        faults = {each["id"]: [node["html"][:150] for node in each["nodes"]] for each in found["violations"]}
        assert faults == {}, (screen, scheme)


def test_no_text_is_cut_on_a_small_telephone(chromium: Any, stack: Running) -> None:
    person = Person(chromium, stack, _key(stack), viewport={"width": 360, "height": 740})
    person.page.goto(person.url)
    languages = person.page.get_by_label(re.compile("language|語言|语言"))
    menu = person.page.locator("nav button")
    for language in ("zh-TW", "zh-CN", "en"):
        languages.select_option(language)
        assert person.page.locator("nav").bounding_box()["height"] < 60
        menu.click()
        assert person.page.locator("nav a").count() == len(SCREENS)
        assert person.page.evaluate(_CUT) == []
        menu.click()
    for screen, values in SCREENS.items():
        person.open(screen, **values)
        for language in ("zh-TW", "zh-CN", "en"):
            languages.select_option(language)
            wide = person.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, (screen, language, wide)
            assert person.page.evaluate(_CUT) == [], (screen, language)
            times = " ".join(person.page.locator(".row small").all_inner_texts())
            assert bool(re.search("said|since|state|event", times)) == (
                screen == "memory" and language == "en"
            )
