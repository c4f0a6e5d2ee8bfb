"""``cardlog context``: the prompt blocks an assistant would be given for a question."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from deploy.commands.recall import answer_of
from events.settings import Settings


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "context",
        help="print the prompt for a question",
        description="Print what an assistant would be given for a question: rules, cards, alerts and the time.",
    )
    parser.add_argument("question", help='what the user says or asks, such as "where do I live?"')
    parser.add_argument("--user", required=True, help="whose memory is asked")
    parser.add_argument("--project", default=None, help="project to ask in; * for all (default: default)")
    parser.add_argument("-k", type=int, default=None, help="how many cards at most (default: 5)")
    parser.add_argument(
        "--budget", type=int, default=None, metavar="TOKENS", help="tokens it may take at most"
    )
    parser.add_argument(
        "--as-of", default=None, metavar="INSTANT", help="what was true then (ISO 8601 with offset)"
    )
    parser.add_argument("--json", action="store_true", help="print the service's answer as JSON")
    parser.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, settings: Settings) -> int:
    request = {
        "user_id": options.user,
        "query": options.question,
        "project_id": options.project,
        "k": options.k,
        "token_budget": options.budget,
        "as_of": options.as_of,
    }
    given = {name: value for name, value in request.items() if value is not None}
    answer = answer_of(given, settings, options.data, what="context")
    if options.json:
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
        return 0
    sys.stdout.write(answer["text"])
    print(
        f"{answer['tokens']} tokens, {len(answer['cards'])} cards, {len(answer['left_out'])} left out",
        file=sys.stderr,
    )
    for warning in answer["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    return 0
