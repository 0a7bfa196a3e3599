"""``python -m studies STUDY``: one command per study, each a module with `add_arguments` and `main`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

STUDIES = {
    "boosting": "a driver as the objective of boosted trees; all choices on held-out training rows",
    "improvements": "direct training against cross-entropy with a threshold; all choices on validation rows",
    "denim_anchor": "the anchor of DENIM for text and for tables; all choices on held-out training rows",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one study; 0 if it is done, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    commands = parser.add_subparsers(dest="study", required=True, metavar="STUDY")
    for name, summary in STUDIES.items():
        module = import_module(f"studies.{name}")
        command = commands.add_parser(name, help=summary, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.main)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError) as problem:
        print(f"studies {options.study}: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
