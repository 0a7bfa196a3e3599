"""The doctor's facts, its exit statuses, and that it can tell a sick installation from a sound one."""

from __future__ import annotations

import json
import sys

import pytest

from aesara_nondecomp import cli as command_line
from aesara_nondecomp._aesara import linked_blas
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.cli import doctor
from aesara_nondecomp.ops import library

SOUND = {"python": {"version": "3.11"}, "jax": ["cpu:0", "cpu:1"], "problems": []}


@pytest.fixture(scope="module")
def report():
    return doctor.examine()


def test_this_installation_has_a_compiler_and_a_blas_and_no_problem(report):
    assert report["problems"] == []
    assert "OpenBLAS" in report["blas"]["version"]
    assert report["blas"]["threads"] >= 1
    assert report["blas"]["gemm_gflops"] > 0
    assert report["compiler"]["path"] != "none"
    assert report["ops"] == {"run_by": "C++ that Aesara compiles", "library": library.problem() or "ready"}


def test_the_report_survives_json(report):
    assert json.loads(json.dumps(report)) == report


def test_the_report_names_the_running_interpreter(report):
    assert report["python"]["executable"] == sys.executable


def test_a_missing_compiler_is_a_problem_without_the_library_only():
    ops = {"run_by": "NumPy", "library": "the library is missing"}
    assert "install g++" in doctor._ops_problems(ops, None)[0]
    assert doctor._ops_problems(ops, "no headers") == [
        "Steps run by NumPy, four to five times slower: no headers, and the library is missing."
    ]
    assert doctor._ops_problems({**ops, "run_by": "the library of compiled Ops"}, "no headers") == []


@pytest.mark.parametrize("built", [True, False])
def test_without_a_compiler_the_doctor_says_what_runs_the_ops(built, monkeypatch):
    monkeypatch.setattr(library, "problem", lambda: None if built else "the library is missing")
    with aesara.config.change_flags(cxx=""):
        report = doctor.examine()
    assert report["ops"]["run_by"] == ("the library of compiled Ops" if built else "NumPy")
    assert [problem.endswith("and the library is missing.") for problem in report["problems"]] == [True] * (not built)


def test_an_unlinked_blas_is_a_problem_with_a_remedy():
    blas = doctor._linked_blas("")
    assert "scipy-openblas32" in doctor._blas_problems(blas)[0]


def test_a_library_outside_the_given_folders_is_named_by_its_flags():
    assert doctor._linked_blas("-lblas") == {"library": "-lblas", "version": "not known", "threads": None}


def test_a_library_that_is_no_openblas_has_no_version(tmp_path):
    """Python's own maths module stands for a shared library without OpenBLAS's questions."""
    import _ctypes

    assert linked_blas.ask_openblas(_ctypes.__file__) is None


def test_a_broken_aesara_is_reported_and_not_raised(monkeypatch):
    def broken():
        raise ImportError("no module named numpy.distutils")

    monkeypatch.setattr(doctor, "_examine_aesara", broken)
    assert doctor.examine()["problems"] == [
        "Aesara fails here (ImportError: no module named numpy.distutils). Reinstall aesara-nondecomp."
    ]


FOLDERS = "Make room there, or choose folders that can be written to: AESARA_FLAGS=base_compiledir=FOLDER for the cache"


@pytest.mark.parametrize("error", [
    OSError(28, "compiled code: No space left on device"),
    ValueError("Compilation failed (return status=1):\n/tmp/x.cpp: fatal error:\n No space left on device\n" * 50),
])  # fmt: skip
def test_a_full_folder_is_one_line_with_the_settings_to_change(error, monkeypatch):
    def full():
        raise error

    monkeypatch.setattr(doctor, "gemm_gflops", full)
    [problem] = doctor.examine()["problems"]
    assert FOLDERS in problem and "Reinstall" not in problem and "\n" not in problem


def test_versions_that_do_not_fit_have_their_remedy_already(monkeypatch):
    def broken():
        raise ImportError("Aesara does not start (X: y) with Python 3. Install versions that fit.")

    monkeypatch.setattr(doctor, "_examine_aesara", broken)
    assert doctor.examine()["problems"] == ["Aesara does not start (X: y) with Python 3. Install versions that fit."]


def test_a_product_that_differs_from_numpys_is_refused(monkeypatch):
    monkeypatch.setattr(doctor.np, "allclose", lambda *arguments, **options: False)
    with pytest.raises(RuntimeError, match="cannot be trusted"):
        doctor.gemm_gflops(2, 2, 2, repeats=1)


def test_the_exit_status_is_0_when_sound_and_1_when_not(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "examine", lambda: SOUND)
    assert command_line.main(["doctor"]) == 0
    assert "No problem found." in capsys.readouterr().out
    monkeypatch.setattr(doctor, "examine", lambda: {**SOUND, "problems": ["No compiler: install g++."]})
    assert command_line.main(["doctor"]) == 1
    assert "PROBLEM: No compiler: install g++." in capsys.readouterr().out


def test_json_output_is_the_report_and_nothing_else(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "examine", lambda: SOUND)
    command_line.main(["doctor", "--json"])
    assert json.loads(capsys.readouterr().out) == SOUND


@pytest.mark.parametrize("arguments", [[], ["docter"], ["doctor", "--yaml"]])
def test_a_usage_error_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        command_line.main(arguments)
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err
