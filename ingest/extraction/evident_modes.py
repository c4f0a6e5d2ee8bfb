"""The mode of a turn by evident signs: blocks of code, stack traces, differences of files. Else the rules say none."""

import re
from collections.abc import Iterator

from events.language.chinese_script import to_simplified
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.turn_modes import ModeContext

_READ = 20_000  # Characters of a turn that are looked at.
_FENCE = re.compile(
    r"^[ \t]{0,12}```[ \t]*([\w+#.-]{0,20})[^\n`]{0,80}\n((?:(?!^[ \t]{0,12}```)[^\n]*\n?){1,400})",
    re.MULTILINE,
)
_LANGUAGE_NAMES = """
asm awk bash c c# c++ clj clojure cpp cs css cuda dart diff docker dockerfile elixir elm erlang fish fsharp go
golang graphql groovy h haskell hcl hpp html ini java javascript js json jsx julia kotlin kt lisp lua make
makefile matlab nginx objc ocaml patch perl php powershell proto ps1 py python r rb rs ruby rust sass scala
scss sh shell solidity sql svelte swift terraform tf toml ts tsx typescript vb vue wasm xml yaml yml zig zsh
"""
_LANGUAGES = frozenset(_LANGUAGE_NAMES.split())
_CODE_LINE = re.compile(
    r"^\s*(?:(?:def|class|import|from|return|fn|func|let|const|var|public|private|static|void|int|struct|enum|impl|"
    r"package|using|namespace|async|await|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|FROM|RUN|COPY|ENV)\b.*[({;=:]|"
    r"(?:if|for|while|switch|catch|elif|else if)\b.*[:{]\s*$|#include\b|//|/\*|\$ \w|[\w.]+\(.*\)[;{]?\s*$|"
    r"[\w.\[\]]+ ?(?::=|=|\+=|->|=>) ?\S.*|.*[;{}]\s*$|</?\w[^>]*>\s*$|[+-]{3} [ab]/|@@ -\d)"
)
_TRACES = re.compile(
    r"^Traceback \(most recent call last\):"
    r"|^\s*File \"[^\"\n]{1,300}\", line \d+"
    r"|^\s*at [\w$.<>\[\] ]{1,200}\([^()\n]{1,200}(?::\d+){1,2}\)"
    r"|^\s*at [\w$./@<> -]{1,200}:\d+:\d+\s*$"
    r"|^Exception in thread \"[^\"\n]{1,100}\""
    r"|^(?:Caused by: )?(?:[a-z]\w*\.){1,8}[A-Z]\w*(?:Exception|Error)\b"
    r"|^[A-Z]\w{0,60}(?:Error|Exception|Warning): \S"
    r"|^thread '[^'\n]{1,100}' panicked at "
    r"|^error\[E\d{4}\]: "
    r"|^goroutine \d+ \[[\w ,]{1,60}\]:"
    r"|^panic: \S.*\n(?:.*\n){0,4}goroutine "
    r"|^[\w./-]{1,200}\.\w{1,5}:\d+:\d+: (?:fatal )?(?:error|warning): "
    r"|^\s*-->\s[\w./-]{1,200}:\d+:\d+"
    r"|^Segmentation fault \(core dumped\)|^npm ERR! "
    r"|^diff --git a/\S+ b/\S+|^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@",
    re.MULTILINE,
)
_ABOUT_CODE = re.compile(
    r"\b(?:code|coding|program|programs|programming|software|develop(?:ment|er|ers|ing)?|debug(?:ging)?)\b"
    r"|代码|编程|编码|程序|软件|开发|程式|写码"
)
_NOT_ABOUT = re.compile(
    r"\b(?:dress|zip|postal|area|bar|qr|building|penal|civil|tv|radio|training|fitness|loyalty)[ -]?"
    r"(?:codes?|programs?|development)\b",
    re.IGNORECASE,
)


def evident_modes(batch: SessionBatch) -> tuple[tuple[str, str], ...]:
    """Returns the turns that evidently hold code, each with the one mode of the project that is about code.

    The result is empty when no mode of the project, or several of them, are about code: rules that guess are worse than
    the project's default.
    """
    mode = code_mode(batch.modes)
    if mode is None:
        return ()
    return tuple((each.turn.turn_id, mode) for each in batch.turns if holds_code(each.turn.text))


def code_mode(context: ModeContext) -> str | None:
    """Returns the mode whose name, or else whose description, says that it is about code, if there is exactly one."""
    for texts in ([each.name for each in context.choices], [each.description for each in context.choices]):
        found = [
            choice.name for choice, text in zip(context.choices, texts, strict=True) if _is_about_code(text)
        ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def holds_code(text: str) -> bool:
    """True when a text evidently holds code: a block of it, a stack trace, a compiler's error or a diff."""
    text = text[:_READ]
    return _TRACES.search(text) is not None or any(_blocks_of_code(text))


def _blocks_of_code(text: str) -> Iterator[bool]:
    if "```" not in text:
        return
    for language, body in _FENCE.findall(text):
        lines = [line for line in body.splitlines() if line.strip()]
        coded = sum(_CODE_LINE.match(line) is not None for line in lines)
        yield bool(lines) and (language.casefold() in _LANGUAGES or 2 * coded >= len(lines))


def _is_about_code(text: str) -> bool:
    plain = _NOT_ABOUT.sub(" ", to_simplified(text.casefold()).replace("-", " ").replace("_", " "))
    return _ABOUT_CODE.search(plain) is not None
