"""Files that stay valid when a run is killed: checkpoints, and files written whole or not at all.

A checkpoint stores the points of a long sweep as they finish, so that the sweep can be resumed. It has one JSON object
per line: first a description of the sweep, then the points. A point is on the disk before the next one starts, and a
truncated last line is ignored.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, BinaryIO, TypeAlias

from holdrank import __version__
from holdrank.errors import InputError, UsageError, reason, show

FORM = 1  # of the file
_SHOWN = 60  # characters of a line that is not a point
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")
_NAME = 40  # characters of the target that the name of a temporary file begins with

Keep: TypeAlias = "str | os.PathLike[str] | Checkpoint | None"

_fcntl: ModuleType | None = None
with suppress(ImportError):  # not on Windows, where two runs into one file must be kept apart by hand
    import fcntl as _fcntl


class Checkpoint:
    """The finished points of one sweep, in memory and in a file.

    Parameters
    ----------
    path : path
        Created if missing; otherwise it must belong to the same sweep.
    sweep : str
        What is computed, e.g. ``"tradeoff"``.
    votes : str
        Hash of the votes.
    parameters : mapping
        Everything else that the points depend on, as plain data.

    Attributes
    ----------
    points : dict
        Plain data by key.

    Raises
    ------
    InputError
        If the file was created from different votes, parameters or versions, is in use, or is not a checkpoint.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for _ in range(2):
    ...         with Checkpoint(folder + "/points.jsonl", "squares", "", {"of": "3"}) as kept:
    ...             print(kept.points)
    ...             kept.add("3", 9.0)
    {}
    {'3': 9.0}
    """

    def __init__(self, path: str | os.PathLike[str], sweep: str, votes: str, parameters: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.points: dict[str, Any] = {}
        plain = json.loads(json.dumps(dict(parameters), sort_keys=True))
        digest = hashlib.sha256(json.dumps([sweep, plain], sort_keys=True).encode()).hexdigest()
        self._about: dict[str, Any] = {
            "holdrank": __version__,
            "checkpoint": FORM,
            "sweep": sweep,
            "votes": votes,
            "parameters_sha256": digest,
            "parameters": plain,
        }
        try:
            known = _status(self.path)
            if known is not None and not stat.S_ISREG(known.st_mode) and not stat.S_ISDIR(known.st_mode):
                # A pipe would be waited for, and a device may have no end.
                raise self._refused("it is not a regular file", "choose another file name")
            self._file: BinaryIO = open(self.path, "a+b")  # noqa: SIM115
        except InputError:
            raise
        except (OSError, ValueError) as error:
            raise UsageError(
                f"the checkpoint {show(str(self.path), 200)} cannot be written: {reason(error)}",
                repair="choose a file in a folder that you may write to",
            ) from error
        try:
            self._lock()
            self._read()
        except BaseException:
            self._file.close()
            raise

    def add(self, key: str, value: Any) -> None:
        """Store a point; when this returns, it is on the disk."""
        self._append({"key": key, "value": value})
        self.points[key] = value

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lock(self) -> None:
        """Lock out a second run. The lock ends with the process."""
        if _fcntl is None:
            return
        try:
            _fcntl.lockf(self._file, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):  # a file system without locks says something else
                raise self._refused("it is in use", "wait for the other run, or choose another file name") from None

    def _read(self) -> None:
        self._file.seek(0)
        data = self._file.read()
        header = _line(self._about)
        if header.startswith(data):  # nothing, or a first line that was cut off
            self._file.truncate(0)
            self._append(self._about)
            _sync_folder(self.path)
            return
        lines = data.splitlines(keepends=True)
        self._check(lines[0])
        end = len(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            try:
                point = json.loads(line)
                key, value = str(point["key"]), point["value"]
                whole = line.endswith(b"\n")
            except (ValueError, KeyError, TypeError, RecursionError):
                whole = False
            if not whole:
                if number < len(lines):
                    raise InputError(
                        "this line is not a checkpoint entry",
                        source=str(self.path),
                        line=number,
                        found=line.decode(errors="replace").strip()[:_SHOWN],
                        repair="delete this line; its entry is then computed again",
                    )
                self._file.truncate(end)  # cut off in the middle of writing: the next point goes here
                break
            self.points[key] = value
            end += len(line)

    def _check(self, first: bytes) -> None:
        """Refuse a file of another sweep; the error names the difference."""
        try:
            about = json.loads(first)
            about["checkpoint"]
            str(about)  # what is shown of it below
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._refused("it is not a checkpoint", "choose another file name") from None
        again = "choose another file name, or delete this file to start over"
        mine = self._about
        for name, word in (("holdrank", "version"), ("checkpoint", "form"), ("sweep", "sweep")):
            if about.get(name) != mine[name]:
                found = show(str(about.get(name)))
                raise self._refused(f"created with a different {word}: {found} there, {mine[name]} here", again)
        if about.get("votes") != mine["votes"]:
            raise self._refused("created from different votes", again)
        if about.get("parameters_sha256") != mine["parameters_sha256"]:
            there, here = about.get("parameters"), mine["parameters"]
            there = there if isinstance(there, dict) else {}
            differ = sorted(name for name in {*there, *here} if there.get(name) != here.get(name))
            told = "; ".join(f"{show(name)} is {show(str(there.get(name)))} there, {show(str(here.get(name)))} here"
                             for name in differ)  # fmt: skip
            raise self._refused(f"created with different parameters: {told or 'the hash differs'}", again)

    def _refused(self, problem: str, repair: str) -> InputError:
        return InputError(f"the checkpoint cannot be used: {problem}", source=str(self.path), repair=repair)

    def _append(self, record: Mapping[str, Any]) -> None:
        try:
            self._file.write(_line(record))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):  # what the disk did not take would be tried again, in vain, by every close
                self._file.close()
            raise InputError(
                f"the checkpoint cannot be written: {reason(error)}",
                source=str(self.path),
                expected="free disk space",
                repair="free some space and run it again; the entries before this one are kept",
            ) from error


def opened(
    keep: Keep, sweep: str, votes: Any, parameters: Mapping[str, Any]
) -> Checkpoint | nullcontext[Checkpoint | None]:
    """Return the checkpoint of a sweep over votes, or over None, to be used in a ``with`` statement.

    A checkpoint that is already open stays open.
    """
    if keep is None or isinstance(keep, Checkpoint):
        return nullcontext(keep)
    return Checkpoint(keep, sweep, "" if votes is None else rows_hash(votes), parameters)


def rows_hash(votes: Any) -> str:
    """Return the hash of votes including the order of their ballots, on which draws and rounding depend."""
    digest = hashlib.sha256(votes.input_hash.encode())
    for _, part in votes.ballots.blocks():
        digest.update(part.matrix().tobytes())
    digest.update(votes.weights.tobytes())
    if votes.ballots.has_scores:  # voters who rank alike may stand in another order
        for _, part in votes.ballots.blocks():
            digest.update(part.score_matrix().tobytes())
    return digest.hexdigest()


def _line(record: Mapping[str, Any]) -> bytes:
    # Floats are written by repr, which reads back as the same number; what JSON has no word for is refused.
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def replace_file(path: Path, data: bytes) -> None:
    """Write to a temporary file and rename it, so that a failure leaves neither a partial nor a temporary file.

    The target is the file that a link points to; it keeps its permissions. Only a regular file can be replaced: a
    device or a pipe is opened and written to. So is an open stream, which keeps its earlier contents. Failures raise
    `OSError`, or `ValueError` for an impossible file name.
    """
    known = _status(path)
    if (known is not None and not stat.S_ISREG(known.st_mode)) or os.path.abspath(path).startswith(_STREAMS):
        with open(path, "ab") as file:
            file.write(data)
        return
    if known is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))  # a read-only file stays untouched
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:_NAME]}.{secrets.token_hex(8)}.part")
    # A new file gets the usual permissions; a replacement is private until it has those of the old file.
    mode = 0o666 if known is None else 0o600
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if known is not None:
            with suppress(OSError):
                os.chown(temporary, known.st_uid, known.st_gid)
            os.chmod(temporary, stat.S_IMODE(known.st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(target)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a path, following links; None if nothing is there."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _sync_folder(path: Path) -> None:
    """Make sure that the name of a new file is on the disk, too, where folders can be asked for that."""
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
