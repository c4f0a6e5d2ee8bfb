"""An embedded Postgres, and a folder for it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.embedded.postgres import EmbeddedPostgres


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(tmp_path_factory.mktemp("data"), durable=False) as server:
        yield server


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that an unprivileged account may enter, unlike pytest's own when run by root."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
