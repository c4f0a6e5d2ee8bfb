"""A chat that remembers. Every line of standard input is one message of the user.

The program asks `/v1/context` for a prompt, gives the prompt to a language model, prints the model's answer, and
pushes both messages. The model here only echoes: put the client of your provider in its place.

Run it beside `cardlog up --data data`:

    python examples/chat.py data/ready.json
"""

import json
import re
import sys
import urllib.request
from datetime import UTC, datetime


class Echo:
    """Stands for the client of a language model. It repeats what the prompt remembers of the user."""

    def answer(self, system: str, message: str) -> str:
        """Returns the answer to a message. A real client sends `system` as the system prompt."""
        remembered = re.findall(r"<(?:state|event) (?![^>]* by=)[^>]*>([^<]+)<", system)
        return f"You say: {message} I remember: {'; '.join(remembered) or 'nothing yet'}."


class Memory:
    """The two services of Cardlog, for one user and one session."""

    def __init__(self, addresses: dict, user: str, session: str) -> None:
        self._addresses, self._user, self._session = addresses, user, session
        # Both services want an API key. The last word of the key file is one that may push, read and write.
        with open(addresses["key_file"], encoding="utf-8") as file:
            self._key = file.read().split()[-1]

    def prompt(self, message: str) -> str:
        """Returns a prompt of at most 2,000 tokens. It knows what was pushed a moment ago."""
        asked = {"user_id": self._user, "query": message, "token_budget": 2000}
        return self._post("read_url", "context", asked)["text"]

    def push(self, role: str, text: str) -> None:
        """Pushes one message. It is safe as soon as the method returns."""
        turn = {
            "user_id": self._user,
            "session_id": self._session,
            "role": role,
            "text": text,
            "said_at": datetime.now(UTC).isoformat(),
        }
        self._post("write_url", "turns", turn)

    def _post(self, service: str, path: str, document: object) -> dict:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        url = f"{self._addresses[service]}/v1/{path}"
        request = urllib.request.Request(url, json.dumps(document).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


def main(ready_file: str) -> None:
    with open(ready_file, encoding="utf-8") as file:
        addresses = json.load(file)
    memory = Memory(addresses, "example-alex", f"chat-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    model = Echo()
    for message in map(str.strip, sys.stdin):
        if message:
            # The prompt comes first: the message itself is not yet a memory.
            reply = model.answer(memory.prompt(message), message)
            print(reply, flush=True)
            memory.push("user", message)
            memory.push("assistant", reply)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "data/ready.json")
