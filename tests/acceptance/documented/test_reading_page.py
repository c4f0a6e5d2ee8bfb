"""The commands of ``docs/reading.md`` run as they are written, one after the other, in one shell."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.stack import Running, clean_environment

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reading.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_sets_its_variables_and_its_commands_answer(stack: Running) -> None:
    commands = "".join(BLOCK.findall(PAGE.read_text("utf-8")))
    assert commands.count("curl") > 10
    for address, url in (
        ("http://127.0.0.1:8701", stack.read_url),
        ("http://127.0.0.1:8700", stack.write_url),
    ):
        assert address in commands
        commands = commands.replace(address, url)
    # An answer of an error fails the script.
    commands = commands.replace("curl -s", "curl -sS --fail-with-body -w '\\n'")
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=commands
        + '\nfor id in "$CARD" "$NEWER" "$ARBITRATION"; do test ${#id} = 36; done; echo finished\n',
        capture_output=True,
        text=True,
        timeout=240,
        cwd=stack.data.parent,
        env=clean_environment()
        | {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("finished\n")
    assert '"from_card"' in done.stdout
