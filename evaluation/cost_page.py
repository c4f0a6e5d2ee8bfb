"""Writes ``docs/cost.md``: what a model costs for 1,000 turns and for a question, from the prompts as they are sent.

The price lines are those of ``ingest/extraction/claude/prices.json``. Edit the file and run
``python -m evaluation.cost_page``. The turns are the conversations of ``evaluation/answers``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.answers.conversations import own
from events.platform.settings import Settings
from events.types.extraction import Usage
from ingest.curator import asking
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.claude.model_client import PRICES
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.token_budget import about_tokens

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cost.md"
_OWN: dict[str, dict[str, Any]] = {
    "a server of your own": dict.fromkeys(
        ("input", "output", "cache_write", "cache_read", "least_to_cache"), 0
    )
}
_KNOWN_TOKENS = 600  # the most that a call tells of what is known

_TEXT = """# Cost of a model

This page is for operators: it says what a model costs. `python -m evaluation.cost_page` writes it from the prompts and
from the price lines in `ingest/extraction/claude/prices.json`. Edit the lines for your model, and run it again.

Tokens are estimates: one for four ASCII characters, and one for each other character. Without a model, everything
costs nothing.

## 1,000 turns

The turns are the {turns} of the [conversations](answers.md) in two languages, in calls of up to {batch} turns of a
session. The lower number is for a user of whom nothing is known. The higher number is for a user with as much as a
call ever tells ({known} tokens).

| | calls | constant tokens of the prompt, each call | other tokens of the prompt | tokens of the answers |
|---|---|---|---|---|
| 1,000 turns | {calls:.0f} | {stable:,} | {fresh:,.0f} to {most:,.0f} | {answered:,.0f} |

Dollars for 1,000 turns:

| price line | input, output, cache write, cache read ($ a million) | without cache | with cache |
|---|---|---|---|
{prices}

## A question

A recall, a context, a hook and a tool of MCP call no model: 0 calls and 0 tokens. What an assistant is given costs
its own model the tokens of the context, at most `token_budget` ([prompts](context.md)). Ten cards have about 1,257
tokens.

## The curator

The curator asks only with `CARDLOG_CURATOR_TOKENS_PER_USER_DAY` above 0, at most once a run of an idle user. A
question has {curator} tokens that never change, the words of the pairs of cards, and an answer of at most {answer}
tokens a pair and {answers} more.

## Budgets

| setting | operation | after it |
|---|---|---|
| `CARDLOG_BUDGET_TOKENS_PER_USER_DAY` | extraction, each user and UTC day | the rules read until tomorrow |
| `CARDLOG_CURATOR_TOKENS_PER_USER_DAY` | the curator, each user and UTC day | the curator goes on without the model |

The log counts the tokens, so all workers know them after a restart. A call of the extraction starts only while the
budget covers the running calls of the user, so a burst exceeds it by one call. A call of the curator starts only if
the budget covers its longest answer. `cardlog reextract` has no budget: look at `--dry-run` first. `GET /v1/usage`
sums up what was spent.
"""


def batches(most_turns: int) -> list[SessionBatch]:
    """Returns the turns of the conversations as the extractor would send them."""
    found = []
    for talk in own():
        for session in talk.sessions:
            turns = tuple(RecordedTurn(talk.name, number, turn) for number, turn in enumerate(session, 1))
            found += [
                SessionBatch(turns[at : at + most_turns], turns[max(0, at - CONTEXT_TURNS) : at])
                for at in range(0, len(turns), most_turns)
            ]
    return found


def row(name: str, price: dict[str, Any], usage: Usage, stable: int, turns: int) -> str:
    """Returns the row of a price line, for 1,000 turns of a user of whom nothing is known."""
    prompt = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens
    other = prompt - stable * usage.calls
    answers = usage.output_tokens * price["output"]
    plain = (prompt * price["input"] + answers) / turns / 1000
    cached = (
        other * price["input"]
        + stable * (price["cache_write"] + (usage.calls - 1) * price["cache_read"])
        + answers
    )
    least = price["least_to_cache"] or 0
    dollars = f"{cached / turns / 1000:.3f}" if stable >= least else f"no cache below {least:,} tokens"
    each = ", ".join(f"{price[kind]:g}" for kind in ("input", "output", "cache_write", "cache_read"))
    return f"| {name} | {each} | {plain:.3f} | {dollars} |"


def page() -> str:
    """Returns the text of the page."""
    settings = Settings()
    extractor = ClaudeExtractor(settings)
    found = batches(settings.session_batch_turns)
    turns = sum(len(each.turns) for each in found)
    usage, stable = extractor.estimate(found), extractor.stable_tokens()
    prompt = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens
    fresh = (prompt - stable * usage.calls) * 1000 / turns
    calls = usage.calls * 1000 / turns
    return _TEXT.format(
        turns=turns,
        batch=settings.session_batch_turns,
        known=_KNOWN_TOKENS,
        calls=calls,
        stable=stable,
        fresh=fresh,
        most=fresh + calls * _KNOWN_TOKENS,
        answered=usage.output_tokens * 1000 / turns,
        prices="\n".join(row(name, price, usage, stable, turns) for name, price in (PRICES | _OWN).items()),
        curator=about_tokens(asking.text()),
        answer=asking.TOKENS_A_PAIR,
        answers=asking.TOKENS,
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
