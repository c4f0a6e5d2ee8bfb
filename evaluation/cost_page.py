"""Writes ``docs/cost.md``: what a model costs for 1,000 turns and for a question, from the prompts as they are sent.

The price lines are those of ``ingest/extraction/claude/prices.json``, and the prose is in ``cost_page.md`` beside this
module. Edit a file and run ``python -m evaluation.cost_page``. The turns are those of ``evaluation/answers``.
"""

from pathlib import Path

from evaluation.answers.conversations import own
from events.platform.settings import Settings
from events.types.extraction import Usage
from ingest.curator import asking
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.claude.model_client import PRICES, Price, dollars
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.token_budget import about_tokens

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cost.md"
TEMPLATE = Path(__file__).with_suffix(".md")
_KNOWN_TOKENS = 600  # the most that a call tells of what is known


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


def row(name: str, price: Price, usage: Usage, stable: int, turns: int) -> str:
    """Returns the row of a price line, for 1,000 turns of a user of whom nothing is known."""
    prompt = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens
    each_time, answered = stable * usage.calls, usage.output_tokens
    plain = dollars(price, fresh=prompt, answered=answered) * 1000 / turns
    cached = dollars(
        price, fresh=prompt - each_time, answered=answered, written=stable, read=each_time - stable
    )
    least = price["least_to_cache"] or 0
    with_cache = f"{cached * 1000 / turns:.3f}" if stable >= least else f"no cache below {least:,} tokens"
    kinds = (price["input"], price["output"], price["cache_write"], price["cache_read"])
    each = ", ".join(f"{paid:g}" for paid in kinds)
    return f"| {name} | {each} | {plain:.3f} | {with_cache} |"


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
    return TEMPLATE.read_text("utf-8").format(
        turns=turns,
        batch=settings.session_batch_turns,
        known=_KNOWN_TOKENS,
        calls=calls,
        stable=stable,
        fresh=fresh,
        most=fresh + calls * _KNOWN_TOKENS,
        answered=usage.output_tokens * 1000 / turns,
        prices="\n".join(row(name, price, usage, stable, turns) for name, price in PRICES.items()),
        curator=about_tokens(asking.text()),
        answer=asking.TOKENS_A_PAIR,
        answers=asking.TOKENS,
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
