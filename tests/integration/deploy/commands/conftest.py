"""A verb about users' memories starts both services in the test's process, and these need no model."""

import pytest

from events.platform.settings import variable_of


@pytest.fixture(autouse=True)
def _without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable_of("embed_model"), "hash")
