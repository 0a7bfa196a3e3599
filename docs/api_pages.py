"""Write the pages of the API reference: one for each public module, from the names that it says are public.

And a table of these pages, for the page `api.md` that leads to them.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "aesara_nondecomp"
# Modules that users import by name; what they define is public, as they list nothing.
NAMED = (
    "metrics.bootstrap", "metrics.calibration", "metrics.class_bootstrap", "metrics.label_bootstrap",
    "metrics.multiclass", "metrics.prevalence_shift", "metrics.quantification", "ops.optimisers", "training.recipes",
)  # fmt: skip


def public_names(module: ModuleType) -> list[str]:
    """The functions, classes and values that a module offers."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, member in vars(module).items()
            if not name.startswith("_")
            and (inspect.isclass(member) or inspect.isfunction(member))
            and member.__module__ == module.__name__
        ]
    return [name for name in listed if name != "__version__" and not inspect.ismodule(getattr(module, name))]


def modules() -> list[ModuleType]:
    """The package, its public folders and the modules that are imported by name, in this order."""
    package = import_module(PACKAGE)
    folders = [name for name in package.__all__ if inspect.ismodule(getattr(package, name))]
    return [package, *(import_module(f"{PACKAGE}.{name}") for name in (*folders, *NAMED))]


def entries() -> dict[str, list[tuple[str, str]]]:
    """For each module its names, each with the dotted path under which it is documented: the first it is met by."""
    first: dict[int, str] = {}
    found: dict[str, list[tuple[str, str]]] = {}
    for module in modules():
        rows = []
        for name in public_names(module):
            member: Any = getattr(module, name)
            described = inspect.isclass(member) or inspect.isfunction(member)
            path = f"{module.__name__}.{name}"
            rows.append((name, first.setdefault(id(member), path) if described else path))
        found[module.__name__] = rows
    return found


def overview() -> str:
    """A table of the pages, with the first paragraph of what each module says of itself, as reStructuredText."""
    lines = [".. list-table::", "   :widths: auto", ""]
    for module in modules():
        about = " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())
        title = module.__name__.removeprefix(f"{PACKAGE}.")
        lines += [f"   * - :doc:`{title} </api/{module.__name__}>`", f"     - {about}"]
    return "\n".join(lines) + "\n"


def page(module: str, rows: list[tuple[str, str]]) -> str:
    """One page as reStructuredText."""
    title = module.removeprefix(f"{PACKAGE}.")
    own = [name for name, path in rows if path == f"{module}.{name}"]
    elsewhere = [f":py:obj:`~{path}`" for name, path in rows if path != f"{module}.{name}"]
    lines = [title, "=" * len(title), "", f".. automodule:: {module}", "   :no-members:", "   :no-index:", ""]
    if own:
        lines += [
            ".. autosummary::",
            "   :nosignatures:",
            "   :toctree: names",
            "   :template: autosummary/member.rst",
            "",
        ]
        lines += [f"   {name}" for name in own] + [""]
    if elsewhere:
        lines += ["Also here: " + ", ".join(elsewhere) + ".", ""]
    return "\n".join(lines)


def write(folder: Path) -> None:
    """Write all pages, and leave those alone that are as they should be: Sphinx then does not read them again."""
    folder.mkdir(exist_ok=True)
    texts = {f"{module}.rst": page(module, rows) for module, rows in entries().items()}
    for name, text in {**texts, "overview.txt": overview()}.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
