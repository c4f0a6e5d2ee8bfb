"""``cardlog insights``: lists what the curator concluded, shows the sources, and retracts an insight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument, option

if TYPE_CHECKING:
    from cardlog_client import types

app = App(name="insights", help="what the curator concluded from several cards of a user")
verbs = Verbs(app)

Status = Literal["current", "stale", "retracted", "all"]
_ID = argument("insight", UUID, "the insight's id, as listed")


def _lines(insight: types.Insight) -> Iterator[str]:
    yield f"{insight['insight_id']}  {insight['status']:<9}  {len(insight['sources']):>3} cards  {insight['content']}"


def _sources(found: types.InsightSources) -> Iterator[str]:
    yield from _lines(found["insight"])
    for each in found["cards"]:
        said = each["said_at"][:10] if each["said_at"] else "-"
        yield f"    {said:<10}  {each['kind'] or 'gone':<9}  {each['content'] or each['card_id']}"


verbs.pages(
    "list", "list the insights of a user, the last first", Client.insights,
    verbs.options, option("status", Status, "default: current", "current"),
    most=500, items="insights", lines=_lines,
    none=lambda status: f"{{user}} has no {'' if status == 'all' else f'{status} '}insights",
)  # fmt: skip
verbs.call("show", "show an insight with its sources", Client.insight, _ID, lines=_sources)
verbs.call(
    "retract", "retract an insight, so it is not derived again", Client.retract_insight, _ID,
    option("reason", str, "why it is wrong", "retracted by hand"), lines=_lines,
)  # fmt: skip
