"""The verbs of the ``cardlog`` command, a module a family."""

from __future__ import annotations

from deploy.commands import (
    context,
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
    context,
    status,
    top,
    log,
    parked,
    dead,
    rebuild,
    reextract,
    when,
    evaluate,
    work,
    demo,
)
