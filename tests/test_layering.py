"""Imports inside the package run one way, and Aesara stays behind two doors."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "aesara_nondecomp"

_HOST = {"measures", "metrics", "rates", "schedules", "data", "drivers"}
_SYMBOLIC = {"_aesara", "ops", "networks", "optimisers"}
_CORE = _HOST | _SYMBOLIC | {"_march", "compiling", "compiled"}
_ALL = _CORE | {"_setup", "symbolic", "recipes", "training", "validation", "persistence", "runs", "model"} | {
    "checkpoints", "parallel", "devices", "reading", "preparing", "arguments", "progress", "supervision", "fitting",
    "history", "onnx_export", "quantification", "intervals", "multiclass", "tabular", "voting",
}  # fmt: skip

# What each module, or subpackage as a whole, may import from this package. Itself goes without saying, and so
# does `_checks`, the wording of input errors.
ALLOWED: dict[str, set[str]] = {
    "_setup": set(),
    "_checks": set(),
    "_aesara": {"_setup"},
    "measures": set(),
    "metrics": {"measures"},
    "rates": set(),
    "quantification": set(),
    "intervals": {"measures", "metrics"},
    "multiclass": {"measures", "metrics"},
    "tabular": set(),
    "protocols": {"quantification"},
    "schedules": set(),
    "data": set(),
    "drivers": {"measures", "metrics", "rates"},
    "ops": {"_aesara", "rates"},
    "networks": {"_aesara", "ops"},
    "optimisers": {"_aesara"},
    "_march": {"_aesara"},
    "compiling": {"_aesara", "_march", "ops"},
    "moves": _SYMBOLIC,
    "compiled": _SYMBOLIC | {"data", "rates", "compiling", "moves"},
    "symbolic": {"_aesara", "measures", "compiling"},
    "recipes": _HOST,
    "parallel": {"data", "rates", "ops", "compiled"},
    "devices": {"data"},
    "reading": {"_aesara", "ops", "compiling", "data"},
    "training": _HOST | {"recipes", "compiled"},
    "validation": {"measures", "metrics", "compiled"},
    "persistence": {"measures"},
    "model": _CORE | {"training", "validation", "persistence"},
    "voting": {"measures", "metrics", "data", "model"},
    "runs": _CORE | {"recipes", "training", "reading"},
    "checkpoints": _HOST | {"parallel", "training", "validation", "persistence", "runs"},
    "preparing": {"data", "networks", "parallel", "runs"},
    "progress": set(),
    "arguments": {"compiled", "data", "drivers", "networks", "parallel", "recipes"},
    "supervision": {"checkpoints", "parallel", "progress", "runs", "validation"},
    "fitting": _CORE
    | {"recipes", "training", "validation", "model", "runs", "checkpoints", "preparing", "arguments", "supervision"}
    | {"parallel", "devices"},
    "history": {"measures", "metrics", "training", "validation", "model"},
    "onnx_export": {"networks", "model"},
    "doctor": {"_setup", "_aesara"},
    "estimators": _ALL,
    "__init__": _ALL | {"estimators", "doctor"},
    "cli": _ALL | {"estimators", "doctor"},
    "__main__": _ALL | {"estimators", "doctor", "cli"},
}

FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(path: Path) -> str:
    """The part of the package a file belongs to: its own name, or that of its subpackage."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def absolute_imports(source: str, package: str) -> list[str]:
    """Every dotted name that `source`, a module inside `package`, imports, at any depth of the code."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = parents[: len(parents) - node.level + 1] if node.level else []
            origin = ".".join(base + ([node.module] if node.module else []))
            names += [f"{origin}.{alias.name}" for alias in node.names]
    return names


def package_imports(source: str, package: str) -> set[str]:
    """The parts of this package that `source` imports."""
    parts = [name.split(".") for name in absolute_imports(source, package)]
    return {part[1] for part in parts if part[0] == "aesara_nondecomp" and len(part) > 1}


def calls_aesara_function(source: str) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "function" and ast.unparse(node.value) == "aesara"
        for node in ast.walk(ast.parse(source))
    )


def package_of(path: Path) -> str:
    return ".".join(("aesara_nondecomp", *path.relative_to(PACKAGE).parts[:-1]))


def imports_of(path: Path) -> list[str]:
    return absolute_imports(path.read_text(encoding="utf-8"), package_of(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_stands_above_it(path):
    module = module_of(path)
    assert module in ALLOWED, f"say in ALLOWED what {module!r} may import"
    found = package_imports(path.read_text(encoding="utf-8"), package_of(path))
    assert found - {module, "_checks"} <= ALLOWED[module]


def test_the_allowed_imports_have_no_cycle():
    layers = {module: set(below) for module, below in ALLOWED.items()}
    while layers:
        free = {module for module, below in layers.items() if not below & layers.keys()}
        assert free, f"these import each other: {sorted(layers)}"
        layers = {module: below for module, below in layers.items() if module not in free}


def test_aesara_is_imported_in_one_file_only():
    importers = {path.name for path in FILES for name in imports_of(path) if name.split(".")[0] == "aesara"}
    assert importers == {"_aesara.py"}


def test_aesara_function_is_called_in_compiling_only():
    callers = {module_of(path) for path in FILES if calls_aesara_function(path.read_text(encoding="utf-8"))}
    assert callers == {"compiling"}


@pytest.mark.parametrize("module", ["", *sorted(f".{name}" for name in _HOST)])
def test_host_modules_leave_aesara_unimported(module):
    name = "aesara_nondecomp" + module
    code = f"import sys, {name}; sys.exit('aesara' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent).returncode == 0


def test_every_public_name_is_there():
    pytest.importorskip("sklearn")
    package = import_module("aesara_nondecomp")
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import aesara_nondecomp.rates", {"rates"}),
        ("from aesara_nondecomp import rates, metrics as m", {"rates", "metrics"}),
        ("from aesara_nondecomp.data.splits import split", {"data"}),
        ("from ..rates import ClassSums", {"rates"}),
        ("from .. import rates", {"rates"}),
        ("from . import dame", {"drivers"}),
        ("def f():\n    from aesara_nondecomp import model", {"model"}),
        ("import numpy", set()),
    ],
)
def test_the_reader_of_imports_sees_every_spelling(source, expected):
    assert package_imports(source, "aesara_nondecomp.drivers") == expected


def test_the_reader_of_calls_sees_a_call_inside_a_function():
    assert calls_aesara_function("def f(x):\n    return aesara.function([x], x)")
    assert not calls_aesara_function("def function(): pass\nfunction()")
