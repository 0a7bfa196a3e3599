"""Pages of the site that stand elsewhere in the repository, and the links to them."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = "repository"  # below docs; the files lie in it as they do below the root
FILES = (
    "CHANGELOG.md", "CONTRIBUTING.md", "aesara_nondecomp/data/embedded/README.md", "benchmarks/README.md",
    "benchmarks/data/README.md", "benchmarks/report/*", "studies/README.md", "studies/report/*.md",
)  # fmt: skip
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def copied() -> list[str]:
    """The paths of these files, from the root."""
    return sorted(str(path.relative_to(ROOT)) for pattern in FILES for path in ROOT.glob(pattern))


def write(docs: Path) -> None:
    """Copy the files that have changed, so that Sphinx finds them among its sources."""
    for name in copied():
        source, target = ROOT / name, docs / FOLDER / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def on_site(path: str) -> str | None:
    """Where a file of the repository is among the sources of the site; None if it is not there."""
    if path in copied():
        return f"{FOLDER}/{path}"
    if path.startswith("docs/examples/") and path.endswith(".py"):
        return f"gallery/{path.removeprefix('docs/examples/').removesuffix('.py')}.rst"
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def relinked(text: str, docname: str) -> str:
    """A Markdown page with its links, which are right in the repository, leading to pages of the site.

    What is not on the site, such as a module, is named without a link.
    """
    here = docname.removeprefix(f"{FOLDER}/") if docname.startswith(f"{FOLDER}/") else f"docs/{docname}"

    def link(match: re.Match[str]) -> str:
        picture, words, path, anchor = match[1], match[2], match[3], match[4] or ""
        target = on_site(posixpath.normpath(posixpath.join(posixpath.dirname(here), path)))
        if target is None:
            return words
        return f"{picture}[{words}]({posixpath.relpath(target, posixpath.dirname(docname) or '.')}{anchor})"

    return LINK.sub(link, text)
