"""Commands at the edges: signals, full disks, folders that are gone, options that contradict each other."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time

import pytest

import holdrank as hr
from holdrank import cli
from holdrank.cli import interrupts
from holdrank.cli.options import as_option
from holdrank.errors import Option
from holdrank.status import Step

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

BATTLES = "model_a,model_b,winner,judge\n" + "x,y,a,j1\n" * 5 + "x,y,b,j2\ny,z,a,j1\nx,z,a,j2\nz,y,a,j3\n"


@pytest.fixture
def run(command_line, tmp_path):
    """Run a command beside a few files."""
    (tmp_path / "battles.csv").write_text(BATTLES, encoding="utf-8")
    (tmp_path / "ranks.csv").write_text("a,b,c\n1,2,3\n1,2,3\n2,1,3\n2,1,3\n", encoding="utf-8")
    return command_line


def test_help_lists_the_commands_in_the_order_in_which_people_meet_them(run):
    code, out, _ = run("--help")
    assert code == 0
    listed = [line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line.strip()]
    known = [name for name in listed if name in cli.cli.commands]
    assert known == list(cli.cli.commands)
    assert known[0] == "rank"


def terminated(*_, **__):
    """Be asked to end, and hear it."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)


@pytest.fixture
def _plain_signals():
    """Handlers as a shell starts a command with; what was there is put back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_plain_signals")
@posix
@pytest.mark.parametrize("interrupts", [signal.default_int_handler, signal.SIG_IGN])
def test_termination_is_an_interruption_that_is_remembered(interrupts):
    signal.signal(signal.SIGINT, interrupts)
    with cli._Termination() as termination:
        with pytest.raises(KeyboardInterrupt):
            terminated()
        assert termination.heard
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.usefixtures("_plain_signals")
@posix
def test_the_exit_code_says_which_signal_it_was(run, monkeypatch):
    from holdrank.files import reading

    monkeypatch.setattr(reading, "_read", terminated)
    code, out, err = run("rank", "battles.csv")
    assert (code, out) == (143, "")
    assert err.splitlines()[-1] == "interrupted"


@pytest.mark.usefixtures("_plain_signals")
@posix
def test_handlers_of_others_are_left_alone():
    heard = []
    signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    theirs = signal.getsignal(signal.SIGTERM)
    with cli._Termination() as termination:
        assert signal.getsignal(signal.SIGTERM) is theirs
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
    assert signal.getsignal(signal.SIGTERM) is theirs
    assert (heard, termination.heard) == ([1], False)


@pytest.mark.usefixtures("_plain_signals")
@posix
def test_a_phase_that_does_not_end_by_itself_is_broken_off(monkeypatch):
    monkeypatch.setattr(interrupts, "_BREAK", 0.01)
    monkeypatch.setattr(interrupts, "_LEAVE", 60.0)
    watch = interrupts.Watch()
    phases = []

    def work():
        with watch.computing() as phase:
            phases.append(phase)
            thread.start()
            for _ in range(20_000):
                time.sleep(0.001)

    thread = threading.Thread(target=lambda: watch._hurry(phases[0], signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        work()
    thread.join(10)
    assert not thread.is_alive()
    assert phases[0].over.is_set()


@pytest.mark.usefixtures("_plain_signals")
@posix
def test_a_phase_that_hears_nothing_ends_the_process_with_what_is_known(monkeypatch, capfd):
    monkeypatch.setattr(interrupts, "_BREAK", 0.01)
    monkeypatch.setattr(interrupts, "_LEAVE", 0.02)
    codes = []
    monkeypatch.setattr(os, "_exit", codes.append)  # else there would be no test any more
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch = interrupts.Watch()
    with watch.computing() as phase:
        watch.keep(Step("rounds", 1, 2, "more than 30 votes so far."))
        watch._hurry(phase, signal.SIGTERM)
    assert codes == [143]
    assert capfd.readouterr().err == "\ninterrupted; more than 30 votes so far\n"


def test_a_command_runs_in_any_thread(run, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["holdrank", "rank", "battles.csv", "-q"])
    codes = []

    def work():
        try:
            cli.main()
        except SystemExit as stop:
            codes.append(stop.code)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert codes == [0]
    assert "x" in capsys.readouterr().out
    assert run("rank", "battles.csv", "-q")[0] == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_one_line_and_an_exit_code(run, monkeypatch, capsys):
    assert run("rank", "battles.csv", "-q")[0] == 0
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "argv", ["holdrank", "rank", "battles.csv", "-q"])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        monkeypatch.undo()
    assert stop.value.code == 3
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "No space left on device" in err
    assert "that there is room" in err


def test_a_folder_that_is_gone_is_named(run, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, _, err = run("report", str(tmp_path / "battles.csv"), "-o", "page.html")
    monkeypatch.chdir(tmp_path)
    assert code == 3
    assert re.search("page.html: the file cannot be written|the current folder: it no longer exists", err)
    assert err.count("\n") == 1


def test_too_little_memory_is_one_line(run, monkeypatch):
    from holdrank.files import reading

    def exhausted(*_, **__):
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr(reading, "_read", exhausted)
    code, _, err = run("rank", "battles.csv")
    assert code == 3
    assert "there is not enough memory (Unable to allocate 1 TiB)" in err
    assert "keep fewer items or ballots" in err


def test_a_wrong_option_names_the_commands_that_have_it(run):
    code, _, err = run("rank", "battles.csv", "--budget", "3")
    assert code == 2
    assert "No such option '--budget'" in err
    have = {name for name, command in cli.cli.commands.items() if any("--budget" in one.opts for one in command.params)}
    assert have
    assert all(name in err for name in have)
    code, _, err = run("rank", "battles.csv", "--no-such-thing")
    assert code == 2
    assert "--no-such-thing" in err


# Options


def test_options_of_readers_are_spelt_for_the_shell():
    assert as_option(Option("rank")) == "--rank-column"
    assert as_option(Option("lower_is_better", True)) == "--lower-is-better all"
    assert as_option(Option("weight", "how often")) == "--weight 'how often'"
    assert as_option(Option("no_such_option", "x")) == 'no_such_option="x"'


def test_lower_is_better_everywhere(run, tmp_path):
    (tmp_path / "times.csv").write_text("model,t1,t2\nx,0.5,3.5\ny,9.5,7.5\n", encoding="utf-8")
    _, usual, _ = run("rank", "times.csv", "-q", "--format", "score-table")
    code, turned, _ = run("rank", "times.csv", "-q", "--format", "score-table", "--lower-is-better", "all")
    assert code == 0
    assert usual.index(" y") < usual.index(" x")
    assert turned.index(" x") < turned.index(" y")


def test_validate_takes_several_files_but_not_as_json(run):
    code, _, err = run("validate", "battles.csv", "ranks.csv", "--json")
    assert code == 2
    assert "--json takes one FILE; 2 were given" in err
    code, out, _ = run("validate", "battles.csv", "ranks.csv", "--format", "rank-columns")
    assert code == 3
    code, out, _ = run("validate", "battles.csv", "battles.csv")
    assert (code, out.count("no problems found")) == (0, 2)


def test_convert_says_what_a_format_does_not_store(run, tmp_path):
    code, _, err = run("convert", "battles.csv", "battles.soi")
    assert code == 0
    assert "read it back with --unlisted observed" in err
    before = hr.read_votes(tmp_path / "battles.csv")
    after = hr.read_votes(tmp_path / "battles.soi", unlisted="observed")
    assert after.wins().tolist() == before.wins().tolist()
    code, _, err = run("convert", "battles.csv", "battles.jsonl")
    assert code == 0
    assert "read it back" not in err


# Commands


def test_a_board_is_written_to_a_file_instead_of_the_screen(run, tmp_path):
    code, shown, _ = run("board", "battles.csv", "--time-limit", "20")
    assert code == 0
    code, out, _ = run("board", "battles.csv", "-o", "board.md", "--time-limit", "20")
    assert (code, out) == (0, "")
    written = (tmp_path / "board.md").read_text(encoding="utf-8")
    assert [line.split("|")[4].strip() for line in written.splitlines() if line.startswith("| 1 ")] == ["x"]
    assert [line.split("|")[4].strip() for line in shown.splitlines() if line.startswith("| 1 ")] == ["x"]
    code, _, err = run("board", "battles.csv", "-o", "board.exe")
    assert code == 2
    assert "board.exe" in err


def test_leave_one_out_by_groups(run):
    code, out, err = run("leave-one-out", "battles.csv", "--by", "judge", "--verbose")
    assert code == 0
    assert " s\n" in err  # how long it took
    # The only battle that z lost against x is by j2.
    assert [line.split()[3:] for line in out.splitlines() if "33.3 %" in line] == [["%", "j2", "x", "z", "above", "y"]]
    code, out, _ = run("leave-one-out", "battles.csv", "--by", "judge", "--most", "0")
    assert code == 0
    assert "first place" not in out
    code, _, err = run("leave-one-out", "battles.csv", "--by", "judge", "--ballots")
    assert code == 2
    assert "Give --by or --ballots, not both" in err


def test_leave_one_out_says_what_it_does_not_list(run, tmp_path):
    """Two groups carry a result each: without either, a pair turns."""
    rows = "x,y,a,j1\n" * 3 + "x,y,b,j2\n" * 2 + "x,y,a,j3\n" * 1 + "x,y,b,j4\n" * 1 + "y,z,a,j5\n" + "x,q,a,j6\n"
    rows += "r,s,a,j7\n" * 2 + "r,s,b,j2\n"
    (tmp_path / "close.csv").write_text("model_a,model_b,winner,judge\n" + rows, encoding="utf-8")
    code, out, _ = run("leave-one-out", "close.csv", "--by", "judge", "--rule", "kemeny", "--most", "1")
    assert code == 0
    assert "and 1 more; --most lists them" in out
    assert "note: without j5 no vote is left for z; 2 groups in total leave items without votes" in out
