"""The guide to references works as written."""

import re
import subprocess
from pathlib import Path

from tests.support.stack import Running

GUIDE = Path(__file__).parents[2] / "docs" / "references.md"


def test_the_examples_of_the_guide_work_as_written(stack: Running) -> None:
    """The commands run in the folder that holds the data folder, with the ports of this stack."""
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    commands = "\n".join(each for each in blocks if "curl" in each and "PROPOSAL" not in each)
    commands = re.sub(r"as_of=\S+", "as_of=2199-01-01T00:00:00Z", commands)
    commands = commands.replace("curl -s ", "curl -s --fail-with-body ")
    script = f"READ={stack.read_url} WRITE={stack.write_url}\n{commands}"
    done = subprocess.run(
        ["bash", "-euc", script], cwd=stack.data.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr
    for rendering in ("groceries: [✓] oat milk", "購物清單: [ ] 牛奶", "PostgreSQL with pgvector"):
        assert rendering in done.stdout
