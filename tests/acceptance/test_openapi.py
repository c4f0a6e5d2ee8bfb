"""Every answer agrees with the OpenAPI documents. The documents drive a fuzz test of both services.

``CARDLOG_TEST_API_CASES`` requests to each, 60 unless set; ``make test-api`` sends 3,000.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias
from uuid import uuid4

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.stack import Running

CASES = int(os.environ.get("CARDLOG_TEST_API_CASES", "60"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SAID = (
    "I live in Porto.", "I moved to Lisbon.", "I have moved to Madrid.", "I now live in Rome, we moved to Rome.",
    "My dog is called Rex.", "I am learning Rust. Rust is a programming language.", "I work at Acme.",
)  # fmt: skip

# Rules that the documents state in words: the schema of a string cannot say that a time zone exists.
POSSIBLE: dict[str, Any] = {
    **dict.fromkeys(("as_of", "known_at", "verified_at", "said_at"), "2026-03-05T10:00:00+08:00"),
    **{f"{axis}_{end}": "2026-03-02T00:00:00Z" for end in ("from", "to")
       for axis in ("created", "occurred", "effective", "superseded", "verified")},
    "timezone": "Asia/Taipei", "group_by": ["kind,tags"], "cursor": None, "token_budget": None,
}  # fmt: skip
OF_CARDS = ("from_card", "to_card", "related_to")

pytestmark = pytest.mark.timeout(1800)


AnyCase: TypeAlias = Case[Any]


class Known:
    """A user with cards, relations and a conflict, so that most answers have something to show."""

    def __init__(self, stack: Running) -> None:
        self.user = f"schema {uuid4()}"
        turns = [
            {"user_id": self.user, "text": text, "said_at": f"2026-03-{day:02}T10:00:00Z"}
            for day, text in enumerate(SAID, 1)
        ]
        pushed = httpx.post(f"{stack.write_url}/v1/turns", json=turns, timeout=30)
        self.token: str = pushed.json()["token"]
        stack.wait()
        with httpx.Client(base_url=stack.read_url, params={"user_id": self.user}, timeout=30) as client:
            page = client.get("/v1/cards", params={"status": "*", "limit": 100}).json()
            self.cards: list[str] = [card["card_id"] for card in page["cards"]]
            found = client.get("/v1/arbitrations", params={"status": "*"}).json()
            self.arbitrations: list[str] = [each["arbitration_id"] for each in found["arbitrations"]]

    def put_into(self, case: AnyCase, chance: random.Random) -> None:
        """Sets this user and the ids of this user's data in a request."""
        for part in (case.query, case.body, *(case.body if isinstance(case.body, list) else ())):
            if isinstance(part, dict) and part:
                part["user_id"] = self.user
                part |= {name: value for name, value in POSSIBLE.items() if name in part}
                part |= {name: chance.choice(self.cards) for name in OF_CARDS if name in part}
                if "wait_for" in part:
                    part["wait_for"] = self.token
                if "query" in part and chance.random() < 0.5:
                    part |= {"query": "where do I live?", "mode": None, "project_id": "*"}
        for name, ids in (("card_id", self.cards), ("arbitration_id", self.arbitrations)):
            if name in (case.path_parameters or {}) and ids:
                case.path_parameters[name] = chance.choice(ids)


@pytest.fixture(scope="module")
def known(stack: Running) -> Known:
    return Known(stack)


@pytest.fixture(params=["read", "write"])
def url(stack: Running, request: pytest.FixtureRequest) -> str:
    return str(getattr(stack, f"{request.param}_url"))


def test_every_answer_is_as_documented(url: str, known: Known) -> None:
    document = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [found.ok() for found in document.get_all_operations() if isinstance(found, Ok)]
    answers: Counter[tuple[str, int]] = Counter()
    for number in _until_enough(answers, {operation.label for operation in operations}):
        for operation in operations:
            if answers.total() >= CASES and operation.label in _well(answers):
                continue  # enough requests; other operations got no correct request yet
            for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
                _ask(operation, mode, known, number, max(4, CASES // len(operations) // 3), answers)
    print(f"{url}: {answers.total()} requests", *sorted(answers.items()), sep="\n")
    assert answers.total() >= CASES
    # An operation that answered only with problems was not tested.
    assert {operation.label for operation in operations} <= _well(answers)


def _well(answers: Counter[tuple[str, int]]) -> set[str]:
    return {label for label, status in answers if status < 300}


def _until_enough(answers: Counter[tuple[str, int]], labels: set[str]) -> Iterator[int]:
    """Yields round numbers until there were enough requests, and a correct request for each operation."""
    number = 0
    while answers.total() < CASES or (number < 20 and not labels <= _well(answers)):
        yield number
        number += 1


def _ask(
    operation: Any, mode: GenerationMode, known: Known, number: int, count: int, answers: Counter[Any]
) -> None:
    @seed(number)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode), chance=st.randoms(use_true_random=False))
    def ask(case: AnyCase, chance: random.Random) -> None:
        if mode is GenerationMode.POSITIVE and chance.random() < 0.7:
            known.put_into(case, chance)
        answer = case.call(timeout=30)
        answers[operation.label, answer.status_code] += 1
        # Every value in a query is a string, so "false" is a valid speaker.
        case.validate_response(answer, checks=CHECKS + [negative_data_rejection] * bool(operation.body))

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # a request without parameters cannot be wrong


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", "/v1/recall"),
        ("post", "/v1/context"),
        ("get", "/v1/cards"),
        ("get", "/v1/cards/{card_id}"),
        ("get", "/v1/cards/{card_id}/history"),
        ("get", "/v1/cards/{card_id}/relations"),
        ("get", "/v1/cards/{card_id}/latest"),
        ("get", "/v1/arbitrations"),
    ],
)
def test_an_answer_with_cards_in_it_is_as_documented(
    stack: Running, known: Known, method: str, path: str
) -> None:
    document = httpx.get(f"{stack.read_url}/openapi.json").json()
    answered = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
    check = Draft202012Validator({**answered, "components": document["components"]})
    assert answered, "says nothing"
    for card in known.cards if "{card_id}" in path else [""]:
        asked = {"user_id": known.user}
        where = stack.read_url + path.replace("{card_id}", card)
        answer = (
            httpx.post(
                where, json=asked | {"query": "where do I live?", "explain": True, "k": 50}, timeout=30
            )
            if method == "post"
            else httpx.get(where, params=asked, timeout=30)
        )
        assert answer.status_code == 200, answer.text
        check.validate(answer.json())


def test_every_operation_has_a_name_a_schema_and_its_problems_with_examples(url: str) -> None:
    document = httpx.get(f"{url}/openapi.json").json()
    operations = [each for path in document["paths"].values() for each in path.values()]
    names = [each["operationId"] for each in operations]
    assert len(set(names)) == len(names)
    for each in operations:
        answers = each["responses"]
        assert {"413", "415", "422", "405", "404", "503"} <= set(answers), each["operationId"]
        for status, given_or_named in answers.items():
            named = given_or_named.get("$ref", "").rpartition("/")[2]
            answer = document["components"]["responses"][named] if named else given_or_named
            [(kind, content)] = answer["content"].items()
            if status.startswith("2"):
                assert kind == "text/plain; version=0.0.4" or content["schema"], each["operationId"]
            else:
                assert (kind, content["example"]["status"]) == ("application/problem+json", int(status))
    assert "HTTPValidationError" not in document["components"]["schemas"]
