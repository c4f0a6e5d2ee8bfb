"""Users of two Cardlogs, one with rules and one with a model, who try the examples of Cardlog's source documents."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests.support.ingest.messages_api import MessagesApi
from tests.support.person import Person
from tests.support.stack import Running, start, stop


@pytest.fixture
def person(stack: Running) -> Person:
    """A new user of the Cardlog that all tests share. Rules read the turns."""
    return Person(stack, f"user-{uuid.uuid4().hex[:8]}")


@pytest.fixture(scope="session")
def _model() -> Iterator[MessagesApi]:
    with MessagesApi() as api:
        yield api


@pytest.fixture
def model(_model: MessagesApi) -> MessagesApi:
    """The model of ``read_by_model``. It reads as the rules do, until a test sets its ``trouble``."""
    _model.trouble = lambda _: None
    return _model


@pytest.fixture(scope="session")
def _stack_of_the_model(_model: MessagesApi, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    data = tmp_path_factory.mktemp("sources") / "data"
    running = start(data, ANTHROPIC_BASE_URL=_model.url, ANTHROPIC_API_KEY="key-of-the-test")
    yield running
    assert stop(running) == 0


@pytest.fixture
def read_by_model(_stack_of_the_model: Running, model: MessagesApi) -> Person:
    """A new user of a Cardlog whose turns ``model`` reads."""
    return Person(_stack_of_the_model, f"user-{uuid.uuid4().hex[:8]}")
