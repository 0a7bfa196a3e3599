"""The process of the command: its statuses at its very end, and standard input and output as files."""

import os
import subprocess
import sys

import numpy as np
import pytest

from aesara_nondecomp import load_model
from aesara_nondecomp.cli import main

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)).round(3)
ROWS = "a,b,y\n" + "".join(f"{a},{b},{int(a > 0)}\n" for a, b in X)
SMALL = ["--target", "y", "--network", "linear", "--steps", "5", "--validation", "none", "--quiet"]


def process(*arguments, **options):
    """The command as a process, by the entry point of its script."""
    code = f"from aesara_nondecomp.cli import run; import sys; sys.argv[1:] = {list(arguments)!r}; run()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=200, check=False, env=environment, **options
    )


@pytest.mark.parametrize("rows, told", [
    ("a,b,y\n", b"must hold rows below its header"),
    ("a,b,y\n1,2,0\n3,1\n", b"row 2 (from 1, below the header): expected 3 cells"),
])  # fmt: skip
def test_a_table_that_is_refused_ends_with_1_and_is_no_abort_of_the_reader(rows, told, tmp_path):
    (tmp_path / "t.csv").write_text(rows)
    ended = process("train", "t.csv", "--target", "y", "--out", "m", cwd=tmp_path)
    assert ended.returncode == 1 and ended.stderr.count(b"\n") == 1 and told in ended.stderr
    assert os.listdir(tmp_path) == ["t.csv"]


def test_models_and_predictions_go_through_pipes_as_through_files(tmp_path, monkeypatch, capsys):
    (tmp_path / "t.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    assert main(["train", "t.csv", "--out", "m", *SMALL]) == 0
    assert main(["predict", "m", "t.csv"]) == 0
    told = capsys.readouterr().out
    for out in ("-", "/dev/stdout"):
        piped = process("train", "-", "--out", out, *SMALL[:-1], input=ROWS.encode())
        assert piped.returncode == 0, piped.stderr
        (tmp_path / "piped").write_bytes(piped.stdout)
        assert all(map(np.array_equal, load_model("piped").parameters, load_model("m").parameters))
    predicted = process("predict", "piped", "-", "--out", "-", input=ROWS.encode())
    assert (predicted.returncode, predicted.stdout.decode(), predicted.stderr) == (0, told, b"")
    assert sorted(os.listdir(tmp_path)) == ["m", "piped", "t.csv"]


def test_python_m_runs_the_same_command():
    ended = subprocess.run(
        [sys.executable, "-m", "aesara_nondecomp", "train", "--stepz", "5"], capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=100,
    )  # fmt: skip
    same = process("train", "--stepz", "5")
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, same.stdout, same.stderr) and same.returncode == 2
    assert ended.stderr.startswith(b"usage: aesara-nondecomp train")
