"""Samples the stacks of this process, as collapsed stacks: the input of flame graphs."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_EVERY_S = 0.005


@contextmanager
def sampled(file: Path) -> Iterator[None]:
    """Writes the stacks of all threads while its body runs: one stack a line, its frames by ``;``, and its samples.

    https://speedscope.app and flamegraph.pl draw the file. A thread that waits in C shows where it waits.
    """
    found: Counter[str] = Counter()
    ended, own = threading.Event(), set[int]()

    def sample() -> None:
        own.add(threading.get_ident())
        while not ended.wait(_EVERY_S):
            found.update(_stack(top) for thread, top in sys._current_frames().items() if thread not in own)

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{stack} {count}\n" for stack, count in sorted(found.items())))


def _stack(top: FrameType | None) -> str:
    frames = []
    while top is not None:
        frames.append(f"{Path(top.f_code.co_filename).stem}.{top.f_code.co_qualname}".replace(" ", "_"))
        top = top.f_back
    return ";".join(reversed(frames))
