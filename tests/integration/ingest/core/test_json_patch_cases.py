"""The JSON Patch test cases of the evaluation data, each on a part of the document, over HTTP."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from events.core.patches import same
from tests.support.retrieval.core_documents import Documents, add, replaced

PLACE = "/dynamicCategories/case/data"


def cases() -> list[dict[str, Any]]:
    folder = os.environ.get("CARDLOG_EVAL_DATA")
    if not folder or not Path(folder, "json_patch").is_dir():
        pytest.skip("CARDLOG_EVAL_DATA names no folder of evaluation data")
    return [
        case
        for name in ("tests.json", "spec_tests.json")
        for case in json.loads(Path(folder, "json_patch", name).read_text("utf-8"))
        if not case.get("disabled")
    ]


def moved(op: Any) -> Any:
    """The operation with its pointers below :data:`PLACE`. What is no pointer stays as it is."""
    return {
        name: PLACE + value
        if name in ("path", "from") and isinstance(value, str) and (not value or value[0] == "/")
        else value
        for name, value in op.items()
    }


def test_every_case_has_the_same_result_or_the_same_refusal(ada: Documents) -> None:
    found = cases()
    ada.patch(add("/dynamicCategories/case", {"data": None}))
    for number, case in enumerate(found):
        if number % 12 == 0:
            ada.fold()
        ada.patch(replaced(PLACE, case["doc"]))
        sent = ada.send("events", {"patch": [moved(op) for op in case["patch"]], "actor": "user"})
        after = ada.value(PLACE)
        if "error" in case:
            assert sent.status_code in (409, 422), case
            assert sent.headers["content-type"] == "application/problem+json"
            assert sent.json()["field"].startswith("patch/"), case
            assert same(after, case["doc"]), case
        else:
            assert sent.status_code == 200, (case, sent.text)
            assert same(after, case["expected"]), case
    assert len(found) == 108
