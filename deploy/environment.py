"""The settings of this process, from its environment, its ``.env`` files, and the defaults.

The first source that has a setting counts: the environment, the file ``.env`` of the working directory, the file
``.env`` of the data folder, the default. The import of pydantic-settings takes 0.2 s. This module imports it
(events/platform/settings_sources.py) only when a source has a setting.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from events.platform.settings import DATA, PREFIX, Settings, known_variables


def load_settings(environment: Mapping[str, str] | None = None, *, data: Path | None = None) -> Settings:
    """Returns the settings in ``environment``. The default is the environment of the process and its ``.env`` files.

    ``data`` is the data folder, by default the folder of :func:`data_folder`. An empty value counts as not set.
    Raises :class:`SettingsError`, which names every variable with an invalid value.
    """
    source = os.environ if environment is None else environment
    files = env_files(data) if environment is None else []
    if not files and not any(name in source and source[name] for name in known_variables()):
        return Settings()
    from events.platform.settings_sources import read  # noqa: PLC0415

    return Settings(**read(source, files))


def data_folder() -> Path:
    """Returns the data folder: ``CARDLOG_DATA`` of the environment or of the ``.env`` file here, else ``data``."""
    folder = os.environ.get(DATA, "").strip()
    here = Path(".env")
    if not folder and here.is_file():
        from events.platform.settings_sources import values_of  # noqa: PLC0415 - only when the file exists

        folder = (values_of(here).get(DATA) or "").strip()
    return Path(folder or "data")


def env_files(data: Path | None = None) -> list[Path]:
    """Returns the existing ``.env`` files. The first file takes precedence."""
    here, in_data = Path(".env"), (data_folder() if data is None else data) / ".env"
    found = [path for path in (here, in_data) if path.is_file()]
    return found[:1] if len(found) > 1 and found[0].samefile(found[1]) else found


def unknown_variables(data: Path | None = None) -> list[str]:
    """Returns a sentence for each unknown ``CARDLOG_*`` variable in the environment and the ``.env`` files."""
    files = env_files(data)
    if not files and not any(
        name.startswith(PREFIX) and name not in known_variables() for name in os.environ
    ):
        return []
    from events.platform.settings_sources import unknown_names, values_of  # noqa: PLC0415

    places: list[tuple[str, Mapping[str, str | None]]] = [("the environment", dict(os.environ))]
    places += [(str(path), values_of(path)) for path in files]
    return [sentence for place, values in places for sentence in unknown_names(place, values)]
