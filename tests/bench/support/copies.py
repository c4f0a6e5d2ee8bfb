"""Multiplies folded cards inside PostgreSQL: millions of cards in minutes, as real rows with real indexes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from events.platform.database import Connection, connect

_TABLES = """
SELECT c.oid::regclass::text, array_agg(quote_ident(a.attname) ORDER BY a.attnum),
       array_agg(a.attname::text) FILTER (WHERE a.atttypid = 'uuid'::regtype)
FROM pg_class c JOIN pg_attribute a
  ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relnamespace IN ('cards'::regnamespace, 'people'::regnamespace, 'vectors'::regnamespace)
  AND c.relkind = 'r'
GROUP BY c.oid HAVING 'user_id' = ANY (array_agg(a.attname))
ORDER BY c.oid::regclass::text <> 'vectors.card_vectors_384', c.oid::regclass::text <> 'cards.cards'
"""
_INDEXES = """
SELECT ix.oid::regclass::text, i.indrelid::regclass::text, pg_get_indexdef(ix.oid),
       con.conname, pg_get_constraintdef(con.oid)
FROM pg_index i JOIN pg_class ix ON ix.oid = i.indexrelid
LEFT JOIN pg_constraint con ON con.conindid = ix.oid AND con.contype = 'p'
WHERE i.indrelid::regclass::text = ANY (%s)
"""
# A key is a hash of a term and its user, so another user has other keys.
_KEYS = {
    "term_key": "term_key # %(salt)s",
    "embedding": "embedding * %(mask)s::vector",
    **{
        name: f"ARRAY(SELECT k # %(salt)s FROM unnest({name}) k)"
        for name in ("term_keys", "pair_keys", "gram_keys")
    },
}
_OTHER_USERS = {"user_id": "user_id || %(suffix)s"}
_OTHER_CARDS = {"session_id": "session_id || %(suffix)s", "content": "content || %(suffix)s"}
_OTHER_ID = "overlay({name}::text PLACING %(two_digits)s FROM 35)::uuid"
_VOCABULARIES = 4
"""One user's twelve times as many cards have four times as many words: vocabulary grows more slowly than text."""


def columns_of(connection: Connection, table: str) -> list[str]:
    """The columns of a table that are not computed."""
    return next(columns for name, columns, _ in connection.execute(_TABLES) if name == table)


def multiply(url: str, copies: int, *, user: str | None = None, signs: bool = True) -> dict[str, float]:
    """Writes every user, or the cards of one ``user``, so many times. Returns the seconds of rows, indexes and signs.

    A copy of all is of other users, with other search keys. A copy of one user's cards is of that user, with other
    ids, sessions and contents, and with one of four vocabularies. Vectors of a copy are .7 similar to the original.
    Without ``signs``, the index that only users with very many cards need is left out.
    """
    with connect(url, application="bench") as connection:
        tables = connection.execute(_TABLES).fetchall()
        indexes = connection.execute(_INDEXES, [[row[0] for row in tables]]).fetchall()
        for index, table, _, constraint, _ in indexes:
            gone = f"TABLE {table} DROP CONSTRAINT {constraint}" if constraint else f"INDEX {index}"
            connection.execute(("ALTER " if constraint else "DROP ") + gone)

    def statements(of_signs: bool) -> list[Callable[[Connection], object]]:
        made = [
            f"ALTER TABLE {table} ADD {primary}" if primary else text
            for _, table, text, _, primary in indexes
        ]
        chosen = [text for text in made if ("hnsw" in text and "_384" in text) == of_signs]
        return [lambda connection, text=text: connection.execute(text) for text in chosen]  # type: ignore[misc]

    began = perf_counter()
    _each(url, "64MB", [_copied(user, copies, *row) for row in tables])
    rows = perf_counter()
    _each(url, "64MB", statements(False))
    built = perf_counter()
    if signs:
        _each(url, "5GB", statements(True))
    ended = perf_counter()
    with connect(url, application="bench") as connection:
        connection.execute("VACUUM ANALYZE")
    return {
        "rows": rows - began,
        "indexes": built - rows,
        "signs": ended - built,
        "analyze": perf_counter() - ended,
    }


def _each(url: str, memory: str, works: list[Callable[[Connection], object]]) -> None:
    """Runs each piece of work on a connection of its own, two at a time."""

    def run(work: Callable[[Connection], object]) -> None:
        with connect(url, application="bench") as connection, connection.transaction():
            connection.execute(f"SET LOCAL maintenance_work_mem = '{memory}'")
            connection.execute("SET LOCAL max_parallel_maintenance_workers = 1")
            work(connection)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(run, works))


def _copied(
    user: str | None, copies: int, table: str, columns: list[str], ids: list[str] | None
) -> Callable[[Connection], None]:
    """Returns the work that writes the copies of a table's rows into the table without indexes."""
    makers = _KEYS | _OTHER_USERS
    if user is not None:
        makers = _KEYS | {name: _OTHER_ID.format(name=name) for name in ids or ()}
        makers |= _OTHER_CARDS if "cards" in table else {}
        makers["word"] = "word || %(vocabulary)s"
        makers["cards"], makers["terms"] = f"cards * {copies}", f"terms * {copies}"
        # A word and a handle are one row of a user, however often they occur.
        copies = copies if ids else _VOCABULARIES if "word" in columns else 1
    made = ", ".join(makers.get(name, name) for name in columns)

    def work(connection: Connection) -> None:
        chance = np.random.default_rng(11)
        salts = [0, *chance.integers(2**31, size=max(copies, _VOCABULARIES) - 1).tolist()]
        if user is None:
            connection.execute(f"CREATE TEMP TABLE seed AS SELECT * FROM {table}; TRUNCATE {table}")
        else:
            connection.execute(f"CREATE TEMP TABLE seed AS SELECT * FROM {table} WHERE user_id = %s", [user])
            connection.execute(f"DELETE FROM {table} WHERE user_id = %s", [user])
        for number in range(copies):
            kept = number if user is None else number % _VOCABULARIES
            mask = 1 + chance.standard_normal(384) if number else np.ones(384)
            values = {
                "suffix": f"-{number}" if number else "",
                "vocabulary": str(kept or ""),
                "salt": salts[kept],
                "two_digits": f"{number:02x}",
                "mask": str(mask.astype(np.float32).tolist()),
            }
            connection.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {made} FROM seed",
                {name: value for name, value in values.items() if f"%({name})s" in made},
            )

    return work
