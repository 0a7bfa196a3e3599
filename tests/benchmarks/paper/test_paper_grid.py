"""Bad configurations are refused before anything is run; grids and synthetic data are what they should be."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("threadpoolctl")

from published import write_kddcup08
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import main as benchmarks_main
from benchmarks.data.catalogue import SOURCES
from benchmarks.paper import datasets, figures
from benchmarks.paper.grid import FIGURES, Panel, checkpoints, make_grid, runs
from benchmarks.paper.methods import TRAININGS

# -- configuration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "dupel"], "Did you mean 'duple'"),
        (["--figures", "qmaen"], "Did you mean 'qmean'"),
        (["--datasets", "lettre"], "Did you mean 'letter'"),
        (["--datasets", "ijcnn1", "--figures", "f1"], "data_dir"),
        (["--seeds", "0"], "at least one seed"),
        (["--jobs", "0"], "--jobs"),
        (["--methods", "duple", "--figures", "f1"], "none of the methods"),
    ],
)
def test_a_bad_configuration_ends_at_once_with_one_line_and_status_2(arguments, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert benchmarks_main(["paper", *arguments, "--out", str(out)]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said and len(said.splitlines()) == 1
    assert not out.exists()


def test_an_impossible_split_is_a_bad_configuration(tmp_path, capsys):
    # All positives belong to one patient, and a patient is never divided.
    write_kddcup08(tmp_path / "kddcup08", [1] * 3 + [-1] * 37, [1] * 3 + list(range(2, 39)))
    arguments = ["paper", "--figures", "min", "--datasets", "kdd08", "--data-dir", str(tmp_path)]
    assert benchmarks_main([*arguments, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.strip()
    assert "kdd08" in said and "both classes" in said and len(said.splitlines()) == 1


# -- grid and data ---------------------------------------------------------------------------------------------------


def test_a_grid_has_each_run_once_and_seed_by_seed():
    grid = make_grid(list(FIGURES), None, None, [1, 2], 7, None)
    every = runs(grid)
    assert len(every) == len(set(every)) == len({run.name for run in every})
    assert [run.seed for run in every] == sorted(run.seed for run in every)
    shared = [run for run in every if run.training == "cross_entropy" and run.dataset == "ijcnn1"]
    assert len(shared) == 2 * len(TRAININGS["cross_entropy"].rates)


def test_every_network_method_with_a_rate_to_tune_has_the_same_budget():
    budgets = {name: len(training.rates) for name, training in TRAININGS.items() if not training.baseline}
    assert {name: budget for name, budget in budgets.items() if not name.endswith("released")} == dict.fromkeys(
        (name for name in budgets if not name.endswith("released")), 3
    )


def test_the_released_networks_have_the_widths_and_small_weights_of_the_authors_code_and_no_biases():
    for driver, widths, deviation in (("duple", (150, 100), 0.01), ("denim", (100, 80), 0.001)):
        network = TRAININGS[f"{driver}_released"].network(30)
        network.initialise(0)
        values = [parameter.get_value() for parameter in network.parameters]
        assert [value.shape for value in values] == [(30, widths[0]), widths, (widths[1], 1)]
        assert [np.std(value) for value in values[:2]] == pytest.approx([deviation] * 2, rel=0.05)


def test_checkpoints_end_with_the_last_step_and_rise():
    for steps in (1, 2, 3, 10, 999, 2000):
        found = checkpoints(steps)
        assert found[-1] == steps and found == sorted(set(found))


def test_a_synthetic_twin_has_the_paper_s_shape_and_share_of_positives():
    twin = datasets.load("kdd08-twin", None)
    assert len(twin.y_train) + len(twin.y_test) == 102_294 and twin.X_train.shape[1] == 117
    assert int(twin.y_train.sum()) + int(twin.y_test.sum()) == 623


def test_a_synthetic_twin_has_the_same_bits_whatever_the_number_of_threads():
    twins = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            twins.append(datasets.load("kdd08-twin", None))
    for name in ("X_train", "y_train", "X_test", "y_test"):
        assert np.array_equal(getattr(twins[0], name), getattr(twins[1], name))


def touch(folder, name):
    """Empty files in the places of a data set."""
    for file in SOURCES[name].files:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).touch()


def test_stand_ins_are_named_in_the_remark_and_real_files_come_first(tmp_path):
    assert datasets.resolve("kdd08", None) == datasets.resolve("kdd08", str(tmp_path)) == "kdd08-twin"
    touch(tmp_path, "kdd04")
    assert datasets.resolve("kdd08", str(tmp_path)) == "kdd04" and datasets.resolve("ppi", str(tmp_path)) == "ppi-twin"
    assert "stand-in" in datasets.remark("kdd08", "kdd04") and "synthetic" in datasets.remark("ppi", "ppi-twin")
    touch(tmp_path, "kddcup08")
    titles = [figures._title(Panel("min", *names)) for names in (("ppi", "ppi-twin"), ("kdd08", "kdd04"))]
    assert "synthetic twin" in titles[0] and "stand-in kdd04" in titles[1]
    assert datasets.resolve("kdd08", str(tmp_path)) == "kdd08" and datasets.remark("kdd08", "kdd08") == ""
