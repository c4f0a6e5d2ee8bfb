"""A web app that keeps its messages in Cardlog: POST /messages pushes one, and GET /about asks for the user's memory.

Run it beside `cardlog up --data data`:

    python examples/web_app.py data/ready.json 8800
    curl localhost:8800/messages -d '{"user": "noa", "text": "I moved to Porto."}' -H 'content-type: application/json'
    curl 'localhost:8800/about?user=noa&question=where+do+I+live'
"""

import json
import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from cardlog_client import Client


class Message(BaseModel):
    """What the browser sends. The id of a message makes a repeated push harmless."""

    user: str
    text: str
    message_id: str | None = None


def app_of(memory: Client) -> FastAPI:
    """Returns the app. In production the user comes from the login, and never from the request."""
    app = FastAPI()

    @app.post("/messages", status_code=202)
    def keep(message: Message) -> dict:
        turn = {"user_id": message.user, "session_id": "web", "text": message.text}
        if message.message_id:
            turn["turn_id"] = message.message_id
        return {"kept": memory.push(turn)["turn_ids"]}

    @app.get("/about")
    def about(user: str, question: str) -> dict:
        return {"found": [card["content"] for card in memory.recall(user, question)["cards"]]}

    return app


def main(ready_file: str, port: int) -> None:
    with open(ready_file, encoding="utf-8") as file:
        addresses = json.load(file)
    with open(addresses["key_file"], encoding="utf-8") as file:
        key = file.read().split()[-1]
    with Client(addresses["write_url"], addresses["read_url"], api_key=key) as memory:
        uvicorn.run(app_of(memory), port=port, log_level="warning")


if __name__ == "__main__":
    main(
        sys.argv[1] if len(sys.argv) > 1 else "data/ready.json",
        int(sys.argv[2]) if len(sys.argv) > 2 else 8800,
    )
