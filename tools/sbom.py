"""The list of everything that a lock file pins, with licences, as CycloneDX JSON.

``python tools/sbom.py LOCK OUTPUT`` writes it; the locked versions must be installed, for their licences are in their
metadata. ``python tools/sbom.py --check OUTPUT`` holds it against the schema of CycloneDX (needs cyclonedx-python-lib).

The same lock gives the same bytes on the same Python: there is no date, no serial number and no path in it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

SCHEMA = "1.6"
PROJECT = "holdrank"
_LICENCE_CLASSIFIER = re.compile(r"License :: (?:OSI Approved :: )?(.+)")
_LONGEST_NAME = 60  # characters; some packages put the whole text where the name of the licence belongs


def pinned(lock: str) -> dict[str, str]:
    """Return the versions by name that a lock file pins on this Python."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found = {}
    for line in re.findall(r"^[a-zA-Z0-9].*", lock, re.MULTILINE):
        requirement = Requirement(line.split(" \\")[0])
        if requirement.marker is None or requirement.marker.evaluate():
            found[canonicalize_name(requirement.name)] = next(iter(requirement.specifier)).version
    return found


def licences(dist: Distribution) -> list[dict[str, Any]]:
    """Return the licences that a package states, the most exact statement first: expression, classifiers, name."""
    expression = dist.metadata.get("License-Expression")
    if expression:
        return [{"expression": expression}]
    names = [
        match[1] for line in dist.metadata.get_all("Classifier") or [] if (match := _LICENCE_CLASSIFIER.match(line))
    ]
    stated = (dist.metadata.get("License") or "").strip()
    if not names and stated and "\n" not in stated and len(stated) <= _LONGEST_NAME:
        names = [stated]
    return [{"license": {"name": name}} for name in names]


def needs(dist: Distribution, known: dict[str, str], extras: tuple[str, ...] = ("",)) -> set[str]:
    """Return the names among those known that a package requires on this Python."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    parsed = (Requirement(line) for line in dist.requires or [])
    return {
        name
        for requirement in parsed
        if (name := canonicalize_name(requirement.name)) in known
        and (requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras))
    }


def reached(starts: set[str], graph: dict[str, set[str]]) -> set[str]:
    """Return what is needed, directly or not."""
    found, todo = set(starts), list(starts)
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    return found


def bill(lock: str) -> dict[str, Any]:
    """Return the bill of materials of a lock file."""
    versions = pinned(lock)
    parts = {name: _installed(name, version) for name, version in versions.items()}
    graph = {name: needs(dist, versions) for name, dist in parts.items()}
    itself = distribution(PROJECT)
    extras = tuple(itself.metadata.get_all("Provides-Extra") or ())
    core = reached(needs(itself, versions), graph)
    product = reached(needs(itself, versions, ("", *extras)), graph)

    def purl(name: str) -> str:
        return f"pkg:pypi/{name}@{versions[name]}"

    def component(name: str) -> dict[str, Any]:
        scope = "required" if name in core else "optional" if name in product else "excluded"
        found = {"type": "library", "bom-ref": purl(name), "name": name, "version": versions[name], "scope": scope,
                 "licenses": licences(parts[name]), "purl": purl(name)}  # fmt: skip
        return {key: value for key, value in found.items() if value}

    return {
        "bomFormat": "CycloneDX",
        "specVersion": SCHEMA,
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": PROJECT, "name": PROJECT, "version": itself.version,
                          "licenses": licences(itself)},
            "properties": [
                {"name": f"{PROJECT}:lock:sha256", "value": hashlib.sha256(lock.encode()).hexdigest()},
                {"name": f"{PROJECT}:python", "value": f"{sys.version_info.major}.{sys.version_info.minor}"},
            ],
        },
        "components": [component(name) for name in sorted(versions)],
        "dependencies": [
            {"ref": PROJECT, "dependsOn": sorted(map(purl, needs(itself, versions, ("", *extras))))},
            *({"ref": purl(name), "dependsOn": sorted(map(purl, graph[name]))} for name in sorted(versions)),
        ],
    }  # fmt: skip


def _installed(name: str, version: str) -> Distribution:
    try:
        dist = distribution(name)
    except PackageNotFoundError:
        sys.exit(f"{name} {version} is locked but not installed. Fix: make sbom installs it")
    if dist.version != version:
        sys.exit(f"{name} {version} is locked but {dist.version} is installed. Fix: remove .venv, then make sbom")
    return dist


def check(path: Path) -> None:
    """Stop unless a file fits the schema."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    problem = JsonStrictValidator(SchemaVersion.from_version(SCHEMA)).validate_str(path.read_text("utf-8"))
    if problem is not None:
        sys.exit(f"{path}: no CycloneDX {SCHEMA}: {problem}")
    count = len(json.loads(path.read_text("utf-8"))["components"])
    print(f"{path}: {count} packages, CycloneDX {SCHEMA}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: sbom.py LOCK OUTPUT, or sbom.py --check OUTPUT")
    if sys.argv[1] == "--check":
        check(Path(sys.argv[2]))
    else:
        target = Path(sys.argv[2])
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(bill(Path(sys.argv[1]).read_text("utf-8")), indent=2, ensure_ascii=False)
        target.write_text(text + "\n", "utf-8")
