"""Aesara's flags: what is filled in, what is the user's, and that nothing is printed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp._aesara import setup
from aesara_nondecomp._aesara.imports import _without_collecting, at  # before Aesara's own modules: it configures them

from aesara.configparser import parse_config_string  # isort: skip
from aesara.graph.basic import graph_inputs  # isort: skip

ROOT = Path(__file__).parents[2]


def in_fresh_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` with warnings as errors in a new interpreter, with no Aesara settings but those given."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AESARA")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**inherited, "AESARARC": os.devnull, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def before_aesara(monkeypatch, tmp_path):
    """A process that has not imported Aesara, and a user without settings."""
    monkeypatch.delitem(sys.modules, "aesara", raising=False)
    monkeypatch.setenv("AESARA_FLAGS", "")
    monkeypatch.setenv("AESARARC", str(tmp_path / "absent"))


def flags_after_configure() -> dict[str, str]:
    """What Aesara's own parser reads from the completed variable."""
    setup.configure()
    return parse_config_string(os.environ["AESARA_FLAGS"])


@pytest.mark.usefixtures("before_aesara")
def test_float_type_and_blas_are_filled_in():
    flags = flags_after_configure()
    assert flags["floatX"] == "float32"
    assert "openblas" in flags["blas__ldflags"]


@pytest.mark.usefixtures("before_aesara")
def test_configuring_twice_is_configuring_once():
    setup.configure()
    once = os.environ["AESARA_FLAGS"]
    setup.configure()
    assert os.environ["AESARA_FLAGS"] == once


@pytest.mark.usefixtures("before_aesara")
@pytest.mark.parametrize("value", ["", "-lblas", r"-L/opt/blas -lblas -Wl\,-rpath\,/opt/blas"])
def test_a_flag_in_the_environment_is_left_alone(monkeypatch, value):
    monkeypatch.setenv("AESARA_FLAGS", f"blas__ldflags={value},floatX=float64")
    flags = flags_after_configure()
    assert flags == {"blas__ldflags": value.replace("\\", ""), "floatX": "float64"}


@pytest.mark.usefixtures("before_aesara")
def test_a_flag_in_the_configuration_file_is_left_alone(monkeypatch, tmp_path):
    settings = tmp_path / "aesararc"
    settings.write_text("[global]\nfloatX = float64\n[blas]\nldflags = -lblas\n")
    monkeypatch.setenv("AESARARC", os.pathsep.join([str(tmp_path / "absent"), str(settings)]))
    assert flags_after_configure() == {}


@pytest.mark.usefixtures("before_aesara")
def test_a_configuration_file_about_something_else_changes_nothing(monkeypatch, tmp_path):
    settings = tmp_path / "aesararc"
    settings.write_text("[gcc]\ncxxflags = -O2\n")
    monkeypatch.setenv("AESARARC", str(settings))
    assert set(flags_after_configure()) == {"floatX", "blas__ldflags"}


@pytest.mark.usefixtures("before_aesara")
def test_commas_and_quotes_in_a_value_survive_aesaras_parser():
    value = "-Wl,-rpath,/opt/back\\slash#and 'quotes'"
    setup.add_flags({"first": value, "second": "plain"})
    assert parse_config_string(os.environ["AESARA_FLAGS"]) == {"first": value, "second": "plain"}


def test_without_scipy_openblas32_the_library_inside_scipy_is_linked(monkeypatch):
    monkeypatch.setattr(setup, "_scipy_openblas32_flags", lambda: None)
    flags = setup.blas_flags()
    folder, library, *symbols = (part[2:].lstrip(":") for part in flags.split())
    assert Path(folder, library).is_file()
    assert ("scipy_openblas" in library) == bool(symbols)


def test_a_blank_in_the_path_means_no_linked_blas_rather_than_a_broken_one(monkeypatch):
    monkeypatch.setattr(setup, "_folder_of", lambda package: f"/home/a user/{package}")
    assert setup.blas_flags() == ""


def test_a_python_without_any_blas_package_gets_an_empty_flag(monkeypatch):
    monkeypatch.setattr(setup, "_folder_of", lambda package: None)
    assert setup.blas_flags() == ""


def aesara_with(ldflags: str) -> types.SimpleNamespace:
    return types.SimpleNamespace(config=types.SimpleNamespace(blas__ldflags=ldflags))


@pytest.mark.usefixtures("before_aesara")
def test_coming_after_aesara_warns_if_no_blas_is_linked(monkeypatch):
    monkeypatch.setitem(sys.modules, "aesara", aesara_with(""))
    with pytest.warns(UserWarning, match="Import aesara_nondecomp first"):
        setup.configure()
    assert os.environ["AESARA_FLAGS"] == ""


@pytest.mark.usefixtures("before_aesara")
def test_coming_after_aesara_is_silent_if_a_blas_is_linked(monkeypatch):
    monkeypatch.setitem(sys.modules, "aesara", aesara_with("-lblas"))
    setup.configure()
    assert os.environ["AESARA_FLAGS"] == ""


@pytest.mark.usefixtures("before_aesara")
def test_a_missing_compiler_is_named_with_its_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install g++" in (setup.compiler_problem() or "")


@pytest.mark.usefixtures("before_aesara")
def test_missing_python_headers_are_named_with_their_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/g++")
    assert "install Python's headers" in (setup.compiler_problem() or "")


@pytest.mark.usefixtures("before_aesara")
def test_a_compiler_chosen_by_the_user_is_no_problem(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("AESARA_FLAGS", "cxx=")
    assert setup.compiler_problem() is None


@pytest.mark.parametrize("module", ["aesara_nondecomp", "aesara_nondecomp._aesara.imports"])
def test_importing_prints_nothing_even_with_warnings_as_errors(module):
    finished = in_fresh_python(f"import {module}")
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_configuring_imports_neither_numpy_nor_aesara():
    code = (
        "import sys; from aesara_nondecomp._aesara import setup; setup.configure();"
        "print({'numpy', 'aesara'} & set(sys.modules))"
    )
    assert in_fresh_python(code).stdout == "set()\n"


def test_without_a_compiler_aesara_starts_in_silence_with_the_right_product(tmp_path):
    """What is slower then, the first Op that runs by NumPy says: see tests/ops/test_op_library.py."""
    code = (
        "from aesara_nondecomp._aesara.imports import at, missing_compiler\n"
        "print(at.dot(at.as_tensor([[2.0]]), [[3.0]]).eval(), 'install g++' in missing_compiler)"
    )
    finished = in_fresh_python(code, PATH=str(tmp_path))
    assert (finished.stdout, finished.stderr) == ("[[6.]] True\n", "")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiled_products_agree_with_numpy_through_the_linked_blas(dtype):
    """The library knows the routines under mapped names, so each is called here, in both precisions."""
    rng = np.random.default_rng(1)
    X, W = rng.normal(size=(5, 4)).astype(dtype), rng.normal(size=(4, 3)).astype(dtype)
    v = np.arange(4, dtype=dtype)
    a, b, u = at.matrix(dtype=dtype), at.matrix(dtype=dtype), at.vector(dtype=dtype)
    values = {a: X, b: W, u: v}
    expected = {
        "gemm": (at.dot(a, b), X @ W),
        "gemv": (at.dot(a, u), X @ v),
        "ger": (at.outer(u, u) + at.dot(b, b.T), np.outer(v, v) + W @ W.T),
        "dot": (at.dot(u, u), v @ v),
    }
    for symbolic, value in expected.values():
        given = {variable: values[variable] for variable in {*graph_inputs([symbolic])} & values.keys()}
        np.testing.assert_allclose(symbolic.eval(given), value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_after_an_import_as_before_it_even_if_it_fails(collecting):
    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        with pytest.raises(ImportError), _without_collecting():
            assert not gc.isenabled()
            raise ImportError
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if before else gc.disable)()


def test_what_an_import_leaves_is_not_gone_through_right_after_it():
    collections = []
    gc.callbacks.append(lambda phase, info: collections.append(info["generation"]))
    try:
        with _without_collecting():
            left = [[] for _ in range(10 * gc.get_threshold()[0])]
        more = [[] for _ in range(10)]
    finally:
        gc.callbacks.pop()
    assert collections == [] and len(left) > len(more)
