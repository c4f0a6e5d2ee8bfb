"""Recorded readings: what a model answered about a batch of turns, as one file each."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from evaluation.answers.private_words import with_words, without_words
from ingest.extraction.extractor_port import SessionBatch

BUNDLED = Path(__file__).parent / "readings"
"""The readings that come with Cardlog. They need LoCoMo itself for the words of its turns."""

_MOST_BYTES = 2_000_000
_UNSAFE = re.compile(r"[^\w-]")


class ReadingInvalidError(RuntimeError):
    """The file of a reading cannot be used. The message names the file."""


@dataclass(slots=True)
class Reading:
    """The answers of a model about one batch: one, or several when the first could not be used.

    ``request`` is a digest of the question, so that a reading of another question is noticed. ``by`` says who answered
    when that was not the model of the name alone. The file of a ``private`` reading holds places for words.
    """

    conversation: str
    turns: tuple[str, ...]
    prompt_version: str
    model: str
    by: str
    recorded_on: str
    request: str
    private: bool
    answers: list[dict[str, Any]] = field(default_factory=list)


class Readings:
    """The folder of recorded readings: a folder for each prompt version, in it one for each conversation.

    The name of a file is a digest of the conversation, the ids of the turns and the prompt version.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, batch: SessionBatch, prompt_version: str) -> Reading | None:
        """Returns the reading of a batch, or None. Raises :class:`ReadingInvalidError`."""
        path = self.path_of(batch, prompt_version)
        if not path.exists():
            return None
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ReadingInvalidError(f"{path} is larger than {_MOST_BYTES} bytes")
            reading = Reading(**json.loads(path.read_text("utf-8")))
            reading.turns = tuple(reading.turns)
            if reading.private:
                reading.answers = with_words(reading.answers, _texts(batch))
            valid = bool(reading.answers) and all(isinstance(each, dict) for each in reading.answers)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ReadingInvalidError(f"{path} is no recorded reading: {error}") from error
        if not valid or reading.turns != _ids(batch):
            raise ReadingInvalidError(f"{path} is no recorded reading of these turns")
        return reading

    def save(self, batch: SessionBatch, reading: Reading) -> Path:
        """Writes a reading and returns its file. The file of a private reading holds no sentence of a turn."""
        path = self.path_of(batch, reading.prompt_version)
        path.parent.mkdir(parents=True, exist_ok=True)
        row = {name: getattr(reading, name) for name in Reading.__slots__}
        if reading.private:
            row["answers"] = without_words(reading.answers, _texts(batch))
        half = path.with_suffix(".tmp")
        half.write_text(json.dumps(row, ensure_ascii=False, indent=1) + "\n", "utf-8")
        half.replace(path)
        return path

    def path_of(self, batch: SessionBatch, prompt_version: str) -> Path:
        """Returns the file of a batch, whether it exists or not."""
        conversation = batch.turns[0].user_id
        name = sha256("\0".join((conversation, *_ids(batch), prompt_version)).encode()).hexdigest()[:16]
        return self._folder / _safe(prompt_version) / _safe(conversation) / f"{name}.json"


def new_reading(
    batch: SessionBatch, request: str, *, prompt_version: str, model: str, by: str, on: date, private: bool
) -> Reading:
    """Returns a reading of ``batch`` without answers. ``request`` is the text of the question."""
    return Reading(
        batch.turns[0].user_id,
        _ids(batch),
        prompt_version,
        model,
        by,
        on.isoformat(),
        digest_of(request),
        private,
    )


def digest_of(request: str) -> str:
    """Returns the digest of the text of a question."""
    return sha256(request.encode()).hexdigest()[:16]


def _ids(batch: SessionBatch) -> tuple[str, ...]:
    return tuple(recorded.turn.turn_id for recorded in batch.turns)


def _texts(batch: SessionBatch) -> Mapping[int, str]:
    """Returns the texts of the turns by number: those of the batch from 1, earlier ones 0, -1 … going back."""
    texts = {number: recorded.turn.text for number, recorded in enumerate(batch.turns, 1)}
    return texts | {-number: recorded.turn.text for number, recorded in enumerate(reversed(batch.preceding))}


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)
