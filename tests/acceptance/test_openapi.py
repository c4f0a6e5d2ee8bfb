"""Every answer agrees with the OpenAPI documents. The documents drive a fuzz test of both services.

``CARDLOG_TEST_API_CASES`` requests to each, 60 unless set; ``make test-api`` sends 3,000.
"""

import json
import os
import random
from collections import Counter
from typing import Any, TypeAlias
from uuid import uuid4

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
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

from tests.support.person import Person
from tests.support.stack import Running
from tests.support.web import WEB

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
    "since": "2026-03-01T00:00:00Z", "until": "2026-03-05T00:00:00Z",
    "timezone": "Asia/Taipei", "group_by": ["kind,tags"], "cursor": None, "token_budget": None,
}  # fmt: skip

pytestmark = pytest.mark.timeout(1800)

AnyCase: TypeAlias = Case[Any]


class Known:
    """A user with cards, relations and a conflict, so that most questions have something to show."""

    def __init__(self, stack: Running) -> None:
        self.user = f"schema {uuid4()}"
        person = Person(stack, self.user)
        for day, text in enumerate(SAID, 1):
            person.say(text, said_at=f"2026-03-{day:02}T10:00:00Z")
        cards = [card["card_id"] for card in person.cards(status="*", limit=100)]
        conflicts = [each["arbitration_id"] for each in person.read("arbitrations")["arbitrations"]]
        self.ids: dict[str, list[str]] = {
            **dict.fromkeys(("card_id", "from_card", "to_card", "related_to"), cards),
            "arbitration_id": conflicts, "user_id": [self.user], "name": ["Rex"],
        }  # fmt: skip

    def put_into(self, case: AnyCase, chance: random.Random) -> None:
        """Sets this user and the ids of this user's data in a request."""
        if case.method == "DELETE" and isinstance(case.query, dict):
            case.query["dry_run"] = "true"  # the user serves the other requests, too
        parts = (
            case.path_parameters,
            case.query,
            case.body,
            *(case.body if isinstance(case.body, list) else ()),
        )
        for part in parts:
            if isinstance(part, dict) and part:
                part |= {name: value for name, value in POSSIBLE.items() if name in part}
                part |= {name: chance.choice(ids) for name, ids in self.ids.items() if name in part}
                if "query" in part and chance.random() < 0.5:
                    part |= {"query": "where do I live?", "mode": None, "project_id": "*"}


@pytest.fixture(scope="module")
def known(stack: Running) -> Known:
    return Known(stack)


@pytest.fixture(params=["read", "write"])
def url(stack: Running, request: pytest.FixtureRequest) -> str:
    return str(getattr(stack, f"{request.param}_url"))


def documented(url: str) -> Any:
    """Returns the OpenAPI document of a service, with an equal pattern for texts that must not be blank.

    Schemathesis joins the pattern with the lengths, to ``^\\S{1,512}$``. The joined pattern leaves out all texts with a
    space, and to compile it takes a second and 100 MB for each operation.
    """
    text = httpx2.get(f"{url}/openapi.json", timeout=120).text
    assert '"\\\\S"' in text
    document = schemathesis.openapi.from_dict(json.loads(text.replace('"\\\\S"', '"\\\\S|\\\\S"')))
    document.config.update(base_url=url)
    # A text that is too long may make the body too large.
    refusals = document.config.checks.negative_data_rejection
    refusals.expected_statuses = [*refusals.expected_statuses, "413"]
    return document


def test_every_answer_is_as_documented(stack: Running, url: str, known: Known) -> None:
    """The test of access gets a right answer of each operation; here nothing is outside of the documents."""
    operations = [found.ok() for found in documented(url).get_all_operations() if isinstance(found, Ok)]
    answers: Counter[tuple[str, int]] = Counter()
    number = 0
    while answers.total() < CASES:
        for operation in operations:
            for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
                _ask(stack.administrator, operation, mode, known, number, answers)
        number += 1
    print(f"{url}: {answers.total()} requests", *sorted(answers.items()), sep="\n")
    assert {label for label, _ in answers} == {operation.label for operation in operations}


def _ask(
    headers: dict[str, str],
    operation: Any,
    mode: GenerationMode,
    known: Known,
    number: int,
    answers: Counter[Any],
) -> None:
    @seed(number)
    @settings(
        max_examples=2, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode), chance=st.randoms(use_true_random=False))
    def ask(case: AnyCase, chance: random.Random) -> None:
        if mode is GenerationMode.POSITIVE and chance.random() < 0.7:
            known.put_into(case, chance)
        answer = case.call(timeout=120, headers=headers)
        answers[operation.label, answer.status_code] += 1
        # Every value in a query is a string, so "false" is a valid speaker.
        case.validate_response(answer, checks=CHECKS + [negative_data_rejection] * bool(operation.body))

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # a request without parameters cannot be wrong


def test_every_operation_has_a_name_a_schema_and_its_problems_with_examples(url: str) -> None:
    document = WEB.get(f"{url}/openapi.json").json()
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
