"""Commands keep their former names, modules use each other's public names only, and links lead to files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import FORMER, main
from studies.__main__ import main as studies_main

ROOT = Path(__file__).parents[2]
MODULES = [path for folder in ("benchmarks", "studies") for path in sorted((ROOT / folder).rglob("*.py"))]
DOCUMENTS = [path for folder in ("benchmarks", "studies") for path in sorted((ROOT / folder).rglob("*.md"))]


@pytest.mark.parametrize("command", FORMER)
def test_a_former_command_is_the_present_one(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0 and "--json" in capsys.readouterr().out


def test_a_study_that_is_asked_for_something_impossible_says_so_in_one_line(tmp_path, capsys):
    assert studies_main(["improvements", "--out", str(tmp_path), "--seeds", "0"]) == 2
    assert "--seeds must be at least 1" in capsys.readouterr().err


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_name_of_another_benchmark_is_used(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    local = [node for node in imports if (node.module or "").split(".")[0] in ("benchmarks", "studies")]
    modules = {alias.asname or alias.name for node in local for alias in node.names}
    private = {alias.name for node in local for alias in node.names if alias.name.startswith("_")}
    private |= {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
        if node.attr.startswith("_") and not node.attr.endswith("_")
    }
    # A named tuple's own methods begin with an underscore.
    assert {name for name in private if not name.endswith(("._replace", "._asdict"))} == set()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_document_lead_to_files(path):
    links = re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert broken == []
