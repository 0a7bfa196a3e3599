"""Ctrl-C ends the command line in one line with status 130, also while it still imports what it needs."""

import os
import signal
import subprocess
import sys

import pytest

from aesara_nondecomp.cli import main, program

# Sends Ctrl-C where a module is imported.
CODE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
from aesara_nondecomp.cli import main
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.exit(main(["train", "rows.csv", "--out", "m"]))
"""


@pytest.mark.parametrize("name", ["aesara_nondecomp.cli.parser", "numpy", "aesara_nondecomp.cli.train", "aesara"])
def test_ctrl_c_while_modules_are_imported_is_told_in_one_line(name, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", CODE.format(name=name)],
        capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert (ended.returncode, ended.stderr.splitlines()) == (130, ["aesara-nondecomp: error: interrupted"])


def test_ctrl_c_in_a_command_is_told_in_one_line(monkeypatch, capsys):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("aesara_nondecomp.cli.info.doctor", interrupt)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "aesara-nondecomp: error: interrupted\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_is_ignored_or_handled_stays_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with program.interrupted_at_once():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


NO_CHECKPOINT = "No checkpoint was written yet: run the command again."
RAISED = [
    ("train", signal.SIGINT, f"interrupted. {NO_CHECKPOINT}"),
    ("train", signal.SIGTERM, f"terminated. {NO_CHECKPOINT}"),
    ("predict", signal.SIGTERM, "terminated. aesara-nondecomp predict keeps no checkpoint: run the command again."),
    ("evaluate", signal.SIGINT, "interrupted. aesara-nondecomp evaluate keeps no checkpoint: run the command again."),
    ("compare", signal.SIGTERM, "terminated. aesara-nondecomp compare keeps no checkpoint: run the command again."),
    ("quantify", signal.SIGINT, "interrupted. aesara-nondecomp quantify keeps no checkpoint: run the command again."),
]


@pytest.mark.parametrize("command, signum, told", RAISED)
@pytest.mark.parametrize("swallowed", [False, True])
def test_a_signal_ends_each_command_with_its_status_and_what_to_do(
    command, signum, told, swallowed, tmp_path, monkeypatch, capsys
):
    def stop(*_, **__):
        try:
            os.kill(os.getpid(), signum)
        except KeyboardInterrupt:
            if not swallowed:  # as by a callback from C
                raise
        return []

    monkeypatch.setattr("aesara_nondecomp.cli.outputs.check_outputs", stop)
    monkeypatch.setattr("aesara_nondecomp.cli.train.read_training_table", lambda *_: sys.exit("not stopped"))
    files = ["t.csv", "--out", str(tmp_path / "m")]
    arguments = files if command == "train" else ["a.model", *(["b.model"] if command == "compare" else []), *files]
    if swallowed:
        monkeypatch.setattr("aesara_nondecomp.cli.train.read_training_table", lambda *_: _untouched())
        monkeypatch.setattr("aesara_nondecomp.cli.commands.load_model", lambda path: _untouched())
    before = signal.getsignal(signum)
    assert main([command, *arguments]) == 128 + signum
    assert capsys.readouterr().err == f"aesara-nondecomp: error: {told}\n"
    assert signal.getsignal(signum) is before and list(tmp_path.iterdir()) == []


def _untouched():
    raise ValueError("the command went on")


def test_the_advice_names_a_checkpoint_that_is_there_and_says_where_none_can_be(tmp_path):
    from aesara_nondecomp.cli.train import _how_to_go_on
    from aesara_nondecomp.training.checkpoints import Checkpoint

    path = tmp_path / "m.checkpoint"
    assert _how_to_go_on(Checkpoint(path)) == NO_CHECKPOINT
    path.touch()
    assert _how_to_go_on(Checkpoint(path)) == f"The checkpoint is {path}: run the command again with --resume to go on."
    assert "no checkpoint, as --out is no file" in _how_to_go_on(None)


def test_a_second_signal_does_not_wait_for_the_step():
    stop = program.Stop()
    stop.waits = True
    stop(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        stop(signal.SIGTERM, None)
    assert stop.status == 143
