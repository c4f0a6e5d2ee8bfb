"""The built-in kinds by name."""

from collections.abc import Mapping

from events.references.kinds.decision_log import DecisionLog
from events.references.kinds.json_value import Variable
from events.references.kinds.kind import Kind
from events.references.kinds.plan import Plan
from events.references.kinds.todo_list import TodoList

BUILT_IN: Mapping[str, Kind] = {kind.name: kind for kind in (TodoList(), Plan(), DecisionLog(), Variable())}
