"""A client of the Model Context Protocol: it lists the tools, remembers one sentence and asks for it.

Run it beside `cardlog up --data data`, with the package of `pip install 'cardlog[mcp]'`:

    python examples/mcp_client.py data/ready.json
"""

import asyncio
import json
import sys

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main(ready_file: str) -> None:
    with open(ready_file, encoding="utf-8") as file:
        addresses = json.load(file)
    with open(addresses["key_file"], encoding="utf-8") as file:
        headers = {"Authorization": f"Bearer {file.read().split()[-1]}"}
    url = f"{addresses['read_url']}/mcp/"
    async with (
        httpx2.AsyncClient(headers=headers, params={"user_id": "example-mia"}, timeout=60) as http,
        streamable_http_client(url, http_client=http) as (received, sent),
        ClientSession(received, sent) as session,
    ):
        await session.initialize()
        print(*(tool.name for tool in (await session.list_tools()).tools))
        # With `wait` the answer comes when a recall finds the sentence.
        await session.call_tool("remember", {"text": "I play the cello.", "wait": True})
        found = await session.call_tool("recall", {"query": "Which instrument do I play?"})
        print(found.content[0].text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "data/ready.json"))
