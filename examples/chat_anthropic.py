"""A chat with Claude that remembers. Every line of standard input is one message of the user.

Run it beside `cardlog up --data data`, with your key in ANTHROPIC_API_KEY:

    python examples/chat_anthropic.py data/ready.json
"""

import json
import sys

from anthropic import Anthropic

from cardlog_client import Client


def main(ready_file: str, user: str = "example-kim", session: str = "chat") -> None:
    with open(ready_file, encoding="utf-8") as file:
        addresses = json.load(file)
    with open(addresses["key_file"], encoding="utf-8") as file:
        key = file.read().split()[-1]
    model = Anthropic()
    with Client(addresses["write_url"], addresses["read_url"], api_key=key) as memory:
        for message in filter(None, map(str.strip, sys.stdin)):
            # What Cardlog remembers of the user, in at most 2,000 tokens, with what was said a moment ago.
            prompt = memory.context(user, message, token_budget=2000)["text"]
            answer = model.messages.create(
                model="claude-haiku-5-5",
                max_tokens=1024,
                system=f"You are a helpful assistant with a memory.\n\n{prompt}",
                messages=[{"role": "user", "content": message}],
            )
            reply = "".join(block.text for block in answer.content if block.type == "text")
            print(reply, flush=True)
            said = (("user", message), ("assistant", reply))
            memory.push(
                [{"user_id": user, "session_id": session, "role": role, "text": text} for role, text in said]
            )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "data/ready.json")
