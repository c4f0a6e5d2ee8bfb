"""The settings of this process: from its environment, its ``.env`` files, and the defaults.

A setting comes from the first of these that gives it: the environment, the file ``.env`` of the working directory,
the file ``.env`` of the data folder, its default. pydantic-settings takes 0.2 s to import. This module imports it
(events/platform/settings_sources.py) only where there is something to read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from events.platform.settings import DATA, PREFIX, Settings, known_variables


def load_settings(environment: Mapping[str, str] | None = None, *, data: Path | None = None) -> Settings:
    """The settings in ``environment``; without one, those of the process and of its ``.env`` files.

    ``data`` is the data folder, if it is not the one of :func:`data_folder`. An empty value counts as not set.
    Raises :class:`SettingsError` naming every variable that cannot be used.
    """
    source = os.environ if environment is None else environment
    files = env_files(data) if environment is None else []
    if not files and not any(name in source and source[name] for name in known_variables()):
        return Settings()
    from events.platform.settings_sources import read  # noqa: PLC0415

    return Settings(**read(source, files))


def data_folder() -> Path:
    """Where data is kept unless told otherwise: what the environment says, else the working directory's ``.env``."""
    said = os.environ.get(DATA, "").strip()
    here = Path(".env")
    if not said and here.is_file():
        from events.platform.settings_sources import values_of  # noqa: PLC0415 - only where there is a file

        said = (values_of(here).get(DATA) or "").strip()
    return Path(said or "data")


def env_files(data: Path | None = None) -> list[Path]:
    """The ``.env`` files that are there, the one that counts more first."""
    here, there = Path(".env"), (data_folder() if data is None else data) / ".env"
    found = [path for path in (here, there) if path.is_file()]
    return found[:1] if len(found) > 1 and found[0].samefile(found[1]) else found


def unknown_variables(data: Path | None = None) -> list[str]:
    """One sentence for each ``CARDLOG_*`` that means nothing, in the environment and the ``.env`` files."""
    files = env_files(data)
    if not files and not any(
        name.startswith(PREFIX) and name not in known_variables() for name in os.environ
    ):
        return []
    from events.platform.settings_sources import unknown_names, values_of  # noqa: PLC0415

    places: list[tuple[str, Mapping[str, str | None]]] = [("the environment", dict(os.environ))]
    places += [(str(path), values_of(path)) for path in files]
    return [sentence for place, values in places for sentence in unknown_names(place, values)]
