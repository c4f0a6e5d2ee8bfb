"""Answers of models in a form that nobody expects, and streams without an end."""

import pytest

from retrieval.proxy.model_apis import APIS, Answer, EventStream

ODD: tuple[object, ...] = ([], {}, [{}], 5, None, "x", [["y"]])


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.path)
def test_no_form_of_an_answer_raises(api: object) -> None:
    for name in ("status", "output", "choices", "content", "type", "response", "delta", "content_block"):
        for value in ODD:
            document = {"type": "response.completed", "response": {"status": value}, name: value}
            api.whole(document)  # type: ignore[attr-defined]
            api.hear(document, Answer())  # type: ignore[attr-defined]


def test_an_event_that_never_ends_is_not_kept() -> None:
    taken: list[bytes] = []
    stream = EventStream(taken.append)
    stream.feed(b'data: {"a": 1}\n\n')
    for _ in range(80):
        stream.feed(b"data: " + b"x" * 65_536 + b"\n")
    stream.feed(b"\n\ndata: late\n\n")
    assert taken == [b'{"a": 1}']
