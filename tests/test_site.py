"""The documentation site: it has all public names, its links are right in both places, and README fits its readers."""

import inspect
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

import aesara_nondecomp

pytest.importorskip("sklearn", reason="the reference has the estimator: the extra `sklearn`")
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
API, PAGES = (runpy.run_path(str(DOCS / f"{name}.py")) for name in ("api_pages", "repository_pages"))
FOLDERS = [name for name in aesara_nondecomp.__all__ if inspect.ismodule(getattr(aesara_nondecomp, name))]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


# -- the API reference -----------------------------------------------------------------------------------------------


def documented(folder):
    """The paths that the pages of the API list, read from the files as Sphinx reads them."""
    API["write"](folder)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.rst")}
    listed = {f"{module}.{name}" for module, text in texts.items() for name in re.findall(r"^   (\w+)$", text, re.M)}
    elsewhere = {(module, path) for module, text in texts.items() for path in re.findall(r":py:obj:`~([\w.]+)`", text)}
    return listed, elsewhere


def test_every_public_name_has_an_entry_in_the_api_reference(tmp_path):
    listed, elsewhere = documented(tmp_path)
    for module in ("aesara_nondecomp", *(f"aesara_nondecomp.{name}" for name in FOLDERS)):
        found = import_module(module)
        names = [name for name in found.__all__ if name != "__version__" and not inspect.ismodule(getattr(found, name))]
        assert names
        for name in names:
            aliases = {path for where, path in elsewhere if where == module and path.rpartition(".")[2] == name}
            assert f"{module}.{name}" in listed or aliases & listed, f"{module}.{name}"


def test_every_page_of_the_api_reference_is_in_its_table_with_what_it_is_for(tmp_path):
    API["write"](tmp_path)
    table = (tmp_path / "overview.txt").read_text(encoding="utf-8")
    told = dict(re.findall(r":doc:`[\w.]+ </api/([\w.]+)>`\n     - (.+)", table))
    assert set(told) == {path.stem for path in tmp_path.glob("*.rst")}
    assert all(len(about) > 20 for about in told.values()), told


def test_an_object_is_documented_once(tmp_path):
    listed, elsewhere = documented(tmp_path)
    assert "aesara_nondecomp.fit" in listed and "aesara_nondecomp.models.Model" not in listed
    assert ("aesara_nondecomp.models", "aesara_nondecomp.Model") in elsewhere


def test_a_page_that_has_not_changed_is_not_written_again(tmp_path):
    API["write"](tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    API["write"](tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


# -- links -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("docname", "written", "expected"),
    [
        ("start", "[a](guide/tables.md)", "[a](guide/tables.md)"),
        ("guide/text", "[a](../faq.md#data)", "[a](../faq.md#data)"),
        ("comparison", "[a](../benchmarks/README.md#x)", "[a](repository/benchmarks/README.md#x)"),
        ("guide/own", "[a](../../CONTRIBUTING.md)", "[a](../repository/CONTRIBUTING.md)"),
        ("repository/benchmarks/README", "[a](report/report.md)", "[a](report/report.md)"),
        ("repository/studies/README", "[a](../docs/boosting.md)", "[a](../../boosting.md)"),
        ("repository/CONTRIBUTING", "see [a](docs/algorithms.md)", "see [a](../algorithms.md)"),
        ("repository/benchmarks/report/report", "![a](f1.png)", "![a](f1.png)"),
        ("index", "[a](examples/plot_02_measures_on_roc.py)", "[a](gallery/plot_02_measures_on_roc.rst)"),
        ("how_it_works", "[a](../setup.py) and [b](https://x.org/y.md)", "a and [b](https://x.org/y.md)"),
    ],
)
def test_a_link_that_is_right_in_the_repository_is_right_on_the_site(docname, written, expected):
    assert PAGES["relinked"](written, docname) == expected


def test_every_page_that_is_copied_is_in_the_contents():
    contents = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    pages = [name[:-3] for name in PAGES["copied"]() if name.endswith(".md")]
    assert len(pages) >= 10
    assert [page for page in pages if f"\nrepository/{page}\n" not in contents] == []


# -- README ----------------------------------------------------------------------------------------------------------


def test_readme_is_short():
    assert len((ROOT / "README.md").read_bytes()) <= 8 * 1024


@pytest.mark.parametrize("address", ["", "https://host.example/project/"])
def test_links_of_the_description_on_pypi_are_absolute(address):
    # setup.py cannot be run for its function alone.
    code = re.search(r"^def for_pypi.*?\n\n\n", read("setup.py"), re.M | re.S)[0].replace("=FILES_AT", "=''")
    names = {"re": re}
    exec(code, names)
    text = names["for_pypi"](read("README.md"), address)
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert links and all(link.startswith("https://") for link in links)
    assert (f"]({address}docs/choosing.md)" in text) == bool(address)
    assert "which measure do I want?" in text


def test_readme_and_the_first_page_begin_with_the_same_lines_of_code():
    blocks = [re.findall(r"```python\n(.*?)```", read(path), re.S)[0] for path in ("README.md", "docs/start.md")]
    assert blocks[0] == blocks[1]
