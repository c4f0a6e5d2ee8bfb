"""``cardlog reembed``: embeds the cards with the embedder of the settings, and swaps the vectors in."""

import json
import signal
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from deploy.commands.operate.rebuild import ProgressPrinter, interrupt
from deploy.options import Given, Json
from events.platform.database import connect_owner, migrate
from events.platform.settings import Settings

if TYPE_CHECKING:
    from projectors.rebuild.reembedding import InstallationPlan


def reembed(
    *,
    mode: Annotated[
        str | None,
        Parameter(metavar="MODE", help="only the cards of this mode (general: all without a model)"),
    ] = None,
    dry_run: Annotated[bool, Parameter(help="only say what would be done, with its time and cost")] = False,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> int:
    """Embed the cards with the embedder of the settings.

    The cards keep their words, and no language model is called. Recall uses the old vectors until all new ones exist.
    One transaction then swaps them, and `cardlog rollback vectors` returns to the old ones. A stopped run continues
    where it stopped, because computed vectors are kept. New cards are embedded by the old embedder until the swap.
    Exit status: 0 done or nothing to do, 1 failed.
    """
    from projectors.embedding.embedders import embedders_of  # noqa: PLC0415 - numpy comes with it
    from projectors.generations.generations import ensure_live  # noqa: PLC0415
    from projectors.rebuild import reembedding  # noqa: PLC0415
    from projectors.vectors.projector import VectorsProjector  # noqa: PLC0415

    signal.signal(signal.SIGTERM, interrupt)
    embedders = embedders_of(cardlog)
    with connect_owner(cardlog, application="reembed") as connection:
        migrate(connection)
        ensure_live(connection, VectorsProjector(embedders))
        found = reembedding.wanted(connection, embedders, mode)
    plan = reembedding.plan_of(found)
    _show(plan, as_json=as_json and dry_run)
    if dry_run or not plan.needed:
        return 0
    printer = ProgressPrinter(as_json=as_json)
    try:
        outcome = reembedding.run(cardlog, embedders, found, on_progress=printer)
    except KeyboardInterrupt:
        printer.end()
        print("stopped; the old vectors still answer, and the next run continues here", file=sys.stderr)
        raise
    finally:
        printer.end()
    if as_json:
        print(json.dumps({**asdict(plan), "generation": outcome.generation, "replaced": outcome.replaced}))
    else:
        print(
            f"vectors: generation {outcome.generation} is live after {outcome.seconds:.1f} s, {outcome.replaced} is "
            "kept; remove it with: cardlog generations --drop"
        )
    return 0


def _show(plan: "InstallationPlan", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(plan)))
        return
    for name, each in plan.slots.items():
        print(f"{name}: {each['now'] or 'no vectors'} -> {each['then']}", file=sys.stderr)
    if plan.added:
        print(
            f"also the cards of {', '.join(plan.added)}, which have no embedder of their own yet",
            file=sys.stderr,
        )
    if not plan.needed:
        print(f"nothing to do: all {plan.cards:,} vectors have their embedder", file=sys.stderr)
        return
    if not plan.other:
        return
    print(
        f"{plan.other:,} of {plan.cards:,} vectors are of another embedder: about {plan.seconds:,.0f} s at "
        f"{plan.texts_per_s:,.0f} texts/s; no call of a language model",
        file=sys.stderr,
    )
