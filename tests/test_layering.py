"""Imports run one way, without circles, and Aesara stays behind two doors."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aesara_nondecomp"

# The reading order: each may import from this package what stands before it.
LAYERS = (
    "_checks", "_arrays", "_files", "_figures", "_tables", "_names", "_numeric", "_communicator", "_aesara", "measures",
    "metrics", "data", "drivers", "history", "ops", "networks", "step", "parallel", "reports", "models", "training",
    "estimators", "cli", "__main__",
)  # fmt: skip
WITHOUT_AESARA = ("measures", "metrics", "data", "drivers", "history", "reports")
# The package's own face names what it loads later, in strings; `configure` is all that it imports.
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def module_name(path):
    """Dotted name of a source file, from the root of the repository; a package is named by its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(source, module, is_package=False, top_level_only=False):
    """Dotted names that the source of a module imports: whole, and with each name that is taken from one."""
    tree = ast.parse(source)
    names = []
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level + is_package or None] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            names += [f"{origin}.{alias.name}" for alias in node.names]
    return names


def names_in(path, top_level_only=False):
    source = path.read_text(encoding="utf-8")
    return imported_names(source, module_name(path), path.name == "__init__.py", top_level_only)


def layers_imported(names):
    return {name.split(".")[1] for name in names if name.startswith("aesara_nondecomp.")}


def circles(graph):
    """The modules that import each other, directly or by others; empty where the graph has an order."""
    graph = {module: set(below) - {module} for module, below in graph.items()}
    while free := {module for module, below in graph.items() if not below & graph.keys()}:
        graph = {module: below for module, below in graph.items() if module not in free}
    return sorted(graph)


def import_graph(*folders):
    """From each module to the modules that it imports while it is imported itself."""
    paths = {module_name(path): path for folder in folders for path in (ROOT / folder).rglob("*.py")}
    graph = {}
    for module, path in paths.items():
        found = {name if name in paths else name.rpartition(".")[0] for name in names_in(path, top_level_only=True)}
        graph[module] = {name for name in found if name in paths and name != "aesara_nondecomp"}
    return graph


def calls_aesara_function(source):
    return any(
        isinstance(node, ast.Attribute) and node.attr == "function" and ast.unparse(node.value) == "aesara"
        for node in ast.walk(ast.parse(source))
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_layer_and_those_before_it(path):
    layer = layer_of(path)
    assert layer in LAYERS, f"say in LAYERS where {layer!r} stands"
    # A name of the package's face may be of any layer, so inside the package each is imported from its home.
    found = layers_imported(names_in(path)) - {"__version__"}
    assert found <= set(LAYERS[: LAYERS.index(layer) + 1])
    if layer in WITHOUT_AESARA:
        assert "_aesara" not in found


@pytest.mark.parametrize("folders", [("aesara_nondecomp",), ("benchmarks", "studies")], ids=" ".join)
def test_no_modules_import_each_other_in_a_circle(folders):
    assert circles(import_graph(*folders)) == []


def test_aesara_is_imported_in_one_file_only():
    importers = {module_name(path) for path in FILES for name in names_in(path) if name.split(".")[0] == "aesara"}
    assert importers == {"aesara_nondecomp._aesara.imports"}


def test_aesara_function_is_called_in_the_backends_only():
    callers = {module_name(path) for path in FILES if calls_aesara_function(path.read_text(encoding="utf-8"))}
    assert callers == {"aesara_nondecomp.step.backends"}


@pytest.mark.parametrize("module", ["", ".training.schedules", *(f".{layer}" for layer in WITHOUT_AESARA)])
def test_measures_metrics_data_and_drivers_leave_aesara_unimported(module):
    code = f"import sys, aesara_nondecomp{module}; sys.exit('aesara' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_every_public_name_is_there():
    pytest.importorskip("sklearn")
    package = import_module("aesara_nondecomp")
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import aesara_nondecomp.metrics", {"metrics"}),
        ("from aesara_nondecomp import history, metrics as m", {"history", "metrics"}),
        ("from aesara_nondecomp.data.splits import split", {"data"}),
        ("from ..metrics import ClassSums", {"metrics"}),
        ("from .. import metrics", {"metrics"}),
        ("from . import dame", {"drivers"}),
        ("def f():\n    from aesara_nondecomp import models", {"models"}),
        ("import numpy", set()),
    ],
)
def test_the_reader_of_imports_sees_every_spelling(source, expected):
    assert layers_imported(imported_names(source, "aesara_nondecomp.drivers.duple")) == expected


def test_the_finder_of_circles_finds_one_through_a_third_module():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c", "d"]
    assert circles({"a": {"b"}, "b": set(), "c": {"a"}}) == []


def test_the_reader_of_calls_sees_a_call_inside_a_function():
    assert calls_aesara_function("def f(x):\n    return aesara.function([x], x)")
    assert not calls_aesara_function("def function(): pass\nfunction()")
