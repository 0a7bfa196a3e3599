"""Prepare the data sets that are not embedded from the files that their publishers offer."""

from __future__ import annotations

import argparse
from pathlib import Path

from aesara_nondecomp._checks import choose
from benchmarks.data.catalogue import ALIASES, SOURCES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    convert = actions.add_parser("convert", help="write the prepared file of a data set", description=__doc__)
    convert.add_argument("name", metavar="NAME", help=f"of {', '.join(n for n, s in SOURCES.items() if s.convert)}")
    convert.add_argument("originals", nargs="+", metavar="FILE", help="the published files")
    convert.add_argument("--data-dir", required=True, help="folder of the data sets, where the prepared file goes")


def main(options: argparse.Namespace) -> int:
    """Convert, and name what was written."""
    name = ALIASES.get(options.name, options.name)
    source = choose("data set", name, SOURCES)
    if source.convert is None:
        raise ValueError(f"{name!r} is read as published: put {' and '.join(source.files)} into {options.data_dir}")
    if len(options.originals) != len(source.originals):
        raise ValueError(
            f"{name!r} is made from {len(source.originals)} published files, got {len(options.originals)}. "
            f"Name, in this order: {', '.join(source.originals)}"
        )
    originals = [Path(original) for original in options.originals]
    missing = [str(path) for path in originals if not path.is_file()]
    if missing:
        raise FileNotFoundError(f"there is no file {', '.join(missing)}. Check the path.")
    for path in source.convert(originals, Path(options.data_dir)):
        print(f"written: {path}")
    return 0
