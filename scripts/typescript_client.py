"""Writes the types of the TypeScript client from the OpenAPI documents of the services.

    python -m scripts.typescript_client

``openapi-typescript`` of ``clients/typescript/node_modules`` writes ``read.ts`` and ``write.ts``. ``operations.ts``
holds what types cannot say, and the digest of the documents: so a machine without Node notices that they changed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts import api_reference

CLIENT = Path(__file__).parents[1] / "clients" / "typescript"
GENERATOR = CLIENT / "node_modules" / ".bin" / "openapi-typescript"


def operations() -> str:
    """Returns the text of ``operations.ts``. No Node is needed."""
    documents = api_reference.documents()
    digest = hashlib.sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest()
    paths = [
        path
        for document in documents.values()
        for path, operations in document["paths"].items()
        for operation in operations.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        if (name := content["schema"].get("$ref", "").rpartition("/")[2])
        and "request_id" in document["components"]["schemas"][name]["properties"]
    ]
    return (
        "/** Made by scripts/typescript_client.py from OpenAPI documents of this digest. Do not edit.\n"
        f" * {digest}\n */\n\n"
        "/** The paths of commands whose body holds the id of the request. */\n"
        f"export const REQUEST_ID: ReadonlySet<string> = new Set({json.dumps(paths)});\n"
    )


def types() -> dict[str, str]:
    """Returns the text of the modules with types, by name. Raises FileNotFoundError without ``npm ci``."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, document in api_reference.documents().items():
            source = Path(folder, f"{name}.json")
            source.write_text(json.dumps(document), "utf-8")
            # A field with a default may be left out of a request.
            words = [str(GENERATOR), str(source), "--default-non-nullable=false"]
            done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 - our own lock
            made[f"{name}.ts"] = done.stdout
    return made


def main() -> int:
    """Writes the three modules. Returns 1 and writes nothing when Node or the generator is missing."""
    try:
        made = types()
    except FileNotFoundError:
        print("the types need Node 20: run npm ci in clients/typescript", file=sys.stderr)
        return 1
    for name, text in {**made, "operations.ts": operations()}.items():
        (CLIENT / "src" / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
