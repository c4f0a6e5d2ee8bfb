"""The kind ``variable``: any JSON value."""

from __future__ import annotations

from events.references.kinds.json_value import OPS, JsonChanges
from events.references.kinds.schemas import schema_of
from events.types.json_values import Json


class Variable(JsonChanges):
    """A value of any form, for instance the stack of a project. Ops change the value or a part of it."""

    name = "variable"
    ops = OPS
    schema = schema_of("variable")

    def initial(self) -> Json:
        return {}
