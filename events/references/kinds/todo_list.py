"""The kind ``todo_list``: items that are open or done."""

from events.references.kinds.arguments import Arguments, day, item_id, item_ids, text
from events.references.kinds.items import Item, ItemKind, added, changed, found, ordered, removed
from events.references.kinds.kind import SEPARATOR, Op, ReferenceInvalidError, one_line
from events.types.json_values import Json

_OPS = {
    "add": Arguments({"text": text}, {"item_id": item_id, "due": day}),
    "mark_done": Arguments({"item_id": item_id}),
    "reopen": Arguments({"item_id": item_id}),
    "remove": Arguments({"item_id": item_id}),
    "update": Arguments({"item_id": item_id}, {"text": text, "due": day}),
    "reorder": Arguments({"ids": item_ids}),
    "clear": Arguments(),
}


class TodoList(ItemKind):
    """A list of items, each with id, text, done, due, added_at and done_at."""

    name = "todo_list"
    items = "items"
    adds = "add"
    arguments = _OPS

    def defaults(self, at: str) -> Item:
        return {"done": False, "due": None, "added_at": at, "done_at": None}

    def complete(self, op: Op, *, at: str, new_id: str) -> Op:
        kept = super().complete(op, at=at, new_id=new_id)
        if kept["op"] == "update" and not {"text", "due"} & kept.keys():
            raise ReferenceInvalidError("text", "is missing: an update changes text, due or both")
        return kept

    def apply(self, data: Json, op: Op) -> Json:
        items, at = data["items"], op["at"]
        match op["op"]:
            case "add":
                return {"items": added(items, self.new_item(op, text=op["text"], due=op.get("due")))}
            case "mark_done":
                item = found(items, op["item_id"])
                return data if item["done"] else {"items": changed(items, item["id"], done=True, done_at=at)}
            case "reopen":
                item = found(items, op["item_id"])
                return (
                    {"items": changed(items, item["id"], done=False, done_at=None)} if item["done"] else data
                )
            case "remove":
                return {"items": removed(items, op["item_id"])}
            case "update":
                new: dict[str, object] = {name: op[name] for name in ("text", "due") if name in op}
                return {"items": changed(items, op["item_id"], **new)}
            case "reorder":
                return {"items": ordered(items, op["ids"])}
            case _:
                return {"items": []}

    def targets(self, op: Op) -> frozenset[str]:
        if op["op"] in ("reorder", "clear"):
            return frozenset((f"({op['op']})",))
        return super().targets(op)

    def render(self, data: Json) -> str:
        shown = [
            f"[{'✓' if item['done'] else ' '}] {one_line(item['text'])}"
            + (f" (due {item['due'][:10]})" if item["due"] and not item["done"] else "")
            for item in data["items"]
        ]
        return SEPARATOR.join(shown) or "(empty)"
