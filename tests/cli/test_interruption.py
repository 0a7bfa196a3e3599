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


@pytest.mark.parametrize("name", ["aesara_nondecomp.cli.parser", "numpy", "aesara_nondecomp.cli.commands", "aesara"])
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
