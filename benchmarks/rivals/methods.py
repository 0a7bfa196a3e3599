"""Every method: ours, called plainly, and the rivals, which choose on validation rows.

A rival is trained once for all measures and read twice: by its best threshold on the validation rows, and under the
name with `AT_HALF` by a cut at probability 1/2. A tuned rival chooses its configuration for each measure and reading.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import aesara_nondecomp as an
from aesara_nondecomp import measures
from aesara_nondecomp.drivers.struct_ann import RowDriver
from aesara_nondecomp.training.recipes import Phase, Recipe
from benchmarks import baselines
from benchmarks.rivals import boosting, choice
from benchmarks.rivals.choice import Candidate
from benchmarks.rivals.encodings import as_numbers
from benchmarks.rivals.sets import Part, Tuning, optional, signs_of

AT_HALF = "_at_half"
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""scikit-learn's C, to choose from."""
FOCUS = 2.0
"""Exponent of the focal loss."""
Values = dict[str, dict[str, float]]
"""From method and measure to test values."""


class Rival(NamedTuple):
    """How a rival is trained."""

    train: Callable[[Tuning, int], Sequence[Candidate]]
    """From the rows and a seed to its candidates."""
    kinds: tuple[str, ...] = ("numbers", "frame")
    """The kinds of data set it is trained on."""
    package: str = "sklearn"
    readings: tuple[bool, ...] = (True, False)
    """With the best threshold, and without."""


# -- ours ------------------------------------------------------------------------------------------------------------


def _fit(part: Part, measure: str, seed: int) -> Any:
    return an.fit(part.X, part.y, measure, seed=seed)


def _classifier(part: Part, measure: str, seed: int) -> Any:
    if isinstance(part.X, list):
        return an.MeasureClassifier(measure, network="attention", random_state=seed).fit(part.X, part.y)
    return an.MeasureClassifier(measure, random_state=seed).fit(part.X, part.y)


OURS: dict[str, Callable[[Part, str, int], Any]] = {"fit": _fit, "MeasureClassifier": _classifier}
"""Nothing but the measure and the seed is given, and the name of the text network, which the estimator must be told."""


def our_values(method: str, part: Part, asked: Sequence[str], seed: int) -> tuple[Values, float]:
    """Train one of ours for each measure.

    Parameters
    ----------
    method : str
        Of `OURS`.
    part : Part
        Training and test rows.
    asked : sequence of str
        The measures.
    seed : int
        Of the training.

    Returns
    -------
    values : dict
        Test values of the method.
    seconds : float
        Of the call, a mean over the measures.
    """
    values, seconds = {}, []
    for measure in asked:
        begun = time.perf_counter()
        model = OURS[method](part, measure, seed)
        seconds.append(time.perf_counter() - begun)
        if measure == choice.PROBABILITY_FOR:
            values.update(_probability_values(model, part))
        predicted = signs_of(np.asarray(model.predict(part.X_test)))
        values[measure] = choice.value_of(measure, predicted, signs_of(part.y_test), 0.0)
    return {method: values}, float(np.mean(seconds))


def _probability_values(model: Any, part: Part) -> dict[str, float]:
    """None if the plain call gives a model without probabilities."""
    if isinstance(model, an.Model) and model.quantifier is None:
        return {}
    return choice.probability_values(model.predict_proba(part.X_test)[:, 1], part.y_test)


# -- rivals ----------------------------------------------------------------------------------------------------------


def rival_values(name: str, part: Part, asked: Sequence[str], seed: int) -> tuple[Values, float]:
    """Train a rival and choose for each measure.

    Parameters
    ----------
    name : str
        Of `RIVALS`.
    part : Part
        Training and test rows.
    asked : sequence of str
        The measures.
    seed : int
        Draws the validation rows, and seeds the training.

    Returns
    -------
    values : dict
        Test values of each reading.
    seconds : float
        Of the training of all configurations.
    """
    rival, rows = RIVALS[name], part.held_out(seed)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop at their limit, and of columns without names
        candidates = rival.train(rows, seed)
    seconds = time.perf_counter() - begun
    values = {
        name if tuned else f"{name}{AT_HALF}": choice.values_of(candidates, asked, rows.y_held, part.y_test, tuned)
        for tuned in rival.readings
    }
    return values, seconds


def _default_trees(train: boosting.Train, rows: Tuning, seed: int) -> list[Candidate]:
    return [train(rows, None, seed)]


def _tuned_trees(train: boosting.Train, rows: Tuning, seed: int) -> list[Candidate]:
    return [train(rows, chosen, seed) for chosen in boosting.CONFIGURATIONS]


def _logistic_regression(rows: Tuning, seed: int) -> list[Candidate]:
    rows = as_numbers(rows)
    scorers = [baselines.logistic_regression(rows.X, signs_of(rows.y), strength) for strength in STRENGTHS]
    return [_candidate(scorer, rows) for scorer in scorers]


def _tfidf(rows: Tuning, seed: int) -> list[Candidate]:
    """TF-IDF of words and pairs of words, and logistic regression."""
    encoder = optional("sklearn.feature_extraction.text").TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, sublinear_tf=True
    )
    X = encoder.fit_transform(rows.X)
    encoded = rows._replace(X=X, X_held=encoder.transform(rows.X_held), X_test=encoder.transform(rows.X_test))
    regression = optional("sklearn.linear_model").LogisticRegression
    models = [regression(C=strength, max_iter=2000).fit(X, rows.y) for strength in STRENGTHS]
    return [_candidate(model.decision_function, encoded) for model in models]


def _sklearn_mlp(rows: Tuning, seed: int) -> list[Candidate]:
    """One hidden layer of 100 units, on standardised columns: all defaults."""
    rows = as_numbers(rows)
    model = optional("sklearn.pipeline").make_pipeline(
        optional("sklearn.preprocessing").StandardScaler(),
        optional("sklearn.neural_network").MLPClassifier(random_state=seed),
    )
    model.fit(rows.X, rows.y)
    return [Candidate(model.predict_proba(rows.X_held)[:, 1], model.predict_proba(rows.X_test)[:, 1])]


def _candidate(scorer: baselines.Scorer, rows: Tuning, cut: float = 0.0) -> Candidate:
    """From log-odds to probabilities."""
    held, test = (expit(np.asarray(scorer(X), float)) for X in (rows.X_held, rows.X_test))
    return Candidate(held, test, float(expit(cut)))


class FocalLoss(RowDriver):
    """Descends the mean of -(1 - p)^gamma log p, p the probability of the true class (Lin et al. 2017)."""

    def __init__(self) -> None:
        super().__init__(measures.get("accuracy"))  # not used: the loss is a sum over rows

    def _of_rows(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        p = expit(np.where(positive, scores, -scores))
        slopes = (1 - p) ** FOCUS * (1 - p - FOCUS * p * np.log(np.maximum(p, choice.SMALLEST)))
        return np.where(positive, slopes, -slopes) / len(scores)


def _network(algorithm: str | Recipe, rows: Tuning, seed: int) -> list[Candidate]:
    """The network that ours trains, on another loss."""
    model = an.fit(rows.X, rows.y, algorithm=algorithm, seed=seed)
    return [_candidate(model.decision_function, rows, model.threshold)]


RIVALS: dict[str, Rival] = {
    **{
        f"{library}{suffix}": Rival(partial(trees, train), package="sklearn" if library.startswith("hist") else library)
        for library, train in boosting.LIBRARIES.items()
        for suffix, trees in (("", _default_trees), ("_tuned", _tuned_trees))
    },
    "logistic_regression": Rival(_logistic_regression),
    "tfidf_logistic_regression": Rival(_tfidf, ("texts",)),
    "sklearn_mlp": Rival(_sklearn_mlp),
    "network_cross_entropy": Rival(partial(_network, "cross_entropy")),
    "network_class_weighted": Rival(partial(_network, "class_weighted")),
    "network_focal": Rival(partial(_network, Recipe((Phase(FocalLoss()),)))),
    # With its best threshold it is that of cross-entropy, from which it differs in the cut alone.
    "network_logit_adjusted": Rival(partial(_network, "logit_adjusted"), readings=(False,)),
}
