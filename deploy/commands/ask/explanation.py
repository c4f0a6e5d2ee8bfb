"""The explanation of a recall, as tables for people."""

from collections.abc import Iterable, Iterator

from rich.markup import escape
from rich.table import Table

from events.types.json_values import Json, JsonObject

_WORDS = 60
_PLACES = 20
_INTENTS = {"present": "what holds now", "past": "the past", "history": "the whole history", "why": "reasons"}


def tables_of(answer: Json) -> Iterator[Table]:
    """Yields tables of the analysed question, the channels, the cards and the withheld cards."""
    explain = answer["explain"]
    yield _question(explain)
    yield _channels(answer)
    yield _cards(answer)
    if explain["withheld"]:
        yield _withheld(explain)


def _question(explain: JsonObject) -> Table:
    table = Table("", "", title="The question", title_justify="left", show_header=False)
    question = explain["question"]
    scope = {
        name.replace("_", " "): value for name, value in explain["scope"].items() if value not in (None, [])
    }
    rows = {
        "language": [question["language"]],
        "asks for": [_INTENTS.get(question["intent"], question["intent"]), *question["wants"]],
        "terms": [f"{term} {weight:g}" for term, weight in question["terms"].items()],
        "concepts": question["concepts"],
        "times": [f"{each['from'] or '…'} to {each['to'] or '…'}" for each in question["times"]],
        "scope": [
            f"{name} {' '.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in scope.items()
        ],
    }
    for name, items in rows.items():
        table.add_row(name, _listed(items))
    return table


def _channels(answer: Json) -> Table:
    table = Table("channel", "status", "ms", "hits", "its best", title="The channels", title_justify="left")
    words = {card["card_id"]: card["content"] for card in answer["explain"]["cards"]}
    for name, channel in answer["explain"]["channels"].items():
        best = [words.get(each["card_id"]) for each in channel["candidates"][:1]]
        report = answer["channels"][name]
        table.add_row(
            name, report["status"], f"{report['ms']:.1f}", str(report["hits"]),
            _short(report.get("detail") or (best[0] if best else "")),
        )  # fmt: skip
    return table


def _cards(answer: Json) -> Table:
    explain = answer["explain"]
    table = Table("#", "score", "card", title="The cards", title_justify="left", show_lines=True)
    ranks = {
        name: {each["card_id"]: each["rank"] for each in channel["candidates"]}
        for name, channel in explain["channels"].items()
    }
    numbers = {each["card_id"]: f"number {each['place']}" for each in explain["cards"] if each["place"]}
    newer = {each["card_id"]: each.get("perhaps_no_longer") for each in answer["cards"]}
    for card in explain["cards"][:_PLACES]:
        adds = sorted(card["contributions"].items(), key=lambda each: -abs(each[1]))
        found = (f"{name} {of[card['card_id']]}" for name, of in ranks.items() if card["card_id"] in of)
        later = newer.get(card["card_id"])
        lines = [
            _short(card["content"]),
            later and f"perhaps no longer: {_short(later['content'])}",
            f"found: {_listed(found)}",
            ", ".join(f"{amount:+.2f} {escape(name)}" for name, amount in adds),
            card["left_out"] and f"left out: {escape(_numbered(card['left_out'], numbers))}",
        ]
        table.add_row(
            str(card["place"] or "-"),
            "" if card["score"] is None else f"{card['score']:.2f}",
            "\n".join(line for line in lines if line),
        )
    if len(explain["cards"]) > _PLACES:
        table.caption = f"and {len(explain['cards']) - _PLACES} more (--json shows all)"
    return table


def _withheld(explain: JsonObject) -> Table:
    table = Table(
        "card", "reason", title="Cards with words of the question that may not answer", title_justify="left"
    )
    for card in explain["withheld"]:
        table.add_row(_short(card["content"]), escape(card["reason"]))
    return table


def _numbered(reason: str, numbers: dict[str, str]) -> str:
    """Returns a reason with the number of a card in the table in place of its id."""
    return " ".join(numbers.get(word.rstrip(","), word) for word in reason.split())


def _listed(items: Iterable[str]) -> str:
    return escape(", ".join(items)) or "-"


def _short(text: str | None) -> str:
    words = " ".join((text or "").split())
    return escape(words if len(words) <= _WORDS else words[: _WORDS - 1] + "…")
