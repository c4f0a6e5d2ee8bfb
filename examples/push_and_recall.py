"""Pushes turns over the Redis stream and over HTTP, then asks a question.

Run it beside `cardlog up --data data`:

    python examples/push_and_recall.py data/ready.json
"""

import json
import sys
import urllib.request

from redis import Redis


def post(url: str, document: object, key: str) -> dict:
    """Sends JSON and returns the JSON of the answer. Raises urllib.error.HTTPError for a status of 400 or more."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(url, json.dumps(document).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def main(ready_file: str) -> None:
    # `cardlog up` writes its addresses here. An app in production has them among its own settings.
    with open(ready_file, encoding="utf-8") as file:
        addresses = json.load(file)
    # Both services want an API key. The last word of the key file is one that may push, read and write.
    with open(addresses["key_file"], encoding="utf-8") as file:
        key = file.read().split()[-1]
    user = "example-dana"

    # Over the Redis stream: any Redis client can do this. A turn_id makes a repeated push harmless.
    redis = Redis.from_url(addresses["redis_url"])
    first = {
        "user_id": user,
        "text": "I live in Lisbon.",
        "said_at": "2026-03-02T10:00:00+00:00",
        "turn_id": "m1",
    }
    redis.xadd("turns", first)
    redis.close()

    # Over HTTP: the answer holds a token.
    second = {
        "user_id": user,
        "text": "I moved to Porto.",
        "said_at": "2026-06-05T18:30:00+01:00",
        "turn_id": "m2",
    }
    pushed = post(f"{addresses['write_url']}/v1/turns", second, key)

    # With the token the question waits, for at most 5 s, until the turn has become cards. Turns of one user keep
    # their order, so the cards of the first turn are then there, too.
    for question, instant in (("Where do I live?", None), ("Where did I live?", "2026-04-01T00:00:00+00:00")):
        asked = {"user_id": user, "query": question, "k": 1, "as_of": instant, "wait_for": pushed["token"]}
        answer = post(f"{addresses['read_url']}/v1/recall", asked, key)
        for card in answer["cards"]:
            print(f"{question} {card['value']} ({card['source_span']['text']})")
        for warning in answer["warnings"]:
            print(warning, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "data/ready.json")
