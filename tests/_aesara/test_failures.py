"""A broken environment, a home or a disk that cannot be written to, and a strict flag: one line with the remedy."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest
from test_setup import before_aesara, flags_after_configure, in_fresh_python  # noqa: F401

from aesara_nondecomp._aesara import setup
from aesara_nondecomp._aesara.failures import cache_folder, explained_compilation, explained_import

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has another folder for the cache")


# -- the home folder -------------------------------------------------------------------------------------------------


@pytest.fixture
def no_home(before_aesara, monkeypatch, tmp_path):  # noqa: F811
    """A home below a file, where no folder can be made, and a folder for temporary files; returns the latter."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


@posix
def test_without_a_home_the_cache_is_temporary_and_one_warning_says_so(no_home):
    with pytest.warns(UserWarning, match="cache cannot be written.*AESARA_FLAGS=base_compiledir=FOLDER") as caught:
        folder = Path(flags_after_configure()["base_compiledir"])
    assert len(caught) == 1 and folder.parent == no_home and folder.stat().st_mode & 0o777 == 0o700
    setup.configure()  # again, as in a process that inherits the variable: no other warning
    assert len(caught) == 1 and folder.name == f"aesara_nondecomp-{os.getuid()}"


@posix
@pytest.mark.parametrize("taken", ["open to all", "a link", "a file"])
def test_a_temporary_folder_that_others_may_write_to_is_not_used(taken, no_home):
    name = no_home / f"aesara_nondecomp-{os.getuid()}"
    if taken == "open to all":
        name.mkdir()
        name.chmod(0o777)
    elif taken == "a link":
        (no_home / "elsewhere").mkdir()
        name.symlink_to(no_home / "elsewhere")
    else:
        name.touch()
    if taken == "a file":  # there is no way out, and the import of Aesara will say so
        assert "base_compiledir" not in flags_after_configure()
        return
    with pytest.warns(UserWarning, match="cache cannot be written"):
        folder = Path(flags_after_configure()["base_compiledir"])
    assert folder != name and folder.parent == no_home and folder.stat().st_mode & 0o777 == 0o700


@posix
@pytest.mark.parametrize("flag", ["base_compiledir", "compiledir"])
def test_a_cache_that_the_user_chose_is_left_alone(flag, no_home, monkeypatch):
    monkeypatch.setenv("AESARA_FLAGS", f"{flag}=/of/mine")
    flags = flags_after_configure()
    assert flags[flag] == "/of/mine" and len({"base_compiledir", "compiledir"} & set(flags)) == 1


@pytest.mark.usefixtures("before_aesara")
def test_a_home_without_a_cache_yet_is_used(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "base_compiledir" not in flags_after_configure() and list(tmp_path.iterdir()) == []


# -- packages --------------------------------------------------------------------------------------------------------

BROKEN = {
    "old names": ("import numpy; numpy.no_longer_there", "AttributeError: .*no_longer_there", "pip install"),
    "half of itself": ("from aesara.part import thing", "ImportError: .*thing.*", "pip install"),
    "the cache": (
        "raise ValueError(\"compiledir '/x' exists but you don't have read, write permissions.\")",
        "ValueError: compiledir '/x' exists", "AESARA_FLAGS=base_compiledir=FOLDER",
    ),
    "a full disk": ("raise OSError(28, 'No space left on device')", "No space left on device", "TMPDIR=FOLDER"),
}  # fmt: skip


@pytest.fixture(params=BROKEN)
def broken(request, tmp_path):
    """The environment in which Aesara's import fails, the reason and the remedy."""
    code, reason, remedy = BROKEN[request.param]
    (tmp_path / "aesara").mkdir()
    (tmp_path / "aesara" / "part.py").write_text("import aesara\n")
    (tmp_path / "aesara" / "__init__.py").write_text(f"import aesara.part\n{code}\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, "HOME": str(tmp_path)}, reason, remedy


def test_a_broken_environment_is_one_line_with_the_versions_at_every_attempt(broken):
    environment, reason, remedy = broken
    code = (
        "for _ in range(2):\n"
        "    try: import aesara_nondecomp._aesara.imports\n"
        "    except ImportError as error: print(error)\n"
        "import sys; print([name for name in sys.modules if name.startswith('aesara.')])"
    )
    finished = in_fresh_python(code, **environment)
    first, second, left = finished.stdout.splitlines()
    assert first == second and left == "[]" and finished.stderr == ""
    for text in ("Aesara does not start", "Python 3.", "aesara 2.", "numpy ", "scipy ", remedy):
        assert text in first
    assert "partially initialized" not in first or reason.startswith("ImportError")


COMMANDS = {"doctor": ["doctor"], "train": ["train", "table.csv", "--out", "model"], "measures": ["measures"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_so_in_one_line_or_does_without_aesara(command, tmp_path):
    (tmp_path / "aesara.py").write_text("import numpy; numpy.no_longer_there\n")
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    code = f"import sys; from aesara_nondecomp.cli import main; sys.exit(main({COMMANDS[command]}))"
    finished = in_fresh_python(code, **environment)
    lines = [line for line in (finished.stdout + finished.stderr).splitlines() if "Aesara" in line]
    assert finished.returncode == (command != "measures") and len(lines) == (command != "measures")
    for text in ("Aesara does not start", "numpy ", "aesara 2.") if lines else ():
        assert text in lines[0]
    assert finished.stderr.count("\n") == (command == "train")


def test_an_aesara_that_was_imported_before_stays():
    from aesara_nondecomp._aesara.imports import aesara

    with pytest.raises(ImportError, match="Aesara does not start .ValueError: x. with Python"), explained_import():
        raise ValueError("x")
    assert sys.modules["aesara"] is aesara


# -- compilation -----------------------------------------------------------------------------------------------------

FULL = [
    RuntimeError("pages\nof C\nfatal error: error writing to /tmp/x.s: No space left on device\nmore pages"),
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EROFS, "Read-only file system", "/cache/x"),
    PermissionError(errno.EACCES, "Permission denied", "/cache/x"),
]


@pytest.mark.parametrize("error", FULL, ids=str)
def test_no_room_for_compiled_code_is_one_line_with_the_settings(error):
    with pytest.raises(OSError, match="compiled code cannot be written") as caught, explained_compilation("/cache"):
        raise error
    text = str(caught.value)
    assert "\n" not in text and "'/cache'" in text and "base_compiledir=" in text and "TMPDIR=" in text
    assert caught.value.__suppress_context__


def test_another_error_of_a_compilation_passes():
    with pytest.raises(RuntimeError, match="^of another kind$"), explained_compilation("/cache"):
        raise RuntimeError("of another kind")


# -- warn_float64 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["raise", "warn"])
def test_the_flag_that_forbids_float64_is_set_aside_with_one_warning(action):
    code = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    from aesara_nondecomp._aesara.imports import aesara, at\n"
        "    at.dscalar()\n"
        "print(len(caught), aesara.config.warn_float64, caught[0].message)"
    )
    finished = in_fresh_python(code, AESARA_FLAGS=f"warn_float64={action}")
    assert finished.stdout.startswith(f"1 ignore warn_float64={action} is set to 'ignore'"), finished.stderr


def test_a_cache_folder_that_cannot_be_made_is_one_error_with_the_setting_to_change():
    class Config:
        @property
        def compiledir(self):
            raise ValueError("Unable to create the compiledir directory '/c'.\n Check the permissions.")

    with pytest.raises(
        OSError, match="no cache for compiled code. Unable to create.*AESARA_FLAGS=base_compiledir=FOLDER"
    ):
        cache_folder(Config())


def test_the_folder_of_a_compiler_is_named_even_if_it_is_full(monkeypatch):
    monkeypatch.setenv("TMPDIR", "/full")
    with pytest.raises(OSError, match="'/cache' or '/full'"), explained_compilation("/cache"):
        raise ValueError("No space left on device")
