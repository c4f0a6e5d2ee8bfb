"""The verbs of the ``cardlog`` command, a module a family."""

from __future__ import annotations

from deploy.commands import (
    arbitrations,
    dead,
    demo,
    evaluate,
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
    up,
    push,
    recall,
    status,
    top,
    log,
    parked,
    dead,
    arbitrations,
    rebuild,
    reextract,
    when,
    evaluate,
    work,
    demo,
)
