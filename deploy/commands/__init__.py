"""The subcommands of ``cardlog``, one module each."""

from __future__ import annotations

from deploy.commands import (
    arbitrations,
    capacity,
    concepts,
    context,
    dead,
    demo,
    evaluate,
    grant,
    log,
    parked,
    push,
    rebuild,
    recall,
    reextract,
    status,
    top,
    up,
    when,
    work,
)

COMMANDS = (
    up, push, recall, context, arbitrations, status, top, log, parked, dead, rebuild, reextract, concepts, when,
    grant, evaluate, work, capacity, demo,
)  # fmt: skip
