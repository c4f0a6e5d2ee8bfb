"""``cardlog reextract``: reads old turns again with the current prompt and model."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.commands.run.work import Stop
from deploy.instance import find
from deploy.options import Answer, Flat, Given, Json, instant_of
from deploy.progress import Progress
from events.platform.counting import counted
from events.platform.database import connect
from events.platform.settings import Settings, SettingsError
from events.types.extraction import Usage
from ingest.extraction.choosing import describe, uses_model
from ingest.extraction.extractor_port import Extractor, SessionBatch
from ingest.extraction.workers.reextraction import (
    Reextraction,
    ReextractionFilter,
    model_in_use,
    past_extractions,
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The filter of the turns to read again, and the output options."""

    user: Annotated[str | None, Parameter(metavar="ID", help="only this user's turns")] = None
    since: Annotated[str | None, Parameter(metavar="INSTANT")] = None
    """only turns read since then (ISO 8601)"""
    prompt_version: Annotated[str | None, Parameter(metavar="V")] = None
    """only turns read with this prompt, such as rules-1; for the current prompt each run starts anew"""
    given_up: Annotated[bool, Parameter(help="only turns that an extractor gave up")] = False
    with_rules: Annotated[bool, Parameter(help="read with the rules, although a model reads here")] = False
    dry_run: Annotated[bool, Parameter(help="only print the turns to read and the estimated cost")] = False
    json: Json = False


def reextract(
    *, options: Flat[Options] = Options(), settings: Given[Settings], data: Given[Path | None]
) -> Answer:
    """Read old turns again with the current extractor (ANTHROPIC_API_KEY, CARDLOG_MODEL; or rules).

    The earlier extractions stay in the log. The cards become those of the newest extraction, and cards that only an
    earlier extraction had are withdrawn. Without options, it reads every turn that was not read with the current
    prompt and model. This includes turns that the rules read as a fallback, and turns that were given up. It prints
    the estimated cost first. Ctrl-C stops it at any moment, and the next start continues. Turns that cannot be read
    keep their extraction, and the exit status is then 1. Where a model reads the turns and these settings name none, it
    reads nothing, because the rules would replace the model's cards.
    """
    since = None if options.since is None else instant_of("--since", options.since).astimezone()
    choice = ReextractionFilter(options.user, since, options.prompt_version, options.given_up)
    settings, _ = find(settings, data)
    if options.with_rules:
        settings = replace(settings, anthropic_api_key="", anthropic_base_url="", openai_base_url="")
    stop = Stop()
    if uses_model(settings):
        from ingest.extraction.claude.extractor import ClaudeExtractor  # noqa: PLC0415 - the SDK takes a second to load

        extractor = ClaudeExtractor(settings)
        try:
            return _run(options, settings, choice, extractor, extractor.estimate, stop)
        finally:
            extractor.close()
    from ingest.extraction.rules.extractor import RulesExtractor  # noqa: PLC0415

    return _run(options, settings, choice, RulesExtractor(), _for_nothing, stop)


def _for_nothing(bursts: Iterable[SessionBatch]) -> Usage:
    """Returns no cost, because rules cost nothing. It consumes the batches so that they are counted."""
    deque(bursts, maxlen=0)
    return Usage()


def _run(
    options: Options,
    settings: Settings,
    choice: ReextractionFilter,
    extractor: Extractor,
    estimate: Callable[[Iterable[SessionBatch]], Usage],
    stop: Stop,
) -> Answer:
    with connect(settings.database_url, application="reextract") as connection:
        if not (uses_model(settings) or options.with_rules) and (model := model_in_use(connection)):
            raise SettingsError(
                f"a model reads the turns here ({model}), and these settings name none, so the rules would replace "
                "its cards: set the variables of the extractor (ANTHROPIC_API_KEY or CARDLOG_OPENAI_BASE_URL, and "
                "CARDLOG_MODEL), or give --with-rules"
            )
        reextraction = Reextraction(settings, extractor, stop)
        turns = bursts = 0

        def planned_batches() -> Iterator[SessionBatch]:
            nonlocal turns, bursts
            for burst in reextraction.plan(connection, past_extractions(connection, choice, extractor)):
                turns, bursts = turns + len(burst.turns), bursts + 1
                yield burst

        about = estimate(planned_batches())
        planned = {
            "extractor": extractor.name,
            "model": extractor.model,
            "prompt_version": extractor.prompt_version,
            "turns": turns,
            "bursts": bursts,
            "about": {"calls": about.calls, "tokens": about.tokens, "cost_usd": about.cost_usd},
        }
        _note(
            f"{counted(turns, 'turn')} in {counted(bursts, 'burst')}, to be read by {describe(settings)}: about "
            f"{counted(about.calls, 'call')}, {counted(about.tokens, 'token')}, {_dollars(about.cost_usd)}"
        )
        if options.dry_run:
            return Answer({"planned": planned, "done": None}, ())
        with Progress("turns") as progress:
            tally = reextraction.run(
                connection,
                past_extractions(connection, choice, extractor),
                lambda done: progress(done, turns),
            )
    for reason in dict.fromkeys(tally.reasons):
        _note(f"not read again: {reason}")
    stopped = tally.turns + tally.left < turns
    if stopped:
        _note(
            f"stopped{f', {tally.away}' if tally.away else ''}; finished turns are kept: start it again to continue"
        )
    line = (
        f"{counted(tally.turns, 'turn')} read again: {counted(tally.cards, 'card')} now, {tally.withdrawn} withdrawn; "
        f"{counted(tally.calls, 'call')}, {counted(tally.tokens, 'token')}, {_dollars(tally.cost_usd)}"
    )
    return Answer({"planned": planned, "done": asdict(tally)}, [line], int(stopped or bool(tally.left)))


def _dollars(cost: float | None) -> str:
    return "at an unknown price" if cost is None else f"{cost:.4f} USD"


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
