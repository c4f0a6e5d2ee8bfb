"""An activity and its frequency are told apart, and other words are left alone."""

from events.language.frequencies import with_frequency
from tests.support.tables import examples


@examples
def test_an_activity_and_its_frequency(text: str, found: tuple[str, str] | None) -> None:
    assert with_frequency(text) == found
