"""``cardlog eval``: measures extraction and answers on conversations labelled by hand."""

import json
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from deploy.options import Given, Json
from deploy.progress import Progress
from evaluation.answers.command import run_answers, run_record
from evaluation.curator.command import run_curator
from evaluation.extraction_trial import KINDS, Result, Score, cases, trial
from evaluation.people.command import run_people
from events.platform.settings import Settings, SettingsError
from ingest.extraction.choosing import uses_model
from ingest.extraction.extractor_port import Extractor
from ingest.extraction.rules.extractor import RulesExtractor

app = App(
    name="eval",
    help="Measure on labelled data. No memory is touched, and no server needs to run.",
)


app.command(run_people, name="people")
app.command(run_curator, name="curator")
app.command(run_answers, name="answers")
app.command(run_record, name="record")


@app.command(name="extraction")
def run_extraction(
    *,
    extractor: Annotated[
        Literal["rules", "claude"] | None,
        Parameter(help="the extractor (default: claude with a key or a base URL, else rules)"),
    ] = None,
    mistakes: Annotated[bool, Parameter(help="print every mistake")] = False,
    as_json: Json = False,
    settings: Given[Settings],
) -> int:
    """Precision and recall of cards, by kind.

    An extractor reads about ninety short English and Chinese conversations that were labelled by hand. They include
    hard negatives (questions, wishes, orders, quotations). The command prints precision and recall of states, events
    and knowledge, and the number of events with the right day. Optional cards count neither for nor against. With
    claude, every conversation is one call of the model in CARDLOG_MODEL, billed to ANTHROPIC_API_KEY.
    """
    name = extractor or ("claude" if uses_model(settings) else "rules")
    reader, close = _extractor(name, settings)
    try:
        with Progress("conversations") as progress:
            result = trial(reader, cases(), progress)
    finally:
        close()
    if as_json:
        print(json.dumps(_document(reader, result), ensure_ascii=False))
    else:
        _print(reader, result, mistakes=mistakes)
    return 1 if result.failed else 0


def _extractor(name: str, settings: Settings) -> tuple[Extractor, Any]:
    if name == "rules":
        return RulesExtractor(), lambda: None
    if not uses_model(settings):
        raise SettingsError(
            "ANTHROPIC_API_KEY is not set: set it (or the URL of a server), or use --extractor rules"
        )
    from ingest.extraction.claude.extractor import ClaudeExtractor  # noqa: PLC0415 - the SDK takes a second to load

    extractor = ClaudeExtractor(settings)
    return extractor, extractor.close


def _document(extractor: Extractor, result: Result) -> dict[str, Any]:
    return {
        "extractor": extractor.name,
        "model": extractor.model,
        "prompt_version": extractor.prompt_version,
        "conversations": len(cases()),
        "failed": result.failed,
        "refused": result.refused,
        "kinds": {
            kind: {
                **result.score(kind).document(),
                "languages": {each: result.score(kind, each).document() for each in result.languages()},
            }
            for kind in KINDS
        },
        "usage": {
            "calls": result.usage.calls,
            "tokens": result.usage.tokens,
            "cache_read_tokens": result.usage.cache_read_tokens,
            "cost_usd": result.usage.cost_usd,
        },
        "mistakes": result.mistakes,
    }


def _print(extractor: Extractor, result: Result, *, mistakes: bool) -> None:
    print(f"{len(cases())} conversations read by {extractor.name} {extractor.model or ''}".rstrip())
    print(f"{'':<18}{'precision':>10}{'recall':>10}{'expected':>10}{'found':>8}{'wrong':>8}{'day right':>12}")
    for kind in KINDS:
        for language in (None, *result.languages()):
            label = kind if language is None else f"  {language}"
            print(_row(label, result.score(kind, language)))
    usage = result.usage
    if usage.calls:
        cost = "?" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
        print(f"{usage.calls} calls, {usage.tokens} tokens, {cost}; {result.refused} cards refused")
    if result.failed:
        print(f"{result.failed} conversations got no answer")
    if mistakes:
        print("\n".join(result.mistakes))
    elif result.mistakes:
        print(f"{len(result.mistakes)} mistakes; --mistakes shows them")


def _row(label: str, score: Score) -> str:
    days = f"{score.dated}/{score.datable}" if score.datable else ""
    return (
        f"{label:<18}{_share(score.precision):>10}{_share(score.recall):>10}"
        f"{score.expected:>10}{score.found:>8}{score.wrong:>8}{days:>12}"
    )


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.3f}"
