"""Checks the packages that Cardlog runs with: a bill of materials, their licences, and known vulnerabilities.

``python -m scripts.supply_chain`` reads the run-time lock file, writes ``build/sbom.cdx.json`` (CycloneDX), and
refuses a licence that pyproject.toml does not allow and a version with a known vulnerability. Where the database of
vulnerabilities does not answer, it says so and refuses nothing.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-kafka.lock"
"""The larger one of the two run-time lock files: it has every package of the other."""
SBOM = ROOT / "build" / "sbom.cdx.json"

_LOCKED = re.compile(r"^([A-Za-z0-9][\w.-]*)==", re.MULTILINE)
_BETWEEN = re.compile(r"\s+(?:AND|OR)\s+|;|[()]")
_UNKNOWN = "UNKNOWN"
_TIMEOUT_S = 300


def main() -> int:
    """Runs the three checks and returns 1 when one of them finds a fault."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cardlog"]["licences"]
    names = locked(LOCK.read_text("utf-8"))
    licences = installed_licences() | {normal(name): text for name, text in rules["stated"].items()}
    write_bill(licences)
    missing = sorted(names - licences.keys())
    faults = refused_licences({name: licences[name] for name in names - {*missing}}, rules["allowed"])
    print(f"{SBOM.relative_to(ROOT)}: {len(names)} packages")
    if missing:
        print(f"licences not checked, because other systems need the packages: {', '.join(missing)}")
    found, note = vulnerabilities()
    if note:
        print(note)
    for fault in (*faults, *found):
        print(fault, file=sys.stderr)
    return 1 if faults or found else 0


def normal(name: str) -> str:
    """Returns the name of a package in its one normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(text: str) -> set[str]:
    """Returns the names of the packages in a lock file."""
    return {normal(name) for name in _LOCKED.findall(text)}


def installed_licences() -> dict[str, str]:
    """Returns the licence of every installed package, as its metadata state it."""
    rows = json.loads(
        _run("pip-licenses", "--python", sys.executable, "--format=json", "--from=mixed").stdout
    )
    return {normal(row["Name"]): str(row["License"]) for row in rows}


def refused_licences(licences: Mapping[str, str], allowed: Iterable[str]) -> list[str]:
    """Returns a sentence for each package with a licence that is not allowed.

    A licence expression names several licences. Each of them must be allowed, also when only one would have to be.
    """
    fit = {each.lower() for each in allowed}
    faults = []
    for name, text in sorted(licences.items()):
        wrong = [each for part in _BETWEEN.split(text) if (each := part.strip()) and each.lower() not in fit]
        if wrong or not text.strip():
            what = ", ".join(wrong) or _UNKNOWN
            faults.append(
                f"{name} has the licence {what}: replace the package, or allow the licence in pyproject.toml, "
                "[tool.cardlog.licences]"
            )
    return faults


def write_bill(licences: Mapping[str, str]) -> None:
    """Writes the bill of materials of the locked packages, with hashes and licences."""
    SBOM.parent.mkdir(exist_ok=True)
    made = _run("cyclonedx-py", "requirements", str(LOCK), "--pyproject", str(ROOT / "pyproject.toml"),
                "--output-reproducible")  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"cyclonedx-py failed: {made.stderr.strip()[-500:]}")
    bill = json.loads(made.stdout)
    for component in bill["components"]:
        component.pop("description", None)  # the line of the lock file, with all hashes once more
        if (text := licences.get(normal(component["name"]), _UNKNOWN)) != _UNKNOWN:
            component["licenses"] = [{"license": {"name": text}}]
    SBOM.write_text(json.dumps(bill, indent=1) + "\n")


def vulnerabilities() -> tuple[list[str], str]:
    """Returns a sentence for each known vulnerability, and a note when packages could not be looked up."""
    try:
        done = _run("pip-audit", "--requirement", str(LOCK), "--disable-pip", "--no-deps", "--format=json",
                    "--progress-spinner=off", "--timeout=10")  # fmt: skip
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return [], "vulnerabilities not checked: the database does not answer"
    return read_report(report)


def read_report(report: Mapping[str, Any]) -> tuple[list[str], str]:
    """Returns the vulnerabilities in a report of pip-audit, and a note about packages that were not looked up."""
    packages = report["dependencies"]
    found = [
        f"{each['name']} {each['version']} has the vulnerability {fault['id']}: "
        + (
            f"use {' or '.join(fault['fix_versions'])}"
            if fault["fix_versions"]
            else "no version is without it"
        )
        for each in packages
        for fault in each.get("vulns", ())
    ]
    skipped = sorted(each["name"] for each in packages if "skip_reason" in each)
    if not skipped:
        return found, ""
    if len(skipped) == len(packages):
        return (
            found,
            "vulnerabilities not checked: the database knows none of the packages, so it is no database",
        )
    return found, f"vulnerabilities not checked, because the database does not know: {', '.join(skipped)}"


def _run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - a locked tool of this environment
        [str(Path(sys.executable).with_name(program)), *arguments],
        capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
