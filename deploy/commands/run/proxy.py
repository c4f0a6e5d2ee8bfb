"""``cardlog proxy``: gives any app a memory by the address of its model."""

import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.check_liveness import ALL_PORTS
from deploy.commands.run.serve import check_certificate, is_loopback, run_app
from deploy.instance import addresses_of, api_key_of
from deploy.options import Given, OptionInvalidError, between
from events.platform.settings import Settings


def proxy(
    *,
    host: Annotated[str, Parameter(help="address to listen on (default: 127.0.0.1)")] = "127.0.0.1",
    port: Annotated[
        int,
        Parameter(metavar="PORT", validator=between(1, 65535), help=f"port (default: {ALL_PORTS['proxy']})"),
    ] = ALL_PORTS["proxy"],
    upstream_openai: Annotated[
        str | None, Parameter(metavar="URL", help="server with chat completions and Responses, up to /v1")
    ] = None,
    upstream_anthropic: Annotated[
        str | None, Parameter(metavar="URL", help="server with Messages, without /v1")
    ] = None,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Pass requests on to the models of OpenAI's and Anthropic's APIs, with the memory of the user in a header.

    It is a client of the services of the Cardlog that runs here, or of CARDLOG_READ_URL and CARDLOG_WRITE_URL. Beyond
    this machine, each request brings an API key of Cardlog.
    """
    from cardlog_client import AsyncClient  # noqa: PLC0415 - --help needs none of these modules
    from retrieval.proxy.proxy import MEMORY_WITHIN_S, create_app  # noqa: PLC0415

    for option, url in (("--upstream-openai", upstream_openai), ("--upstream-anthropic", upstream_anthropic)):
        if url is not None and not url.startswith(("http://", "https://")):
            raise OptionInvalidError(f"{option} is {url!r}; give a URL such as http://127.0.0.1:11434/v1")
    check_certificate(settings)
    settings, read, write = addresses_of(settings, data)
    settings = replace(
        settings,
        proxy_openai_url=upstream_openai or settings.proxy_openai_url,
        proxy_anthropic_url=upstream_anthropic or settings.proxy_anthropic_url,
    )
    # No retries: the context has a deadline, and the pushes have a queue.
    client = AsyncClient(write, read, timeout=MEMORY_WITHIN_S, retries=0, api_key="")
    own_key = api_key_of(settings) if is_loopback(host) else None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise OptionInvalidError(
            f"port {port} cannot be used ({error.strerror}); choose another with --port"
        ) from None
    with listener:
        name = f"[{host}]" if family == socket.AF_INET6 else host
        scheme = "https" if settings.tls_cert_file else "http"
        print(f"the proxy is ready at {scheme}://{name}:{port}", file=sys.stderr, flush=True)
        run_app(create_app(settings, client, own_key), settings, host, port, listener)
    return 0
