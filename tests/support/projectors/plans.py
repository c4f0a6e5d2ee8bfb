"""What PostgreSQL read for a statement, from EXPLAIN ANALYZE."""

from typing import Any


def rows_read(plan: dict[str, Any]) -> float:
    """Returns the rows that the nodes of a plan looked at."""
    own = float((plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"])
    return own + sum(rows_read(each) for each in plan.get("Plans", ()))
