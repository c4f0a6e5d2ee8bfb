"""The event types, one module for each family. The import of this package registers all of them.

A new type needs only a module in this folder. Its frozen dataclasses carry ``@event_type``.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
