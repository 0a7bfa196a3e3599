"""The worked examples of CONTRIBUTING.md run as they stand: each adds an entry to a table, and trains with it."""

from importlib import import_module

import documents
import pytest

EXAMPLES = documents.blocks("CONTRIBUTING.md")
DATA, *ADDITIONS = EXAMPLES
TABLES = {
    "networks.build": "BUILDERS",
    "ops.activations": "ACTIVATIONS",
    "ops.optimisers": "OPTIMISERS",
    "training.parameters": "PARAMETERS",
    "training.recipes": "BUILDERS",
}


@pytest.fixture
def tables():
    """The tables that the examples add to; afterwards they are as before."""
    found = [getattr(import_module(f"aesara_nondecomp.{module}"), name) for module, name in TABLES.items()]
    before = [dict(table) for table in found]
    yield found
    for table, entries in zip(found, before):
        table.clear()
        table.update(entries)


@pytest.mark.parametrize("block", ADDITIONS, ids=str)
def test_an_addition_trains_as_it_is_written(block, tables):
    size = sum(map(len, tables))
    names = documents.run(block, documents.run(DATA))
    assert len(names["model"].history) == 5
    assert names["model"].predict(names["X"]).shape == names["y"].shape
    in_a_table = "] = " in block.code
    assert sum(map(len, tables)) == size + in_a_table


def test_there_is_an_example_of_every_addition_that_the_document_lists():
    text = (documents.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| a")]
    headings = [line.removeprefix("### ").lower() for line in text.splitlines() if line.startswith("### ")]
    assert headings == listed
    assert len(ADDITIONS) == len(listed)
