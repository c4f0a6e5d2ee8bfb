"""Checks a chain of digests, which PostgreSQL computes again, and compares the chain with what witnesses saw of it.

The log has a chain in each partition, and the audit log is one chain.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256

import psycopg

from events.types.json_values import Json

Head = tuple[int, bytes]
"""A position of a chain and the digest there. The digest covers every row up to the position."""
SEED = sha256(b"").digest()
"""The digest before the first row of a chain."""
Ask = Callable[..., Json]
"""Gives the row or None of the statement ``head``, ``verify_slice``, ``behind_head`` or ``digest_at`` of one chain."""


def first_break(
    ask: Ask,
    limit: int,
    read: Callable[[int, int], object] = lambda after, last: None,
    progress: Callable[[int], object] = lambda done: None,
) -> tuple[int, str | None]:
    """Returns the number of sound rows, and the first fault of the chain or of its head, or None.

    The rows come in slices of ``limit``. ``read`` gets the bounds of each slice.
    """
    head, head_digest = ask("head")
    position, digest = 0, SEED
    while position < head:
        try:
            count, hole, broken, last_digest = ask(
                "verify_slice", after=position, head=head, limit=limit, digest=digest
            )
            read(position, position + count)
        except psycopg.InternalError as error:
            # The damage is below the rows, in checksums or lengths. The server does not name the row.
            return position, f"{position + 1} or after: cannot be read: {error.diag.message_primary}"
        first_bad = min((each for each in (hole, broken) if each is not None), default=None)
        if first_bad is not None:
            what = "is missing" if first_bad == hole else "was changed, or stands in another's place"
            return first_bad - 1, f"{first_bad}: {what}"
        short = count < min(limit, head - position)
        position += count
        if short:
            return position, f"{position + 1}: is missing, the head says {head}"
        digest = last_digest
        progress(position)
    if digest != head_digest:
        return position, f"{position}: its digest is not the head's"
    head, last = ask("behind_head")
    if last is not None and last > head:
        return position, f"{head + 1}: stands behind the head"
    return position, None


def difference(ask: Ask, witnesses: Iterable[tuple[str, Head]]) -> str | None:
    """Returns the first place where the chain differs from a witness, or None. A witness is a name with a head.

    The change is behind the last head that still fits.
    """
    sound, row = 0, ask("head")
    head = 0 if row is None else row[0]
    for (position, digest), name in sorted((seen, name) for name, seen in witnesses):
        if not position:
            continue
        if position > head:
            return f"{max(head, sound) + 1}: is missing, {name} saw the log reach {position}"
        row = ask("digest_at", position=position)
        if row is None:
            return f"{position}: is missing, {name} saw it"
        if bytes(row[0]) != digest:
            place = f"{position}" if sound + 1 == position else f"{sound + 1} to {position}"
            return f"{place}: was rewritten with its digests, {name} saw another history"
        sound = position
    return None
