"""The event types, one file a family; importing the package registers every one of them.

Adding a type is one file's work: drop a module here whose frozen dataclasses carry ``@event_type``.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
