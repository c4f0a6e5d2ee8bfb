"""Prints what the context of a question costs while a user's conversations grow from 2 to 300.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/retrieval/context_curve.py [--questions 60] [--budget 2000]

The columns are those in which ConvoMem compares memories: the size in conversations, the share of right answers,
milliseconds, tokens and dollars. No model judges here: a question is right when all its evidence is among the turns
behind the cards of the context. One user has the sessions of LoCoMo, in turns from each talk, and then those of
RealMem. Each size asks about the sessions told so far. Beside it stand the tokens and dollars of a prompt of all words.
"""

import argparse
import sys
import time
from collections import defaultdict
from itertools import zip_longest
from statistics import fmean, quantiles

import httpx2
import psycopg

from ingest.extraction.claude.model_client import PRICES
from retrieval.context.token_estimate import count_tokens
from tests.bench.retrieval.peers import named
from tests.bench.support.assistant_data import realmem
from tests.bench.support.locomo import push
from tests.bench.support.recall_data import EvalSet, locomo
from tests.bench.support.stack import eval_data, measured_stack

SIZES = (2, 5, 10, 30, 70, 100, 150, 300)
PRICED_AS = "claude-haiku-4-5"


def sessions_of(asked: EvalSet) -> list[list[dict[str, str]]]:
    """The sessions of a set, the first ones of all users first."""
    by_user: dict[str, dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for turn in asked.turns:
        by_user[turn["turn_id"].partition("/")[0]][turn["session_id"]].append(turn)
    rows = zip_longest(*(sessions.values() for sessions in by_user.values()))
    return [session for row in rows for session in row if session]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--questions", type=int, default=60, help="at most so many for each size, evenly spread"
    )
    parser.add_argument("--budget", type=int, default=2000, help="tokens of a context")
    options = parser.parse_args()
    talks, chats = eval_data("locomo", "locomo_dev.json"), eval_data("realmem")
    if not talks or not chats:
        return 0
    asked = named(locomo(talks), "all")
    sessions = [*sessions_of(asked), *sessions_of(named(realmem(chats), "all"))]
    dollars = PRICES[PRICED_AS]["input"] / 1000  # of 1,000 questions with prompts of one token
    print(f"budget {options.budget:,} tokens; $ for 1,000 questions at the input price of {PRICED_AS}")
    print(
        "| conversations | turns | questions | right | p50 ms | p95 ms | tokens | $ | all words: tokens | $ |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    told: list[dict[str, str]] = []
    with measured_stack() as running, httpx2.Client(headers=running.headers, timeout=60) as client:
        for before, size in zip((0, *SIZES), SIZES, strict=False):
            new = [turn for session in sessions[before:size] for turn in session]
            push(running, new)
            told += new
            with psycopg.connect(running.admin_database_url) as connection:
                rows = connection.execute("SELECT card_id::text, turn_ids FROM cards.cards")
                turns_behind: dict[str, list[str]] = dict(rows.fetchall())
            known, last = {turn["turn_id"] for turn in told}, max(turn["said_at"] for turn in told)
            questions = [each for each in asked.questions if each.evidence <= known]
            right, times, tokens = [], [], []
            for question in questions[:: max(1, len(questions) // options.questions)]:
                body = {
                    "user_id": "all",
                    "query": question.text,
                    "as_of": last,
                    "token_budget": options.budget,
                }
                began = time.perf_counter()
                answer = client.post(f"{running.read_url}/v1/context", json=body).raise_for_status().json()
                times.append((time.perf_counter() - began) * 1000)
                tokens.append(answer["tokens"])
                behind = {turn for card in answer["cards"] for turn in turns_behind[card["card_id"]]}
                right.append(question.evidence <= behind)
            cuts = quantiles(times, n=100, method="inclusive")
            everything = sum(count_tokens(turn["text"]) for turn in told)
            print(
                f"| {size} | {len(told):,} | {len(right)} | {fmean(right):.2f} | {cuts[49]:.0f} | {cuts[94]:.0f} | "
                f"{fmean(tokens):,.0f} | {fmean(tokens) * dollars:.2f} | {everything:,} | {everything * dollars:.2f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
