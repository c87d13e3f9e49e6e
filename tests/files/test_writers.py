"""Writing votes: each format holds what it can, refuses what it cannot, and leaves no half file."""

from __future__ import annotations

import os
import stat

import pytest

from holdrank.errors import InputError, UsageError
from holdrank.files import read_votes, write_votes
from holdrank.votes.votes import Votes

VOTES = Votes.from_orders([["a", "b", "c"], ["b", ["a", "c"]], ["c"]], weights=[3, 2, 1])
STRICT = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[3, 2])
PARTIAL = Votes.from_orders([["a", "b", "c"], ["b"]], weights=[3, 2])
TIED = Votes.from_orders([["a", ["b", "c"]]])


@pytest.mark.parametrize(
    ("votes", "fits"),
    [(VOTES, {"toi"}), (STRICT, {"soc", "soi", "toc", "toi"}), (PARTIAL, {"soi", "toi"}), (TIED, {"toc", "toi"})],
)
def test_preflib_types_are_chosen_and_checked(votes, fits, tmp_path):
    best = next(kind for kind in ("soc", "soi", "toc", "toi") if kind in fits)
    for kind in ("soc", "soi", "toc", "toi"):
        path = tmp_path / f"v.{kind}"
        if kind in fits:
            write_votes(votes, path)
            assert f"# DATA TYPE: {kind}\n" in path.read_text()
            again = read_votes(path)
            assert again == votes
            assert not again.notes
        else:
            with pytest.raises(InputError, match=rf"write them as \.{best}"):
                write_votes(votes, path)
            assert not path.exists()
    write_votes(votes, tmp_path / "v.txt", format="preflib")
    assert f"# DATA TYPE: {best}\n" in (tmp_path / "v.txt").read_text()
    assert os.listdir(tmp_path)  # and no temporary file is left behind
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_csv_is_positions_where_that_loses_nothing(tmp_path):
    path = tmp_path / "v.csv"
    for votes, form in (
        (STRICT, "positions"),
        (PARTIAL, "positions"),
        (TIED, "rank-columns"),
        (Votes.from_orders([["b", "a"]], items=["a", "b"]), "rank-columns"),
        (Votes.from_orders([["a"]], items=["a", "b"]), "rank-columns"),
        (Votes.from_orders([["a"], ["b"]], weights=[1 / 3, 0.1]), "positions"),
    ):
        write_votes(votes, path)
        again = read_votes(path)
        assert again.reading.format == form
        assert again == votes
    with pytest.raises(InputError, match="positions cannot hold ties"):
        write_votes(TIED, path, format="positions")
    with pytest.raises(InputError, match="an item that no ballot lists"):
        write_votes(Votes.from_orders([["a"]], items=["a", "b"]), path, format="positions")


@pytest.mark.slow
def test_items_with_names_of_columns_come_back(tmp_path):
    for names in (
        ["weight", "voter", "id", "NA", "-"],
        ["model_a", "model_b", "winner", "'winner"],
        ["rank1", "rank2"],
        ["task", "model", "score"],
        ["1", "2", "3"],
        ["system1id", "system2id", "system1rank", "system2rank"],
        ["i", "j", "wins_i", "wins_j"],
        ["'=1", "''=1", "=1", "'t Hooft", "'", "a"],
        ["model", "t1"],
        ["Weight", " voter "],
    ):
        for votes in (
            Votes.from_orders([names, names[::-1]], weights=[2, 1]),
            Votes.from_orders([[names]], items=names),
            Votes.from_orders([[names[-1], names[0]]], items=names),
        ):
            for form in ("csv", "rank-columns", "preflib", "jsonl"):
                path = tmp_path / ("v.jsonl" if form == "jsonl" else "v.txt")
                write_votes(votes, path, format=form)
                assert read_votes(path) == votes


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    cases = [
        (Votes.from_orders([["a", "b"]], weights=[0.5]), "soc", "whole numbers"),
        (Votes.from_orders([["a\nb", "b"]]), "soc", "line break"),
        (Votes.from_orders([["a\rb", "b"]]), "soc", "line break"),
        (Votes.from_orders([["", "b"]]), "soc", "empty"),
        (Votes.from_orders([[" ", "b"]]), "csv", "without a name"),
        (Votes.from_orders([["\ud800", "b"]]), "csv", "half of a surrogate"),
    ]
    for votes, kind, words in cases:
        path = tmp_path / f"v.{kind}"
        with pytest.raises(InputError, match=rf"v\.{kind}: .*{words}.*Fix"):
            write_votes(votes, path)
        assert not os.listdir(tmp_path)


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "v.csv"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(InputError, match="No space left"):
            write_votes(STRICT, path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_votes(STRICT, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["v.csv"]
    with pytest.raises(InputError, match="cannot be written"):
        write_votes(STRICT, tmp_path / "none" / "v.csv")


def test_writing_to_standard_output(capfdbinary):
    write_votes(STRICT, "-", format="positions")
    assert capfdbinary.readouterr().out == b"weight,rank1,rank2,rank3\n3,a,b,c\n2,b,a,c\n"


def test_unclear_targets_are_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot tell the output format"):
        write_votes(STRICT, "-")
    with pytest.raises(UsageError, match="cannot tell the output format"):
        write_votes(STRICT, tmp_path / "v.xlsx")
    with pytest.raises(UsageError, match="contradicts"):
        write_votes(STRICT, tmp_path / "v.toc", format="soc")


def test_written_files_have_the_users_own_permissions(tmp_path):
    path, plain = tmp_path / "v.csv", tmp_path / "plain"
    plain.write_text("x")
    write_votes(STRICT, path)
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "there" / "v.csv", tmp_path / "link.csv"
    target.parent.mkdir()
    link.symlink_to(target)
    for _ in range(2):  # first it points nowhere, then to a file
        write_votes(STRICT, link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert read_votes(target) == STRICT
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"loop\.csv: the file cannot be written"):
        write_votes(STRICT, loop)


def test_an_existing_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("old")
    for mode in (0o600, 0o640):
        path.chmod(mode)
        write_votes(STRICT, path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert read_votes(path) == STRICT


def test_what_is_no_plain_file_is_written_in_place(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_votes(STRICT, pipe, format="positions")
        assert os.read(reader, 1000) == b"weight,rank1,rank2,rank3\n3,a,b,c\n2,b,a,c\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link = tmp_path / "null.csv"  # never /dev/null itself: a failing test would destroy it
    link.symlink_to(os.devnull)
    write_votes(STRICT, link)
    assert link.is_symlink()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(InputError, match=r"folder\.csv: the file cannot be written"):
        write_votes(STRICT, folder)


def test_an_open_stream_is_written_to_and_keeps_what_it_has(tmp_path):
    with open(tmp_path / "all.txt", "wb", buffering=0) as file:
        file.write(b"before\n")
        write_votes(STRICT, f"/dev/fd/{file.fileno()}", format="positions")
    assert (tmp_path / "all.txt").read_text() == "before\nweight,rank1,rank2,rank3\n3,a,b,c\n2,b,a,c\n"
