"""``cardlog eval``: the verbs of the package ``evaluation``. A checkout has that package, the wheel does not."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

_CHECKOUT = Path(__file__).resolve().parents[2]

Words = Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]


class EvaluationMissingError(RuntimeError):
    """This installation has no package ``evaluation``."""


if (_CHECKOUT / "evaluation" / "command.py").is_file():
    # An editable installation finds only the packages of the wheel.
    sys.path.insert(0, str(_CHECKOUT))
    from evaluation.command import app
else:
    app = App(name="eval", help="Measure on labelled data. Only a checkout of Cardlog can: make setup")

    @app.default
    def refuse(*words: Words) -> int:
        """Raises :class:`EvaluationMissingError`, whatever ``words`` ask for."""
        raise EvaluationMissingError(
            "the data and programs of the evaluation are not installed with Cardlog; run this verb from a checkout, "
            "after `make setup`"
        )
