"""The embedder of each slot of a generation. It stays the same until another generation is live."""

from collections.abc import Iterable

from events.platform.database import Connection, statement
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError
from projectors.embedding.embedders import Embedders, Space

_PACKAGE = "projectors.vectors"


def embedders_in_use(
    connection: Connection, embedders: Embedders, slots: Iterable[str]
) -> tuple[dict[str, Embedder], dict[str, str]]:
    """Returns the embedder of each slot in the generation first on the search path, and the slots that have none now.

    The first vectors of a slot decide its embedder. A slot whose embedder is not available comes with the reason and
    the remedy.
    """
    found = live_spaces(connection)
    used: dict[str, Embedder] = {}
    missing: dict[str, str] = {}
    # Always in the same order, so that two workers never wait for each other.
    for slot in sorted(set(slots)):
        try:
            if slot not in found:
                chosen = embedders.of_slot(slot)
                chosen.embed(())  # an embedder that does not work must not get the slot
                keep(connection, {slot: Space(chosen.name, chosen.fingerprint)})
                found = live_spaces(connection)
            used[slot] = embedders.of_space(slot, found[slot])
        except EmbedderUnavailableError as error:
            missing[slot] = str(error)
    return used, missing


def keep(connection: Connection, spaces: dict[str, Space]) -> None:
    """Gives slots of the generation first on the search path their embedder, unless they have one."""
    for slot, space in sorted(spaces.items()):
        connection.execute(
            statement(_PACKAGE, "add_space"),
            {"slot": slot, "name": space.name, "fingerprint": space.fingerprint},
        )


def live_spaces(connection: Connection) -> dict[str, Space]:
    """Returns the embedder of each slot, for the generation first on the search path. Nothing is written."""
    rows = connection.execute(statement(_PACKAGE, "spaces")).fetchall()
    return {slot: Space(name, fingerprint) for slot, name, fingerprint in rows}
