"""``cardlog eval answers`` and ``cardlog eval record``: measure the way from a conversation to an answer."""

import json
import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from deploy.options import Given, Json
from deploy.progress import Progress
from evaluation.answers.conversations import CATEGORIES, Conversation, chosen_of
from evaluation.answers.memory import open_memory
from evaluation.answers.outside import conversations
from evaluation.answers.readings import BUNDLED, Readings
from evaluation.answers.recorded_model import ReadingCounts, RecordedExtractor
from evaluation.answers.trial import ALL, Result, Score, check_recording, read_all, run_trial
from events.platform.settings import Settings, SettingsError
from ingest.extraction.choosing import uses_model

_DATA = "CARDLOG_EVAL_DATA"
_PATIENCE_S = 86_400  # a server may have a person behind it

Only = Annotated[
    list[str] | None,
    Parameter(metavar="CONVERSATION", negative=(), help="read only this conversation; may be given again"),
]


def run_answers(
    *,
    readings: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="recorded readings of a model (default: those that come with Cardlog)"),
    ] = None,
    only: Only = None,
    model: Annotated[
        bool, Parameter(negative="--no-model", help="replay the readings of a model (default)")
    ] = True,
    rules: Annotated[
        bool, Parameter(negative="--no-rules", help="read with the rules, too (default)")
    ] = True,
    prompt: Annotated[
        str | None, Parameter(metavar="VERSION", help="replay the readings of this version of the prompt")
    ] = None,
    misses: Annotated[bool, Parameter(help="list the questions that are not answered")] = False,
    as_json: Json = False,
    settings: Given[Settings],
) -> int:
    """Measure how many questions the answers hold, and how much of the evidence is found.

    Reads the Chinese conversations that come with Cardlog, and chosen sessions of LoCoMo when the folder in
    CARDLOG_EVAL_DATA holds them. Extraction, projections, recall and the context block are those of the service, over
    an embedded PostgreSQL in a temporary folder. A question counts when the first 5 cards, the first 10 cards, or the
    context block of 1,500 tokens hold its answer. The judgement asks no model. The control judges with the answers of
    other questions and must stay low. Exit status 1 when a reading is missing.
    """
    _quiet(settings)
    read = list(chosen_of(_conversations(), only or ()))
    found: dict[str, Result] = {}
    extractor = None
    if model:
        private = [each.name for each in read if each.private]
        extractor = RecordedExtractor(
            settings, Readings(readings or BUNDLED), private=private, prompt_version=prompt
        )
        found["model"] = _tried(settings, read, extractor)
    if rules or extractor is None:
        found["rules"] = _tried(settings, read, None)
    counts = extractor.counts if extractor is not None else None
    if as_json:
        print(json.dumps(_document(read, found, extractor), ensure_ascii=False))
    else:
        _print(read, found, extractor, misses=misses)
    return 1 if counts is not None and counts.missing else 0


def run_record(
    *,
    to: Annotated[
        Path, Parameter(metavar="DIR", help="folder of the readings; readings that are there are kept")
    ],
    base_url: Annotated[
        str | None, Parameter(metavar="URL", help="server of the Messages API (default: ANTHROPIC_BASE_URL)")
    ] = None,
    only: Only = None,
    by: Annotated[str, Parameter(metavar="TEXT", help="who answers; noted in every reading")] = "",
    settings: Given[Settings],
) -> int:
    """Let a model read the conversations, and keep what it answers.

    The real extraction worker asks one question at a time, conversation after conversation. A reading that is there
    already is replayed and not asked for again, so an interrupted recording goes on, and a changed prompt records
    everything again. Several commands may record different conversations at the same time (--only). A reading of
    LoCoMo holds no sentence of the data: a quote is kept as its place in the turn.
    """
    _quiet(settings)
    settings = replace(
        settings,
        anthropic_base_url=base_url or settings.anthropic_base_url,
        openai_base_url="" if base_url else settings.openai_base_url,
        extract_timeout_s=max(
            settings.extract_timeout_s,
            _PATIENCE_S if base_url or settings.anthropic_base_url or settings.openai_base_url else 0,
        ),
    )
    if not uses_model(settings):
        raise SettingsError(
            "no model answers: set ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or CARDLOG_OPENAI_BASE_URL, or give --base-url"
        )
    read = list(chosen_of(_conversations(), only or ()))
    private = [each.name for each in read if each.private]
    extractor = RecordedExtractor(settings, Readings(to), private=private, recording=True, by=by)
    try:
        with Progress("turns") as progress, open_memory(settings, extractor) as memory:
            read_all(memory, read, progress, lambda: check_recording(extractor))
    finally:
        extractor.close()
    counts = extractor.counts
    print(
        f"{counts.recorded} readings recorded, {counts.replayed} were there; prompt {extractor.prompt_version}, "
        f"{counts.usage.tokens} tokens"
    )
    return 0


def _conversations() -> list[Conversation]:
    folder = os.environ.get(_DATA, "")
    return conversations(Path(folder) if folder else None)


def _quiet(settings: Settings) -> None:
    if settings.log_level == "info":
        logging.getLogger().setLevel(logging.ERROR)


def _tried(settings: Settings, read: list[Conversation], extractor: RecordedExtractor | None) -> Result:
    with Progress("turns") as progress:
        return run_trial(settings, read, extractor, progress)


def _document(
    read: list[Conversation], found: dict[str, Result], extractor: RecordedExtractor | None
) -> dict[str, Any]:
    readings = None
    if extractor is not None:
        counts = extractor.counts
        readings = {
            "prompt_version": extractor.prompt_version,
            "models": [dict(zip(("model", "by", "on"), each, strict=True)) for each in sorted(counts.models)],
            "replayed": counts.replayed,
            "drifted": counts.drifted,
            "missing": counts.missing,
            "refused": counts.refused,
            "tokens": counts.usage.tokens,
        }
    return {
        "conversations": {
            each.name: {"turns": each.turns, "questions": len(each.questions)} for each in read
        },
        "readings": readings,
        "judged": dict(next(iter(found.values())).ways),
        "readers": {
            reader: {
                f"{group}/{category}": score.document() for (group, category), score in result.scores.items()
            }
            for reader, result in found.items()
        },
        "misses": {reader: result.misses for reader, result in found.items()},
    }


def _print(
    read: list[Conversation], found: dict[str, Result], extractor: RecordedExtractor | None, *, misses: bool
) -> None:
    names = ", ".join(each.name for each in read)
    print(f"{sum(each.turns for each in read)} turns of {len(read)} conversations: {names}")
    if all(not each.private for each in read):
        print(f"without public data: {_DATA} names no folder that holds it, or --only leaves it out")
    ways = next(iter(found.values())).ways
    print(
        f"judged by a key {ways['key']}, by a date {ways['date']}, by the words of the gold answer {ways['words']}; "
        f"left out because neither can decide {ways['none']}"
    )
    if extractor is not None:
        _print_readings(extractor.counts, extractor.prompt_version)
    for reader, result in found.items():
        print(
            f"\n{reader:<28}{'n':>5}{'top 5':>8}{'top 10':>8}{'block':>8}{'R@5':>8}{'R@10':>8}{'cards':>8}"
            "   cards alone: top 5, block   control: top 5, top 10, block"
        )
        for group in sorted({group for group, _ in result.scores}, key=lambda name: (name != ALL, name)):
            for category in (ALL, *CATEGORIES):
                if (group, category) in result.scores:
                    title = group if category == ALL else f"  {category}"
                    print(_row(title, result.score(group, category)))
        if misses:
            print("\n".join(result.misses))


def _print_readings(counts: ReadingCounts, prompt_version: str) -> None:
    made = "; ".join(
        " ".join(filter(None, (model, by and f"({by})", on))) for model, by, on in sorted(counts.models)
    )
    print(
        f"{counts.replayed} readings of {made or 'nobody'}, prompt {prompt_version}, {counts.refused} cards refused"
    )
    if counts.drifted:
        print(
            f"{counts.drifted} readings answer another question than today's: the facts known so far differ"
        )
    if counts.missing:
        missing = ", ".join(f"{name} {number}" for name, number in counts.missing.items())
        print(
            f"MISSING: {sum(counts.missing.values())} readings ({missing}): their turns gave no card; "
            "record them with: cardlog eval record"
        )


def _row(title: str, score: Score) -> str:
    return (
        f"{title:<28}{score.asked:>5}{score.share('top_5'):>8.3f}{score.share('top_10'):>8.3f}"
        f"{score.share('block'):>8.3f}{score.evidence(5):>8.3f}{score.evidence(10):>8.3f}"
        f"{score.block_cards / score.asked if score.asked else 0:>8.1f}"
        f"   {score.share('top_5_alone'):>18.3f}{score.share('block_alone'):>7.3f}"
        f"   {score.control('top_5'):>14.3f} {score.control('top_10'):.3f} {score.control('block'):.3f}"
    )
