"""What a model of several classes says by group: against counts by hand."""

import json

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells
from aesara_nondecomp.metrics.cell_intervals import jeffreys_interval
from aesara_nondecomp.metrics.class_group_report import ClassGroupReport
from aesara_nondecomp.models import ClassModel
from aesara_nondecomp.step.class_functions import ClassFunctions

RNG = np.random.default_rng(0)
N, K = 600, 3
CODES, SEX = RNG.choice(K, N, p=[0.5, 0.3, 0.2]), RNG.choice(["f", "m", ""], N, p=[0.3, 0.6, 0.1])
LABELS = np.array(["common", "fair", "rare"])
Y = LABELS[CODES]
X = (RNG.normal(size=(N, 2)) + 1.3 * np.array([[0, 0], [1, 0], [0, 1]])[CODES]).astype("float32")


@pytest.fixture(scope="module")
def model():
    network = an.linear(2, n_scores=3)
    network.parameters[0].set_value(np.array([[-1.0, 1, 0], [-1, 0, 1]], "float32"))
    network.parameters[1].set_value(np.array([0.5, 0, 0], "float32"))
    cells = Cells([0.5, 0.3, 0.2])
    parameters = [p.get_value() for p in network.parameters]
    return ClassModel(
        ClassFunctions(network, cells), parameters, multiclass.get("worst_cell"), tuple(LABELS.tolist()), cells.priors
    )


def test_the_report_counts_each_cell_and_group(model):
    report, predicted = model.by_group(X, Y, SEX), model.predict(X)
    assert report.rows_without_group == np.sum(SEX == "")
    assert [(cell.label, cell.group) for cell in report.cells] == [(k, g) for g in "fm" for k in LABELS]
    for cell in report.cells:
        rows = (Y == cell.label) & (SEX == cell.group)
        right = int(np.sum(predicted[rows] == cell.label))
        assert (cell.rows, cell.right) == (rows.sum(), right) and cell.rate == right / rows.sum()
        low, high = jeffreys_interval(np.array([right]), np.array([rows.sum()]))
        assert (cell.low, cell.high) == (low[0], high[0])
    for group in report.groups:
        rows = group.name == SEX
        of_classes = [np.mean(predicted[rows & (Y == k)] == k) for k in LABELS]
        assert group.rows == rows.sum() and group.accuracy == pytest.approx(np.mean((predicted == Y)[rows]))
        assert group.mean_recall == pytest.approx(np.mean(of_classes))
    assert report.worst_cell.rate == min(cell.rate for cell in report.cells)
    assert report.worst_group.mean_recall == min(group.mean_recall for group in report.groups)


def test_intervals_of_groups_are_as_wide_as_the_binomial_error_says(model):
    for group in model.by_group(X, Y, SEX).groups:
        error = np.sqrt(group.accuracy * (1 - group.accuracy) / group.rows)
        assert group.accuracy_high - group.accuracy_low == pytest.approx(2 * 1.96 * error, rel=0.15)
        assert group.mean_recall_low < group.mean_recall < group.mean_recall_high


def test_the_interval_of_an_accuracy_covers_it_on_new_rows():
    """Where recalls differ much, the accuracy varies with the shares of the classes, too."""
    rng, shares, recalls, inside = np.random.default_rng(1), np.array([0.5, 0.3, 0.2]), np.array([1, 0.6, 0]), []
    for _ in range(200):
        codes = rng.choice(K, 150, p=shares)
        predicted = np.where(rng.random(150) < recalls[codes], codes, (codes + 1) % K)
        report = ClassGroupReport.of(predicted, codes, GroupedCells.of(codes, ("all",), LABELS))
        (group,), worst = report.groups, report.value("worst_group_accuracy")
        ends = (group.accuracy_low, group.accuracy_high), (worst["low"], worst["high"])
        inside.append([low <= shares @ recalls <= high for low, high in ends])
    assert ((np.mean(inside, axis=0) >= 0.92) & (np.mean(inside, axis=0) <= 0.98)).all()


@pytest.mark.parametrize("name", ["worst_cell", "worst_group_balanced", "worst_group_accuracy"])
def test_the_report_has_the_values_of_the_measures_with_intervals(model, name):
    found = model.by_group(X, Y, SEX).value(multiclass.get(name))
    assert found["value"] == pytest.approx(model.value(X, Y, name, groups=SEX), abs=1e-14)
    assert found["low"] < found["value"] < found["high"]
    trivial = {"worst_cell": 0, "worst_group_balanced": 1 / 3}
    constant = max(min(np.mean(Y[SEX == g] == k) for g in "fm") for k in LABELS)
    assert found["trivial"] == pytest.approx(trivial.get(name, constant))


def test_it_is_text_json_and_a_picture(model, tmp_path):
    report = model.by_group(X, Y, SEX)
    text = str(report)
    assert "rare of f" in text and "mean recall" in text and "worst cell: " in text
    assert f"{report.rows_without_group} rows without a group" in text
    facts = json.loads(json.dumps(report.as_dict()))
    assert facts["worst_cell"] == report.worst_cell.name and len(facts["cells"]) == 6
    figure = report.plot(tmp_path / "groups.png")
    assert (tmp_path / "groups.png").stat().st_size > 1000
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][0].startswith("common of f (")


def test_classes_that_a_group_lacks_are_left_out(model):
    rows = ~((SEX == "f") & (CODES == 2))
    report = model.by_group(X[rows], Y[rows], SEX[rows])
    first = report.groups[0]
    assert np.isnan(first.mean_recall) and not np.isnan(first.accuracy) and report.worst_group.name == "m"
    assert np.isnan(report.cells[2].rate) and report.as_dict()["cells"][2]["rate"] is None
    assert "rare of f" in str(report)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: model.value(X, Y), "worst_cell needs groups="),
        (lambda model: model.score(X, Y), "worst_cell needs groups="),
        (lambda model: model.value(X, Y, "min_recall", groups=SEX), "groups have no effect on min_recall"),
        (lambda model: model.by_group(X, Y, None), "by_group needs groups"),
        (lambda model: model.by_group(X, Y, SEX[1:]), "one value per row"),
        (lambda model: model.by_group(X[1:], Y, SEX), "599"),
    ],
)
def test_wrong_calls_are_refused(model, call, message):
    with pytest.raises(ValueError, match=message):
        call(model)
    assert model.score(X, Y, groups=SEX) == model.value(X, Y, groups=SEX)
