"""The event types, one module for each family.

A new type needs only a module in this folder. Its frozen dataclasses carry ``@event_type``.
"""

import importlib
import pkgutil
from functools import cache


@cache
def register_all() -> None:
    """Imports every module of this package, and thereby registers its event types. Later calls do nothing.

    The codec calls it for a name that it does not know, so a process that reads no log imports no event type.
    """
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
