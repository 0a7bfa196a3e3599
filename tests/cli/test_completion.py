"""The script of --print-completion completes commands and options in the shell itself."""

import subprocess
import sys

import pytest

from aesara_nondecomp.cli import main

# Bash's own state when Tab is pressed, and what it would offer.
BASH = "source {script}; COMP_WORDS=({words}); COMP_CWORD={at}; _shtab_aesara_nondecomp; echo ${{COMPREPLY[@]}}"


def script(shell, capsys):
    pytest.importorskip("shtab", reason="needs the extra completion")
    with pytest.raises(SystemExit) as stopped:
        main(["--print-completion", shell])
    assert stopped.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words, offered", [
    ("tr", "train"),
    ("e", "evaluate export-onnx"),
    ("train --meas", "--measure"),
    ("compare --h", "-h --help --html"),
    ("train --decimal ''", ". ,"),
])  # fmt: skip
def test_bash_offers_commands_options_and_values(words, offered, capsys, tmp_path):
    (tmp_path / "completion.sh").write_text(script("bash", capsys))
    typed = f"aesara-nondecomp {words}"
    code = BASH.format(script=tmp_path / "completion.sh", words=typed, at=len(typed.split()) - 1)
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert set(done.stdout.split()) | {"-h"} == set(offered.split()) | {"-h"}


@pytest.mark.parametrize(
    "shell, sign", [("zsh", "#compdef aesara-nondecomp"), ("fish", "complete -c aesara-nondecomp")]
)
def test_other_shells_get_a_script_of_their_own(shell, sign, capsys):
    text = script(shell, capsys)
    assert sign in text and all(word in text for word in ("quantify", "constraint", "doctor"))


def test_without_shtab_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 1
    assert "pip install 'aesara-nondecomp[completion]'" in capsys.readouterr().err


def test_another_shell_is_a_usage_error(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--print-completion", "ksh"])
    assert "argument --print-completion: invalid choice: 'ksh'" in capsys.readouterr().err
