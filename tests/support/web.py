"""The HTTP client of the tests."""

import httpx2

WEB = httpx2.Client(timeout=60, verify=False, limits=httpx2.Limits(max_keepalive_connections=0))
"""One client for all tests, with a connection for each request. A client loads the certificates of the machine, which
takes 25 ms of computing. No test needs them."""
