"""One job in a separate process: `python -m holdrank.studio.worker`.

It reads one line of JSON and then the files, all from stdin; it writes one JSON object per line. Nothing is unpickled,
and no file is read from the disk. When stdin closes, the studio has ended, and the process ends too.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, BinaryIO, NoReturn

_LARGEST_FILE = 2**30  # bytes that a job may write to one file of its folder
_MOST_FILES = 256  # that a job may have open
_PAUSE = 0.1  # seconds between two signs of life
_ROUNDS = 20  # attempts at removing the folder of a job


def main() -> None:
    """Run the job described on stdin."""
    out = _own_stdout()
    with os.fdopen(os.dup(0), "rb") as stdin:
        order = stdin.readline()
        if not order.endswith(b"\n"):  # the studio has already ended
            _take_away(*sys.argv[1:])
        job = json.loads(order)
        _limit(int(job["memory"]), float(job["seconds"]))
        files = [stdin.read(size) for size in job["sizes"]]
    threading.Thread(target=_end_with_the_studio, args=[job["folder"]], daemon=True).start()
    say = _speaker(out)
    code = 0
    try:
        from holdrank.errors import HoldrankError
        from holdrank.studio.limits import StudioError
        from holdrank.studio.tasks import TASKS

        try:
            say("result", **TASKS[job["task"]](job, files, say))
        except HoldrankError as error:
            say("error", error=StudioError.of(error).shape())
    except BrokenPipeError:  # the studio has ended; the thread may not have noticed yet
        _take_away(job["folder"])
    except Exception as error:  # noqa: BLE001 - whatever it is, the page gets one line and no traceback
        code = 1
        if isinstance(error, MemoryError) or (isinstance(error, ImportError | OSError) and _is_full()):
            say("error", error=out_of_memory(int(job["memory"])))
        else:
            # Its text may reveal file names of this machine.
            words = f"internal error: {type(error).__name__}"
            say("error", error={"code": "internal", "message": words, "place": "", "repair": "please report it"})
    out.flush()
    os._exit(code)  # the thread that waits on stdin must not hold the process


def out_of_memory(limit: int) -> dict[str, str]:
    """Return the error for a job that exceeds its memory limit."""
    return {
        "code": "memory",
        "message": f"the job needs more memory than the {limit / 2**30:.3g} GB that the studio gives it",
        "place": "",
        "repair": "use fewer items or ballots, or the command line, which has no such limit",
    }


def _is_full() -> bool:
    """Whether there is no memory for another large library, which would fail to load with a long message."""
    import mmap

    try:
        mmap.mmap(-1, 256 * 2**20).close()
    except OSError:
        return True
    return False


def _own_stdout() -> BinaryIO:
    """Return stdout for messages only; output of solvers goes to stderr."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


def _limit(memory: int, seconds: float) -> None:
    """Set limits that hold even if the studio is stopped or killed."""
    try:
        import resource
    except ImportError:  # a system without them; the studio's own clock remains
        return
    wanted = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + 60)]
    wanted += [(resource.RLIMIT_FSIZE, _LARGEST_FILE), (resource.RLIMIT_NOFILE, _MOST_FILES)]
    wanted += [(resource.RLIMIT_AS, memory)] if memory else []
    for kind, most in wanted:
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (least, least))
        except (OSError, ValueError):  # macOS knows the limit of memory and refuses to set it
            continue


def _end_with_the_studio(folder: str) -> None:
    """Wait until the studio has ended, then remove the folder of this job."""
    while os.read(0, 1024):
        pass
    _take_away(folder)


def _take_away(*folders: str) -> NoReturn:
    """Remove the folder and end the process."""
    for folder in folders:
        for _ in range(_ROUNDS):  # the job may still write to it, and a folder that is not empty stays
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.exists(folder):
                break
    os._exit(4)


def _speaker(out: BinaryIO) -> Callable[..., None]:
    """Return a function that writes messages, and limits the rate of heartbeats."""
    last = 0.0

    def say(event: str, **parts: Any) -> None:
        nonlocal last
        if event == "progress":
            if monotonic() - last < _PAUSE:
                return
            last = monotonic()
        line = json.dumps({"event": event, **parts}, allow_nan=False)
        out.write(line.encode("ascii") + b"\n")
        out.flush()

    return say


if __name__ == "__main__":
    main()
