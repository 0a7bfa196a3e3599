"""Commands of the benchmarks report wrong seeds and missing files before any training."""

from __future__ import annotations

import pytest

import aesara_nondecomp as an
from benchmarks.__main__ import main

pytest.importorskip("sklearn")

COMMANDS = ("accuracy", "cells", "prevalence")
MISSING = {
    "labels_covtype": ("cells", "--parts", "labels_made", "labels_covtype"),
    "min_recall": ("cells", "--parts", "labels_made", "min_recall"),
    "class_worst_cell": ("cells", "--parts", "labels_made", "class_worst_cell"),
    "semeval_a": ("cells", "--parts", "labels_made", "semeval_a"),
    "semeval_c": ("cells", "--parts", "labels_made", "semeval_c"),
    "accuracy": ("accuracy", "--datasets", "letter", "codrna"),
    "prevalence": ("prevalence", "--sets", "letter", "ijcnn1"),
}


@pytest.fixture(autouse=True)
def no_training(monkeypatch):
    def fit(*rows, **options):
        raise AssertionError("a model was trained")

    monkeypatch.setattr(an, "fit", fit)


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_file_is_reported_before_any_training(name, tmp_path, capsys):
    assert main([*MISSING[name], "--data-dir", str(tmp_path), "--json", str(tmp_path / "out.json")]) == 2
    assert f"needs the file {tmp_path}" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "option, value, least", [("--seeds", "0", 1), ("--first-seed", "-5", 0)], ids=["seeds", "first seed"]
)
def test_seeds_that_cannot_be_are_reported_by_their_option(command, option, value, least, capsys):
    assert main([command, option, value]) == 2
    assert f"{option} must be at least {least}, got {value}" in capsys.readouterr().err
