"""What PostgreSQL read for a statement, from EXPLAIN ANALYZE."""

from typing import Any

from psycopg import AsyncConnection
from psycopg.sql import SQL


def rows_read(plan: dict[str, Any]) -> float:
    """Returns the rows that the nodes of a plan looked at."""
    own = float((plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"])
    return own + sum(rows_read(each) for each in plan.get("Plans", ()))


class Counting:
    """A connection that counts the rows that its statements read."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self.rows = 0.0

    async def execute(self, query: Any, parameters: Any) -> Any:
        explained = SQL("EXPLAIN (ANALYZE, FORMAT JSON) ") + query
        [[[found]]] = await (await self._connection.execute(explained, parameters)).fetchall()
        self.rows += rows_read(found["Plan"])
        return await self._connection.execute(query, parameters)
