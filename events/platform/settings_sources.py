"""Reads the settings from their sources and checks them. The errors are in the words of Cardlog.

The import of pydantic and pydantic-settings takes 0.2 s. deploy/environment.py therefore imports this module
only when a source has a setting, and ``cardlog --help`` never imports it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import SplitResult, urlsplit

import psycopg
from dotenv import dotenv_values
from psycopg.conninfo import conninfo_to_dict
from pydantic import AfterValidator, Field, ValidationError, create_model
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from events.platform.settings import (
    PREFIX,
    Rule,
    Settings,
    SettingsError,
    known_variables,
    redacted,
    rule_of,
    variable_of,
)

_LONGEST, _SHOWN = 8192, 80
_NOT_OURS = re.compile(
    # Kubernetes sets variables for every service in every container. Tests, benches and images have variables too.
    r".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)"
    r"|CARDLOG_(TEST|BENCH|CHAOS|EVAL)_.*|CARDLOG_(IMAGE|REQUIREMENTS)"
)


def read(environment: Mapping[str, str], files: list[Path]) -> dict[str, Any]:
    """Returns the given values by the name of their setting. ``environment`` comes before ``files``, in their order.

    Raises :class:`SettingsError` with a sentence for each variable with an invalid value.
    """
    try:
        given = _model()(sources=[environment, *map(values_of, files)])
    except ValidationError as error:
        raise SettingsError("; ".join(map(_sentence, error.errors(include_url=False)))) from None
    return {name: getattr(given, name) for name in given.model_fields_set}


def values_of(path: Path) -> dict[str, str | None]:
    """Returns the variables in a ``.env`` file. Raises :class:`SettingsError` when the file cannot be read."""
    try:
        return dotenv_values(path, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"{path} cannot be read ({reason}): correct or remove the file") from None


def unknown_names(place: str, values: Mapping[str, str | None]) -> list[str]:
    """Returns a sentence for each unknown ``CARDLOG_*`` variable in ``values``, with the nearest known variable."""
    known = known_variables()
    sentences = []
    for name in values:
        if name.startswith(PREFIX) and name not in known and not _NOT_OURS.fullmatch(name):
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else "`cardlog settings` lists all settings."
            sentences.append(f"{name}, in {place}, is not a setting of Cardlog: {hint}")
    return sentences


def _postgres(url: str) -> str:
    try:
        if "://" in url or "=" in url:
            conninfo_to_dict(url)
            return url
    except psycopg.Error:
        pass  # the message of psycopg quotes the URL, which may hold a password
    raise _unfit("write it as postgresql://user:password@host:port/database")


def _postgres_list(urls: str) -> str:
    for url in urls.split():
        _postgres(url)
    return urls


def _redis(url: str) -> str:
    parts = _parts(url)
    if parts.scheme in {"redis+cluster", "rediss+cluster"}:
        hosts = parts.netloc.rpartition("@")[2].split(",")
        fit = all(host and _port_of(f"redis://{host}") for host in hosts)
    elif parts.scheme in {"redis", "rediss"}:
        fit = _port_of(url)
    else:
        fit = parts.scheme == "unix" and bool(parts.path)
    if not fit:
        raise _unfit(
            "write it as redis://host:port/0, rediss:// with TLS, or redis+cluster://host:port,host:port"
        )
    return url


def _http(url: str) -> str:
    if _parts(url).scheme not in {"http", "https"} or not _parts(url).hostname or not _port_of(url):
        raise _unfit("write it as http://host:port or https://host")
    return url


def _networks(text: str) -> str:
    try:
        for word in text.replace(",", " ").split():
            ip_network(word)
    except ValueError:
        raise _unfit("use networks such as 10.0.0.0/8, separated by commas") from None
    return text


def _jwks(text: str) -> str:
    parts = _parts(text)
    if "://" in text and (parts.scheme != "https" or not parts.hostname or parts.username is not None):
        raise _unfit("use a file, or an https URL without a login")
    return text


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _port_of(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def _brokers(text: str) -> str:
    for broker in text.split(","):
        host, colon, port = broker.strip().rpartition(":")
        if not (host and colon and port.isdecimal()):
            raise _unfit("use host:port, several with commas")
    return text


def _modes(text: str) -> str:
    from events.platform.modes import modes_of  # noqa: PLC0415 - events/platform/modes.py imports the settings

    try:
        modes_of(Settings(modes=text))
    except SettingsError as error:
        raise PydanticCustomError("whole", "{words}", {"words": str(error)}) from None
    return text


def _text(text: str) -> str:
    if len(text) > _LONGEST:
        raise _unfit(f"use {_LONGEST} characters at most")
    if not text.isprintable():
        raise _unfit("use one line, without control characters")
    return text


def _fitting(pattern: str, remedy: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise _unfit(remedy)
        return text

    return check


def _unfit(remedy: str) -> PydanticCustomError:
    return PydanticCustomError("unfit", "{remedy}", {"remedy": remedy})


_FORMS: dict[str, Callable[[str], str]] = {
    "postgres": _postgres,
    "postgres list": _postgres_list,
    "redis": _redis,
    "http": _http,
    "brokers": _brokers,
    "fault": _fitting(r"down|error|slow:\d{1,7}", "use down, error or slow:<milliseconds>"),
    "topic": _fitting(r"[a-zA-Z0-9._-]{1,249}", "use 1 to 249 letters, digits, dots, dashes and underscores"),
    "name": _fitting(r"\S{1,200}", "use 1 to 200 characters, no spaces"),
    "modes": _modes,
    "networks": _networks,
    "jwks": _jwks,
}


def _kind(name: str, kind: object) -> object:
    """Returns the type of a setting with the checks of its value."""
    rule = _rules()[name]
    if kind is int:
        return Annotated[int, Field(ge=rule.least, le=rule.most)]
    if kind is str:
        form = _FORMS.get(rule.form)
        checks = [AfterValidator(_text), *([AfterValidator(form)] if form else [])]
        return Annotated[(str, *checks)]
    return kind


@cache
def _model() -> type[BaseSettings]:
    """Returns the pydantic-settings model that reads its ``sources``. The first source takes precedence."""

    class Sources(BaseSettings):
        model_config = SettingsConfigDict(extra="ignore", case_sensitive=True, validate_default=False)

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            *_: object,
            **__: object,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            assert isinstance(init_settings, InitSettingsSource)
            found = []
            for values in init_settings.init_kwargs["sources"]:
                source = EnvSettingsSource(settings_cls)
                source.env_vars = {
                    name: text.strip() for name, text in values.items() if text and text.strip()
                }
                found.append(source)
            return tuple(found)

    defined: dict[str, Any] = {
        name: (_kind(name, kind), Field(default=None, validation_alias=variable_of(name)))
        for name, kind in get_type_hints(Settings).items()
    }
    return create_model("SettingsFromSources", __base__=Sources, **defined)


@cache
def _rules() -> dict[str, Rule]:
    return {item.name: rule_of(item) for item in fields(Settings)}


def _sentence(error: Any) -> str:
    if error["type"] == "whole":
        return str(error["ctx"]["words"])
    variable = str(error["loc"][0])
    name = next(item.name for item in fields(Settings) if variable_of(item.name) == variable)
    return f"{variable} {_shown(name, str(error['input']))}: {_remedy(name, error)}"


def _shown(name: str, text: str) -> str:
    rule = _rules()[name]
    if rule.secret:
        if not rule.form:
            return "cannot be used (its value is a secret)"
        head, at, text = redacted(text).rpartition("@")
        text = f"***@{text}" if at and not head.endswith("***") else head + at + text
    return "is " + repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _remedy(name: str, error: Any) -> str:
    rule, kind = _rules()[name], get_type_hints(Settings)[name]
    if error["type"] == "unfit":
        return str(error["ctx"]["remedy"])
    if kind is int:
        return f"use a whole number from {rule.least} to {rule.most}"
    if get_origin(kind) is Literal:
        *most, last = get_args(kind)
        return f"use {', '.join(most)} or {last}"
    return "use true or false"
