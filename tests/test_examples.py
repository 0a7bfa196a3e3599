"""The scripts for other libraries run as they stand, where these are installed, and the notebook runs without paths."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples"
SCRIPTS = {
    "dask_seeds": "distributed",
    "imbalanced_pipeline": "imblearn",
    "lightgbm_objective": "lightgbm",
    "mpi_fit": "mpi4py",
    "onnx_serving": "onnxruntime",
    "quapy_quantifier": "quapy",
    "torch_loop": "torch",
}
GALLERY = sorted(EXAMPLES.glob("plot_*.py"))


def test_every_script_is_known_and_listed_in_the_guide():
    guide = (ROOT / "docs" / "guide" / "other_libraries.md").read_text(encoding="utf-8")
    assert sorted(path.stem for path in (EXAMPLES / "other_libraries").glob("*.py")) == sorted(SCRIPTS)
    assert all(f"other_libraries/{name}.py)" in guide for name in SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_for_another_library_runs(name, tmp_path):
    if find_spec(SCRIPTS[name]) is None:
        pytest.skip(f"needs {SCRIPTS[name]}")
    mpi = import_module("parallel.test_parallel")
    start = []
    if name == "mpi_fit":
        if not mpi.has_mpi():
            pytest.skip("needs mpirun: the extra `mpi`")
        start = [str(mpi.MPIRUN), "-n", "2"]
    script = EXAMPLES / "other_libraries" / f"{name}.py"
    done = subprocess.run(
        [*start, sys.executable, script],
        cwd=tmp_path,
        env=mpi.environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d", done.stdout)


def test_the_gallery_has_at_least_eight_examples_with_pictures():
    assert len(GALLERY) >= 8
    for path in GALLERY:
        text = path.read_text(encoding="utf-8")
        title = text.splitlines()[1]
        assert text.splitlines()[0] == '"""' and text.splitlines()[2] == "=" * len(title), path.name
        assert "plt.subplots(" in text or "plt.figure(" in text, path.name


# -- the notebook ----------------------------------------------------------------------------------------------------

NOTEBOOK = ROOT / "docs" / "tour.ipynb"


def cells(kind):
    found = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


def test_the_notebook_was_executed_from_its_first_cell_to_its_last():
    assert [cell["execution_count"] for cell in cells("code")] == list(range(1, len(cells("code")) + 1))
    outputs = [output for cell in cells("code") for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output["output_type"] == "error" or output.get("name") == "stderr" for output in outputs)


def test_the_notebook_names_no_path_of_a_machine():
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.:/])/(home|root|work|tmp|usr|opt|Users)\b|[A-Z]:\\\\", text)


def test_the_code_of_the_notebook_runs(tmp_path):
    pytest.importorskip("matplotlib", reason="the notebook draws: the extra `plots`")
    pytest.importorskip("sklearn", reason="the notebook uses the estimator: the extra `sklearn`")
    script = tmp_path / "tour.py"
    script.write_text("\n\n".join("".join(cell["source"]) for cell in cells("code")), encoding="utf-8")
    environment = {
        **os.environ,
        "MPLBACKEND": "agg",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
