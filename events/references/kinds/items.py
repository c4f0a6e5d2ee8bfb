"""Lists of items with ids, as values that never change, and the base of the kinds whose data are such a list."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from events.references.kinds.arguments import Arguments, checked
from events.references.kinds.kind import MAX_ITEMS, Op, ReferenceInvalidError, schema_of
from events.types.json_values import Json

Item = dict[str, Any]


class ItemKind:
    """What the kinds with one list of items share. ``items`` names the list, and ``adds`` the op that adds an item."""

    name: ClassVar[str]
    items: ClassVar[str]
    adds: ClassVar[str]
    arguments: ClassVar[Mapping[str, Arguments]]

    @property
    def ops(self) -> Sequence[str]:
        return tuple(self.arguments)

    @property
    def schema(self) -> Json:
        return schema_of(self.name)

    def defaults(self, at: str) -> Item:
        """Returns the fields of a new item that nobody gives."""
        raise NotImplementedError

    def initial(self) -> Json:
        return {self.items: []}

    def prepare(self, data: Json, *, at: str, new_id: Callable[[], str]) -> Json:
        return prepared(data, self.items, self.defaults(at), new_id)

    def complete(self, op: Op, *, at: str, new_id: str) -> Op:
        kept = checked(self.arguments, {**op, "at": at})
        return {"item_id": new_id, **kept} if kept["op"] == self.adds else kept

    def new_item(self, op: Op, **fields: object) -> Item:
        """Returns the item that a completed op adds."""
        return {"id": op["item_id"], **self.defaults(op["at"]), **fields}

    def targets(self, op: Op) -> frozenset[str]:
        return frozenset((op["item_id"],))


def prepared(data: Json, name: str, defaults: Mapping[str, object], new_id: Callable[[], str]) -> Json:
    """Returns ``data`` whose items in the list ``name`` have an id and the defaults for the fields they lack.

    Data of another form are returned unchanged; the schema of the kind refuses them.
    """
    if not isinstance(data, dict) or not isinstance(data.get(name, []), list):
        return data
    items = [
        {"id": new_id(), **defaults, **each} if isinstance(each, dict) else each
        for each in data.get(name, [])
    ]
    ids = [each.get("id") for each in items if isinstance(each, dict)]
    if len({str(each) for each in ids}) != len(ids):
        raise ReferenceInvalidError(f"data/{name}", "holds an id twice")
    return {**data, name: items}


def found(items: Sequence[Item], item_id: str) -> Item:
    """Returns the item with the id. Raises :class:`ReferenceInvalidError` when there is none."""
    for item in items:
        if item["id"] == item_id:
            return item
    raise ReferenceInvalidError("item_id", f"{item_id[:64]!r} is no item of this reference", _ids(items))


def added(items: Sequence[Item], item: Item, at: int | None = None) -> list[Item]:
    """Returns the items with one more, at the place ``at`` or at the end."""
    if len(items) >= MAX_ITEMS:
        raise ReferenceInvalidError("data", f"holds {len(items)} items; at most {MAX_ITEMS} are allowed")
    if any(each["id"] == item["id"] for each in items):
        raise ReferenceInvalidError("item_id", f"{item['id']!r} is taken; use another id, or none")
    place = len(items) if at is None else min(at, len(items))
    return [*items[:place], item, *items[place:]]


def changed(items: Sequence[Item], item_id: str, **fields: object) -> list[Item]:
    """Returns the items with other fields in one item."""
    found(items, item_id)
    return [{**item, **fields} if item["id"] == item_id else item for item in items]


def removed(items: Sequence[Item], item_id: str) -> list[Item]:
    """Returns the items without one of them."""
    found(items, item_id)
    return [item for item in items if item["id"] != item_id]


def ordered(items: Sequence[Item], ids: Sequence[str]) -> list[Item]:
    """Returns the items in the order of ``ids``. Items that are not named keep their order behind the named ones."""
    first = [found(items, each) for each in ids]
    named = set(ids)
    return [*first, *(item for item in items if item["id"] not in named)]


def moved(items: Sequence[Item], item_id: str, place: int) -> list[Item]:
    """Returns the items with one of them at ``place``, counted from 0 without that item."""
    item = found(items, item_id)
    return added(removed(items, item_id), item, place)


def _ids(items: Sequence[Item]) -> list[str]:
    return [item["id"] for item in items[:100]]
