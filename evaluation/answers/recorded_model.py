"""The model extractor over recorded readings: it replays them, and records those that are missing."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from evaluation.answers.readings import Reading, Readings, digest_of, new_reading
from events.platform.settings import Settings
from events.types.extraction import Usage
from ingest.extraction.claude import prompt
from ingest.extraction.claude.extractor import ClaudeExtractor, create_client
from ingest.extraction.claude.model_client import ModelClient, Prompt, Reply
from ingest.extraction.extractor_port import Extraction, ExtractorUnavailableError, SessionBatch

_FAILURES = 3


class RecordingFailedError(RuntimeError):
    """The server gave no answer several times in a row, or a reading cannot be used. What was recorded is kept."""


class _MissingError(Exception):
    """No reading of this batch is recorded."""


@dataclass(slots=True)
class ReadingCounts:
    """What became of the batches. ``drifted`` readings answer another question than today's: the known facts differ.

    ``models`` are the (model, who answered, date) of the readings that were used.
    """

    replayed: int = 0
    recorded: int = 0
    drifted: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    models: set[tuple[str, str, str]] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)
    refused: int = 0


class RecordedExtractor:
    """A :class:`ClaudeExtractor` whose server is a folder of readings. One call at a time.

    A batch without a reading gives no card and is counted, unless ``recording``: the server of the settings is then
    asked and its answer is kept. ``private`` names the users whose words must not be kept. :attr:`failure` is set when
    the recording cannot go on.
    """

    name = "claude"

    def __init__(
        self,
        settings: Settings,
        readings: Readings,
        *,
        private: Collection[str] = (),
        recording: bool = False,
        by: str = "",
        prompt_version: str | None = None,
    ) -> None:
        """``prompt_version`` replays the readings of another version of the prompt. None means today's."""
        self._readings = readings
        self._private = private
        self._messages = _RecordedClient(settings, recording=recording)
        self._inner = ClaudeExtractor(settings, self._messages)
        self._by = by
        self.model: str | None = self._inner.model
        self.prompt_version = prompt_version or self._inner.prompt_version
        self.counts = ReadingCounts()
        self.failure: RecordingFailedError | None = None
        self._failures = 0

    def extract(self, batch: SessionBatch) -> Extraction:
        """Returns the cards of the recorded answers, as the extractor grounds them today."""
        asked = prompt.question(batch)
        try:
            reading = self._readings.find(batch, self.prompt_version)
        except RuntimeError as error:
            self.failure = RecordingFailedError(str(error))
            return Extraction()
        known = reading is not None
        if reading is None:
            reading = new_reading(
                batch,
                asked,
                prompt_version=self.prompt_version,
                model=self.model or "",
                by=self._by,
                on=datetime.now(UTC).date(),
                private=batch.turns[0].user_id in self._private,
            )
        self._messages.begin(reading)
        try:
            extraction = self._inner.extract(batch)
        except _MissingError:
            user = batch.turns[0].user_id
            self.counts.missing[user] = self.counts.missing.get(user, 0) + 1
            return Extraction()
        except ExtractorUnavailableError as error:
            self._failures += 1
            if self._failures == _FAILURES:
                self.failure = RecordingFailedError(f"the readings so far are kept; {error}")
            raise
        finally:
            if not known and self._messages.complete:
                self._readings.save(batch, reading)
        self._count(reading, known=known, request=digest_of(asked))
        self.counts.usage += extraction.usage
        self.counts.refused += extraction.refused
        return extraction

    def close(self) -> None:
        """Closes the connections to the server."""
        self._inner.close()

    def _count(self, reading: Reading, *, known: bool, request: str) -> None:
        self._failures = 0
        if not reading.answers:
            return  # Small talk costs no call.
        if known:
            self.counts.replayed += 1
            self.counts.drifted += reading.request != request
        else:
            self.counts.recorded += 1
        self.counts.models.add((reading.model, reading.by, reading.recorded_on))


class _RecordedClient(ModelClient):
    """Answers from the reading of :meth:`begin`, and asks the server for what the reading lacks while it records.

    A reading that is too short repeats its last answer, because a model that is asked once more mostly does so.
    """

    def __init__(self, settings: Settings, *, recording: bool) -> None:
        super().__init__(settings)
        self._server_client = create_client(settings) if recording else None
        self._reading: Reading | None = None
        self._answered = 0
        self._asking = False

    def begin(self, reading: Reading) -> None:
        """Takes the reading of the next calls."""
        self._reading, self._answered, self._asking = reading, 0, False

    @property
    def complete(self) -> bool:
        """True when every call of the reading was answered, and there was one."""
        return not self._asking and self._reading is not None and bool(self._reading.answers)

    def ask(self, prompt: Prompt, question: str, max_tokens: int) -> Reply:
        assert self._reading is not None
        answers = self._reading.answers
        if self._answered >= len(answers) and self._server_client is not None:
            self._asking = True
            reply = self._server_client.ask(prompt, question, max_tokens)
            self._asking = False
            answers.append(_answer(reply))
        elif not answers:
            raise _MissingError
        else:
            reply = _reply(answers[min(self._answered, len(answers) - 1)])
        self._answered += 1
        return reply

    def close(self) -> None:
        super().close()
        if self._server_client is not None:
            self._server_client.close()


def _answer(reply: Reply) -> dict[str, Any]:
    return {
        "stop_reason": reply.stop_reason,
        "called": reply.called,
        "input": reply.tool_input,
        "prose": reply.prose,
        "usage": asdict(reply.usage),
    }


def _reply(answer: dict[str, Any]) -> Reply:
    """Returns the reply of a recorded answer. Raises nothing: the extractor judges what a model answers."""
    called = bool(answer.get("called"))
    usage = answer.get("usage")
    stop = answer.get("stop_reason")
    return Reply(
        stop if isinstance(stop, str) else None,
        called,
        answer.get("input") if called else None,
        str(answer.get("prose") or ""),
        Usage(**usage)
        if isinstance(usage, dict) and usage.keys() <= set(Usage.__dataclass_fields__)
        else Usage(),
    )
