"""A second engine: Firefox as the machine has it signs in, opens every screen, edits, and runs no foreign text."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import HOSTILE, Person
from tests.browser.test_looks import SCREENS
from tests.support.stack import Running
from tests.support.waiting import eventually


class FirefoxPerson(Person):
    """A person whose browser speaks WebDriver BiDi, which waits for ever when the hash of an address changes alone."""

    def open(self, screen: str, **values: str) -> None:
        query = "&".join(f"{name}={value}" for name, value in values.items())
        self.page.evaluate("hash => { location.hash = hash }", f"/{screen}?{query}")
        self.page.locator(f"nav a[href^='#/{screen}'][aria-current=page]").wait_for(state="attached")
        eventually(lambda: self.page.locator("p[role=status].quiet").count() == 0)


@pytest.fixture
def firefox(driver: Any, stack: Running) -> Iterator[FirefoxPerson]:
    """A person with every right, before the Firefox of this machine. playwright has no public name for that engine."""
    from playwright._impl._connection import from_channel
    from playwright.sync_api._generated import BrowserType

    found = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    engine = driver._impl_obj._initializer.get("_bidiFirefox")
    if found is None or engine is None:
        pytest.skip("this machine has no Firefox, or this playwright cannot drive it")
    kind = from_channel(engine)
    kind._playwright = driver._impl_obj
    browser = BrowserType(kind).launch(executable_path=found)
    yield FirefoxPerson(browser, stack, stack.administrator["Authorization"].split()[-1])
    browser.close()


def test_firefox_signs_in_and_opens_every_screen(firefox: FirefoxPerson) -> None:
    for screen, values in SCREENS.items():
        firefox.open(screen, **values)
        heading: Any = firefox.page.locator("h1")
        assert heading.count() == 1, screen
        assert firefox.page.locator(".notice.bad").all_inner_texts() == [], screen
    firefox.open("problems", user="fox")
    firefox.page.get_by_label("a problem of the user").fill("Hears the wind")
    firefox.page.get_by_role("button", name="add", exact=True).click()
    firefox.page.locator("li.card", has_text="Hears the wind").wait_for()
    firefox.open("memory", user="mei", status="all")
    firefox.page.get_by_text(HOSTILE[0]).first.wait_for()
    assert firefox.page.title() == "Memory · Cardlog"
    assert firefox.page.locator("main img, main script").count() == 0
    assert firefox.foreign == firefox.faults == []
