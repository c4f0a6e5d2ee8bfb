"""A chat with a model of OpenAI that remembers. Every line of standard input is one message of the user.

Run it beside `cardlog up --data data`, with your key in OPENAI_API_KEY:

    python examples/chat_openai.py data/ready.json
"""

import json
import sys

from openai import OpenAI

from cardlog_client import Client


def main(ready_file: str, user: str = "example-kim", session: str = "chat") -> None:
    with open(ready_file, encoding="utf-8") as file:
        addresses = json.load(file)
    with open(addresses["key_file"], encoding="utf-8") as file:
        key = file.read().split()[-1]
    model = OpenAI()
    with Client(addresses["write_url"], addresses["read_url"], api_key=key) as memory:
        for message in filter(None, map(str.strip, sys.stdin)):
            # What Cardlog remembers of the user, in at most 2,000 tokens, with what was said a moment ago.
            prompt = memory.context(user, message, token_budget=2000)["text"]
            answer = model.chat.completions.create(
                model="gpt-5-mini",
                messages=[
                    {"role": "system", "content": f"You are a helpful assistant with a memory.\n\n{prompt}"},
                    {"role": "user", "content": message},
                ],
            )
            reply = answer.choices[0].message.content or ""
            print(reply, flush=True)
            said = (("user", message), ("assistant", reply))
            memory.push(
                [{"user_id": user, "session_id": session, "role": role, "text": text} for role, text in said]
            )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "data/ready.json")
