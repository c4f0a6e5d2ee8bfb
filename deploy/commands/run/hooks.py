"""``cardlog hooks``: lets an assistant ask and feed the memory by the hooks in its settings file."""

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from cyclopts import App, Parameter

from deploy.instance import find
from deploy.options import REPOSITORY, Answer, Flat, Given, Json, Project, Zone, projects_of
from deploy.security.private_files import written_privately
from events.platform.settings import Settings
from events.types.json_values import JsonObject
from retrieval.hooks import Assistant

app = App(
    name="hooks",
    help="With hooks, an assistant gets the context of each prompt from the memory, and the memory gets the turns, "
    "without code on the assistant's side. A late or dead Cardlog costs a prompt nothing.",
)

Place = Literal["user", "project", "local"]
_WAIT_S = 5
_KEY = "$CARDLOG_API_KEY"
_HERE = "&project_id=.&"
"""A part of the address that stands for the repository in which a hook runs."""


@dataclass(frozen=True)
class Kind:
    """How an assistant keeps hooks: its file in the home folder or a project, its events, the unit of its timeouts.

    ``http`` are the events whose hooks may be HTTP requests. The others run curl, which sends the same request.
    """

    folder: str
    file: str
    events: tuple[str, ...]
    http: frozenset[str] = frozenset()
    units_a_second: int = 1
    local: str | None = None


KINDS: Mapping[Assistant, Kind] = {
    "claude-code": Kind(
        ".claude",
        "settings.json",
        ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
        http=frozenset(("UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")),
        local="settings.local.json",
    ),
    "codex": Kind(".codex", "hooks.json", ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact")),
    "gemini-cli": Kind(
        ".gemini",
        "settings.json",
        ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"),
        units_a_second=1000,
    ),
}

Which = Annotated[Assistant, Parameter(help="the assistant")]
File = Annotated[Path | None, Parameter(metavar="FILE", help="another settings file")]
In = Annotated[
    Place,
    Parameter(
        name="--in",
        help="whose settings: the user's, those of the project in this folder, or its local ones (default: user)",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of an installation."""

    user: Annotated[str, Parameter(help="whose memory it is")]
    place: In = "user"
    file: File = None
    project: Project = "*"
    timezone: Zone = None


@app.command(name="install")
def run_install(
    assistant: Which = "claude-code",
    /,
    *,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Add the hooks to a settings file, and replace those of an earlier installation. Nothing else there changes."""
    path = _file(assistant, options.place, options.file)
    url, key_file = settings.read_url, settings.key_file
    if not url:
        _, instance = find(settings, data)
        url = instance.read_url if instance is not None else "http://127.0.0.1:8701"
        key_file = key_file or (instance.key_file if instance is not None else "")
    asked = {
        "user_id": options.user,
        "timezone": options.timezone,
        "project_id": projects_of(options.project),
    }
    query = urlencode({name: value for name, value in asked.items() if value}, doseq=True, safe="*")
    address = f"{url.rstrip('/')}{_route(assistant)}?{query}"
    # The files of a project may be shared, so they name no file of this machine.
    hooks = _hooks(KINDS[assistant], address, key_file if options.place == "user" else "")
    document = _read(path)
    changed = _without(document, assistant)
    for event, hook in hooks.items():
        changed.setdefault("hooks", {}).setdefault(event, []).append({"hooks": [hook]})
    _write(path, document, changed)
    print(f"{assistant}: hooks of {', '.join(hooks)} are in {path}")
    if any(_KEY in json.dumps(hook) for hook in hooks.values()):
        print("start the assistant with an API key of the scopes read and push in CARDLOG_API_KEY")
    return 0


@app.command(name="uninstall")
def run_uninstall(assistant: Which = "claude-code", /, *, place: In = "user", file: File = None) -> int:
    """Remove the hooks from a settings file. Nothing else there changes."""
    path = _file(assistant, place, file)
    document = _read(path)
    own = _own(document, assistant)
    _write(path, document, _without(document, assistant))
    done = f"the hooks of {', '.join(own)} are removed from" if own else "there were no hooks of Cardlog in"
    print(f"{assistant}: {done} {path}")
    return 0


@app.command(name="show")
def run_show(
    assistant: Annotated[Assistant | None, Parameter(help="only this assistant")] = None,
    /,
    *,
    file: File = None,
    as_json: Json = False,
) -> Answer:
    """Print the hooks of Cardlog in the settings files of assistants. A FILE alone is one of Claude Code."""
    shown = [assistant or "claude-code"] if assistant or file else KINDS
    found = {
        str(path): _own(_read(path), each)
        for each in shown
        for path in {file or _file(each, place, None): None for place in ("user", "project", "local")}
    }
    lines = []
    for path, events in found.items():
        lines.append(f"{path}: {', '.join(events) or 'no hooks of Cardlog'}")
        for event, hooks in events.items():
            lines += [f"  {event}: {hook.get('url') or hook.get('command')}" for hook in hooks]
    return Answer(found, lines)


def _route(assistant: Assistant) -> str:
    return f"/v1/hooks/{assistant}"


def _file(assistant: Assistant, place: Place, file: Path | None) -> Path:
    """Returns the settings file, behind its links. A link in a home folder may lead to a versioned file."""
    kind = KINDS[assistant]
    name = kind.local if place == "local" and kind.local else kind.file
    folder = Path.home() if place == "user" else Path.cwd()
    return (file or folder / kind.folder / name).resolve()


def _hooks(kind: Kind, address: str, key_file: str) -> dict[str, JsonObject]:
    key = f"@{shlex.quote(key_file)}" if key_file else f'"Authorization: Bearer {_KEY}"'
    # A memory that is away gives an empty answer. curl ends with 22 when the service refuses the request: the assistant
    # shows the reason, and goes on. -f keeps the text of an error out of its prompt.
    refused = "Cardlog refuses the hook: see its key and address (cardlog hooks show)"
    # Only a command knows the folder of its prompt. It writes each byte of the name of its repository as %xx.
    name = f"$({{ {REPOSITORY}; }} | od -An -vtx1 | tr -d ' \\n' | sed 's/../%&/g')"
    sent = shlex.quote(address).replace(_HERE, f"{_HERE[:-2]}'\"{name}\"'&")
    command = (
        f"curl -sf -m {_WAIT_S} -H {key} -H 'content-type: application/json' --data-binary @- "
        f"{sent} || if [ $? = 22 ]; then echo '{refused}' >&2; exit 1; else echo '{{}}'; fi"
    )
    wait = _WAIT_S * kind.units_a_second
    run = {"type": "command", "command": command, "timeout": wait}
    send = {
        "type": "http",
        "url": address,
        "headers": {"Authorization": f"Bearer {_KEY}"},
        "allowedEnvVars": [_KEY[1:]],
        "timeout": wait,
    }
    http = () if _HERE in address else kind.http
    return {event: send if event in http else run for event in kind.events}


def _read(path: Path) -> JsonObject:
    """Returns the settings; none for a missing or empty file. Raises ValueError for what would be harmed."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    try:
        document = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ValueError(f"{path} is not plain JSON ({error}), so it was left as it is") from None
    hooks = document.get("hooks", {}) if isinstance(document, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(each, list) for each in hooks.values()):
        raise ValueError(f"{path} has hooks of an unknown form, so it was left as it is")
    return dict(document)


def _is_own(hook: object, assistant: Assistant) -> bool:
    return isinstance(hook, dict) and any(
        f"{_route(assistant)}?" in str(hook.get(name, "")) for name in ("url", "command")
    )


def _in(group: object) -> list[JsonObject]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _own(document: JsonObject, assistant: Assistant) -> dict[str, list[JsonObject]]:
    found = {
        event: [hook for group in groups for hook in _in(group) if _is_own(hook, assistant)]
        for event, groups in document.get("hooks", {}).items()
    }
    return {event: hooks for event, hooks in found.items() if hooks}


def _without(document: JsonObject, assistant: Assistant) -> dict[str, Any]:
    """Returns the settings without the hooks of Cardlog, and without the lists that become empty by that."""
    own = _own(document, assistant)
    if not own:
        return {**document, "hooks": {**document["hooks"]}} if "hooks" in document else {**document}
    hooks: dict[str, list[JsonObject]] = {}
    for event, groups in document["hooks"].items():
        kept = []
        for group in groups:
            rest = [hook for hook in _in(group) if not _is_own(hook, assistant)]
            if len(rest) == len(_in(group)):
                kept.append(group)
            elif rest:
                kept.append({**group, "hooks": rest})
        if kept or event not in own:
            hooks[event] = kept
    return {name: each for name, each in {**document, "hooks": hooks}.items() if name != "hooks" or each}


def _write(path: Path, before: JsonObject, after: JsonObject) -> None:
    """Replaces the file at once, with its old rights. A file that need not change is not touched.

    Raises RuntimeError when the file cannot be written.
    """
    if before == after:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        with written_privately(path) as file:
            file.write(json.dumps(after, ensure_ascii=False, indent=2).encode() + b"\n")
            os.fchmod(file.fileno(), mode)
    except OSError as error:
        raise RuntimeError(f"{path} cannot be written: {error.strerror or error}") from error
