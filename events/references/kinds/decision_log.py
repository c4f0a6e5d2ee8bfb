"""The kind ``decision_log``: decisions that are added, amended and reversed, and never removed."""

from events.references.kinds.arguments import Arguments, item_id, text, texts
from events.references.kinds.items import Item, ItemKind, added, changed, found
from events.references.kinds.kind import SEPARATOR, Op, ReferenceInvalidError, one_line
from events.types.json_values import Json

_OPS = {
    "decide": Arguments(
        {"question": text, "choice": text}, {"item_id": item_id, "reason": text, "alternatives": texts}
    ),
    "reverse": Arguments({"item_id": item_id}, {"reason": text}),
    "amend": Arguments({"item_id": item_id}, {"choice": text, "reason": text}),
}


class DecisionLog(ItemKind):
    """Decisions in the order in which they were made. The evolution is the value, so a rendering tells all of it."""

    name = "decision_log"
    items = "decisions"
    adds = "decide"
    arguments = _OPS

    def defaults(self, at: str) -> Item:
        return {
            "reason": None, "alternatives": [], "decided_at": at, "amendments": [], "reversed_at": None,
            "reversed_because": None,
        }  # fmt: skip

    def complete(self, op: Op, *, at: str, new_id: str) -> Op:
        kept = super().complete(op, at=at, new_id=new_id)
        if kept["op"] == "amend" and not {"choice", "reason"} & kept.keys():
            raise ReferenceInvalidError("choice", "is missing: an amendment has a choice, a reason or both")
        return kept

    def apply(self, data: Json, op: Op) -> Json:
        decisions = data["decisions"]
        if op["op"] == "decide":
            given = {name: op.get(name) for name in ("question", "choice", "reason")}
            decision = self.new_item(op, **given, alternatives=op.get("alternatives") or [])
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
