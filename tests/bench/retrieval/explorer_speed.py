"""Measures the explorer in a real Chromium before the memory of one user with very many cards.

    python tests/bench/retrieval/explorer_speed.py [--cards 100000]

A made-up history of one heavy user, folded into the card tables; the read service in a thread, without keys. Reported:
the first paint of a fresh page, the time until a screen has its content, and for each interaction the time from the
input to the next painted frame: scrolling the list, moving the line of the timeline, zooming, opening a neighbour in
the graph. Needs playwright (`make test-browser` installs it) and a Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from statistics import quantiles
from threading import Thread
from typing import TYPE_CHECKING, Any

import psycopg
import uvicorn

from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from events.platform.database import connect, migrate
from events.platform.settings import Settings
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.generations import ensure_live
from projectors.rebuild.rebuild import Rebuild
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.bench.retrieval.recall_speed import EVENTS_A_CARD
from tests.bench.support.history import fill
from tests.browser.conftest import NAMES
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

USER = "user-00000"
_OTHERS = 10
_PAINTED = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


def interactions(act: str) -> str:
    """The script that does ``act`` 40 times and returns the milliseconds to each next frame."""
    return f"""async () => {{
        const found = [];
        for (let each = 0; each < 40; each++) {{
            const begun = performance.now();
            {act};
            await {_PAINTED};
            found.push(performance.now() - begun);
        }}
        return found;
    }}"""


def prepare(settings: Settings, cards: int) -> int:
    """Writes and folds the history. Returns the number of cards of the heavy user."""
    with connect(settings.database_url, application="bench") as connection:
        migrate(connection)
        for projector in (CardsProjector(), VectorsProjector(Embedders(HashEmbedder))):
            ensure_live(connection, projector)
        fill(connection, int(cards * EVENTS_A_CARD), users=_OTHERS, heavy=0.99)
    Rebuild(settings, CardsProjector(), workers=2).run()
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        row = connection.execute("SELECT count(*) FROM cards.cards WHERE user_id = %s", [USER]).fetchone()
    assert row is not None
    return int(row[0])


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """The address of a read service in a thread."""
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_level="warning"))
    thread = Thread(target=server.run)
    thread.start()
    eventually(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def report(title: str, ms: list[float]) -> None:
    """Prints the median and the slowest of the times."""
    median = quantiles(ms, n=2)[0] if len(ms) > 1 else ms[0]
    print(f"{title:<44}{median:>9.0f}{max(ms):>9.0f}", flush=True)


def opened(page: Page, address: str, ready: str) -> float:
    """Opens a screen and returns the milliseconds until it has what ``ready`` selects."""
    page.goto("about:blank")
    begun = time.monotonic()
    page.goto(address)
    page.locator(ready).first.wait_for(state="attached", timeout=120_000)
    return 1000 * (time.monotonic() - begun)


def measure(page: Page, url: str) -> None:
    """Measures every screen that grows with the number of cards."""
    screen = f"{url}/explorer/#/{{}}?user={USER}"

    def interact(title: str, act: str) -> None:
        report(title, page.evaluate(interactions(act)))

    paints: list[float] = []
    lists: list[float] = []
    for _ in range(5):
        lists.append(opened(page, screen.format("memory"), ".rows li"))
        entry: Any = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        paints.append(float(entry))
    report("first paint", paints)
    report("list: its first cards", lists)
    interact("list: scroll a screen", "document.querySelector('.rows').scrollTop += 600")
    page.wait_for_load_state("networkidle")
    interact("list: jump in what is loaded", "document.querySelector('.rows').scrollTop = (each % 2) * 4000")
    report("timeline: its bars", [opened(page, screen.format("timeline"), ".chart a") for _ in range(3)])
    print(f"  drawn: {page.locator('.chart a').count()} cards in {page.locator('.lanes li').count()} lanes")
    to = "line.value = +line.min + (line.max - line.min) * each / 40"
    told = "line.dispatchEvent(new Event('input', {bubbles: true}))"
    interact(
        "timeline: move the line", f"const line = document.querySelector('input[type=range]'); {to}; {told}"
    )
    interact("timeline: zoom", "document.querySelectorAll('.fields .actions button')[each % 2].click()")
    report(
        "graph of a name",
        [opened(page, screen.format("graph") + "&about=jazz", "svg.graph a") for _ in range(3)],
    )
    print(
        f"  drawn: {page.locator('svg.graph a').count()} nodes, {page.locator('svg.graph > line').count()} lines"
    )
    report("health", [opened(page, screen.format("health"), "table.captured, .empty") for _ in range(3)])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--cards", type=int, default=100_000)
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        print(f"skipped: this machine has no browser ({', '.join(NAMES)})")
        return 0
    if find_spec("playwright") is None:
        print("skipped: playwright is not installed; make test-browser installs it")
        return 0
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as server,
        EmbeddedRedis(Path(folder) / "redis") as queue,
    ):
        settings = replace(
            Settings(),
            database_url=server.url,
            redis_url=queue.url,
            embed_model="hash",
            auth="off",
            audit="off",
        )
        print(f"{prepare(settings, options.cards):,} cards of one user{'ms: median':>28}{'slowest':>9}")
        with served(settings) as url, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.on("pageerror", lambda error: print(f"  fault of the page: {error}"))
            measure(page, url)
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
