"""A setting comes from the first place that gives it. An invalid value is named with its remedy."""

import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.environment import data_folder, load_settings, unknown_variables
from events.platform.settings import (
    Secret,
    Settings,
    SettingsError,
    known_variables,
    redacted,
    revealed,
    variable_of,
)
from tests.support.tables import examples, examples_and

NUMBERS = [
    item.name
    for item in fields(Settings)
    if isinstance(item.default, int) and not isinstance(item.default, bool)
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a process without any setting."""
    for name in os.environ:
        if name in known_variables() or name.startswith("CARDLOG_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    return tmp_path


@examples_and(
    ("CARDLOG_LINGER_MS", "9" * 6000, "…': use a whole number from 0 to 2147483647"),
    ("CARDLOG_MODEL", "m" * 9000, "…': use 8192 characters at most"),
)
def test_what_cannot_be_used_is_named_with_value_and_remedy(variable: str, value: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings({variable: value})
    words = str(refused.value)
    assert words.startswith(f"{variable} ")
    assert sentence in words
    assert "pydantic" not in words
    assert len(words) < 400


@pytest.mark.parametrize("value", ["many", "-1", "1.5", str(2**31), "1e3", "١e"])
def test_every_number_is_checked(value: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings({variable_of(name): value for name in NUMBERS})
    sentences = str(refused.value).split("; ")
    assert len(sentences) == len(NUMBERS)
    for name, sentence in zip(NUMBERS, sentences, strict=True):
        assert re.fullmatch(
            rf"{variable_of(name)} is '{re.escape(value)}': use a whole number from \d+ to \d+", sentence
        )


def test_every_default_could_have_been_given() -> None:
    given = {variable_of(item.name): str(item.default) for item in fields(Settings)}
    assert load_settings(given) == Settings() == load_settings({})


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(SettingsError, match=r"CARDLOG_POOL_SIZE.*CARDLOG_LOG_FORMAT"):
        load_settings({"CARDLOG_POOL_SIZE": "no", "CARDLOG_LOG_FORMAT": "xml"})


@examples
def test_what_can_be_used_is_taken_as_it_is(name: str, value: str) -> None:
    settings = load_settings({variable_of(name): f" {value} "})
    assert revealed(getattr(settings, name)) == value


def test_the_environment_comes_before_the_working_directory_before_the_data_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDLOG_POOL_SIZE", "1")
    monkeypatch.setenv("CARDLOG_BATCH_TURNS", " ")  # empty: not set
    (folder / ".env").write_text("CARDLOG_POOL_SIZE=2\nCARDLOG_BATCH_EVENTS=2\nOTHER=1\n", "utf-8")
    (folder / "data" / ".env").write_text(
        "CARDLOG_POOL_SIZE=3\nCARDLOG_BATCH_EVENTS=3\nexport CARDLOG_BATCH_TURNS='3'\nANTHROPIC_API_KEY=k\n",
        "utf-8",
    )
    settings = load_settings()
    assert (settings.pool_size, settings.batch_events, settings.batch_turns) == (1, 2, 3)
    assert revealed(settings.anthropic_api_key) == "k"


def test_the_data_folder_meant_is_asked_and_no_other(folder: Path) -> None:
    (folder / "data" / ".env").write_text("CARDLOG_POOL_SIZE=3", "utf-8")
    (folder / "other").mkdir()
    (folder / "other" / ".env").write_text("CARDLOG_POOL_SIZE=4", "utf-8")
    assert load_settings(data=folder / "other").pool_size == 4
    (folder / ".env").write_text("CARDLOG_DATA=other", "utf-8")
    assert data_folder() == Path("other")
    assert load_settings().pool_size == 4


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / ".env").write_bytes(b"CARDLOG_MODEL=\xff\xfe")
    with pytest.raises(SettingsError, match=r"^\.env cannot be read \(it is not UTF-8\)"):
        load_settings()


def test_names_that_are_no_settings_are_reported_with_the_nearest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDLOG_REDIS_ULR", "redis://h")
    monkeypatch.setenv(
        "CARDLOG_READ_SERVICE_HOST", "10.0.0.1"
    )  # Kubernetes says where the service cardlog-read is
    monkeypatch.setenv("CARDLOG_READ_PORT_80_TCP_ADDR", "10.0.0.1")
    (folder / ".env").write_text("CARDLOG_POOL_SIZ=2\nPOOL=1\n", "utf-8")
    assert unknown_variables() == [
        "CARDLOG_REDIS_ULR, in the environment, is not a setting of Cardlog: did you mean CARDLOG_REDIS_URL?",
        "CARDLOG_POOL_SIZ, in .env, is not a setting of Cardlog: did you mean CARDLOG_POOL_SIZE?",
    ]


def test_a_command_reads_the_file_and_reports_what_it_does_not_know(folder: Path) -> None:
    (folder / ".env").write_text("CARDLOG_LOG_FORMAT=json\nCARDLOG_LOG_LEVLE=debug\n", "utf-8")
    command = [sys.executable, "-m", "deploy.command", "settings"]
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": root}, capture_output=True, text=True, check=True
    )
    assert "CARDLOG_REDIS_URL" in done.stdout
    [line] = done.stderr.splitlines()
    assert "did you mean CARDLOG_LOG_LEVEL?" in json.loads(line)["message"]


def test_a_secret_is_used_and_not_printed() -> None:
    url = "postgresql://u:hunter2@h/db"
    settings = replace(Settings(database_url=url), anthropic_api_key="sk-hunter2")
    for text in (
        repr(settings),
        str(settings),
        f"{settings.database_url}",
        str(settings.anthropic_api_key),
    ):
        assert "hunter2" not in text
    assert settings.database_url == url
    assert revealed(settings.database_url) == url
    assert json.loads(json.dumps(asdict(settings)))["database_url"] == url
    copy = pickle.loads(pickle.dumps(settings))
    assert isinstance(copy.database_url, Secret)
    assert copy == settings


@pytest.mark.parametrize(
    "value", ["u:hunter2@h:1/x", "mysql://u:hun@ter2@h/db", "host=h password='hunter2' x"]
)
def test_a_refused_url_is_reported_without_its_password(value: str) -> None:
    with pytest.raises(SettingsError, match="CARDLOG_DATABASE_URL") as refused:
        load_settings({"CARDLOG_DATABASE_URL": value})
    assert "ter2" not in str(refused.value)


def test_a_refused_key_is_not_printed() -> None:
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY") as refused:
        load_settings({"ANTHROPIC_API_KEY": "hunter2\nhunter2"})
    assert "hunter2" not in str(refused.value)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1))
def test_any_value_of_a_variable_is_accepted_or_refused(text: str) -> None:
    names = ("database_url", "redis_url", "modes", "read_url", "kafka_brokers", "pool_size", "log_level")
    try:
        load_settings({variable_of(name): text for name in names})
    except SettingsError as error:
        assert str(error).startswith("CARDLOG_")  # noqa: PT017


def test_urls_lose_their_logins_at_every_place() -> None:
    said = "no route to redis://:p/w@h:1/0 nor 'postgresql://u:p@s@h/db', password=x y"
    assert redacted(said) == "no route to redis://***@h:1/0 nor 'postgresql://***@h/db', password=*** y"
    assert (
        redacted("see https://example.org/a, ann@example.org") == "see https://example.org/a, ann@example.org"
    )
