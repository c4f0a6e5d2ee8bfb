"""The kind ``plan``: a goal and ordered steps with a status."""

from collections.abc import Callable

from events.references.kinds.arguments import Arguments, item_id, place, text
from events.references.kinds.items import Item, ItemKind, added, changed, found, moved, removed
from events.references.kinds.kind import SEPARATOR, Op, one_line
from events.types.json_values import Json

_OPS = {
    "set_goal": Arguments({"goal": text}),
    "add_step": Arguments({"text": text}, {"item_id": item_id, "place": place}),
    "start": Arguments({"item_id": item_id}),
    "complete": Arguments({"item_id": item_id}),
    "block": Arguments({"item_id": item_id}, {"reason": text}),
    "skip": Arguments({"item_id": item_id}, {"reason": text}),
    "update": Arguments({"item_id": item_id, "text": text}),
    "move": Arguments({"item_id": item_id, "place": place}),
    "remove": Arguments({"item_id": item_id}),
}
_STATUS = {"start": "in_progress", "complete": "completed", "block": "blocked", "skip": "skipped"}
_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[✓]", "blocked": "[!]", "skipped": "[-]"}


class Plan(ItemKind):
    """A goal, and steps that are pending, in progress, completed, blocked or skipped."""

    name = "plan"
    items = "steps"
    adds = "add_step"
    arguments = _OPS

    def defaults(self, at: str) -> Item:
        return {"status": "pending", "reason": None, "changed_at": at}

    def initial(self) -> Json:
        return {"goal": None, "steps": []}

    def prepare(self, data: Json, *, at: str, new_id: Callable[[], str]) -> Json:
        filled = super().prepare(data, at=at, new_id=new_id)
        return {"goal": None, **filled} if isinstance(filled, dict) else filled

    def apply(self, data: Json, op: Op) -> Json:
        steps, name = data["steps"], op["op"]
        match name:
            case "set_goal":
                return {**data, "goal": op["goal"]}
            case "add_step":
                steps = added(steps, self.new_item(op, text=op["text"]), op.get("place"))
            case "update":
                steps = changed(steps, op["item_id"], text=op["text"])
            case "move":
                steps = moved(steps, op["item_id"], op["place"])
            case "remove":
                steps = removed(steps, op["item_id"])
            case _:
                step = found(steps, op["item_id"])
                status = {"status": _STATUS[name], "reason": op.get("reason")}
                if status.items() <= step.items():
                    return data
                steps = changed(steps, step["id"], **status, changed_at=op["at"])
        return {**data, "steps": steps}

    def targets(self, op: Op) -> frozenset[str]:
        return frozenset((op.get("item_id", "(goal)"),))

    def render(self, data: Json) -> str:
        goal = [f"goal: {one_line(data['goal'])}"] if data["goal"] else []
        steps = [
            f"{_MARKS[step['status']]} {number}. {one_line(step['text'])}"
            + (f" ({one_line(step['reason'])})" if step["reason"] else "")
            for number, step in enumerate(data["steps"], 1)
        ]
        return SEPARATOR.join([*goal, *steps]) or "(empty)"
