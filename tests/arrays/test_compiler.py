"""Building the compiled loops: which compiler is taken, what its failures say, and where the library goes."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import pytest

import holdrank as hr
from holdrank.arrays import compiler, native

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins for compilers are shell scripts")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return what makes a script the compiler; it finds its output file behind -o."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(name: str, *lines: str) -> Path:
        path = folder / name
        path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return make


WRITES = 'while [ "$1" != -o ]; do shift; done; echo built > "$2"'


def test_cc_is_taken_with_its_options_then_what_is_on_the_path(stand_in, monkeypatch):
    own = stand_in("cc", "exit 0")
    assert compiler.find_compiler() == [str(own)]
    monkeypatch.setenv("CC", "my-compiler -march=native")
    assert compiler.find_compiler() == ["my-compiler", "-march=native"]
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(compiler, "find_spec", lambda _: None)
    assert compiler.find_compiler() is None
    monkeypatch.setattr(compiler, "find_spec", lambda name: name == "ziglang")
    assert compiler.find_compiler() == [sys.executable, "-m", "ziglang", "cc"]


def test_a_library_replaces_older_ones_and_nothing_else(stand_in, tmp_path):
    stand_in("cc", WRITES)
    folder = tmp_path / "loops"
    folder.mkdir()
    ending = compiler.library_name().rpartition(".")[2]
    (folder / f"loops-00000000.{ending}").touch()
    (folder / "notes.txt").touch()
    made = compiler.build(folder)
    assert made.read_text(encoding="utf-8") == "built\n"
    assert {path.name for path in folder.iterdir()} == {compiler.library_name(), "notes.txt"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["echo 'loops.c:3: error: bad' >&2", "echo 'and more' >&2", "exit 1"], "failed: loops.c:3: error: bad"),
        (["exit 1"], "failed: no message"),
        (["exit 0"], "failed: no message"),  # it says that all is well and writes nothing
    ],
)  # fmt: skip
def test_a_compiler_that_fails_is_quoted_with_its_first_line(stand_in, tmp_path, lines, said):
    stand_in("cc", *lines)
    with pytest.raises(compiler.CannotBuildError) as caught:
        compiler.build(tmp_path)
    assert str(caught.value).endswith(said)
    assert not list(tmp_path.glob("loops-*"))


def test_a_compiler_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(compiler.CannotBuildError, match="the C compiler no-such-compiler does not start"):
        compiler.build(tmp_path)
    monkeypatch.setattr(compiler, "find_compiler", lambda: None)
    with pytest.raises(compiler.CannotBuildError, match="there is no C compiler"):
        compiler.build(tmp_path)


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    """Let the library be looked for in two empty folders, and forget the one that is loaded."""
    folders = [tmp_path / "beside", tmp_path / "of the user"]
    monkeypatch.setattr(native, "_folders", lambda: iter(folders))
    monkeypatch.setattr(ctypes, "CDLL", lambda path: ("loaded", path))
    return folders


def test_where_the_first_folder_is_read_only_the_second_is_taken(two_folders, monkeypatch):
    first, second = two_folders

    def build(folder):
        if folder == first:
            raise PermissionError(13, "read-only")
        return folder / "library"

    monkeypatch.setattr(compiler, "build", build)
    assert native._library.__wrapped__() == ("loaded", str(second / "library"))
    (second / compiler.library_name()).touch()
    assert native._library.__wrapped__() == ("loaded", str(second / compiler.library_name()))  # nothing is built


def test_without_a_folder_or_a_compiler_the_error_says_what_to_do(two_folders, monkeypatch):
    def read_only(_):
        raise PermissionError(13, "read-only")

    def no_compiler(_):
        raise compiler.CannotBuildError("there is no C compiler")

    monkeypatch.setattr(compiler, "build", read_only)
    with pytest.raises(hr.HoldrankError, match=r"no folder is writable for .* Fix: install it with pip"):
        native._library.__wrapped__()
    monkeypatch.setattr(compiler, "build", no_compiler)
    with pytest.raises(hr.HoldrankError, match=r"there is no C compiler\. Fix: install a C compiler"):
        native._library.__wrapped__()
    assert all(folder.exists() for folder in two_folders[:1])


def test_the_folder_of_the_user_follows_the_system(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr(sys, "platform", "linux")
    assert list(native._folders()) == [compiler.SOURCES, Path("/somewhere/holdrank")]
    monkeypatch.setattr(sys, "platform", "darwin")
    assert list(native._folders())[1] == Path("~/Library/Caches/holdrank").expanduser()


def test_a_loop_without_memory_says_so(monkeypatch):
    monkeypatch.setattr(native, "_function", lambda _: (lambda: -1, native.parsed("i")))
    with pytest.raises(MemoryError, match="no memory for descend"):
        native.call("descend")
