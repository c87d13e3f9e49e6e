"""SHA-256 of large files, computed while DuckDB reads them."""

from __future__ import annotations

import hashlib
from threading import Event, Thread
from types import TracebackType

from holdrank.errors import InputError
from holdrank.files.large.scan import Scan, stamp_of

_BLOCK = 1 << 20


class Digests:
    """Hashes the files of a scan in a separate thread; a context manager, which ends the thread."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._found: list[str] = []
        self._over = Event()
        self._thread = Thread(target=self._work, daemon=True)

    def __enter__(self) -> Digests:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        buffer = bytearray(_BLOCK)
        view = memoryview(buffer)
        for file in self._scan.files:
            digest = hashlib.sha256()
            try:
                with open(file, "rb", buffering=0) as opened:
                    while (size := opened.readinto(buffer)) and not self._over.is_set():
                        digest.update(view[:size])
            except OSError:
                return
            self._found.append(digest.hexdigest())

    def sha256(self) -> str:
        """Return the SHA-256 of the file, or of the list of hashes of several files. Refuse files that were changed."""
        self._thread.join()
        for number, (file, stamp) in enumerate(zip(self._scan.files, self._scan.stamps, strict=True)):
            try:
                same = number < len(self._found) and stamp_of(file) == stamp
            except OSError:
                same = False
            if not same:
                raise InputError(
                    "the file changed while it was being read",
                    source=file,
                    expected="a file that does not change",
                    repair="wait until it is complete and run the command again, or read a copy",
                )
        if len(self._found) == 1:
            return self._found[0]
        return hashlib.sha256("\n".join(self._found).encode()).hexdigest()
