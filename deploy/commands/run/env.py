"""``cardlog env`` prints the addresses of a Cardlog as lines for a shell, and ``cardlog settings`` every setting."""

import shlex
from pathlib import Path

from deploy.instance import find
from deploy.options import Given
from events.platform.settings import Settings, listing, revealed, variable_of

_NAMES = (
    "redis_url",
    "database_url",
    "read_url",
    "write_url",
    "key_file",
    "log_key_file",
    "kek_file",
    "tombstones_file",
)


def env(*, settings: Given[Settings], data: Given[Path | None]) -> int:
    """Print `export` lines with the addresses and key files of a Cardlog: eval "$(cardlog env)".

    Apps, redis-cli, psql and single workers of that shell then use this Cardlog. The URLs hold passwords.
    """
    found, instance = find(settings, data)
    values = {variable_of(name): revealed(getattr(found, name)) for name in _NAMES}
    if instance is not None:
        values[variable_of("write_url")] = instance.write_url
        values[variable_of("read_url")] = instance.read_url
    for name, value in values.items():
        if value:
            print(f"export {name}={shlex.quote(value)}")
    return 0


def list_settings(*, settings: Given[Settings]) -> int:
    """List every setting."""
    del settings  # the parameter makes the command check every variable and report unknown ones
    width = max(len(variable) for variable, _, _ in listing())
    for variable, default, meaning in listing():
        print(f"{variable:<{width}}  {meaning}" + (f" (default: {default})" if default else ""))
    return 0
