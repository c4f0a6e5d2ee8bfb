"""``cardlog mcp``: the memory of one user as an MCP server on standard input and output."""

import asyncio
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import httpx2
from cyclopts import Parameter

from deploy.instance import addresses_of, authorization
from deploy.options import REPOSITORY, Given, Project, Zone, projects_of
from events.platform.settings import Settings

_TIMEOUT_S = 30.0


def mcp(
    *,
    user: Annotated[str, Parameter(help="whose memory it is")],
    project: Project = "*",
    timezone: Zone = None,
    allow_forget: Annotated[bool, Parameter(help="offer the tool forget, which erases turns")] = False,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Serve tools and resources over a user's memory to an assistant that starts this command.

    It is a client of the services of the Cardlog that runs here, or of CARDLOG_READ_URL and CARDLOG_WRITE_URL.
    """
    if find_spec("mcp") is None:
        raise RuntimeError("the package of the protocol is missing: pip install 'cardlog[mcp]'")
    settings, *urls = addresses_of(settings, data)
    if project == ".":
        shell = ("/bin/sh", "-c", REPOSITORY)
        project = subprocess.run(shell, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603 - our own
    asyncio.run(_served(urls, user, projects_of(project), timezone, allow_forget, authorization(settings)))
    return 0


async def _served(
    urls: list[str], user: str, projects: list[str], zone: str | None, forget: bool, headers: dict[str, str]
) -> None:
    from retrieval.mcp.memory import Memory  # noqa: PLC0415 - --help needs none of these modules
    from retrieval.mcp.server import create_server, run_stdio  # noqa: PLC0415

    read, write = (httpx2.AsyncClient(base_url=url, timeout=_TIMEOUT_S) for url in urls)
    async with read, write:
        memory = Memory(read, write, user, projects, zone, headers)
        await run_stdio(create_server(lambda _: memory, forget=forget))
