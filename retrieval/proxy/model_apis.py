"""The APIs of models that the proxy understands: where the words of the user are, and where those of the answer.

Nothing here raises for a document of an unknown form. Such a document holds no words.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from events.types.json_values import Json, JsonObject
from events.types.turn_contract import MAX_TEXT_BYTES
from retrieval.hooks import words_of

Document = JsonObject


@dataclass(frozen=True, slots=True)
class Question:
    """The last words of the user in a request. ``place``: the number of the messages before. ``fresh``: none follow."""

    words: str
    place: int
    fresh: bool


@dataclass(slots=True)
class Answer:
    """The words of an answer as far as it was read. ``done``: the model has ended it."""

    words: str = ""
    done: bool = False

    def add(self, words: object) -> None:
        """Adds further words, up to the length of a turn."""
        if isinstance(words, str) and len(self.words) < MAX_TEXT_BYTES:
            self.words += words


class ModelApi:
    """The API of a model at ``path``, whose requests hold messages."""

    path: str

    def question(self, request: Document) -> Question | None:
        """Returns the last words of the user, or None when the request has none."""
        return _last(request.get("messages"), "text")

    def with_context(self, request: Document, place: int, context: str) -> dict[str, Json]:
        """Returns the request with ``context`` behind the words of the message at ``place``."""
        return {**request, "messages": _extended(request["messages"], place, "text", context)}

    def whole(self, document: Document) -> Answer:
        """Returns the answer in a document."""
        raise NotImplementedError

    def hear(self, event: Document, answer: Answer) -> None:
        """Adds an event of a stream to the answer."""
        raise NotImplementedError


class ChatCompletions(ModelApi):
    """OpenAI's chat completions. Of several choices the first counts."""

    path = "/v1/chat/completions"

    def whole(self, document: Document) -> Answer:
        choice = _first(document.get("choices"))
        message = choice.get("message")
        return Answer(words_of(message.get("content")) if isinstance(message, dict) else "", bool(choice))

    def hear(self, event: Document, answer: Answer) -> None:
        choice = _first(event.get("choices"))
        delta = choice.get("delta")
        answer.add(delta.get("content") if isinstance(delta, dict) else None)
        answer.done = answer.done or choice.get("finish_reason") is not None


class Responses(ModelApi):
    """OpenAI's Responses."""

    path = "/v1/responses"

    def question(self, request: Document) -> Question | None:
        given = request.get("input")
        if isinstance(given, str):
            return Question(given, 0, fresh=True) if given.strip() else None
        return _last(given, "input_text")

    def with_context(self, request: Document, place: int, context: str) -> dict[str, Json]:
        given = request["input"]
        if isinstance(given, str):
            return {**request, "input": _joined(given, context)}
        return {**request, "input": _extended(given, place, "input_text", context)}

    def whole(self, document: Document) -> Answer:
        output = document.get("output")
        items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
        said = [
            words_of(item.get("content"), "output_text") for item in items if item.get("type") == "message"
        ]
        return Answer("\n".join(filter(None, said)), document.get("status") in ("completed", "incomplete"))

    def hear(self, event: Document, answer: Answer) -> None:
        kind = event.get("type")
        if kind == "response.output_text.delta":
            answer.add(event.get("delta"))
        elif kind in ("response.completed", "response.incomplete"):
            document = event.get("response")
            found = self.whole(document) if isinstance(document, dict) else Answer()
            answer.words, answer.done = found.words or answer.words, True


class Messages(ModelApi):
    """Anthropic's Messages."""

    path = "/v1/messages"

    def whole(self, document: Document) -> Answer:
        return Answer(words_of(document.get("content")), document.get("type") == "message")

    def hear(self, event: Document, answer: Answer) -> None:
        kind, delta, block = event.get("type"), event.get("delta"), event.get("content_block")
        if kind == "content_block_delta" and isinstance(delta, dict) and delta.get("type") == "text_delta":
            answer.add(delta.get("text"))
        elif kind == "content_block_start" and isinstance(block, dict) and block.get("type") == "text":
            answer.add("\n" if answer.words else "")
        elif kind == "message_stop":
            answer.done = True


APIS: tuple[ModelApi, ...] = (ChatCompletions(), Responses(), Messages())


_LONGEST_EVENT = 4 * 1024 * 1024


@dataclass(slots=True)
class EventStream:
    """Reads server-sent events from the bytes of a stream, however they are divided.

    ``take`` gets the text of each event's data. After an event of more than 4 MiB nothing more is read.
    """

    take: Callable[[bytes], None]
    _rest: bytearray = field(default_factory=bytearray)
    _data: list[bytes] = field(default_factory=list)
    _size: int = 0
    _broken: bool = False

    def feed(self, chunk: bytes) -> None:
        """Reads the next bytes."""
        if self._broken:
            return
        self._rest += chunk
        if b"\n" in chunk:
            *lines, rest = bytes(self._rest).split(b"\n")
            self._rest = bytearray(rest)
            for line in lines:
                self._line(line.removesuffix(b"\r"))
        if max(len(self._rest), self._size) > _LONGEST_EVENT:
            self._broken = True
            self._rest.clear()
            self._data.clear()

    def _line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._size += len(line)
        elif not line and self._data:
            data, self._data, self._size = b"\n".join(self._data), [], 0
            self.take(data)


def _last(messages: object, kind: str) -> Question | None:
    several = messages if isinstance(messages, list) else []
    for place in range(len(several) - 1, -1, -1):
        message = several[place]
        if isinstance(message, dict) and message.get("role") == "user":
            words = words_of(message.get("content"), kind)
            if words.strip():
                return Question(words, place, fresh=place == len(several) - 1)
    return None


def _extended(messages: list[Json], place: int, kind: str, context: str) -> list[Json]:
    message = messages[place]
    content = message["content"]
    longer = (
        _joined(content, context) if isinstance(content, str) else [*content, {"type": kind, "text": context}]
    )
    return [*messages[:place], {**message, "content": longer}, *messages[place + 1 :]]


def _joined(words: str, context: str) -> str:
    return f"{words}\n\n{context}"


def _first(choices: object) -> Document:
    several = choices if isinstance(choices, list) else []
    return next((each for each in several if isinstance(each, dict) and each.get("index", 0) == 0), {})
