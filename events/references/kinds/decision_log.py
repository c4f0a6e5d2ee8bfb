"""The kind ``decision_log``: decisions that are added, amended and reversed, and never removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from events.references.kinds.arguments import Arguments, checked, item_id, text, texts
from events.references.kinds.items import added, changed, found, prepared
from events.references.kinds.kind import SEPARATOR, Op, ReferenceInvalidError, one_line
from events.references.kinds.schemas import schema_of
from events.types.json_values import Json

_OPS = {
    "decide": Arguments(
        {"question": text, "choice": text}, {"item_id": item_id, "reason": text, "alternatives": texts}
    ),
    "reverse": Arguments({"item_id": item_id}, {"reason": text}),
    "amend": Arguments({"item_id": item_id}, {"choice": text, "reason": text}),
}


class DecisionLog:
    """Decisions in the order in which they were made. The evolution is the value, so a rendering tells all of it."""

    name = "decision_log"
    ops = tuple(_OPS)
    schema = schema_of("decision_log")

    def initial(self) -> Json:
        return {"decisions": []}

    def prepare(self, data: Json, *, at: str, new_id: Callable[[], str]) -> Json:
        defaults: Mapping[str, object] = {
            "reason": None,
            "alternatives": [],
            "decided_at": at,
            "amendments": [],
            "reversed_at": None,
            "reversed_because": None,
        }
        return prepared(data, "decisions", defaults, new_id)

    def complete(self, op: Op, *, at: str, new_id: str) -> Op:
        kept = checked(_OPS, {**op, "at": at})
        if kept["op"] == "decide":
            kept.setdefault("item_id", new_id)
        if kept["op"] == "amend" and not {"choice", "reason"} & kept.keys():
            raise ReferenceInvalidError("choice", "is missing: an amendment has a choice, a reason or both")
        return kept

    def apply(self, data: Json, op: Op) -> Json:
        decisions = data["decisions"]
        if op["op"] == "decide":
            decision = {
                "id": op["item_id"],
                "question": op["question"],
                "choice": op["choice"],
                "reason": op.get("reason"),
                "alternatives": op.get("alternatives") or [],
                "decided_at": op["at"],
                "amendments": [],
                "reversed_at": None,
                "reversed_because": None,
            }
            return {"decisions": added(decisions, decision)}
        decision = found(decisions, op["item_id"])
        if decision["reversed_at"] is not None:
            if op["op"] == "reverse":
                return data
            raise ReferenceInvalidError(
                "item_id", f"{decision['id']!r} was reversed; decide anew instead of an amendment"
            )
        if op["op"] == "reverse":
            fields = {"reversed_at": op["at"], "reversed_because": op.get("reason")}
        else:
            amendment = {"at": op["at"], "choice": op.get("choice"), "reason": op.get("reason")}
            fields = {"amendments": [*decision["amendments"], amendment]}
        return {"decisions": changed(decisions, decision["id"], **fields)}

    def targets(self, op: Op) -> frozenset[str]:
        return frozenset((op["item_id"],))

    def render(self, data: Json) -> str:
        return SEPARATOR.join(_line(each) for each in data["decisions"]) or "(empty)"


def _line(decision: Json) -> str:
    line = f"{decision['decided_at'][:10]} {one_line(decision['question'])} → {one_line(decision['choice'])}"
    line += _because(decision["reason"])
    if decision["alternatives"]:
        line += f", not {', '.join(map(one_line, decision['alternatives']))}"
    for each in decision["amendments"]:
        changed_to = f" → {one_line(each['choice'])}" if each["choice"] else ""
        line += f"; amended {each['at'][:10]}{changed_to}{_because(each['reason'])}"
    if decision["reversed_at"] is not None:
        line += f"; reversed {decision['reversed_at'][:10]}{_because(decision['reversed_because'])}"
    return line


def _because(reason: str | None) -> str:
    return f" (because {one_line(reason)})" if reason else ""
