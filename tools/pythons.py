"""Which of some Pythons are installed, each full version once.

``python tools/pythons.py NAME...`` prints a line for each: its version and its path. stderr names those that are not
installed, or older than holdrank allows. ``python tools/pythons.py --this NAME...`` says in one line that the tests run
on the Python of this script, and which others they do not run on.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)


def asked(program: str) -> str:
    """Return the full version of a Python; nothing where the program does not run, as a shim of pyenv may not."""
    script = "import platform; print(platform.python_version())"
    try:
        done = subprocess.run([program, "-c", script], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def order(version: str) -> tuple[int, ...]:
    """Return a version as numbers, without the letters of a pre-release."""
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in version.split(".")[:3])


def programs(name: str) -> list[str]:
    """Return where a Python of this name may be: on the path, or among the versions that pyenv holds, newest first."""
    known = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    held = sorted(known.glob(f"3.*/bin/{name}"), key=lambda path: order(path.parts[-3]), reverse=True)
    return [path for path in (shutil.which(name), *map(str, held)) if path]


def found(names: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the program of each version that is here, and the names for which there is none."""
    here: dict[str, str] = {}
    missing = []
    for name in names:
        runs = ((asked(program), program) for program in programs(name))
        version, program = next(((version, program) for version, program in runs if version), ("", ""))
        if version and order(version)[:2] >= OLDEST:
            here.setdefault(version, program)
        else:
            missing.append(f"{name} ({version} is too old)" if version else name)
    return here, missing


def main(names: list[str]) -> int:
    """Print what is here, or say what this Python leaves untested."""
    if names[:1] != ["--this"]:
        here, missing = found(names)
        for name in missing:
            print(f"not installed: {name}", file=sys.stderr)
        for version, program in here.items():
            print(version, program)
        return 0 if here else 2
    here, missing = found(names[1:])
    this = platform.python_version()
    others = [version for version in here if version != this]
    told = f"Python {this}: the tests run on this version only."
    if others:
        told += f" Installed but not tested: {', '.join(others)}; `make test-pythons` tests each of them."
    if missing:
        told += f" Not installed: {', '.join(missing)}."
    print(told, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
