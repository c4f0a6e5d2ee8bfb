"""``cardlog demo``: pushes a small conversation of two people and asks ten questions about it."""

import json
import logging
import os
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import httpx2
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from deploy.catch_up import CatchingUp
from deploy.commands.ask.recall import when_of, why_of
from deploy.commands.run.serve import with_auth
from deploy.commands.run.work import Stop
from deploy.instance import Instance, authorization
from deploy.options import Given, NoAuth
from deploy.security.first_key import sign_in_url
from deploy.stack import Stack
from events.platform.settings import Settings
from ingest.extraction.choosing import describe
from projectors.embedding.embedders import missing_model

_ASKED_WARM = 2  # the second time is shown, because the first call fills caches that a running service has


def demo(
    *,
    stay: Annotated[bool, Parameter(help="keep running until SIGINT or SIGTERM")] = False,
    insecure_no_auth: NoAuth = False,
    settings: Given[Settings],
) -> int:
    """Start everything in a temporary folder, push a conversation, ask ten questions, stop.

    Exit status 1 if an answer is not in the three cards of its question.
    """
    stop = Stop()
    os.umask(0o077)  # only the owner may read files of the stack's processes
    # The demo only uses embedded servers, so that it never writes its conversation into a real memory.
    settings = replace(with_auth(settings, insecure_no_auth), database_url="", redis_url="")
    if settings.log_level == "info":
        # The demo hides the stack's log lines. CARDLOG_LOG_LEVEL=debug shows them.
        logging.getLogger().setLevel(logging.WARNING)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cardlog-demo-") as folder:
        stack = Stack(settings, Path(folder), port_write=0, port_read=0, stopping=stop)
        try:
            _note("starting PostgreSQL, Redis, workers and services in a temporary folder …")
            instance = stack.start()
            if instance is None:
                return 1
            _note(f"up after {time.monotonic() - began:.1f} s\nextractor: {describe(settings)}")
            if (missing := missing_model(settings)) is not None:
                _note(f"questions are answered by words, not by meaning: {missing}")
            shown: Future[int] = Future()
            # The stack is watched meanwhile, because a worker that ends would else be missing for the rest of the demo.
            threading.Thread(target=_show, args=(instance, settings, shown), daemon=True).start()
            while not (stop() or shown.done()):
                stack.watch()
                time.sleep(0.05)
            wrong = 1 if stop() else shown.result()
            if stay and not stop():
                print(f"explorer   {sign_in_url(settings, instance)}")
                _stay(instance, stack, stop)
        finally:
            stack.stop()
    _note(f"stopped; {time.monotonic() - began:.1f} s in all")
    return 1 if wrong else 0


def _show(instance: Instance, settings: Settings, shown: Future[int]) -> None:
    """Gives ``shown`` the number of the questions that were answered wrongly, or the error that ended the demo."""
    try:
        shown.set_result(_pushed_and_asked(instance, settings))
    except Exception as error:
        shown.set_exception(error)


def _pushed_and_asked(instance: Instance, settings: Settings) -> int:
    turns = [json.loads(line) for line in _resource("demo.jsonl").splitlines()]
    questions = json.loads(_resource("demo_questions.json"))
    began = time.monotonic()
    headers = authorization(replace(settings, key_file=instance.key_file, api_key=""))
    with httpx2.Client(timeout=30, headers=headers) as client:
        client.post(f"{instance.write_url}/v1/turns", json=turns).raise_for_status()
        own = replace(settings, database_url=instance.database_url, redis_url=instance.redis_url)
        CatchingUp(own, timeout=120).run(_note)
        _note(f"{len(turns)} turns of two people pushed and projected after {time.monotonic() - began:.2f} s")
        table = Table(show_lines=True, title="What is remembered", title_justify="left")
        columns = (
            ("question", "bold", 16),
            ("cards, best first", "", 20),
            ("found by", "dim", 10),
            ("ms", "dim", 3),
        )
        for title, style, least in columns:
            table.add_column(title, style=style, min_width=least, overflow="fold")
        places = []
        for question in questions:
            expected = question.pop("expect")
            for _ in range(_ASKED_WARM):
                asked = time.perf_counter()
                answer = client.post(f"{instance.read_url}/v1/recall", json={**question, "k": 3}).json()
                spent = (time.perf_counter() - asked) * 1000
            cards = answer["cards"]
            place = next((i for i, card in enumerate(cards, 1) if expected in card["content"]), None)
            places.append(place)
            mark = f"[green]✓ card {place}[/]" if place else f"[red]✗ expected {expected}[/]"
            table.add_row(
                f"{question['user_id']}: {question['query']}\n{mark}",
                "\n".join(f"{card['content']} [dim]({card['kind']}, {when_of(card)})[/]" for card in cards),
                "\n".join(why_of(card) for card in cards),
                f"{spent:.0f}",
            )
        for warning in answer["warnings"]:
            _note(f"warning: {warning}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    right = len(places) - places.count(None)
    console.print(
        f"{right} of {len(places)} questions answered rightly, {places.count(1)} of them by the first card"
    )
    return places.count(None)


def _stay(instance: Instance, stack: Stack, stop: Stop) -> None:
    print(
        f"write API  {instance.write_url}/docs\nread API   {instance.read_url}/docs\n"
        f"key file   {instance.key_file}\nredis      {instance.redis_url}\n"
        'try        cardlog recall --user alex "where do I live?"      (Ctrl-C stops everything)',
        flush=True,
    )
    while not stop():
        stack.watch()
        time.sleep(0.2)


def _resource(name: str) -> str:
    return files("deploy.demo").joinpath(name).read_text("utf-8")


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
