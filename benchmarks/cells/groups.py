"""Adult without sex and race among the inputs: the worst of eight cells, and gaps between the sexes."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp.data import stratified_split
from aesara_nondecomp.measures import Cells, gap
from aesara_nondecomp.measures.groups import WorstCell, cell_of_rows
from aesara_nondecomp.metrics import best_threshold
from benchmarks.data import load

WHITE, WOMAN, SENSITIVE = 66, 71, range(66, 73)
"""Columns of a9a."""
BOUND, HELD = 0.01, 0.2
Predictions = Any
Results = Iterator[tuple[str, dict[str, list[float]]]]


class People(NamedTuple):
    """Rows of adult: inputs without sex and race, labels, sexes, and sex with race."""

    X: Any
    y: Any
    sex: Any
    sex_and_race: Any

    @classmethod
    def of(cls, X: Any, y: Any) -> People:
        """Take sex and race out of the inputs."""
        sex = np.where(X[:, WOMAN] > 0, "women", "men")
        race = np.where(X[:, WHITE] > 0, ", white", ", other")
        return cls(np.delete(X, SENSITIVE, axis=1), np.where(y > 0, 1, 0), sex, np.char.add(sex, race))

    def part(self, rows: Any) -> People:
        """Some of the rows."""
        return People(*(values[rows] for values in self))


def recalls(predicted: Predictions, people: People, groups: Any) -> tuple[Any, Cells]:
    """Recall of each cell, and the cells."""
    names, codes = np.unique(groups, return_inverse=True)
    cell = cell_of_rows(np.where(people.y > 0, 1, -1), codes, len(names))
    cells, right = Cells.of(cell, names.tolist()), np.bincount(cell, predicted == people.y, 2 * len(names) + 2)
    with np.errstate(invalid="ignore"):
        return right / cells.rows, cells


def _judge_worst_cell(predicted: Predictions, test: People) -> dict[str, float]:
    found, cells = recalls(predicted, test, test.sex_and_race)
    return {"worst_cell": float(WorstCell().of_cells(found, cells)), "accuracy": float(np.mean(predicted == test.y))}


def _judge_gap(rate: str, predicted: Predictions, test: People) -> dict[str, float]:
    found, cells = recalls(predicted, test, test.sex)
    value = float(gap(rate, at_most=BOUND).value(found, cells))
    return {"gap": value, "accuracy": float(np.mean(predicted == test.y))}


# -- methods: from training rows, test rows and a seed to predictions -----------------------------------------------


def _worst_cell(train: People, test: People, seed: int, **options: Any) -> Predictions:
    model = an.fit(train.X, train.y, "worst_cell", groups=train.sex_and_race, validation=HELD, seed=seed, **options)
    return model.predict(test.X)


def _class_weighted(train: People, test: People, seed: int) -> Predictions:
    model = an.fit(train.X, train.y, "min", algorithm="class_weighted", validation=HELD, seed=seed)
    return model.predict(test.X)


def _cross_entropy(train: People, test: People, seed: int) -> Predictions:
    return an.fit(train.X, train.y, "accuracy", algorithm="cross_entropy", validation=HELD, seed=seed).predict(test.X)


def _constrained(rate: str, validation: Any, train: People, test: People, seed: int) -> Predictions:
    model = an.fit(
        train.X, train.y, "likelihood", groups=train.sex, constraints=[gap(rate, at_most=BOUND)],
        validation=validation, seed=seed,
    )  # fmt: skip
    return model.predict(test.X)


def _tuned_boosting(train: People, test: People, seed: int) -> Predictions:
    """HistGradientBoosting with cell weights, and a threshold that is tuned for the worst cell."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    kept, held = _split(train, seed)
    _, codes = np.unique(np.char.add(kept.sex_and_race, kept.y.astype(str)), return_inverse=True)
    weight = 1 / np.bincount(codes)[codes]
    trees = HistGradientBoostingClassifier(learning_rate=0.05, max_iter=300, early_stopping=False, random_state=seed)
    trees.fit(kept.X, kept.y, sample_weight=weight * len(weight) / weight.sum())
    scores = trees.decision_function(held.X)
    cuts = np.quantile(scores, np.linspace(0.01, 0.99, 300))
    values = [_judge_worst_cell((scores > cut).astype(int), held)["worst_cell"] for cut in cuts]
    return (trees.decision_function(test.X) > cuts[int(np.argmax(values))]).astype(int)


def _exponentiated_gradient(rate: str, train: People, test: People, seed: int) -> Predictions:
    """Fairlearn's reduction on logistic regression."""
    reductions = importlib.import_module("fairlearn.reductions")
    from sklearn.linear_model import LogisticRegression

    kinds = {"tpr": reductions.TruePositiveRateParity, "selection": reductions.DemographicParity}
    kept, _ = _split(train, seed)
    mitigator = reductions.ExponentiatedGradient(LogisticRegression(max_iter=1000), kinds[rate](difference_bound=BOUND))
    mitigator.fit(kept.X.astype("float64"), kept.y, sensitive_features=kept.sex)
    return np.asarray(mitigator.predict(test.X.astype("float64"), random_state=seed))


def _threshold_for_min(train: People, test: People, seed: int) -> Predictions:
    """Logistic regression with class weights, and its best threshold for the worse class."""
    from sklearn.linear_model import LogisticRegression

    kept, held = _split(train, seed)
    model = LogisticRegression(max_iter=1000, class_weight="balanced").fit(kept.X, kept.y)
    cut, _ = best_threshold("min", model.decision_function(held.X), np.where(held.y > 0, 1, -1))
    return (model.decision_function(test.X) > cut).astype(int)


def _split(people: People, seed: int) -> tuple[People, People]:
    kept, held = stratified_split(np.where(people.y > 0, 1, -1), HELD, seed)
    return people.part(kept), people.part(held)


# -- parts -----------------------------------------------------------------------------------------------------------


def _run(
    methods: dict[str, Callable[..., Predictions]], judge: Any, data_dir: str | None, seeds: Sequence[int]
) -> Results:
    loaded = load("a9a", data_dir)
    train, test = People.of(loaded.X_train, loaded.y_train), People.of(loaded.X_test, loaded.y_test)
    for name, method in methods.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a constraint that a rival breaks is in the table
            values = [judge(method(train, test, seed), test) for seed in seeds]
        yield name, {measure: [each[measure] for each in values] for measure in values[0]}


def worst_cell(data_dir: str | None, seeds: Sequence[int]) -> Results:
    """The smallest recall of eight cells: label, sex, and white or not."""
    methods: dict[str, Any] = {
        "direct": _worst_cell,
        "group_dro": lambda *rows: _worst_cell(*rows, algorithm="group_dro"),
        "cell_weighted": lambda *rows: _worst_cell(*rows, algorithm="cell_weighted"),
        "cell_balanced": lambda *rows: _worst_cell(*rows, algorithm="cell_weighted", sampler="cell_balanced"),
        "class_weighted": _class_weighted,
        "logistic regression, class weights": _threshold_for_min,
        "boosting, cell weights, tuned": _tuned_boosting,
    }
    yield from _run(methods, _judge_worst_cell, data_dir, seeds)


def _gap(rate: str, data_dir: str | None, seeds: Sequence[int]) -> Results:
    methods: dict[str, Any] = {
        "direct": lambda *rows: _constrained(rate, HELD, *rows),
        "duals from training rows": lambda *rows: _constrained(rate, None, *rows),
        "cross_entropy": _cross_entropy,
    }
    if importlib.util.find_spec("fairlearn"):
        methods["fairlearn, logistic regression"] = lambda *rows: _exponentiated_gradient(rate, *rows)
    yield from _run(methods, lambda predicted, test: _judge_gap(rate, predicted, test), data_dir, seeds)


PARTS: dict[str, Callable[[str | None, Sequence[int]], Results]] = {
    "worst_cell": worst_cell,
    "tpr_gap": lambda data_dir, seeds: _gap("tpr", data_dir, seeds),
    "selection_gap": lambda data_dir, seeds: _gap("selection", data_dir, seeds),
}
