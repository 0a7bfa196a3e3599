"""What is said twice about the package is said alike: its version, its Python versions, its public names."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import aesara_nondecomp

ROOT = Path(__file__).parents[1]


def setup_says(option):
    done = subprocess.run([sys.executable, "setup.py", option], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def names_for_type_checkers(module):
    """The names that a module imports in an ``if TYPE_CHECKING`` block."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return [alias.asname for block in blocks for node in block.body for alias in node.names]


def test_the_version_is_written_in_one_place():
    assert setup_says("--version") == [aesara_nondecomp.__version__]


def test_the_citation_is_of_the_present_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {aesara_nondecomp.__version__}\n" in citation
    assert re.findall(r"doi: (\S+)", citation) == ["10.1007/s10994-018-5736-y"]


def test_the_supported_python_versions_are_the_same_everywhere():
    listed = re.findall(r"Python :: (3\.\d+)", "\n".join(setup_says("--classifiers")))
    assert listed == [f"3.{minor}" for minor in range(9, 16)]
    assert "(3, 9) <= sys.version_info < (3, 16)" in (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in (".ci/interpreters", ".github/workflows/ci.yml"):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert all(version in re.findall(r"\b3\.\d+\b", text) for version in listed), path


@pytest.mark.parametrize("version", [(3, 8, 18), (3, 16, 0)])
def test_another_python_is_refused_in_one_line(version):
    imports = "import platform, runpy, sys, setuptools.command.build_ext, distutils.errors"  # these look at it too
    code = f"{imports}; sys.version_info = {version}; exec(open('setup.py').read())"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("aesara-nondecomp needs Python 3.9 to 3.15, and this is ")


def test_the_package_is_marked_as_typed():
    assert (ROOT / "aesara_nondecomp" / "py.typed").exists()


@pytest.mark.parametrize("name", ["aesara_nondecomp", "aesara_nondecomp.training"])
def test_type_checkers_see_the_names_that_are_loaded_lazily(name):
    module = import_module(name)
    assert sorted(names_for_type_checkers(module)) == sorted(set(module.__all__) - {"__version__"})
