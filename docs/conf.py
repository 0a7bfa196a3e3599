"""Settings of Sphinx: `make docs` builds the site from this folder, offline, into out/docs."""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
# The library of the installation runs what the examples train, so that no page waits for a compiler.
os.environ["AESARA_FLAGS"] = ",".join(filter(None, [os.environ.get("AESARA_FLAGS"), "cxx="]))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # examples run beside each other

import api_pages  # noqa: E402
import repository_pages  # noqa: E402

import aesara_nondecomp as an  # noqa: E402

project = "aesara_nondecomp"
author = "The aesara_nondecomp developers"
version = release = an.__version__
language = "en-GB"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples", "gallery/**/*.ipynb"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:obj", "[a-z_]+")]  # numpydoc links attributes, and those that it describes have no entry
suppress_warnings = ["myst.header"]  # reports that programs write have tables below a third-level heading

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

default_role = "literal"  # docstrings name code in single backticks
autodoc_typehints = "none"  # numpydoc's types are those that were written to be read
autodoc_inherit_docstrings = False  # Aesara's are written for another site
autosummary_generate = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 20,
    "parallel": True,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "aesara_nondecomp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Pages without pages below them have no contents to show at their side.
LEAVES = [path.stem for path in HERE.glob("*.md") if path.stem not in ("api", "benchmarks")]
html_sidebars = {name: [] for name in [*LEAVES, "repository/CHANGELOG", "repository/CONTRIBUTING"]}
PAGE = re.compile(r"\bdocs/([a-z_/]+)\.md")
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
copyright = "the aesara_nondecomp developers; BSD-3-Clause"


def skip_foreign(app, what, name, member, skip, options):
    """Leave out what nobody here wrote: the fields of a named tuple, and what is inherited from other packages."""
    field = (getattr(member, "__doc__", None) or "").startswith("Alias for field number")
    home = getattr(member, "__module__", None)
    return True if field or home and not home.startswith(api_pages.PACKAGE) else skip


def relink(app, docname, source):
    """Let the links of Markdown pages, which are right in the repository, be right on the site too."""
    if os.fspath(app.env.doc2path(docname)).endswith(".md"):
        source[0] = repository_pages.relinked(source[0], docname)


def link_pages(app, what, name, member, options, lines):
    """Let a page that a docstring names be a link on the site."""
    lines[:] = [PAGE.sub(r":doc:`docs/\1.md </\1>`", line) for line in lines]


def setup(app):
    """Write the pages that are made before Sphinx looks for sources."""
    api_pages.write(HERE / "api")
    repository_pages.write(HERE)
    app.connect("source-read", relink)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", link_pages)
