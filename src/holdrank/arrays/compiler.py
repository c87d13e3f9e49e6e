"""Builds the library of hot loops from their C sources: when a wheel is built, and in a clone on first use.

It needs only Python and a C compiler: the one that CC names, cc, gcc or clang, else the one in the package ziglang. The
name of the library contains a hash of its sources, so that changed sources are built again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from importlib.util import find_spec
from pathlib import Path

SOURCES = Path(__file__).parent / "loops"
REPAIR = "install a C compiler (on Debian: apt install gcc), or pip install ziglang"
# No fused operations: the same bits on every processor.
_OPTIONS = ["-std=c99", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-shared"]


class CannotBuildError(RuntimeError):
    """The library cannot be built; the message says why."""


def library_name() -> str:
    """Return the file name of the library that belongs to the sources."""
    sources = b"".join(path.read_bytes() for path in sorted(SOURCES.glob("*.[ch]")))
    ending = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    return f"loops-{zlib.crc32(sources):08x}.{ending}"


def find_compiler() -> list[str] | None:
    """Return the command of a C compiler, None if there is none."""
    import shlex
    import shutil

    if named := os.environ.get("CC"):
        return shlex.split(named)
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return [path]
    return [sys.executable, "-m", "ziglang", "cc"] if find_spec("ziglang") else None


def build(folder: Path) -> Path:
    """Build the library in `folder` and delete older ones there; several processes may do so at the same time."""
    import subprocess  # in a wheel, nothing is built
    import tempfile

    compiler = find_compiler()
    if compiler is None:
        raise CannotBuildError("there is no C compiler")
    with tempfile.TemporaryDirectory(prefix="loops-", dir=folder) as work:
        made = Path(work) / library_name()
        sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
        try:
            done = subprocess.run(
                [*compiler, *_OPTIONS, "-o", str(made), *sources, *([] if sys.platform == "win32" else ["-lm"])],
                capture_output=True, text=True, check=False, cwd=work,
            )  # fmt: skip
        except OSError as error:
            raise CannotBuildError(f"the C compiler {compiler[0]} does not start: {error.strerror}") from error
        if done.returncode != 0 or not made.exists():
            lines = (done.stderr.strip() or "no message").splitlines()
            raise CannotBuildError(f"the C compiler {compiler[0]} failed: {lines[0]}")
        target = folder / made.name
        made.replace(target)
    for old in folder.glob(f"loops-*{target.suffix}"):
        if old != target:
            with contextlib.suppress(OSError):  # another process has it open, on Windows
                old.unlink()
    return target
